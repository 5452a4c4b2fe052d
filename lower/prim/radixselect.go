package prim

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// On grids, a block selects the value of a rank from a long line without moving any: the
// values' bits, turned so that they are in order as unsigned integers, are counted by
// their uppermost digit in shared memory; the digit of the rank is known then, and the
// values that have it are counted by their next one (radix selection: T. Alabi, J.
// Blanchard, B. Gordon and R. Steinbach, "Fast k-Selection Algorithms for Graphics
// Processing Units", 2012). The gap of a sparse line counts as so many values.

const (
	// selectWarps is the size of a block that selects, selectDigit the bits of a digit.
	selectWarps, selectDigit = 8, 11
	// selectLeast is the least mean length of lines for which blocks select.
	selectLeast = 1 << 9
	// selectMost bounds the values of a line: the counters have 32 bits.
	selectMost = 1<<32 - 1
	// selectAhead is how many values a thread loads before it looks at the first.
	selectAhead = 4
)

// radixSelector is the function in which blocks select.
type radixSelector struct {
	*selector
	t      *team
	b      *loop.Builder
	digit  int64
	bits   loop.Type  // of keys
	bins   loop.BufID // shared: counters by digit
	told   loop.BufID // shared: what one thread tells the others
	prefix *coop.Prefix
	least  *coop.Prefix
}

// bySelection adds the stage in which blocks select, and the scalar for the stage in
// which threads do what blocks do not.
func (x *selector) bySelection(entries loop.SizeExpr) loop.ScalarID {
	warps, digit, least := selectWarps, int64(selectDigit), int64(selectLeast)
	if x.opts.Grain > 0 { // tests of small data
		warps, digit, least = 2, 6, 2
	}
	groups := loop.SizeExpr(loop.SizeScalar(x.groups))
	mean := &loop.SizeOp{Op: loop.Div, X: entries, Y: emit.Max(groups, loop.SizeConst(1))}
	byBlock, byThread := x.byBlocks(mean, least, entries, selectMost)
	x.selecting = func() {
		x.teamStage("select", "select", warps, warps, func(t *team) { x.selectLines(t, digit) },
			func(t *team) loop.SizeExpr { return t.BlocksFor(emit.Product(groups, loop.SizeScalar(byBlock))) })
	}
	return byThread
}

// selectLines is the function in which blocks select, by digits of so many bits.
func (x *selector) selectLines(t *team, digit int64) {
	s := &radixSelector{selector: x, t: t, b: t.B, digit: digit, bits: loop.U64}
	if x.keyType() == loop.F32 {
		s.bits = loop.U32
	}
	s.bins, s.told = s.b.Shared("bins", loop.U32, 1<<digit), s.b.Shared("told", loop.I64, 4)
	s.prefix = t.PrefixOf(loop.Add, loop.Int(0))
	s.least = t.PrefixOf(loop.Min, loop.Float(loop.F64, math.Inf(1)))
	t.Each(t.Scalar(x.groups), s.line)
}

// keyType is the type in which values are compared.
func (x *selector) keyType() loop.Type {
	t := emit.ComputeType(x.from.DType)
	if x.step.Cast.Valid() {
		t = emit.ComputeType(x.step.Cast)
	}
	if t == loop.F32 {
		return t
	}
	return loop.F64
}

// number is a value of the tensor in the type of keys.
func (s *radixSelector) number(v loop.Expr) loop.Expr {
	if s.step.Cast.Valid() {
		v = scalar.Cast(s.step.Cast, v)
	}
	return s.b.Let("v", loop.NewCast(s.keyType(), v))
}

// top is the uppermost bit of keys.
func (s *radixSelector) top() loop.Expr {
	return loop.NewBinary(loop.Shl, loop.Number(s.bits, 1), loop.Number(s.bits, int64(8*s.bits.Size()-1)))
}

// key is a number as an unsigned integer, in the same order; -0 is below 0.
func (s *radixSelector) key(v loop.Expr) loop.Expr {
	b, top := s.b, s.top()
	raw := b.Let("raw", loop.NewUnary(loop.Bits, v))
	negative := b.Ne(b.And(raw, top), loop.Number(s.bits, 0))
	return b.Let("key", b.Select(negative, loop.NewUnary(loop.Not, raw), b.Or(raw, top)))
}

// value is the number of a key.
func (s *radixSelector) value(key loop.Expr) loop.Expr {
	b, top := s.b, s.top()
	raw := b.Select(b.Ne(b.And(key, top), loop.Number(s.bits, 0)), loop.NewBinary(loop.Xor, key, top), loop.NewUnary(loop.Not, key))
	return b.Let("value", b.Cast(loop.F64, loop.NewUnary(loop.FromBits, raw)))
}

// values runs body for the thread's values of a line.
func (s *radixSelector) values(begin, end loop.Expr, body func(v loop.Expr)) {
	b, threads := s.b, s.t.Threads()
	load := func(p loop.Expr) loop.Expr { return s.number(b.Load(s.t.Read(s.vals), p)) }
	at := b.Var("p", b.Add(begin, s.t.Rank()))
	several := func() {
		var list [selectAhead]loop.Expr
		for i := range list {
			list[i] = load(b.Add(at, loop.Int(int64(i)*threads)))
		}
		for _, v := range list {
			body(v)
		}
		b.Assign(at, b.Add(at, loop.Int(selectAhead*threads)))
	}
	if !s.t.Quick {
		b.While(b.Lt(b.Add(at, loop.Int((selectAhead-1)*threads)), end), several)
	}
	b.While(b.Lt(at, end), func() {
		body(load(at))
		b.Assign(at, b.Add(at, loop.Int(threads)))
	})
}

// sum is the sum of the threads' numbers, for all alike. A barrier stands before it.
func (s *radixSelector) sum(v loop.Expr) loop.Expr {
	b := s.b
	own := s.prefix.Open()
	b.Assign(own[0], v)
	_, total := s.prefix.Of(own)
	return s.tell(0, b.Eq(s.t.Rank(), loop.Int(0)), total[0])
}

// tell stores what the thread for which cond holds has, and gives it to all.
func (s *radixSelector) tell(slot int64, cond, v loop.Expr) loop.Expr {
	b := s.b
	b.If(cond, func() { b.Store(s.told, loop.Int(slot), v) }, nil)
	s.t.Barrier()
	return b.Let("told", b.Load(s.told, loop.Int(slot)))
}

// line writes the statistics of line g.
func (s *radixSelector) line(g loop.Expr) {
	b, e := s.b, s.t.Func
	var begin, end loop.Expr
	gaps := loop.Expr(loop.Int(0))
	if s.how == ir.Planes {
		n := e.Scalar(s.length)
		begin = b.Let("begin", b.Mul(g, n))
		end = b.Let("end", b.Add(begin, n))
	} else if begin, end = s.segment(e, g); !s.step.Stored {
		gaps = b.Let("gaps", b.Sub(e.Scalar(s.length), b.Sub(end, begin)))
	}
	stored := b.Let("entries", b.Sub(end, begin))
	s.t.Barrier()
	numbers := b.Var("numbers", loop.Int(0))
	s.values(begin, end, func(v loop.Expr) { b.Assign(numbers, b.Add(numbers, b.Cast(loop.I64, b.Eq(v, v)))) })
	count := s.sum(numbers)
	nan := b.Let("nan", b.Lt(count, stored))
	fill := loop.Expr(nil)
	if !s.gapless() {
		fill = s.number(emit.Constant(s.from.Fill))
		none := b.Ne(fill, fill)
		nan = b.Let("nan", b.Or(nan, b.And(none, b.Gt(gaps, loop.Int(0)))))
		gaps = b.Let("gaps", b.Select(none, loop.Int(0), gaps))
	}
	n := b.Let("n", b.Add(count, gaps))
	number := e.Scalar(s.selector.number)
	u := b.Var("u", loop.Int(0))
	b.While(b.Lt(u, number), func() {
		put := s.statistic(e, g, u, n, nan, func(r rank) (low, high loop.Expr) { return s.pick(begin, end, gaps, fill, r) })
		b.If(b.Eq(s.t.Rank(), loop.Int(0)), put, nil)
		b.Assign(u, b.Add(u, loop.Int(1)))
	})
}

// pick selects the values of the two ranks of a line, which are the same or neighbours.
func (s *radixSelector) pick(begin, end, gaps, fill loop.Expr, r rank) (low, high loop.Expr) {
	b := s.b
	width := int64(8 * s.bits.Size())
	zero := loop.Number(s.bits, 0)
	known, found := b.Var("known", zero), b.Var("found", zero) // which bits are, and what they are
	k := b.Var("k", r.low)                                     // the rank among values that have those bits
	equal := b.Var("equal", loop.Int(0))                       // how many do
	shift := b.Var("shift", loop.Int(width-s.digit))
	going := b.Var("going", loop.Truth(true))
	bins := int64(1) << s.digit
	per := bins / s.t.Threads()
	mask := loop.Number(s.bits, bins-1)
	var gapKey loop.Expr
	if fill != nil {
		gapKey = s.key(fill)
	}
	matches := func(key loop.Expr) loop.Expr { return b.Eq(b.And(loop.NewBinary(loop.Xor, key, found), known), zero) }
	b.While(going, func() {
		by := b.Let("by", b.Cast(s.bits, shift))
		digit := func(key loop.Expr) loop.Expr {
			return b.Let("digit", b.Cast(loop.I64, b.And(loop.NewBinary(loop.Shr, key, by), mask)))
		}
		first := b.Let("first_bin", b.Mul(s.t.Rank(), loop.Int(per)))
		s.t.Barrier()
		s.t.Times(per, func(i loop.Expr) {
			b.Store(s.bins, b.Add(s.t.Rank(), b.Mul(i, loop.Int(s.t.Threads()))), loop.Number(loop.U32, 0))
		})
		s.t.Barrier()
		s.values(begin, end, func(v loop.Expr) {
			key := s.key(v)
			b.If(b.And(b.Eq(v, v), matches(key)), func() { b.Atomic(loop.AtomicAdd, s.bins, digit(key), loop.Number(loop.U32, 1)) }, nil)
		})
		s.t.Barrier()
		gapBin, gapCount := loop.Expr(loop.Int(-1)), gaps
		if fill != nil {
			gapBin = b.Let("gap_bin", b.Select(matches(gapKey), digit(gapKey), loop.Int(-1)))
		}
		held := func(bin loop.Expr) loop.Expr {
			n := b.Cast(loop.I64, b.Load(s.bins, bin))
			if fill != nil {
				n = b.Add(n, b.Select(b.Eq(bin, gapBin), gapCount, loop.Int(0)))
			}
			return b.Let("held", n)
		}
		own := s.prefix.Open()
		s.t.Times(per, func(i loop.Expr) { b.Assign(own[0], b.Add(own[0], held(b.Add(first, i)))) })
		mine := b.Let("mine", own[0])
		before, _ := s.prefix.Of(own)
		below := b.Var("below", before[0])
		b.If(b.And(b.Ge(k, below), b.Lt(k, b.Add(below, mine))), func() {
			b.For("i", loop.Int(0), loop.Int(per), func(i loop.Expr) {
				bin := b.Let("bin", b.Add(first, i))
				h := held(bin)
				b.If(b.And(b.Ge(k, below), b.Lt(k, b.Add(below, h))), func() {
					b.Store(s.told, loop.Int(1), bin)
					b.Store(s.told, loop.Int(2), b.Sub(k, below))
					b.Store(s.told, loop.Int(3), h)
				}, nil)
				b.Assign(below, b.Add(below, h))
			})
		}, nil)
		s.t.Barrier()
		chosen := b.Let("chosen", b.Load(s.told, loop.Int(1)))
		b.Assign(k, b.Load(s.told, loop.Int(2)))
		b.Assign(equal, b.Load(s.told, loop.Int(3)))
		b.Assign(found, b.Or(found, loop.NewBinary(loop.Shl, b.Cast(s.bits, chosen), by)))
		b.Assign(known, b.Or(known, loop.NewBinary(loop.Shl, mask, by)))
		b.Assign(going, b.Gt(shift, loop.Int(0)))
		b.Assign(shift, b.Max(loop.Int(0), b.Sub(shift, loop.Int(s.digit))))
	})
	low = s.value(found)
	top := b.Var("high", low)
	// Another rank above the last of the equal values has the least greater one.
	b.If(b.And(b.Ne(r.high, r.low), b.Ge(b.Add(k, loop.Int(1)), equal)), func() { b.Assign(top, s.leastAbove(found, begin, end, gaps, fill, gapKey)) }, nil)
	return low, b.Let("highest", top)
}

// leastAbove is the least value of a line whose key is above one. fill and its key are nil where
// the line has no gaps.
func (s *radixSelector) leastAbove(bound, begin, end, gaps, fill, fillKey loop.Expr) loop.Expr {
	b := s.b
	s.t.Barrier()
	own := s.least.Open()
	take := func(v, key loop.Expr) {
		above := b.And(b.Eq(v, v), b.Gt(key, bound))
		b.Assign(own[0], b.Min(own[0], b.Select(above, b.Cast(loop.F64, v), loop.Float(loop.F64, math.Inf(1)))))
	}
	s.values(begin, end, func(v loop.Expr) { take(v, s.key(v)) })
	if fill != nil {
		b.If(b.Gt(gaps, loop.Int(0)), func() { take(fill, fillKey) }, nil)
	}
	_, least := s.least.Of(own)
	return least[0]
}
