package binsparse

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Error says what is wrong with a binsparse tensor.
type Error struct {
	Dataset string // the array that is meant; "" for the descriptor as a whole
	Msg     string // what is wrong, what was expected
	Err     error  // the cause, if another package reported one; may be nil
}

// Error returns the message with the dataset before it.
func (e *Error) Error() string {
	if e.Dataset == "" {
		return "binsparse: " + e.Msg
	}
	return fmt.Sprintf("binsparse: dataset %q: %s", e.Dataset, e.Msg)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// errorf makes an error about the descriptor.
func errorf(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...)}
}

// datasetErrorf makes an error about an array.
func datasetErrorf(name, format string, args ...any) error {
	return &Error{Dataset: name, Msg: fmt.Sprintf(format, args...)}
}

// pointersName finds package tensor's names of pointer arrays in a message.
var pointersName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bpointers_\d+`) })

// tensorError gives an error of package tensor the names of binsparse: what is
// pointers_0 there is pointers_to_1 here.
func tensorError(err error) error {
	msg := err.Error()
	if te, ok := err.(*tensor.FormatError); ok { // whose tensor and level say nothing new
		msg = te.Msg
	}
	msg = pointersName().ReplaceAllStringFunc(msg, func(name string) string {
		k, _ := strconv.Atoi(name[len("pointers_"):]) // digits by the pattern
		return "pointers_to_" + strconv.Itoa(k+1)
	})
	return &Error{Msg: msg, Err: err}
}
