package hdf5

import (
	"errors"
	"fmt"
)

// Error says what is wrong with a file or an object in it.
type Error struct {
	Path string // the object, such as "/tensor/values"; "" for the file as a whole
	Msg  string // what is wrong, what was expected, what to do
	Err  error  // the cause, such as an error of the reader; may be nil
}

// Error returns "path: message".
func (e *Error) Error() string {
	if e.Path == "" {
		return "hdf5: " + e.Msg
	}
	return "hdf5: " + e.Path + ": " + e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotFound is wrapped by the errors of look-ups of what is not there.
var ErrNotFound = errors.New("not found")

// ErrUnsupported is wrapped by errors about sound files that use what this
// package does not read, such as a filter.
var ErrUnsupported = errors.New("not supported")

// ErrFormat is wrapped by the error of Open for a file that has no HDF5 signature.
var ErrFormat = errors.New("not an HDF5 file")

// errorf makes an error without a path; at adds it.
func errorf(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...)}
}

// unsupported makes an error about something that is sound but not read.
func unsupported(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Err: ErrUnsupported}
}

// at gives err the path of the object that it is about, unless it has one.
func at(path string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Path: path, Msg: err.Error(), Err: err}
	}
	if e.Path != "" {
		return err
	}
	return &Error{Path: path, Msg: e.Msg, Err: e.Err}
}
