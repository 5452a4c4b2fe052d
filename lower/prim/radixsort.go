package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// On grids, a block sorts a long line of a dense tensor by the digits of its values' bits,
// the lowest first (radix sort: N. Satish, M. Harris and M. Garland, "Designing Efficient
// Sorting Algorithms for Manycore GPUs", 2009). In each pass every warp counts the digits of
// its part of the line in shared memory; the counts, added up in the order of digits and
// then of warps, are where the values of a warp go; and each warp places its values, 32 at
// a time, those of one digit in the order of their lanes. So every pass is stable. The
// values are moved as they are: keys are made of them in every pass.

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
	t        *team
	b        *loop.Builder
	counters loop.BufID // shared: by warp and digit
	prefix   *coop.Prefix
}

// byRadix defines who sorts lines; it returns the stage of blocks, to be built when the
// buffers are known. byThread is 1 where threads sort.
func (x *lineSort) byRadix() (byThread loop.ScalarID, blocks func()) {
	warps, least := sortWarps, int64(sortLeast)
	if x.opts.Grain > 0 { // tests of small data
		warps, least = 2, 2
	}
	ratio := func(d int64) loop.SizeExpr {
		return emit.Min(loop.SizeConst(1), &loop.SizeOp{Op: loop.Div, X: loop.SizeScalar(x.length), Y: loop.SizeConst(d)})
	}
	less := func(y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Sub, X: loop.SizeConst(1), Y: y} }
	byBlock := x.define("by_block", emit.Times(ratio(least), less(ratio(sortMost))))
	byThread = x.define("by_thread", less(loop.SizeScalar(byBlock)))
	return byThread, func() {
		t := x.team("radix_sort", warps, warps)
		x.sortLines(t)
		st := t.Launch("sort_by_block", t.BlocksFor(emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(byBlock))))
		q := x.team("radix_sort", warps, warps)
		q.StandIn(st)
		x.sortLines(q)
		q.StandsIn(&st)
		x.AddStage(st)
	}
}

// sortLines is the function in which blocks sort.
func (x *lineSort) sortLines(t *team) {
	s := &radixSorter{lineSort: x, t: t, b: t.B}
	s.counters = s.b.Shared("counters", loop.U32, int64(t.Warps)<<sortDigit)
	s.prefix = t.PrefixOf(loop.Add, loop.Int(0))
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
			b.Assign(values[k].v, b.Load(e.Write(s.sorter.keys[which]), at))
			if s.step.Positions {
				b.Assign(values[k].place, b.Load(e.Write(s.sorter.carried[which]), at))
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
			b.Store(e.Write(s.sorter.keys[which]), at, x.v)
			if s.step.Positions {
				b.Store(e.Write(s.sorter.carried[which]), at, x.place)
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
	const digits = int64(1) << sortDigit
	one := loop.Number(loop.U32, 1)
	t.Barrier()
	t.Times(digits/warpSize, func(k loop.Expr) {
		b.Store(s.counters, b.Add(t.Rank(), b.Mul(k, loop.Int(t.Threads()))), loop.Number(loop.U32, 0))
	})
	t.Barrier()
	own := b.Let("own", b.Mul(t.Warp(), loop.Int(digits)))
	s.inSteps(low, high, func(at []loop.Expr, inside []loop.Expr) {
		for k, x := range s.load(pass, begin, at, inside) {
			b.If(inside[k], func() { b.Atomic(loop.AtomicAdd, s.counters, b.Add(own, s.digitOf(x.v, pass)), one) }, nil)
		}
	})
	t.Barrier()
	s.starts()
	t.Barrier()
	s.inSteps(low, high, func(at []loop.Expr, inside []loop.Expr) {
		for k, x := range s.load(pass, begin, at, inside) {
			s.place(pass, last, begin, own, inside[k], x)
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

// starts turns the counters into where the values of each digit and warp begin.
func (s *radixSorter) starts() {
	b, t := s.b, s.t
	const digits = int64(1) << sortDigit
	per := (digits + t.Threads() - 1) / t.Threads()
	first := b.Let("first_digit", b.Mul(t.Rank(), loop.Int(per)))
	own := s.prefix.Open()
	sum := own[0]
	mine := b.Let("mine", b.Min(loop.Int(digits), b.Add(first, loop.Int(per))))
	all := func(body func(at loop.Expr)) {
		b.For("d", first, mine, func(d loop.Expr) {
			b.For("w", loop.Int(0), loop.Int(int64(t.Warps)), func(w loop.Expr) {
				body(b.Let("at", b.Add(b.Mul(w, loop.Int(digits)), d)))
			})
		})
	}
	all(func(at loop.Expr) {
		b.Assign(sum, b.Add(sum, b.Cast(loop.I64, b.Load(s.counters, at))))
	})
	before, _ := s.prefix.Of(own)
	next := b.Var("next", before[0])
	all(func(at loop.Expr) {
		n := b.Let("n", b.Load(s.counters, at))
		b.Store(s.counters, at, b.Cast(loop.U32, next))
		b.Assign(next, b.Add(next, b.Cast(loop.I64, n)))
	})
}

// place stores the values of the lanes, those with the same digit behind each other.
func (s *radixSorter) place(pass, last, begin, own, inside loop.Expr, x sortedValue) {
	b, t := s.b, s.t
	digit := s.digitOf(x.v, pass)
	same, rank := t.Peers(digit, sortDigit, inside)
	counter := b.Let("counter", b.Add(own, digit))
	to := b.Var("to", loop.Int(0))
	b.If(inside, func() { b.Assign(to, b.Cast(loop.I64, b.Load(s.counters, counter))) }, nil)
	b.Barrier(loop.WarpScope)
	b.If(b.And(inside, b.Eq(rank, loop.Number(loop.U32, 0))), func() {
		n := loop.NewUnary(loop.OnesCount, same)
		b.Store(s.counters, counter, b.Add(b.Cast(loop.U32, to), n))
	}, nil)
	b.Barrier(loop.WarpScope)
	b.If(inside, func() {
		s.store(pass, last, b.Let("at", b.Add(begin, b.Add(to, b.Cast(loop.I64, rank)))), x)
	}, nil)
}
