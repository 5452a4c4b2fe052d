package tensor

import (
	"fmt"
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

// didYouMean names the candidate nearest to word, the first of several, when it
// is near enough, and adds the general hint.
func didYouMean(word string, candidates []string, hint string) string {
	best, bestDistance := "", 2+len(word)/4 // nearer than this
	for _, c := range candidates {
		if d := editDistance(word, c, bestDistance); d < bestDistance && d < len(c) {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return hint
	}
	return fmt.Sprintf("did you mean %q? (%s)", best, hint)
}

// editDistance is the number of letters to insert, delete, replace or swap with
// a neighbour to make b of a (optimal string alignment), or more than limit if
// the lengths alone show that it is.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	// rows[i] is the distance of a[:i] to every prefix of b.
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			cost = min(cost, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cost = min(cost, rows[i-2][j-2]+1)
			}
			rows[i][j] = cost
		}
	}
	return rows[len(a)][len(b)]
}
