//go:build linux && !android && (amd64 || arm64)

package dl

import "github.com/ebitengine/purego"

// Open opens a library, by path or by a name that the loader knows. Its names stay local.
func Open(name string) (Library, error) {
	return open(name, purego.RTLD_LOCAL)
}

// OpenGlobal is Open for a library whose names the libraries that it opens itself need.
func OpenGlobal(name string) (Library, error) {
	return open(name, purego.RTLD_GLOBAL)
}

func open(name string, scope int) (Library, error) {
	l, err := purego.Dlopen(name, purego.RTLD_NOW|scope)
	if err != nil {
		return 0, openError(name, err)
	}
	return Library(l), nil
}

// Symbol finds the address of a function or variable; 0 if it is not there.
func (l Library) Symbol(name string) uintptr {
	address, err := purego.Dlsym(uintptr(l), name)
	if err != nil {
		return 0
	}
	return address
}

// Call calls the C function at address, whose parameters are integers and pointers, and returns its result. Go memory that
// args has the addresses of must be on the heap, as stacks move: what is addressed in the call itself is.
//
//go:uintptrescapes
func Call(address uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(address, args...)
	return result
}
