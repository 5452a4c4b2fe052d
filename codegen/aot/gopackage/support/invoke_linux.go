//go:build linux && (amd64 || arm64)

package support

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// invoke calls a function of a kernel with the structure of a call.
func invoke(fn uintptr, words unsafe.Pointer, chunk, thread int64) int32 {
	code, _, _ := purego.SyscallN(fn, uintptr(words), uintptr(chunk), uintptr(thread))
	return int32(code)
}
