//go:build !((linux || darwin) && !android && (amd64 || arm64 || loong64 || riscv64)) && !(windows && (amd64 || arm64))

package llvm

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Without a dynamic loader no library opens, so nothing below is reached but
// openLibrary.

const wholeProcess = 0

func openLibrary(string) (uintptr, error) {
	return 0, fmt.Errorf("loading LLVM is not supported on %s/%s", runtime.GOOS, runtime.GOARCH)
}

func symbolAddress(uintptr, string) uintptr { return 0 }

func currentThread() uintptr { return 0 }

func bindFunction(any, uintptr) { panic("BUG: no library can be open") }

func newCallback(any) uintptr { panic("BUG: no library can be open") }

func callKernel(uintptr, unsafe.Pointer, int64, int64, int64) int64 {
	panic("BUG: no code can have been compiled")
}
