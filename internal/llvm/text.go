package llvm

import (
	"strings"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// takeMessage copies a message that LLVM allocated and gives it back to LLVM.
func (l *LLVM) takeMessage(address uintptr) string {
	if address == 0 {
		return ""
	}
	text := dl.String(address)
	l.api.disposeMessage(address)
	return text
}

// takeError turns an LLVMErrorRef, which it consumes, into a Go error; nil for
// success.
func (l *LLVM) takeError(step string, ref uintptr) error {
	if ref == 0 {
		return nil
	}
	message := l.api.getErrorMessage(ref)
	text := dl.String(message)
	l.api.disposeErrorMessage(message)
	return l.failure(step, text)
}

// failure makes the error of a step.
func (l *LLVM) failure(step, message string) error {
	return &Error{Step: step, Version: l.version, Message: strings.TrimSpace(message)}
}

// takeBuffer copies the contents of a memory buffer and frees it.
func (l *LLVM) takeBuffer(buf uintptr) []byte {
	size := l.api.getBufferSize(buf)
	data := make([]byte, size)
	if size > 0 {
		copy(data, unsafe.Slice((*byte)(dl.Pointer(l.api.getBufferStart(buf))), size))
	}
	l.api.disposeMemoryBuffer(buf)
	return data
}

// newBuffer makes a memory buffer with a copy of data.
func (l *LLVM) newBuffer(data []byte, name string) uintptr {
	return l.api.createMemoryBufferCopy(unsafe.SliceData(data), uintptr(len(data)), name)
}
