//go:build !unix

package alloc

// mapMemory returns zeroed memory. Where there is no mmap it is Go memory.
func mapMemory(bytes int64) ([]byte, error) { return make([]byte, bytes+Align)[:bytes], nil }

// unmapMemory leaves the memory to the garbage collector.
func unmapMemory([]byte) {}
