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
}

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

// levelError makes a FormatError without a tensor name about one level.
func levelError(level int, format string, args ...any) *FormatError {
	return &FormatError{Level: level, Position: -1, Msg: fmt.Sprintf(format, args...)}
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

// ParseError says why a text is not a format, an element type or a number.
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

// didYouMean names the candidate nearest to word when it is near enough, and
// adds the general hint.
func didYouMean(word string, candidates []string, hint string) string {
	best, bestDistance := "", 1+len(word)/3
	for _, c := range candidates {
		if d := editDistance(word, c, bestDistance); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return hint
	}
	return fmt.Sprintf("did you mean %q? (%s)", best, hint)
}

// editDistance is the Levenshtein distance of a and b, or more than limit if
// their lengths alone show that it is.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
