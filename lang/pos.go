package lang

import "fmt"

// Pos is a place in the source text of a program. The zero Pos means that the
// place is not known.
type Pos struct {
	Offset int // bytes from the start, from 0
	Line   int // from 1
	Column int // in Unicode characters, from 1
}

// IsKnown says whether p names a place.
func (p Pos) IsKnown() bool { return p.Line > 0 }

// String returns "line:column", or "-" for an unknown place.
func (p Pos) String() string {
	if !p.IsKnown() {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// before orders places by offset; unknown places come first.
func (p Pos) before(q Pos) bool {
	if p.IsKnown() != q.IsKnown() {
		return !p.IsKnown()
	}
	return p.Offset < q.Offset
}
