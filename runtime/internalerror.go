package runtime

import (
	"fmt"
	"runtime/debug"

	"github.com/lacuna-sparse/lacuna/internal/flight"
)

// InternalError is a mistake of the compiler itself: a bug, not something wrong
// with the program. The process goes on.
type InternalError struct {
	Program string
	Panic   any
	Stack   []byte
}

// Error asks for a report.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error (a bug in lacuna, please report it with the program): %v\nprogram: %s", e.Panic, e.Program)
}

// Caught, deferred, turns a panic of the compiler into an InternalError.
func Caught(src string, err *error) {
	r := recover()
	if p, ok := r.(*flight.Panic); ok {
		*err = &InternalError{Program: src, Panic: p.Value, Stack: p.Stack}
	} else if r != nil {
		*err = &InternalError{Program: src, Panic: r, Stack: debug.Stack()}
	}
}
