//go:build !linux

package runtime

import "unsafe"

// adviseHuge does nothing where pages have one size.
func adviseHuge(unsafe.Pointer, int64) {}
