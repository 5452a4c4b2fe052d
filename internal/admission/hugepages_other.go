//go:build !linux

package admission

import "unsafe"

// AdviseHuge does nothing where pages have one size.
func AdviseHuge(unsafe.Pointer, int64) {}
