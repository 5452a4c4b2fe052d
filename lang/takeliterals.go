package lang

import (
	"slices"
	"strconv"
)

// maxLiterals is how many numbers of a program are given to its kernel at most: as many as there
// are bytes that continue a character of UTF-8, and so begin none.
const maxLiterals = 0x40

// TakeLiterals finds the numbers of a program that a kernel can be given when it runs, so that programs that differ
// in nothing else share one: coordinates at which the right side reads, and the bounds of its slices. It numbers their
// indices (IndexExpr.Literal), and returns their values with the source that has other bytes in their places, as many,
// so that positions are the same. Programs of one such source are alike but for the values.
//
// A 0 stays, as a slice from 0 is a whole dimension. So do offsets such as that of x(i+1), which decide how far loops run,
// and all numbers of statements with numbers on the left, which are compared with those.
func (p *Program) TakeLiterals() (values []int64, source string) {
	text := []byte(p.Source)
	for _, s := range p.Stmts {
		if slices.ContainsFunc(Accesses(s.LHS), func(a *Access) bool {
			return slices.ContainsFunc(a.Indices, func(x IndexExpr) bool { return x.Const != 0 })
		}) {
			continue
		}
		for _, a := range Accesses(s.RHS) {
			for i := range a.Indices {
				values = a.Indices[i].takeLiteral(values, text, p.Source)
			}
		}
	}
	return values, string(text)
}

// takeLiteral numbers an index and covers its numbers in the text, if they are there and not worked out.
func (x *IndexExpr) takeLiteral(values []int64, text []byte, source string) []int64 {
	if x.Gather != nil || x.Const == 0 || x.Slice != (len(x.Terms) > 0) {
		return values
	}
	first := digitsAt(source, x.Pos.Offset)
	if first == 0 || source[x.Pos.Offset:x.Pos.Offset+first] != strconv.FormatInt(x.Const, 10) {
		return values
	}
	end, next := x.Pos.Offset+first, byte(',')
	if end < len(source) {
		next = source[end]
	}
	if x.Slice != (next == ':') || !x.Slice && next != ',' && next != ')' {
		return values
	}
	n := slices.Index(values, x.Const)
	if n < 0 {
		if len(values) == maxLiterals {
			return values
		}
		n = len(values)
		values = append(values, x.Const)
	}
	x.Literal = n + 1
	cover(text[x.Pos.Offset:end], byte(0x80+n))
	if x.Slice {
		cover(text[end+1:end+1+digitsAt(source, end+1)], 0xFF) // Bind alone asks for the end
	}
	return values
}

// digitsAt is how many digits stand in a text from a place on.
func digitsAt(text string, at int) int {
	n := 0
	for at+n < len(text) && '0' <= text[at+n] && text[at+n] <= '9' {
		n++
	}
	return n
}

func cover(text []byte, by byte) {
	for i := range text {
		text[i] = by
	}
}
