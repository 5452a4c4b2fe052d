package mpi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// EnvVar is the environment variable that names the library of MPI to load, instead of those of the mpirun that has
// started the process.
const EnvVar = "LACUNA_MPI"

// implementation is a binary interface of MPI. The C headers leave it open what handles and statuses are.
type implementation struct {
	name    string
	files   []string // where its library is, best first
	install string   // Debian's packages
	handle  int      // bytes of a handle in memory; as an argument each is a word

	world, byteType, either, errorsReturn, noInfo constant // either: bits that are set on one side
	anySource                                     int32

	// MPI_Status
	status, source, failure int // its bytes, and where MPI_SOURCE and MPI_ERROR are in it
}

// constant is the value of a handle: a number, or the address of a variable of the library.
type constant struct {
	value  uintptr
	symbol string
}

// The binary interfaces that are known. That of MPICH is Intel MPI's, MVAPICH's and Cray's, too.
var (
	openMPI = implementation{
		name: "Open MPI", files: []string{"libmpi.so.40", "libmpi.so"}, install: "libopenmpi3 openmpi-bin", handle: 8,
		world: constant{symbol: "ompi_mpi_comm_world"}, byteType: constant{symbol: "ompi_mpi_byte"}, either: constant{symbol: "ompi_mpi_op_bor"},
		errorsReturn: constant{symbol: "ompi_mpi_errors_return"}, noInfo: constant{symbol: "ompi_mpi_info_null"}, anySource: -1,
		status: 24, source: 0, failure: 8,
	}
	mpich = implementation{
		name: "MPICH", files: []string{"libmpich.so.12", "libmpi.so.12"}, install: "libmpich12 mpich", handle: 4,
		world: constant{value: 0x44000000}, byteType: constant{value: 0x4c00010d}, either: constant{value: 0x58000008},
		errorsReturn: constant{value: 0x54000001}, noInfo: constant{value: 0x1c000000}, anySource: -2,
		status: 20, source: 8, failure: 16,
	}
)

// The same in both.
const (
	threadSerialized = 2
	undefined        = -32766
	errorText        = 512  // MPI_MAX_ERROR_STRING, at most
	versionText      = 8192 // MPI_MAX_LIBRARY_VERSION_STRING, at most
)

// library is a loaded library of MPI.
type library struct {
	*implementation
	path                                          string
	world, byteType, either, errorsReturn, noInfo uintptr

	initThread, finalize, getLibraryVersion, errorString dl.Function
	commRank, commSize, commDup, commSetErrhandler       dl.Function
	isend, irecv, ialltoall, iallreduce                  dl.Function
	testsome, getCount                                   dl.Function
	allocMem, freeMem                                    dl.Function
}

func (l *library) bindings() dl.Bindings {
	return dl.Bindings{
		"MPI_Init_thread":         &l.initThread,
		"MPI_Finalize":            &l.finalize,
		"MPI_Get_library_version": &l.getLibraryVersion,
		"MPI_Error_string":        &l.errorString,
		"MPI_Comm_rank":           &l.commRank,
		"MPI_Comm_size":           &l.commSize,
		"MPI_Comm_dup":            &l.commDup,
		"MPI_Comm_set_errhandler": &l.commSetErrhandler,
		"MPI_Isend":               &l.isend,
		"MPI_Irecv":               &l.irecv,
		"MPI_Ialltoall":           &l.ialltoall,
		"MPI_Iallreduce":          &l.iallreduce,
		"MPI_Testsome":            &l.testsome,
		"MPI_Get_count":           &l.getCount,
		"MPI_Alloc_mem":           &l.allocMem,
		"MPI_Free_mem":            &l.freeMem,
	}
}

// NotFoundError says that the library of the mpirun that has started the process was not found, and how to get it.
type NotFoundError struct {
	Library string   // such as "Open MPI"
	Install string   // what to install, in Debian's words
	Tried   []string // each with the reason it was no good
}

// Error returns the whole story on several lines.
func (e *NotFoundError) Error() string {
	return dl.NotFound(fmt.Sprintf("this process was started by mpirun of %s, whose library was not found", e.Library), e.Tried,
		fmt.Sprintf("install it (on Debian: apt-get install %s), or name the library in %s", e.Install, EnvVar))
}

// load opens the library that goes with an mpirun. Two libraries of MPI may live on one machine, and each sees a single
// process where the other's mpirun has started it: that is why it is not just the first one found.
func load(of *implementation) (*library, error) {
	// UCX, which both may sit on, would take the signals of memory faults from Go.
	if err := os.Setenv("UCX_ERROR_SIGNALS", ""); err != nil {
		return nil, err
	}
	files := of.files
	if name := os.Getenv(EnvVar); name != "" {
		files = []string{name}
	}
	e := &NotFoundError{Library: of.name, Install: of.install}
	for _, file := range files {
		l, err := open(file, of)
		if err == nil {
			return l, nil
		}
		e.Tried = append(e.Tried, fmt.Sprintf("%s: %v", file, err))
	}
	return nil, e
}

func open(file string, of *implementation) (*library, error) {
	// Open MPI opens plugins that look for its names in the process.
	handle, err := dl.OpenGlobal(file)
	if err != nil {
		return nil, err
	}
	l := &library{implementation: of, path: file}
	if missing := handle.Bind(l.bindings()); missing != "" {
		return nil, fmt.Errorf("it lacks %s: it is no library of MPI 3.0 or newer", missing)
	}
	if is := kindOf(handle); is != of {
		return nil, fmt.Errorf("it is of %s", is.name)
	}
	for _, c := range []struct {
		into *uintptr
		constant
	}{{&l.world, of.world}, {&l.byteType, of.byteType}, {&l.either, of.either}, {&l.errorsReturn, of.errorsReturn}, {&l.noInfo, of.noInfo}} {
		*c.into = c.value
		if c.symbol == "" {
			continue
		}
		if *c.into = handle.Symbol(c.symbol); *c.into == 0 {
			return nil, fmt.Errorf("it lacks %s", c.symbol)
		}
	}
	return l, nil
}

// kindOf tells the two interfaces apart by a variable that only one has.
func kindOf(handle dl.Library) *implementation {
	if handle.Symbol(openMPI.world.symbol) != 0 {
		return &openMPI
	}
	return &mpich
}

// call calls a function of the library and makes its code an error. What args has the addresses of is on the heap.
//
//go:uintptrescapes
func (l *library) call(f *dl.Function, args ...uintptr) error {
	if code := int32(dl.Call(f.Address, args...)); code != 0 {
		return l.fault(f, code)
	}
	return nil
}

// fault is the error of a function that returned a code other than 0.
func (l *library) fault(f *dl.Function, code int32) error {
	return fmt.Errorf("%s of %s: %s", f.Name, l.name, l.message(code))
}

// message is what the library says of a code.
func (l *library) message(code int32) string {
	text := make([]byte, errorText)
	n := new(int32)
	if dl.Call(l.errorString.Address, uintptr(code), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n))) != 0 || *n <= 0 {
		return fmt.Sprintf("error %d", code)
	}
	return strings.TrimSpace(string(text[:min(int(*n), len(text))]))
}

// version is what the library calls itself, on one line.
func (l *library) version() string {
	text := make([]byte, versionText)
	n := new(int32)
	if l.call(&l.getLibraryVersion, uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n))) != nil {
		return l.name
	}
	line, _, _ := strings.Cut(string(text[:min(max(int(*n), 0), len(text))]), "\n")
	return strings.Join(strings.Fields(strings.TrimRight(line, "\x00")), " ")
}

// initialise starts the library on this thread, which ends it, too.
func (l *library) initialise() error {
	provided := new(int32)
	if err := l.call(&l.initThread, 0, 0, threadSerialized, uintptr(unsafe.Pointer(provided))); err != nil {
		return err
	}
	if *provided < threadSerialized {
		return errors.New("the library does not let several threads call it in turns (MPI_THREAD_SERIALIZED)")
	}
	return l.call(&l.commSetErrhandler, l.world, l.errorsReturn)
}

// duplicate makes a communicator of all ranks whose messages do not mix with those of others. All ranks make the call.
func (l *library) duplicate() (uintptr, error) {
	comm := new(uintptr) // of which MPICH fills half
	if err := l.call(&l.commDup, l.world, uintptr(unsafe.Pointer(comm))); err != nil {
		return 0, err
	}
	return *comm, l.call(&l.commSetErrhandler, *comm, l.errorsReturn)
}

// place is the number of this rank, and how many there are.
func (l *library) place() (rank, size int, err error) {
	r, n := new(int32), new(int32)
	if err := l.call(&l.commRank, l.world, uintptr(unsafe.Pointer(r))); err != nil {
		return 0, 0, err
	}
	err = l.call(&l.commSize, l.world, uintptr(unsafe.Pointer(n)))
	return int(*r), int(*n), err
}

// alignment of buffers: vectors of any processor, and lines of its cache.
const alignment = 64

// allocate is memory of the library, and the address to free it with.
func (l *library) allocate(n int) (b []byte, base uintptr, err error) {
	at := new(unsafe.Pointer)
	if err := l.call(&l.allocMem, uintptr(n)+alignment, l.noInfo, uintptr(unsafe.Pointer(at))); err != nil {
		return nil, 0, err
	}
	p := unsafe.Add(*at, -uintptr(*at)&(alignment-1))
	return unsafe.Slice((*byte)(p), n), uintptr(*at), nil
}
