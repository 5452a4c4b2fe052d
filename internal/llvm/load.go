package llvm

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// LLVM is a loaded LLVM library. Its methods may be used by several goroutines
// at once.
type LLVM struct {
	path    string
	version Version
	api     api

	host    func() (Target, error) // found on first use
	targets targetSet              // initialised targets
	diags   diagnostics            // messages of the compilations under way
	fatal   fatalErrors            // LLVM's own crashes
}

// Path is the file or library name that was loaded.
func (l *LLVM) Path() string { return l.path }

// Version is the version of the library. For LLVM 14 and 15, which cannot be
// asked, minor and patch are those in the file's name, if any.
func (l *LLVM) Version() Version { return l.version }

// NotFoundError says that no usable LLVM was found, what was tried, and how to
// get one.
type NotFoundError struct {
	Spec  string   // the name asked for; "" for any
	Tried []string // each with the reason it was no good
}

// Error returns the whole story on several lines.
func (e *NotFoundError) Error() string {
	what := fmt.Sprintf("no LLVM of version %d or newer was found", Oldest)
	switch e.Spec {
	case "none":
		return fmt.Sprintf("LLVM is switched off (%s=none)", EnvVar)
	case "":
	default:
		what += fmt.Sprintf(" for %q", e.Spec)
	}
	return dl.NotFound(what, e.Tried, fmt.Sprintf("install one (%s) or name it in %s", Install, EnvVar))
}

// libraries are the libraries open in this process, by dlopen handle. An open
// library is state of the process (initialised targets, one fatal error
// handler), so the table is too; libraries are never closed.
var libraries = struct {
	sync.Mutex
	open map[uintptr]*LLVM
}{open: map[uintptr]*LLVM{}}

// Load opens an LLVM library: the one that spec names (a file, a directory, a
// version such as "14" or "19.1"), or for "" the one that the environment
// variable EnvVar names, or else the newest found. Loading a library again
// gives the same *LLVM. The error is a *NotFoundError that lists what was tried.
func Load(spec string) (*LLVM, error) {
	if spec == "" {
		spec = os.Getenv(EnvVar)
	}
	notFound := &NotFoundError{Spec: spec}
	missing := 0 // plain names that the loader does not know: one line for all
	for _, c := range candidates(spec) {
		l, err := open(c)
		if err == nil {
			return l, nil
		}
		if !strings.ContainsRune(c.Path, os.PathSeparator) && errors.Is(err, errNoLibrary) {
			missing++
			continue
		}
		notFound.Tried = append(notFound.Tried, fmt.Sprintf("%s: %v", c.Path, err))
	}
	if missing > 0 {
		notFound.Tried = append(notFound.Tried,
			fmt.Sprintf("%d names such as libLLVM.so.19.1 with the dynamic loader", missing))
	}
	if spec == "" {
		notFound.Tried = append(notFound.Tried, "libLLVM* in "+strings.Join(libraryDirs[runtime.GOOS], ", "))
	}
	return nil, notFound
}

// LoadCandidate opens one library that Find, or Load in another process, has come upon.
func LoadCandidate(c Candidate) (*LLVM, error) {
	l, err := open(c)
	if err != nil {
		return nil, &NotFoundError{Spec: c.Path, Tried: []string{fmt.Sprintf("%s: %v", c.Path, err)}}
	}
	return l, nil
}

// errNoLibrary marks a library that the dynamic loader could not open.
var errNoLibrary = errors.New("cannot open it")

// open loads one library, or finds it among those that are open.
func open(c Candidate) (*LLVM, error) {
	handle, err := openLibrary(c.Path)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errNoLibrary, err)
	}
	libraries.Lock()
	defer libraries.Unlock()
	if l, ok := libraries.open[handle]; ok {
		return l, nil
	}
	l := &LLVM{path: c.Path}
	if err := l.api.bind(handle); err != nil {
		return nil, err
	}
	l.version = l.api.version(c.Version)
	if l.version.Major < Oldest {
		return nil, fmt.Errorf("it is version %s; %d or newer is needed", l.version, Oldest)
	}
	l.host = sync.OnceValues(l.findHost)
	l.targets.handle = handle
	if err := l.fatal.install(l); err != nil {
		return nil, err
	}
	l.diags.install(l)
	libraries.open[handle] = l
	return l, nil
}

// version asks the library for its version. LLVM 14 and 15 do not tell; a
// function that came with 15 tells them apart, the file's name the rest.
func (a *api) version(named Version) Version {
	if a.getVersion != nil {
		var major, minor, patch uint32
		a.getVersion(&major, &minor, &patch)
		return Version{int(major), int(minor), int(patch)}
	}
	v := Version{Major: 14}
	if a.pointerTypeIsOpaque != nil {
		v.Major = 15
	}
	if named.Major == v.Major {
		return named
	}
	return v
}
