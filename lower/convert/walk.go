package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// entry is what a walk is at.
type entry struct {
	pos    loop.Expr         // its number among all entries
	coords map[int]loop.Expr // by axis: those that were asked for
	keep   loop.Expr         // of the source's: whether a map has it in the target; nil if it has all
}

// axisSet is a set of axes; tensor.MaxRank is 64.
type axisSet uint64

func axesOf(list []int) (s axisSet) {
	for _, axis := range list {
		s |= 1 << axis
	}
	return s
}

func allAxes(rank int) axisSet { return 1<<rank - 1 }

func (s axisSet) has(axis int) bool { return s>>axis&1 != 0 }

// entrySource is a numbered list of entries: those of the source, or what sorting
// them has made.
type entrySource interface {
	// open comes first in every function that walks.
	open(e *emit.Func)
	// each emits a loop over the entries lo to hi-1.
	each(e *emit.Func, lo, hi loop.Expr, want axisSet, body func(entry))
	// at emits the coordinates of entry p.
	at(e *emit.Func, p loop.Expr, want axisSet) entry
	// column is the array with one coordinate of every entry, -1 if there is none.
	column(axis int) loop.BufferID
}

// walk is the source's list.
type walk interface {
	entrySource
	// total is the number of entries.
	total() loop.SizeExpr
	// within emits what finds single entries of those from lo to hi, in any order: it looks
	// for the parents of the first and of the last.
	within(e *emit.Func, lo, hi loop.Expr, want axisSet) func(p loop.Expr) entry
}

// storedEntries are the entries of the conversion's source in storage order: the
// positions of its last level or, of dense blocks, of the last level above them.
//
// Going from one entry to the next moves the position at each level by one or not
// at all, so a walk is an odometer: one position for each level above the last,
// found once by searching from the first entry of the chunk upwards, and then
// counted on. Chunks thus have equal numbers of entries even where one row has
// most of them.
type storedEntries struct {
	c     *converter
	nodes []node
}

// node is a dense level, or a compressed level with its singletons.
type node struct {
	first, last int
	dense       bool
	pos         loop.BufferID   // of a compressed level
	crd         []loop.BufferID // by level, from first
}

func newStoredEntries(c *converter, depth int) *storedEntries {
	s := &storedEntries{c: c}
	for l, level := range c.from.Format.Physical()[:depth] {
		switch {
		case level.Full():
			s.nodes = append(s.nodes, node{first: l, last: l, dense: true})
			continue
		case level.Ranges():
			s.nodes = append(s.nodes, node{first: l, last: l, pos: c.Input(c.from, l, emit.Positions)})
		case level.Branchless():
			s.nodes[len(s.nodes)-1].last = l
		}
		n := &s.nodes[len(s.nodes)-1]
		n.crd = append(n.crd, c.Input(c.from, l, emit.Coordinates))
	}
	return s
}

// extent is the program scalar with the extent of an axis of the source.
func (s *storedEntries) extent(axis int) loop.ScalarID { return s.c.Dim(s.c.from, axis) }

// axis is the axis that level l stores.
func (s *storedEntries) axis(l int) int { return s.c.from.Format.Order()[l] }

func (s *storedEntries) total() loop.SizeExpr {
	n := loop.SizeExpr(loop.SizeConst(1))
	for _, x := range s.nodes {
		if x.dense {
			n = emit.Times(n, loop.SizeScalar(s.extent(s.axis(x.first))))
		} else {
			n = &loop.SizeLoad{Buffer: x.pos, Index: n}
		}
	}
	return n
}

// positions is the number of positions of nodes 0 to i, in a function.
func (s *storedEntries) positions(e *emit.Func, i int) loop.Expr {
	var n loop.Expr = loop.Int(1)
	for _, x := range s.nodes[:i+1] {
		if x.dense {
			n = e.B.Mul(n, e.Scalar(s.extent(s.axis(x.first))))
		} else {
			n = e.B.LoadIndex(e.Read(x.pos), n)
		}
	}
	return e.B.Let("n", n)
}

func (*storedEntries) open(*emit.Func) {}

func (s *storedEntries) column(axis int) loop.BufferID {
	leaf := s.nodes[len(s.nodes)-1]
	for i, crd := range leaf.crd {
		if s.axis(leaf.first+i) == axis {
			return crd
		}
	}
	return -1
}

// top is the outermost node that stores one of the axes, at most the last.
func (s *storedEntries) top(want axisSet) int {
	for i, x := range s.nodes {
		for l := x.first; l <= x.last; l++ {
			if want.has(s.axis(l)) {
				return i
			}
		}
	}
	return len(s.nodes) - 1
}

// odometer is where a walk stands: by node, from the outermost that is wanted.
type odometer struct {
	top int
	pos []*loop.Ref
	crd []*loop.Ref // of dense nodes
}

// locate sets an odometer to entry p, of which there may be none if the chunk is
// empty. The last node's position is p itself.
func (s *storedEntries) locate(e *emit.Func, p loop.Expr, top int) odometer {
	b := e.B
	o := odometer{top: top, pos: make([]*loop.Ref, len(s.nodes)), crd: make([]*loop.Ref, len(s.nodes))}
	at := p
	for i := len(s.nodes) - 1; i >= top; i-- {
		x := s.nodes[i]
		if i < len(s.nodes)-1 {
			o.pos[i] = b.Var("q", at)
		}
		if x.dense {
			size := e.Scalar(s.extent(s.axis(x.first)))
			if i == 0 {
				o.crd[i] = b.Var("i", at)
			} else {
				o.crd[i] = b.Var("i", b.Rem(at, size))
			}
			if i > top {
				at = b.Let("parent", b.Div(at, size))
			}
		} else if i > top {
			at = parentOf(e, e.Read(x.pos), s.positions(e, i-1), at)
		}
	}
	return o
}

// parentOf is the parent of position p: the last of n whose positions begin at
// or before it.
func parentOf(e *emit.Func, pos loop.BufID, n, p loop.Expr) loop.Expr {
	return parentBetween(e, pos, loop.Int(0), n, p)
}

// parentBetween is parentOf where the parent is known to be from first to last.
func parentBetween(e *emit.Func, pos loop.BufID, first, last, p loop.Expr) loop.Expr {
	b := e.B
	return b.Let("parent", emit.Bisect(b, first, last, func(at loop.Expr) loop.Expr {
		return b.Le(b.LoadIndex(pos, b.Add(at, loop.Int(1))), p)
	}))
}

// coordinates adds the coordinates of a node at a position.
func (s *storedEntries) coordinates(e *emit.Func, i int, pos, dense loop.Expr, want axisSet, out map[int]loop.Expr) {
	x := s.nodes[i]
	for l := x.first; l <= x.last; l++ {
		axis := s.axis(l)
		switch {
		case !want.has(axis):
		case x.dense:
			out[axis] = e.B.Let("i", dense)
		default:
			out[axis] = e.B.Let("i", e.B.LoadIndex(e.Read(x.crd[l-x.first]), pos))
		}
	}
}

func (s *storedEntries) at(e *emit.Func, p loop.Expr, want axisSet) entry {
	top := s.top(want)
	o := s.locate(e, p, top)
	en := entry{pos: p, coords: map[int]loop.Expr{}}
	for i := top; i < len(s.nodes); i++ {
		pos := p
		if i < len(s.nodes)-1 {
			pos = o.pos[i]
		}
		s.coordinates(e, i, pos, o.dense(i), want, en.coords)
	}
	return en
}

// dense is the coordinate of a dense node, nil of another.
func (o *odometer) dense(i int) loop.Expr {
	if o.crd[i] == nil {
		return nil
	}
	return o.crd[i]
}

func (s *storedEntries) each(e *emit.Func, lo, hi loop.Expr, want axisSet, body func(entry)) {
	b := e.B
	leaf, top := len(s.nodes)-1, s.top(want)
	x := s.nodes[leaf]
	if top == leaf && (!x.dense || leaf == 0) {
		b.For("p", lo, hi, func(p loop.Expr) {
			en := entry{pos: p, coords: map[int]loop.Expr{}}
			s.coordinates(e, leaf, p, p, want, en.coords)
			body(en)
		})
		return
	}
	if s.c.how.Grids {
		s.eachAlone(e, lo, hi, want, body)
		return
	}
	o := s.locate(e, lo, top)
	p := b.Var("p", lo)
	b.While(b.Lt(p, hi), func() {
		outer := map[int]loop.Expr{}
		for i := top; i < leaf; i++ {
			s.coordinates(e, i, o.pos[i], o.dense(i), want, outer)
		}
		begin := b.Let("begin", p)
		var end, shift loop.Expr
		if x.dense {
			shift = b.Let("shift", b.Sub(o.crd[leaf], p))
			end = b.Add(begin, b.Sub(e.Scalar(s.extent(s.axis(x.first))), o.crd[leaf]))
		} else {
			end = b.LoadIndex(e.Read(x.pos), b.Add(o.pos[leaf-1], loop.Int(1)))
		}
		end = b.Let("end", b.Min(end, hi))
		b.For("p", begin, end, func(p loop.Expr) {
			en := entry{pos: p, coords: map[int]loop.Expr{}}
			for axis, c := range outer {
				en.coords[axis] = c
			}
			var c loop.Expr
			if x.dense {
				c = b.Add(p, shift)
			}
			s.coordinates(e, leaf, p, c, want, en.coords)
			body(en)
		})
		b.Assign(p, end)
		if x.dense {
			b.Assign(o.crd[leaf], loop.Int(0))
		}
		if top < leaf {
			s.advance(e, &o, leaf-1, b.Lt(p, hi))
		}
	})
}

// eachAlone emits a loop whose iterations need nothing from each other: every entry
// searches for its parents, between those of the first and of the last entry.
func (s *storedEntries) eachAlone(e *emit.Func, lo, hi loop.Expr, want axisSet, body func(entry)) {
	at := s.within(e, lo, hi, want)
	e.B.For("p", lo, hi, func(p loop.Expr) { body(at(p)) })
}

func (s *storedEntries) within(e *emit.Func, lo, hi loop.Expr, want axisSet) func(p loop.Expr) entry {
	b := e.B
	leaf, top := len(s.nodes)-1, s.top(want)
	var from, to odometer
	if top < leaf || s.nodes[leaf].dense && leaf > 0 {
		from, to = s.locate(e, lo, top), s.locate(e, b.Let("last", b.Sub(hi, loop.Int(1))), top)
	}
	return func(p loop.Expr) entry {
		en := entry{pos: p, coords: map[int]loop.Expr{}}
		at := p
		for i := leaf; i >= top; i-- {
			x := s.nodes[i]
			if !x.dense {
				s.coordinates(e, i, at, nil, want, en.coords)
				if i > top {
					at = parentBetween(e, e.Read(x.pos), from.pos[i-1], to.pos[i-1], at)
				}
				continue
			}
			coord, size := at, e.Scalar(s.extent(s.axis(x.first)))
			if i > 0 {
				coord = b.Let("i", b.Rem(at, size))
			}
			s.coordinates(e, i, at, coord, want, en.coords)
			if i > top {
				at = b.Let("parent", b.Div(at, size))
			}
		}
		return en
	}
}

// advance moves the odometer to the next position of node i. Parents without
// positions are passed over, unless the walk has ended and there may be none.
func (s *storedEntries) advance(e *emit.Func, o *odometer, i int, more loop.Expr) {
	b := e.B
	b.Assign(o.pos[i], b.Add(o.pos[i], loop.Int(1)))
	x := s.nodes[i]
	if !x.dense {
		if i > o.top {
			b.If(more, func() {
				next := b.Add(o.pos[i-1], loop.Int(1))
				b.While(b.Ge(o.pos[i], b.LoadIndex(e.Read(x.pos), next)), func() {
					s.advance(e, o, i-1, loop.Truth(true))
				})
			}, nil)
		}
		return
	}
	b.Assign(o.crd[i], b.Add(o.crd[i], loop.Int(1)))
	if i == 0 {
		return
	}
	b.If(b.Eq(o.crd[i], e.Scalar(s.extent(s.axis(x.first)))), func() {
		b.Assign(o.crd[i], loop.Int(0))
		if i > o.top {
			s.advance(e, o, i-1, more)
		}
	}, nil)
}

// columns are entries of which every coordinate that matters has an array.
type columns map[int]loop.BufferID // by axis

func (columns) open(*emit.Func) {}

func (s columns) column(axis int) loop.BufferID {
	if id, ok := s[axis]; ok {
		return id
	}
	return -1
}

func (s columns) at(e *emit.Func, p loop.Expr, want axisSet) entry {
	en := entry{pos: p, coords: map[int]loop.Expr{}}
	for axis := 0; axis < tensor.MaxRank; axis++ {
		if want.has(axis) {
			en.coords[axis] = e.B.Let("i", e.B.LoadIndex(e.Read(s[axis]), p))
		}
	}
	return en
}

func (s columns) each(e *emit.Func, lo, hi loop.Expr, want axisSet, body func(entry)) {
	e.B.For("p", lo, hi, func(p loop.Expr) { body(s.at(e, p, want)) })
}
