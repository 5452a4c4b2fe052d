//go:build !linux

package llvm

// ReleasePages gives the memory of LLVM's code back to the system where that is
// known how to do.
func (l *LLVM) ReleasePages() {}
