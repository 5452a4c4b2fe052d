//go:build ((linux || darwin) && !android && (amd64 || arm64 || loong64 || riscv64)) || (windows && (amd64 || arm64))

package llvm

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// This file, with dl_unix.go or dl_windows.go, is all that the package asks of the dynamic loader and of purego.
// dl_none.go stands in for them on systems where they are not to be had.

// bindFunction makes the function variable that into points to call the C
// function at address.
func bindFunction(into any, address uintptr) { purego.RegisterFunc(into, address) }

// newCallback makes a C function that calls f, whose parameters and one result are uintptr (Windows wants a result).
// It lives as long as the process.
func newCallback(f any) uintptr { return purego.NewCallback(f) }

// callKernel calls the kernel at fn; see Call.
func callKernel(fn uintptr, args unsafe.Pointer, chunk, lo, hi int64) int64 {
	status, _, _ := purego.SyscallN(fn, uintptr(args), uintptr(chunk), uintptr(lo), uintptr(hi))
	return int64(status)
}
