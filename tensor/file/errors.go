package file

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// FileError says what is wrong with a file, and where.
type FileError struct {
	Path string // the file as the caller named it
	Line int    // line in the (decompressed) text, from 1; 0 where lines mean nothing
	Msg  string // what is wrong, what was expected, what to do
	Err  error  // the cause, if another package reported one; may be nil
}

// Error returns "path:line: message", or the message alone of what has no path and no lines.
func (e *FileError) Error() string {
	where := e.Path
	if where == "" && e.Line == 0 {
		return e.Msg
	}
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	return where + ": " + e.Msg
}

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *FileError) Unwrap() error { return e.Err }

// lineError is a complaint about a line of a block whose place in the file is
// not known yet: line counts from 0 at the start of the block.
type lineError struct {
	line int
	msg  string
}

// wrapError gives err a path. An error that has one already is left alone.
func wrapError(path string, err error) error {
	var fe *FileError
	if err == nil || errors.As(err, &fe) {
		return err
	}
	msg := err.Error()
	if te, ok := err.(*tensor.FormatError); ok { // the tensor's name is the path, which is said already
		unnamed := *te
		unnamed.Tensor = ""
		msg = unnamed.Error()
	}
	return &FileError{Path: path, Msg: msg, Err: err}
}

// errorf makes an error about the input as a whole (line 0) or one of its lines.
func (in *input) errorf(line int, format string, args ...any) error {
	return &FileError{Path: in.name, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// quote shows a piece of a file in a message: quoted, and cut when long.
func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return strconv.QuoteToASCII(string(b[:most])) + "…"
	}
	return strconv.QuoteToASCII(string(b))
}
