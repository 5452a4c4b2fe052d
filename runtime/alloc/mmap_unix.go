//go:build unix

package alloc

import (
	"math"
	"syscall"
)

// mapMemory returns zeroed memory outside the Go heap, or the operating
// system's reason for refusing it.
func mapMemory(bytes int64) ([]byte, error) {
	if bytes > math.MaxInt {
		return nil, syscall.ENOMEM
	}
	return syscall.Mmap(-1, 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// unmapMemory gives memory of mapMemory back.
func unmapMemory(m []byte) {
	if err := syscall.Munmap(m); err != nil {
		panic("BUG: unmapping a temporary: " + err.Error())
	}
}
