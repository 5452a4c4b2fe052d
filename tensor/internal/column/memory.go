package column

import (
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/admission"
)

// Alignment of the memory that Allocate returns, in bytes: a cache line, and the
// width of the widest vector registers.
const Alignment = 64

// Allocate returns so many bytes, all 0, unless neither the machine nor the limits around the process can serve that.
func Allocate(size int) (unsafe.Pointer, error) {
	var c admission.Account
	c.Open(0)
	if err := c.Admit(int64(size), 0); err != nil {
		return nil, err
	}
	memory := make([]byte, size+Alignment)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % Alignment
	if size >= 4<<20 { // rows of a factor that entries pick lie on more small pages than a processor knows
		admission.AdviseHuge(unsafe.Pointer(&memory[skip]), int64(size))
	}
	return unsafe.Pointer(&memory[skip]), nil
}
