package nccl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// EnvVar is the environment variable that names the NCCL library to load: a file, or "off" for none.
const EnvVar = "LACUNA_NCCL"

// Install says how to get NCCL, for messages.
const Install = "install it: it comes with PyTorch, with the Python package nvidia-nccl-cu12, and as libnccl2 from NVIDIA's archive"

// result is what functions of NCCL return (ncclResult_t).
type result int32

const (
	success    result = 0
	inProgress result = 7
)

// Numbers of nccl.h.
const (
	idBytes     = 128
	int8Type    = 0
	configMagic = 0xcafebeef
	undefined   = -1 << 31
	oldest      = 21400 // 2.14: communicators that do not block
)

// config is ncclConfig_t of the oldest version; newer ones take what follows for not given.
type config struct {
	size           uintptr
	magic, version uint32
	blocking       int32
	clusterSize    int32
}

// library is a loaded NCCL.
type library struct {
	path    string
	version int32

	getVersion, getUniqueID, getErrorString, getLastError    dl.Function
	commInitRankConfig, commFinalize, commDestroy, commAbort dl.Function
	commGetAsyncError, groupStart, groupEnd, send, recv      dl.Function
}

func (l *library) bindings() dl.Bindings {
	return dl.Bindings{
		"ncclGetVersion":         &l.getVersion,
		"ncclGetUniqueId":        &l.getUniqueID,
		"ncclGetErrorString":     &l.getErrorString,
		"ncclGetLastError":       &l.getLastError,
		"ncclCommInitRankConfig": &l.commInitRankConfig,
		"ncclCommFinalize":       &l.commFinalize,
		"ncclCommDestroy":        &l.commDestroy,
		"ncclCommAbort":          &l.commAbort,
		"ncclCommGetAsyncError":  &l.commGetAsyncError,
		"ncclGroupStart":         &l.groupStart,
		"ncclGroupEnd":           &l.groupEnd,
		"ncclSend":               &l.send,
		"ncclRecv":               &l.recv,
	}
}

// NotFoundError says that NCCL was not found, what was tried, and how to get it.
type NotFoundError struct {
	Tried []string // each with the reason it was no good; none: it is switched off
}

// Error returns the whole story on several lines.
func (e *NotFoundError) Error() string {
	if len(e.Tried) == 0 {
		return fmt.Sprintf("NCCL is switched off (%s=off)", EnvVar)
	}
	return dl.NotFound("NCCL was not found", e.Tried, fmt.Sprintf("%s; or name its libnccl.so.2 in %s", Install, EnvVar))
}

// candidates are the files that may be NCCL, best first: what the loader knows, then what PyTorch has brought.
func candidates() []string {
	switch spec := os.Getenv(EnvVar); spec {
	case "":
	case "off":
		return nil
	default:
		return []string{spec}
	}
	list := []string{"libnccl.so.2"}
	for _, root := range pythons() {
		for _, packages := range []string{"site-packages", "dist-packages"} {
			found, _ := filepath.Glob(filepath.Join(root, "lib", "python3*", packages, "nvidia", "nccl", "lib", "libnccl.so.2"))
			list = append(list, found...)
		}
	}
	return list
}

// pythons are the folders under which Python's packages may be: of an active environment, of the interpreter in PATH, the user's
// and the system's.
func pythons() []string {
	roots := []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX")}
	if python, err := exec.LookPath("python3"); err == nil {
		roots = append(roots, filepath.Dir(filepath.Dir(python)))
	}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".local"))
	}
	roots = append(roots, "/usr/local", "/usr")
	var list []string
	for _, root := range roots {
		if root != "" {
			list = append(list, root)
		}
	}
	return list
}

// libraries are those that are open in this process, by dlopen handle.
var libraries = struct {
	sync.Mutex
	open map[dl.Library]*library
}{open: map[dl.Library]*library{}}

// load opens NCCL.
func load() (*library, error) {
	e := &NotFoundError{}
	for _, path := range candidates() {
		l, err := open(path)
		if err == nil {
			return l, nil
		}
		e.Tried = append(e.Tried, fmt.Sprintf("%s: %v", path, err))
	}
	return nil, e
}

func open(path string) (*library, error) {
	// Our arrays are of a memory pool, which other GPUs do not see: NCCL must not read them across GPUs of one process.
	if os.Getenv("NCCL_P2P_DIRECT_DISABLE") == "" {
		if err := os.Setenv("NCCL_P2P_DIRECT_DISABLE", "1"); err != nil {
			return nil, err
		}
	}
	handle, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	libraries.Lock()
	defer libraries.Unlock()
	if l := libraries.open[handle]; l != nil {
		return l, nil
	}
	l := &library{path: path}
	if missing := handle.Bind(l.bindings()); missing != "" {
		return nil, fmt.Errorf("it lacks %s: it is no NCCL 2.14 or newer", missing)
	}
	if err := l.call(0, &l.getVersion, uintptr(unsafe.Pointer(&l.version))); err != nil {
		return nil, err
	}
	if l.version < oldest {
		return nil, fmt.Errorf("it is NCCL %s; 2.14 or newer is needed", l.versionText())
	}
	libraries.open[handle] = l
	return l, nil
}

// versionText is the version as NCCL prints it; before 2.9 the digits were packed otherwise.
func (l *library) versionText() string {
	v := l.version
	if v < 10000 {
		return fmt.Sprintf("%d.%d.%d", v/1000, v/100%10, v%100)
	}
	return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
}

// call calls a function of NCCL, of a communicator or of none. That something goes on in the background is no error. What args has the
// addresses of is on the heap.
//
//go:uintptrescapes
func (l *library) call(comm uintptr, f *dl.Function, args ...uintptr) error {
	code := result(int32(dl.Call(f.Address, args...)))
	if code == success || code == inProgress {
		return nil
	}
	return l.fault(comm, f, code)
}

// fault is the error of a function that returned a code other than success.
func (l *library) fault(comm uintptr, f *dl.Function, code result) error {
	text := fmt.Sprintf("%s: %s", f.Name, dl.String(dl.Call(l.getErrorString.Address, uintptr(code))))
	if comm != 0 {
		if last := strings.TrimSpace(dl.String(dl.Call(l.getLastError.Address, comm))); last != "" {
			text += ": " + last
		}
	}
	return errors.New(text)
}

// uniqueID is what ranks of a new communicator know each other by.
func (l *library) uniqueID() ([]byte, error) {
	id := make([]byte, idBytes)
	if err := l.call(0, &l.getUniqueID, uintptr(unsafe.Pointer(&id[0]))); err != nil {
		return nil, err
	}
	return id, nil
}

// initRank begins to make a communicator. Its id is passed by value: on amd64 it lies on the stack, behind the registers of the
// other arguments; on arm64 it is passed by its address.
func (l *library) initRank(size, rank int, id []byte) (uintptr, error) {
	comm := new(uintptr)
	c := &config{unsafe.Sizeof(config{}), configMagic, oldest, 0, undefined}
	args := []uintptr{uintptr(unsafe.Pointer(comm)), uintptr(size)}
	if runtime.GOARCH == "arm64" {
		args = append(args, uintptr(unsafe.Pointer(&id[0])), uintptr(rank), uintptr(unsafe.Pointer(c)))
	} else {
		args = append(args, uintptr(rank), uintptr(unsafe.Pointer(c)), 0, 0)
		args = append(args, unsafe.Slice((*uintptr)(unsafe.Pointer(&id[0])), idBytes/unsafe.Sizeof(uintptr(0)))...)
	}
	err := l.call(0, &l.commInitRankConfig, args...)
	runtime.KeepAlive(c)
	runtime.KeepAlive(id)
	return *comm, err
}
