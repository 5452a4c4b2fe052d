package admission

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of the pages that AdviseHuge asks for.
const hugePage = 2 << 20

// AdviseHuge asks the system to back those huge pages that lie within a new block
// as such. A block is written all over, mostly in an order that jumps about: one
// page fault for each 2 MiB instead of 512, and entries of the page tables that
// stay in the processor. Nothing beyond the block is touched, so it takes no more
// memory; where the system does not want to, nothing is lost.
func AdviseHuge(p unsafe.Pointer, bytes int64) {
	skip := int64(-uintptr(p) & (hugePage - 1))
	if whole := (bytes - skip) &^ (hugePage - 1); whole > 0 {
		_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), whole), syscall.MADV_HUGEPAGE)
	}
}
