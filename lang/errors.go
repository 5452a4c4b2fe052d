package lang

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake in a program, or in how it is used, with the place and
// advice. Parse, Check and Bind return only errors of this type (Check and Bind as
// Errors).
type Error struct {
	Code    Code
	Pos     Pos
	Msg     string // what is wrong and what was expected
	Hint    string // what to write instead; may be ""
	InGo    string // what that is called in Go, which is not what it is called elsewhere: see [OutsideGo]; may be ""
	Related []Note // other places that matter
	Source  string // the program text, to show the line; may be ""
	Err     error  // what a run failed with, if the mistake showed only then; else nil
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Note points at a further place of an error.
type Note struct {
	Pos Pos
	Msg string
}

// Error renders the message, the source line with a caret under the place, the
// related places and the hint.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Pos.IsKnown() {
		fmt.Fprintf(&b, "%s: ", e.Pos)
	}
	fmt.Fprintf(&b, "%s [%s]", e.Msg, e.Code)
	b.WriteString(excerpt(e.Source, e.Pos))
	for _, n := range e.Related {
		fmt.Fprintf(&b, "\n%s: %s", n.Pos, n.Msg)
		b.WriteString(excerpt(e.Source, n.Pos))
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s", e.Hint)
	}
	if e.InGo != "" {
		fmt.Fprintf(&b, "\nin Go: %s", e.InGo)
	}
	return b.String()
}

// OutsideGo takes what is said of Go out of the errors of this package in err, for users of programs that have words of their own,
// such as the command line.
func OutsideGo(err error) error {
	var list Errors
	var one *Error
	if errors.As(err, &list) {
		for _, e := range list {
			e.InGo = ""
		}
	}
	if errors.As(err, &one) {
		one.InGo = ""
	}
	return err
}

// WithSource returns a copy of e that shows the lines of src.
func (e *Error) WithSource(src string) *Error {
	c := *e
	c.Source = src
	return &c
}

// Errors is a non-empty list of errors in source order.
type Errors []*Error

// Error renders every error, separated by blank lines.
func (l Errors) Error() string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "\n\n")
}

// Unwrap makes errors.As find the single errors.
func (l Errors) Unwrap() []error {
	list := make([]error, len(l))
	for i, e := range l {
		list[i] = e
	}
	return list
}

// asError returns the list in source order with src attached, or nil when it is empty.
func (l Errors) asError(src string) error {
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, func(a, b *Error) int { return cmp.Compare(a.Pos.Offset, b.Pos.Offset) })
	for _, e := range l {
		e.Source = src
	}
	return l
}

// Unsupported returns the error for a construct that is legal but that a later
// stage cannot compile yet.
func Unsupported(construct string, pos Pos) *Error {
	return &Error{Code: ErrUnsupported, Pos: pos, Msg: "not supported yet: " + construct}
}
