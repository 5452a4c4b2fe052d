package tensor

import (
	"fmt"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"strings"
)

// FormatError says which rule of its format a tensor breaks, and where.
type FormatError struct {
	Tensor   string // the tensor's name (see WithName), or "" if it has none
	Level    int    // the level in storage order, or -1 when no one level is meant
	Position int64  // the element of that level's array, or -1 when no one element is meant
	Msg      string // what is wrong, what was expected
	Err      error  // what caused it, or nil
}

// Unwrap returns the cause, or nil.
func (e *FormatError) Unwrap() error { return e.Err }

// Error returns the message with the tensor, level and position before it.
func (e *FormatError) Error() string {
	var b strings.Builder
	b.WriteString("tensor")
	if e.Tensor != "" {
		fmt.Fprintf(&b, " %q", e.Tensor)
	}
	if e.Level >= 0 {
		fmt.Fprintf(&b, ", level %d", e.Level)
	}
	if e.Position >= 0 {
		fmt.Fprintf(&b, ", position %d", e.Position)
	}
	b.WriteString(": ")
	b.WriteString(e.Msg)
	return b.String()
}

// levelError makes a FormatError without a tensor name about one level. An error among args is its cause.
func levelError(level int, format string, args ...any) *FormatError {
	e := &FormatError{Level: level, Position: -1, Msg: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			e.Err = err
		}
	}
	return e
}

// Errorf is the error of packages that make tensors in ways of their own: about one level, or the whole tensor for the level -1. An error
// among args is its cause.
func Errorf(level int, format string, args ...any) error { return levelError(level, format, args...) }

// tensorError makes a FormatError without a tensor name about the whole tensor.
func tensorError(format string, args ...any) *FormatError {
	return levelError(-1, format, args...)
}

// positionError makes a FormatError without a tensor name about one element.
func positionError(level, position int, format string, args ...any) *FormatError {
	return &FormatError{Level: level, Position: int64(position), Msg: fmt.Sprintf(format, args...)}
}

// named puts the tensor's name into an error of this package.
func named(err error, name string) error {
	if e, ok := err.(*FormatError); ok && name != "" {
		copied := *e
		copied.Tensor = name
		return &copied
	}
	return err
}

// Named puts the name that options give to a tensor, if they do, into an error about it.
func Named(err error, opts ...Option) error { return named(err, collect(opts).name) }

// ParseError says why a text is not a format, an element type, a number or an assumption.
type ParseError struct {
	Text string // what was read
	Msg  string // what is wrong with it
	Hint string // what to write instead, or ""
}

// Error returns the message, the text and the hint on one line.
func (e *ParseError) Error() string {
	s := fmt.Sprintf("%s %q", e.Msg, e.Text)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// didYouMean names the candidate nearest to word, where one is near enough, and adds the general hint.
func didYouMean(word string, candidates []string, hint string) string {
	if best := suggest.Nearest(word, candidates); best != "" {
		return fmt.Sprintf("did you mean %q? (%s)", best, hint)
	}
	return hint
}
