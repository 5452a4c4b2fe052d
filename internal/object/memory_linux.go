//go:build linux && (amd64 || arm64)

package object

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// hostMachine is the architecture of this process.
func hostMachine() (machine, bool) {
	if runtime.GOARCH == "amd64" {
		return x86{}, true
	}
	return arm{}, true
}

func pageSize() uint64 { return uint64(os.Getpagesize()) }

// newMemory maps pages that can be written, all zero.
func newMemory(size uint64) ([]byte, error) {
	return syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
}

// protect makes the first code bytes executable and everything read-only.
func protect(memory []byte, code uint64) error {
	if code > 0 {
		flushInstructions(uintptr(unsafe.Pointer(&memory[0])), uintptr(code))
		if err := syscall.Mprotect(memory[:code], syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
			return err
		}
	}
	if code == uint64(len(memory)) {
		return nil
	}
	return syscall.Mprotect(memory[code:], syscall.PROT_READ)
}

func freeMemory(memory []byte) error { return syscall.Munmap(memory) }

// addressOf is where memory lies. It is not Go's, so it stays there.
func addressOf(memory []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(memory))) }
