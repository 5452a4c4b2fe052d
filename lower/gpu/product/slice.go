package product

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// A row with many products is cut into slices of columns. Blocks take them one by one: the
// table is a bit and a value for each column of the slice, so that nothing is sorted. For
// each entry of the outer loop the part of the inner loop that is in the slice is searched
// for. How many entries a slice has is kept between counting and filling.

// slicing is how rows are cut into slices.
type slicing struct {
	width  int64         // columns of a slice, a multiple of the threads
	warps  int           // of a block
	slices loop.ScalarID // of a row
	least  loop.ScalarID // products from which on a row is cut
	rows   loop.ScalarID // that are cut
	lets   []loop.ScalarLet
	rowOf  loop.BufferID // the rows that are cut, in any order
	// entries are those of each slice of the rows in that order, then their number in the
	// slices before it; totals are those of the rows.
	entries, totals loop.BufferID
}

const (
	sliceWidth = 2048
	sliceWarps = 8 // of a block
	// sliceProducts is how many products there are for each slice of a row, at least: the
	// search in each row of the inner loop, and the table, cost about as much as some.
	sliceProducts = 8
)

func (p *Rows) newSlicing() slicing {
	name := p.name()
	s := slicing{width: sliceWidth, warps: sliceWarps,
		slices: p.NewScalar(name+"_slices", false), least: p.NewScalar(name+"_least", false), rows: p.NewScalar(name+"_sliced", false),
		rowOf: p.Buffer(name+"_sliced", loop.I64, loop.Temp), entries: p.Buffer(name+"_slice_entries", loop.I64, loop.Temp),
		totals: p.Buffer(name+"_slice_totals", loop.I64, loop.Temp)}
	products := int64(sliceProducts)
	if p.Grain > 0 { // tests of small data
		s.width, s.warps, products = 2*loop.WarpSize, 2, 40
	}
	s.lets = []loop.ScalarLet{
		{Scalar: s.slices, Value: emit.CeilDiv(loop.SizeScalar(p.Space.Extent(p.Space.Vars[0])), loop.SizeConst(s.width))},
		{Scalar: s.least, Value: emit.Max(loop.SizeConst(p.Most()+1), emit.Times(emit.Min(loop.SizeScalar(s.slices), loop.SizeConst(emit.MaxEntries)), loop.SizeConst(products)))},
	}
	return s
}

// sliceTeam is the table of a slice.
type sliceTeam struct {
	*Team
	slicing   *slicing
	marks     loop.BufID // shared: a bit for each column
	item      loop.Expr  // number of the slice among those of all rows
	low, high loop.Expr  // columns of the slice
	place     loop.Expr  // of the row in the list
}

// words is how many words of marks a slice has.
func (s *sliceTeam) words() int64 { return s.slicing.width / 32 }

// SliceStage is the stage in which blocks run slices. It is not ok where they cannot.
func (p *Rows) SliceStage(fills bool) (st loop.Stage, ok bool) {
	name := mode(fills)
	begin := func() *team {
		return p.team(fmt.Sprintf("%s_slices_%s", name, p.name()), p.slicing.warps, p.slicing.warps)
	}
	slices := func(g *team) (fits bool) {
		nest := p.Begin(g.Func, fills)
		s := &sliceTeam{Team: newTeam(g, p, nest, fills, p.slicing.width), slicing: &p.slicing}
		s.marks = s.perTeam("marks", loop.U32, s.words())
		s.Team.table, s.Team.each, s.Team.narrow = s, s.eachSlice, s.part
		nest.Run(s.Team)
		return s.fits
	}
	return coop.Twice(begin, slices, func(g *team) loop.Stage {
		items := emit.Times(loop.SizeScalar(p.slicing.rows), loop.SizeScalar(p.slicing.slices))
		st := g.Launch(name+"_by_slices", g.BlocksFor(items))
		if !fills {
			st.Symbolic = true
			st.Allocs = []loop.Alloc{{Buffer: p.slicing.entries, Len: items}}
		}
		return st
	})
}

// eachSlice runs body for the slices of all rows.
func (s *sliceTeam) eachSlice(body func(row loop.Expr)) {
	b := s.B
	slices, keys := s.Scalar(s.slicing.slices), s.Scalar(s.rows.Space.Extent(s.rows.Space.Vars[0]))
	items := b.Let("items", b.Mul(s.Scalar(s.slicing.rows), slices))
	s.team.Each(items, func(item loop.Expr) {
		s.item = item
		s.place = b.Let("place", b.Div(item, slices))
		k := b.Let("slice", b.Sub(item, b.Mul(s.place, slices)))
		s.low = b.Let("low", b.Mul(k, loop.Int(s.slicing.width)))
		s.high = b.Let("high", b.Min(keys, b.Add(s.low, loop.Int(s.slicing.width))))
		row := b.Let("row", b.Load(s.Read(s.slicing.rowOf), s.place))
		// What is of the row, and not of a slice, the first slice's block stores.
		s.nest.Lead(b.Let("leader", b.And(b.Eq(s.Rank(), loop.Int(0)), b.Eq(k, loop.Int(0)))))
		s.rows.openRow(s.Func, s.nest.Entries, s.fills, row)
		body(row)
	})
}

// part is the part of an inner loop that is in the slice.
func (s *sliceTeam) part(l Loop) (begin, end loop.Expr) { return l.Narrow(s.low, s.high) }

func (s *sliceTeam) clear() {
	b := s.B
	s.strided(loop.Int(s.words()), func(i loop.Expr) { b.Store(s.marks, s.own(s.words(), i), loop.Number(loop.U32, 0)) })
}

func (s *sliceTeam) enter() (slot loop.Expr, fresh *loop.Ref) {
	b := s.B
	at := b.Let("at", b.Select(s.active, b.Sub(b.Cast(loop.I64, s.key), s.low), loop.Int(0)))
	fresh = b.Var("fresh", loop.Truth(false))
	b.If(s.active, func() {
		bit := b.Let("bit", loop.NewBinary(loop.Shl, loop.Number(loop.U32, 1), b.Cast(loop.U32, b.And(at, loop.Int(31)))))
		old := b.AtomicOld("old", loop.AtomicOr, s.marks, s.own(s.words(), coop.Shr(at, loop.Int(5))), bit)
		b.Assign(fresh, b.Eq(b.And(old, bit), loop.Number(loop.U32, 0)))
	}, nil)
	return at, fresh
}

func (s *sliceTeam) entered(loop.Expr) {} // the marks tell

func (s *sliceTeam) done(current loop.Expr) loop.Expr {
	b := s.B
	chooses := !s.rows.Plain
	start := loop.Expr(loop.Int(0))
	if s.fills {
		start = b.Add(current, b.Load(s.Read(s.slicing.entries), s.item))
	}
	if chooses && !s.fills {
		s.Barrier() // the marks are complete
	}
	to := b.Var("to", start)
	if !s.fills && !chooses {
		b.Assign(to, s.distinct)
	} else {
		b.For("round", loop.Int(0), loop.Int(s.slicing.width/s.Threads()), func(round loop.Expr) {
			at := b.Let("at", b.Add(b.Mul(round, loop.Int(s.Threads())), s.Rank()))
			marks := b.Load(s.marks, s.own(s.words(), coop.Shr(at, loop.Int(5))))
			own := b.And(loop.NewBinary(loop.Shr, marks, b.Cast(loop.U32, s.Lane())), loop.Number(loop.U32, 1))
			is := b.Let("is", b.Ne(own, loop.Number(loop.U32, 0)))
			key := b.Let("column", b.Add(s.low, at))
			if chooses {
				s.choose(to, is, func() (loop.Expr, loop.Expr) { return key, at })
				return
			}
			before, n, _ := s.tally(is, loop.Truth(false))
			b.If(is, func() { s.appendEntry(b.Let("p", b.Add(to, before)), key, s.valueAt(at)) }, nil)
			b.Assign(to, b.Add(to, n))
			s.Barrier()
		})
	}
	if s.fills {
		return b.Load(s.Read(s.slicing.totals), s.place)
	}
	b.If(b.Eq(s.Rank(), loop.Int(0)), func() { b.Store(s.Write(s.slicing.entries), s.item, to) }, nil)
	return to
}

// JoinSlices adds up the entries of the slices of each row.
func (p *Rows) JoinSlices() {
	t := p.team("slices_"+p.name(), 1, 8)
	b, sl := t.B, &p.slicing
	slices := t.Scalar(sl.slices)
	t.Each(t.Scalar(sl.rows), func(place loop.Expr) {
		first := b.Let("first", b.Mul(place, slices))
		total := b.Var("total", loop.Int(0))
		k := b.Var("k", loop.Int(0))
		b.While(b.Lt(k, slices), func() {
			own := b.Let("own", b.Add(k, t.Lane()))
			at := b.Let("at", b.Add(first, own))
			n := b.Var("n", loop.Int(0))
			b.If(b.Lt(own, slices), func() { b.Assign(n, b.Load(t.Write(sl.entries), at)) }, nil)
			sum := t.lanesUpTo(n)
			b.If(b.Lt(own, slices), func() { b.Store(t.Write(sl.entries), at, b.Add(total, b.Sub(sum, n))) }, nil)
			b.Assign(total, b.Add(total, b.Shuffle("all", loop.ShuffleIndex, sum, loop.Int(loop.WarpSize-1), loop.WarpSize)))
			b.Assign(k, b.Add(k, loop.Int(loop.WarpSize)))
		})
		b.If(b.Eq(t.Lane(), loop.Int(0)), func() {
			row := b.Let("row", b.Load(t.Read(sl.rowOf), place))
			b.Store(t.Write(sl.totals), place, total)
			last := p.Segments - 1
			for i := range p.Segments {
				n := loop.Expr(total)
				if i < last { // there is one entry of it for the row, if any
					n = b.Min(total, loop.Int(1))
				}
				b.Store(t.Write(p.Counts), p.place(b, row, i), n)
			}
		}, nil)
	})
	s := t.Launch("join_slices", t.BlocksFor(loop.SizeScalar(sl.rows)))
	s.Allocs = []loop.Alloc{{Buffer: sl.totals, Len: loop.SizeScalar(sl.rows)}}
	s.Symbolic = true
	p.AddStage(s)
}

// lanesUpTo is the sum of what the lanes up to the own one have.
func (t *team) lanesUpTo(n loop.Expr) *loop.Ref {
	b := t.B
	sum := b.Var("sum", n)
	const warpLog = 5 // of the lanes of a warp
	t.Times(warpLog, func(k loop.Expr) {
		d := loop.NewBinary(loop.Shl, loop.Int(1), k)
		below := b.Shuffle("below", loop.ShuffleUp, sum, d, loop.WarpSize)
		b.If(b.Ge(t.Lane(), d), func() { b.Assign(sum, b.Add(sum, below)) }, nil)
	})
	return sum
}
