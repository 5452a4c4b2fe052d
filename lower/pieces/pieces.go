// Package pieces finds where a nest is cut into pieces that may begin between any two entries: a piece begins at
// the coordinates of some loops, (i, j, …), in the order in which the loops go through them, and ends where the next
// begins. Where that is follows from the entries of all operands together (the merge path of Odeh, Green, Mwassi, Shmueli and
// Birk, Merge Path – Parallel Merging Made Simple, 2012, for any number of operands and levels): each piece has as many as
// others, up to those of one coordinate.
package pieces

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// nearTarget is the part of its work by which a piece may begin early: steps of the search miss the caches.
const nearTarget = 8

// Pieces is how a nest is cut into pieces.
type Pieces struct {
	Loops []*ir.Forall // that pieces begin and end in, outermost first
	Count loop.ScalarID
	// Starts are the coordinates at which pieces begin, and the last ends, by loop.
	Starts []loop.BufferID
	// Before is how many stored elements of an operand lie before these.
	Before map[*ir.Access]loop.BufferID
}

// searchGrain is how many beginnings of pieces a chunk searches for: each takes about as long as a thousand entries.
const searchGrain = 16

// Search emits the stage that finds where pieces of a nest begin in some loops, each of so many entries of operands. dense
// says that the outermost loop goes through all coordinates, which count too.
func Search(k *emit.Builder, loops []*ir.Forall, counted []*ir.Access, grain int64, dense bool, extent func(*ir.Index) loop.ScalarID) *Pieces {
	p := &Pieces{Loops: loops, Before: map[*ir.Access]loop.BufferID{}}
	name := k.Result.Tensor.Name
	p.Count = k.NewScalar(name+"_pieces", false)
	total := level.Stored(k, counted[0].Tensor)
	for _, a := range counted[1:] {
		total = &loop.SizeOp{Op: loop.Add, X: total, Y: level.Stored(k, a.Tensor)}
	}
	if dense {
		total = &loop.SizeOp{Op: loop.Add, X: total, Y: loop.SizeScalar(extent(p.Loops[0].Index))}
	}
	ends := &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(p.Count), Y: loop.SizeConst(1)}
	st := loop.Stage{Lets: []loop.ScalarLet{{Scalar: p.Count, Value: emit.Max(loop.SizeConst(1), emit.CeilDiv(total, loop.SizeConst(grain)))}}}
	buffer := func(name string) loop.BufferID {
		id := k.Buffer(name, loop.I64, loop.Temp)
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: id, Len: ends})
		return id
	}
	for _, g := range p.Loops {
		p.Starts = append(p.Starts, buffer(name+"_start_"+g.Index.Name))
	}
	for _, a := range counted {
		p.Before[a] = buffer(name + "_before_" + a.Tensor.Name)
	}

	s := &search{Func: k.NewFunc("pieces_" + name), Pieces: p, k: k, extent: extent, dense: dense}
	b := s.B
	b.For("piece", b.Lo(), b.Hi(), func(piece loop.Expr) {
		s.open(counted)
		inside := b.Let("inside", b.Lt(piece, s.Scalar(p.Count)))
		var coords []*loop.Ref
		for l, g := range p.Loops {
			coords = append(coords, b.Var(g.Index.Name, loop.Int(0)))
			if l == 0 {
				b.If(b.Not(inside), func() { b.Assign(coords[0], s.Scalar(s.extent(g.Index))) }, nil)
			}
		}
		b.If(b.And(inside, b.Gt(piece, loop.Int(0))), func() {
			target := b.Let("target", b.Mul(piece, loop.Int(grain)))
			s.reached, s.near = b.Var("reached", loop.Int(0)), b.Let("near", b.Sub(target, loop.Int(grain/nearTarget)))
			for l, g := range p.Loops {
				s.descend(l, coords, s.Scalar(s.extent(g.Index)), target)
			}
		}, func() { s.whole(inside) })
		for l, c := range coords {
			b.Store(s.Write(p.Starts[l]), piece, c)
		}
		for _, o := range s.operands {
			b.Store(s.Write(p.Before[o.access]), piece, o.before)
		}
	})
	found := s.Stage("pieces")
	found.Lets, found.Allocs, found.Symbolic = st.Lets, st.Allocs, true
	found.Partition = k.Partition(ends, -1, searchGrain)
	k.AddStage(found)
	return p
}

// search finds where one piece begins.
type search struct {
	*emit.Func
	*Pieces
	k        *emit.Builder
	extent   func(*ir.Index) loop.ScalarID
	dense    bool
	operands []*operand
	reached  *loop.Ref // how much lies before the coordinates found so far
	near     loop.Expr // with more than that before it, a piece may begin
}

// operand is an operand during the search.
type operand struct {
	access   *ir.Access
	levels   int
	from, to loop.Expr // positions of the level reached that have the coordinates found so far
	before   *loop.Ref // the result: stored elements before the piece
}

// open begins a search, at the root of all operands.
func (s *search) open(counted []*ir.Access) {
	s.operands = nil
	for _, a := range counted {
		s.operands = append(s.operands, &operand{access: a, levels: len(a.Tensor.Format.Physical()),
			from: loop.Int(0), to: loop.Int(1), before: s.B.Var("before", loop.Int(0))})
	}
}

// whole sets what lies before the first piece, or else behind the last.
func (s *search) whole(first loop.Expr) {
	b := s.B
	b.If(first, nil, func() {
		for _, o := range s.operands {
			_, end := s.children(o, 0, loop.Int(0), loop.Int(1))
			b.Assign(o.before, s.stored(o, 1, end))
		}
	})
}

// children are the positions of level l under those of the level above from from to to.
func (s *search) children(o *operand, l int, from, to loop.Expr) (begin, end loop.Expr) {
	b, v := s.B, level.Of(s.k, o.access.Tensor, l)
	switch {
	case v.Full():
		n := s.Scalar(v.Size())
		return b.Let("begin", b.Mul(from, n)), b.Let("end", b.Mul(to, n))
	case v.Ranges():
		pos := s.Read(v.Pos())
		return b.Let("begin", b.LoadIndex(pos, from)), b.Let("end", b.LoadIndex(pos, to))
	}
	return from, to
}

// stored is how many elements are stored under the first n positions of the level above l.
func (s *search) stored(o *operand, l int, n loop.Expr) loop.Expr {
	for ; l < o.levels; l++ {
		n, _ = s.children(o, l, n, n)
	}
	return n
}

// descend finds the coordinate of loop l: the last before which, under the coordinates found so far, no more lies
// than the target, or of the innermost loop one that is near that.
func (s *search) descend(l int, coords []*loop.Ref, n, target loop.Expr) {
	b := s.B
	lo, hi := coords[l], b.Var("above", n)
	type side struct {
		*operand
		first    loop.Expr // of a level that has all coordinates
		crd      loop.BufID
		from, to *loop.Ref // where lo and hi are
	}
	var sides []side
	rest := loop.Expr(loop.Int(0)) // of operands that have no such level
	for _, o := range s.operands {
		if l >= o.levels {
			rest = b.Add(rest, s.stored(o, o.levels, o.from))
			continue
		}
		begin, end := s.children(o, l, o.from, o.to)
		d := side{operand: o, from: b.Var("from", begin), to: b.Var("to", end)}
		if v := level.Of(s.k, o.access.Tensor, l); v.Full() {
			d.first = begin
		} else {
			d.crd = s.Read(v.Crd())
		}
		sides = append(sides, d)
	}
	if s.dense && l > 0 {
		rest = b.Add(rest, coords[0])
	}
	rest = b.Let("rest", rest)
	// Operands of which each entry counts once, and which are spread alike, have a coordinate near the entries that
	// are as far on in them as the target is in all: it is between the first and the last of these.
	var guesses []*loop.Ref
	lists := l == 0 && !s.dense
	for _, d := range sides {
		lists = lists && OnlyList(d.access)
	}
	if lists {
		guesses = []*loop.Ref{b.Var("guess", n), b.Var("guess", loop.Int(0))}
		sizes, total := make([]loop.Expr, len(sides)), loop.Expr(loop.Int(0))
		for i, d := range sides {
			sizes[i] = b.Let("size", b.Sub(d.to, d.from))
			total = b.Add(total, sizes[i])
		}
		share := b.Let("share", b.Div(b.Cast(loop.F64, target), b.Cast(loop.F64, total)))
		for i, d := range sides {
			size := sizes[i]
			part := b.Mul(b.Cast(loop.F64, size), share)
			b.If(b.Gt(size, loop.Int(0)), func() {
				at := b.Let("at", b.Add(d.from, b.Min(b.Cast(loop.I64, part), b.Sub(size, loop.Int(1)))))
				c := b.Let("c", b.LoadIndex(d.crd, at))
				b.Assign(guesses[0], b.Min(guesses[0], c))
				b.Assign(guesses[1], b.Max(guesses[1], b.Add(c, loop.Int(1))))
			}, nil)
		}
	}
	guess := b.Var("guess", loop.Int(0))
	apart := b.Lt(loop.Int(1), b.Sub(hi, lo))
	if l == len(s.Loops)-1 {
		apart = b.And(apart, b.Le(s.reached, s.near))
	}
	b.While(apart, func() {
		middle := b.Var("middle", b.Add(lo, loop.NewBinary(loop.Shr, b.Sub(hi, lo), loop.Int(1))))
		for q, g := range guesses {
			b.If(b.Eq(guess, loop.Int(int64(q))), func() {
				b.Assign(middle, b.Min(b.Max(g, b.Add(lo, loop.Int(1))), b.Sub(hi, loop.Int(1))))
			}, nil)
		}
		b.Assign(guess, b.Add(guess, loop.Int(1)))
		c := b.Let("c", middle)
		at := make([]loop.Expr, len(sides))
		before := rest
		for i, d := range sides {
			if d.first != nil {
				at[i] = b.Let("at", b.Add(d.first, b.Select(b.Lt(d.from, d.to), c, loop.Int(0))))
			} else {
				at[i] = level.LowerBound(b, d.crd, d.from, d.to, c)
			}
			before = b.Add(before, s.stored(d.operand, l+1, at[i]))
		}
		if s.dense && l == 0 {
			before = b.Add(before, c)
		}
		before = b.Let("before", before)
		b.If(b.Le(before, target), func() {
			b.Assign(lo, c)
			b.Assign(s.reached, before)
			for i, d := range sides {
				b.Assign(d.from, at[i])
			}
		}, func() {
			b.Assign(hi, c)
			for i, d := range sides {
				b.Assign(d.to, at[i])
			}
		})
	})
	for _, d := range sides {
		d.operand.from, d.operand.to = b.Let("p", d.from), b.Let("q", d.to)
		b.Assign(d.before, s.stored(d.operand, l+1, d.operand.from))
	}
}

// OnlyList reports whether a tensor stores one list of entries.
func OnlyList(a *ir.Access) bool {
	for l, v := range a.Tensor.Format.Physical() {
		if l == 0 && !v.Ranges() || l > 0 && !v.Branchless() {
			return false
		}
	}
	return true
}
