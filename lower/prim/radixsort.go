package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// On grids, a block sorts a long line of a dense tensor by the digits of its values' bits, the lowest first
// (lower/gpu/coop/multisplit.go): in each pass each warp counts and places its part of the line, 32 values at
// a time. The values are moved as they are: keys are made of them in every pass.

const (
	// sortDigit is the number of bits of a digit.
	sortDigit = 8
	// sortWarps is the size of a block that sorts.
	sortWarps = 8
	// sortLeast is the least length of lines that blocks sort.
	sortLeast = 192
	// sortMost bounds the length: the counters have 32 bits.
	sortMost = 1<<32 - 1
	// sortAhead is how many values a thread loads before it places the first.
	sortAhead = 4
)

// radixSorter is the function in which blocks sort.
type radixSorter struct {
	*lineSort
	t     *team
	b     *loop.Builder
	split *coop.Multisplit
}

// byRadix defines who sorts lines; it returns the stage of blocks, to be built when the
// buffers are known. byThread is 1 where threads sort.
func (x *lineSort) byRadix() (byThread loop.ScalarID, blocks func()) {
	warps, least := sortWarps, int64(sortLeast)
	if x.opts.Grain > 0 { // tests of small data
		warps, least = 2, 2
	}
	byBlock, byThread := x.byBlocks(loop.SizeScalar(x.length), least, loop.SizeScalar(x.length), sortMost)
	return byThread, func() {
		x.teamStage("radix_sort", "sort_by_block", warps, warps, x.sortLines,
			func(t *team) loop.SizeExpr {
				return t.BlocksFor(emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(byBlock)))
			})
	}
}

// sortLines is the function in which blocks sort.
func (x *lineSort) sortLines(t *team) {
	s := &radixSorter{lineSort: x, t: t, b: t.B}
	s.split = (&coop.Digits{Team: t.Team, Bits: sortDigit}).Multisplit()
	t.Each(t.Scalar(x.groups), s.line)
}

// keyBits is how many bits keys have, and their type.
func (s *radixSorter) keyBits() (int64, loop.Type) {
	bits := int64(8 * s.typ.Size())
	if s.typ == loop.Bool {
		bits = 1
	}
	if bits > 32 {
		return bits, loop.U64
	}
	return bits, loop.U32
}

// radixKey is a value as an unsigned integer in the order of the sort: -0 is 0, and all
// NaNs are alike.
func (s *radixSorter) radixKey(v loop.Expr) loop.Expr {
	b := s.b
	width, bits := s.keyBits()
	top := loop.NewBinary(loop.Shl, loop.Number(bits, 1), loop.Number(bits, width-1))
	key := loop.Expr(nil)
	switch {
	case s.typ.IsFloat():
		zero := loop.Float(s.typ, 0)
		raw := b.Let("raw", loop.NewUnary(loop.Bits, b.Select(b.Eq(v, zero), zero, v)))
		negative := b.Ne(b.And(raw, top), loop.Number(bits, 0))
		all := loop.NewUnary(loop.Not, loop.Number(bits, 0))
		key = b.Select(b.Ne(v, v), all, b.Select(negative, loop.NewUnary(loop.Not, raw), b.Or(raw, top)))
	case s.typ.IsSigned():
		key = loop.NewBinary(loop.Xor, b.Cast(bits, v), top)
	default:
		key = b.Cast(bits, v)
	}
	if s.step.Descending {
		key = loop.NewUnary(loop.Not, key)
	}
	return b.Let("key", key)
}

// digitOf is a digit of a key.
func (s *radixSorter) digitOf(v, pass loop.Expr) loop.Expr {
	_, bits := s.keyBits()
	down := loop.NewBinary(loop.Shr, s.radixKey(v), s.b.Cast(bits, s.b.Mul(pass, loop.Int(sortDigit))))
	return s.b.Let("digit", s.b.Cast(loop.I64, s.b.And(down, loop.Number(bits, 1<<sortDigit-1))))
}

// line sorts line g.
func (s *radixSorter) line(g loop.Expr) {
	b := s.b
	n := s.t.Scalar(s.length)
	begin := b.Let("begin", b.Mul(g, n))
	width, _ := s.keyBits()
	passes := (width + sortDigit - 1) / sortDigit
	// Warps have parts of equal length, a multiple of the lanes.
	round := s.t.Threads()
	part := b.Let("part", b.Mul(b.Div(b.Add(n, loop.Int(round-1)), loop.Int(round)), loop.Int(warpSize)))
	low := b.Let("low", b.Min(n, b.Mul(s.t.Warp(), part)))
	high := b.Let("high", b.Min(n, b.Add(low, part)))
	// One body for all passes takes LLVM and the driver a fraction of the time that one for each does.
	b.For("pass", loop.Int(0), loop.Int(passes), func(pass loop.Expr) {
		s.pass(pass, b.Let("last", b.Eq(pass, loop.Int(passes-1))), begin, low, high)
	})
}

// sortedValue is one that a lane holds, and where it was at first.
type sortedValue struct{ v, place *loop.Ref }

// load reads values of a line, at those of the places that are inside, before a pass.
func (s *radixSorter) load(pass, begin loop.Expr, places, inside []loop.Expr) []sortedValue {
	b, e := s.b, s.t.Func
	values := make([]sortedValue, len(places))
	for k := range values {
		values[k].v = b.Var("v", loop.Number(s.typ, 0))
		if s.step.Positions {
			values[k].place = b.Var("place", loop.Int(0))
		}
	}
	each := func(read func(k int, at loop.Expr)) func() {
		return func() {
			for k := range values {
				b.If(inside[k], func() { read(k, b.Let("at", b.Add(begin, places[k]))) }, nil)
			}
		}
	}
	from := func(which int) func() {
		return each(func(k int, at loop.Expr) {
			b.Assign(values[k].v, b.Load(e.Write(s.sorter.Keys[which]), at))
			if s.step.Positions {
				b.Assign(values[k].place, b.Load(e.Write(s.sorter.Carried[which]), at))
			}
		})
	}
	b.If(b.Eq(pass, loop.Int(0)), each(func(k int, at loop.Expr) {
		b.Assign(values[k].v, s.key(b.Load(e.Read(s.vals), at)))
		if s.step.Positions {
			b.Assign(values[k].place, places[k])
		}
	}), func() {
		b.If(s.even(pass), from(1), from(0))
	})
	return values
}

// even reports whether the number of a pass is. Even passes move values to the first of
// the sorter's buffers, odd ones to the second.
func (s *radixSorter) even(pass loop.Expr) loop.Expr {
	return s.b.Eq(s.b.And(pass, loop.Int(1)), loop.Int(0))
}

// store puts a value where a pass moves it.
func (s *radixSorter) store(pass, last, at loop.Expr, x sortedValue) {
	b, e := s.b, s.t.Func
	to := func(which int) func() {
		return func() {
			b.Store(e.Write(s.sorter.Keys[which]), at, x.v)
			if s.step.Positions {
				b.Store(e.Write(s.sorter.Carried[which]), at, x.place)
			}
		}
	}
	b.If(last, func() {
		out := x.v
		if s.step.Positions {
			out = x.place
		}
		b.Store(e.Write(s.out), at, out)
	}, func() {
		b.If(s.even(pass), to(0), to(1))
	})
}

// pass moves the values of a line, of which the warp has those from low to high, to the
// order of a digit.
func (s *radixSorter) pass(pass, last, begin, low, high loop.Expr) {
	b, t := s.b, s.t
	s.split.Of = func(v loop.Expr) loop.Expr { return s.digitOf(v, pass) }
	t.Barrier()
	s.split.Clear()
	t.Barrier()
	s.inSteps(low, high, func(at []loop.Expr, inside []loop.Expr) {
		for k, x := range s.load(pass, begin, at, inside) {
			b.If(inside[k], func() { s.split.Add(x.v) }, nil)
		}
	})
	t.Barrier()
	s.split.Starts(nil)
	t.Barrier()
	s.inSteps(low, high, func(at []loop.Expr, inside []loop.Expr) {
		for k, x := range s.load(pass, begin, at, inside) {
			rank := s.split.RankOf(x.v, inside[k])
			b.If(inside[k], func() { s.store(pass, last, b.Let("at", b.Add(begin, b.Cast(loop.I64, rank))), x) }, nil)
		}
	})
	// What has been stored is read in the next pass, behind a barrier.
}

// inSteps runs body for the places of a warp's part, some for each lane at a time. All
// lanes run it; inside tells which places there are.
func (s *radixSorter) inSteps(low, high loop.Expr, body func(at, inside []loop.Expr)) {
	b := s.b
	ahead := int64(sortAhead)
	if s.t.Quick {
		ahead = 1
	}
	first := b.Var("first", low)
	b.While(b.Lt(first, high), func() {
		at, inside := make([]loop.Expr, ahead), make([]loop.Expr, ahead)
		for k := range at {
			at[k] = b.Let("i", b.Add(b.Add(first, s.t.Lane()), loop.Int(int64(k)*warpSize)))
			inside[k] = b.Let("inside", b.Lt(at[k], high))
		}
		body(at, inside)
		b.Assign(first, b.Add(first, loop.Int(ahead*warpSize)))
	})
}
