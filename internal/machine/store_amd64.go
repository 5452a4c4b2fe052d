package machine

import "unsafe"

// storePast copies n bytes, a multiple of a line that is not 0, to where a line begins.
//
//go:noescape
func storePast(to, from unsafe.Pointer, n uintptr)

// CopyPast copies as copy does, and leaves what it writes in memory alone: a cache would read each line first, only for it to be
// overwritten. It is for what is not read again soon.
func CopyPast(to, from []byte) {
	const line = 64
	to = to[:len(from)]
	head := min(-uintptr(unsafe.Pointer(unsafe.SliceData(to)))%line, uintptr(len(from)))
	copy(to, from[:head])
	to, from = to[head:], from[head:]
	whole := len(from) &^ (line - 1)
	if whole > 0 {
		storePast(unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0]), uintptr(whole))
	}
	copy(to[whole:], from[whole:])
}
