//go:build linux && !android && (amd64 || arm64)

package cuda

import "github.com/ebitengine/purego"

// This file is all that the package asks of the dynamic loader and of purego.
// dl_none.go stands in for it on systems where they, or the driver, are not to
// be had.

// openLibrary opens a library, by path or by a name that the loader knows. Its
// names stay local.
func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// symbolAddress finds a function in a library; 0 if it is not there.
func symbolAddress(library uintptr, name string) uintptr {
	address, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return address
}

// callAddress calls the C function at address, whose parameters are integers
// and pointers, and returns its result. args must be on the heap, and Go memory
// that it has the addresses of, too: stacks move.
func callAddress(address uintptr, args []uintptr) uintptr {
	result, _, _ := purego.SyscallN(address, args...)
	return result
}
