// Package dl opens shared libraries at run time and calls their C functions, without cgo. It is all that the packages
// of the CUDA driver, MPI and NCCL, and LLVM for its texts, ask of the dynamic loader and of purego.
package dl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// Library is an open library. Libraries are never closed.
type Library uintptr

// Function is a function of a library.
type Function struct {
	Name    string
	Address uintptr // 0: the library does not have it
}

// Bindings say where functions of a library go, by their names.
type Bindings map[string]*Function

// Bind finds functions in the library, and names those that it does not have.
func (l Library) Bind(bindings Bindings) (missing string) {
	var names []string
	for name, into := range bindings {
		*into = Function{name, l.Symbol(name)}
		if into.Address == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if n := len(names); n > 3 {
		names = append(names[:2], fmt.Sprintf("%d more", n-2))
	}
	return strings.Join(names, ", ")
}

// ErrNoFile is the error of Open for a library that the loader does not find.
var ErrNoFile = errors.New("no such file")

// openError is the loader's error: "NAME: cannot open shared object file: No such file or directory" of this file,
// or the same of another that it needs.
func openError(name string, err error) error {
	reason := strings.TrimPrefix(err.Error(), name+": ")
	if strings.HasPrefix(reason, "cannot open shared object file: No such file") {
		return ErrNoFile
	}
	return fmt.Errorf("cannot open it: %s", reason)
}

// NotFound says on several lines what was not found, what was tried, and how to get it.
func NotFound(what string, tried []string, how string) string {
	for _, t := range tried {
		what += "\n\ttried " + t
	}
	return what + "\n" + how
}

// String is the C string at an address; "" for none.
func String(address uintptr) string {
	if address == 0 {
		return ""
	}
	start := (*byte)(Pointer(address))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(start, n))
}

// Pointer turns an address that a library returned into a pointer. The memory is not Go's, so neither the collector nor the
// stack mover knows it.
func Pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
