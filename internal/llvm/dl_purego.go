//go:build (linux || darwin) && !android && (amd64 || arm64 || loong64 || riscv64)

package llvm

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// This file is all that the package asks of the dynamic loader and of purego.
// dl_none.go stands in for it on systems where they are not to be had.

// wholeProcess stands for all libraries that the process has opened globally.
const wholeProcess = purego.RTLD_DEFAULT

// openLibrary opens a library, by path or by a name that the loader knows. Its
// names stay local and it is bound at once: several versions of LLVM may live in
// one process, each calling only itself.
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

// bindFunction makes the function variable that into points to call the C
// function at address.
func bindFunction(into any, address uintptr) { purego.RegisterFunc(into, address) }

// newCallback makes a C function that calls f, whose parameters are uintptr.
// It lives as long as the process.
func newCallback(f any) uintptr { return purego.NewCallback(f) }

// callKernel calls the kernel at fn; see Call.
func callKernel(fn uintptr, args unsafe.Pointer, chunk, lo, hi int64) int64 {
	status, _, _ := purego.SyscallN(fn, uintptr(args), uintptr(chunk), uintptr(lo), uintptr(hi))
	return int64(status)
}
