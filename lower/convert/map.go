package convert

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Map says which coordinates the entries of a conversion's source have in the target, and which of them it has, where it is
// more than the same tensor in another format: another shape, a transpose, a whole made of its blocks, a part of a
// whole, the other triangle of a symmetric matrix. Different entries go to different places. The target's extents are bound apart from the source's.
type Map struct {
	Groups []Group
	// Shift are axes of the target to whose coordinates a number is added: those of [Shifts].
	Shift []int
	// Cut leaves out what is beyond the target's extents.
	Cut bool
	// Mirror leaves out the diagonal of a matrix, and makes of each other value what is to stand on the other side of it.
	Mirror Mirror
}

// Group is a run of the source's axes and the run of the target's that stand for them: an entry's coordinates have the same number,
// in row-major order, in both. A run without axes is for one of extent 1.
type Group struct{ From, To []int }

// Mirror is what becomes of the values of a triangle in the other one.
type Mirror uint8

// The mirrors; the first is none.
const (
	NoMirror Mirror = iota
	Same
	Negated
	Conjugated
)

// Shifts has the numbers by which a map shifts coordinates in the place of its extents.
var Shifts = &ir.Tensor{Name: "shift"}

// some reports whether entries may be left out.
func (m *Map) some() bool { return m != nil && (m.Cut || m.Mirror != NoMirror) }

// Order is by which axes of the target entries are in order that are so by all axes of the source, those of the target that
// come first in axes, where all coordinates are 0, included.
func (m *Map) Order(source, axes []int) (order []int) {
	if m == nil {
		return source
	}
	for len(source) > 0 {
		g := m.Groups[slices.IndexFunc(m.Groups, func(g Group) bool { return slices.Contains(g.From, source[0]) })]
		if len(source) < len(g.From) || !slices.Equal(source[:len(g.From)], g.From) {
			break
		}
		order, source = append(order, g.To...), source[len(g.From):]
	}
	for i, axis := range axes {
		alone := slices.ContainsFunc(m.Groups, func(g Group) bool { return len(g.From) == 0 && slices.Contains(g.To, axis) })
		switch {
		case alone:
			order = slices.Insert(order, i, axis)
		case i == len(order) || order[i] != axis:
			return order
		}
	}
	return order
}

// mapped are the entries of the source at their coordinates in the target.
type mapped struct {
	*storedEntries
	*Map
}

// needed are the axes of the source from which wanted coordinates follow, and what entries are left out by.
func (s mapped) needed(want axisSet) (from axisSet) {
	for _, g := range s.Groups {
		if s.some() || axesOf(g.To)&want != 0 {
			from |= axesOf(g.From)
		}
	}
	return from
}

func (s mapped) column(axis int) loop.BufferID {
	for _, g := range s.Groups {
		if len(g.From) == 1 && len(g.To) == 1 && g.To[0] == axis && !slices.Contains(s.Shift, axis) {
			return s.storedEntries.column(g.From[0])
		}
	}
	return -1
}

func (s mapped) at(e *emit.Func, p loop.Expr, want axisSet) entry {
	return s.moved(e, s.storedEntries.at(e, p, s.needed(want)), want)
}

func (s mapped) each(e *emit.Func, lo, hi loop.Expr, want axisSet, body func(entry)) {
	s.storedEntries.each(e, lo, hi, s.needed(want), func(en entry) { body(s.moved(e, en, want)) })
}

func (s mapped) within(e *emit.Func, lo, hi loop.Expr, want axisSet) func(p loop.Expr) entry {
	at := s.storedEntries.within(e, lo, hi, s.needed(want))
	return func(p loop.Expr) entry { return s.moved(e, at(p), want) }
}

// moved is an entry of the source as the target has it.
func (s mapped) moved(e *emit.Func, from entry, want axisSet) entry {
	b := e.B
	en := entry{pos: from.pos, coords: map[int]loop.Expr{}}
	for _, g := range s.Groups {
		if !s.Cut && axesOf(g.To)&want == 0 {
			continue
		}
		s.regroup(e, g, from.coords, en.coords)
		for _, axis := range g.To {
			if slices.Contains(s.Shift, axis) {
				en.coords[axis] = b.Let("i", b.Add(en.coords[axis], e.Scalar(s.c.Dim(Shifts, axis))))
			}
			if s.Cut {
				en.keep = and(b, en.keep, b.Lt(en.coords[axis], e.Scalar(s.c.extentOf(axis))))
			}
		}
	}
	if s.Mirror != NoMirror {
		en.keep = and(b, en.keep, b.Ne(from.coords[0], from.coords[1]))
	}
	return en
}

// regroup computes the target's coordinates of a group from the source's.
func (s mapped) regroup(e *emit.Func, g Group, from, to map[int]loop.Expr) {
	b := e.B
	var number loop.Expr = loop.Int(0)
	for k, axis := range g.From {
		if k == 0 {
			number = from[axis]
		} else {
			number = b.Add(b.Mul(number, e.Scalar(s.extent(axis))), from[axis])
		}
	}
	for k := len(g.To) - 1; k > 0; k-- {
		size := e.Scalar(s.c.extentOf(g.To[k]))
		number = b.Let("number", number)
		above := b.Let("above", b.Div(number, size))
		to[g.To[k]] = b.Let("i", b.Sub(number, b.Mul(above, size)))
		number = above
	}
	if len(g.To) > 0 {
		to[g.To[0]] = b.Let("i", number)
	}
}

// and is both of two conditions, of which the first may be none.
func and(b *loop.Builder, x, y loop.Expr) loop.Expr {
	if x == nil {
		return y
	}
	return b.And(x, y)
}

// value is the value of an entry of the source as the target has it.
func (c *converter) value(e *emit.Func, p loop.Expr) loop.Expr {
	b, v := e.B, e.B.Load(e.Read(c.vals), p)
	if c.how.Map == nil || c.how.Map.Mirror < Negated {
		return v
	}
	v = b.Let("v", v)
	negated, dt := c.how.Map.Mirror == Negated, c.from.DType
	switch {
	case c.elem.IsComplex():
		re, im := loop.NewUnary(loop.Real, v), loop.NewUnary(loop.Neg, loop.NewUnary(loop.Imag, v))
		if negated {
			re = loop.NewUnary(loop.Neg, re)
		}
		return loop.NewBinary(loop.Complex, re, im)
	case !negated:
		return v
	case dt.IsInteger():
		return b.Sub(loop.Number(c.elem, 0), v)
	}
	return loop.NewBinary(loop.Xor, v, &loop.Const{Typ: c.elem, Bits: 1 << (8*c.elem.Size() - 1)})
}
