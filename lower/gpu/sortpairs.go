package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Pairs of a key and a number, both of 32 bits, are sorted by their keys, a tile of pairs at a time
// (lower/gpu/coop/multisplit.go). The numbers are at first those of the places, and not read by the first pass.
//
// How many digits there are is known only when the program runs: of the passes that the
// program has, the last so many run.

const (
	mostPasses = 4
	digitBits  = 8
	// sortRounds is how many pairs of a tile there are for each thread.
	sortRounds = 8
	// groupBits is how many of the lowest bits need not be sorted by where that spares a
	// pass, and each element has but a few updates: lanes look for their own.
	groupBits = 4
	// groupUpdates is how many updates for each element are a few.
	groupUpdates = 8
	sortResident = 4
)

// pairSort is a sort under construction.
type pairSort struct {
	m                    *mapper
	s                    *loop.Stage
	n, tiles             loop.ScalarID
	bits                 loop.ScalarID // of keys
	passCount            loop.ScalarID // how many there are
	group                loop.ScalarID // the bits that are not sorted by
	width                loop.ScalarID // the bits of a digit
	odd                  loop.ScalarID // the set of buffers that the keys are in at first
	keys, numbers        [2]loop.BufferID
	counts               loop.BufferID
	active, shift, first [mostPasses]loop.ScalarID // by pass
	cells                loop.ScalarID             // of counts
}

func newPairSort(m *mapper, s *loop.Stage, n loop.ScalarID) pairSort {
	p := pairSort{m: m, s: s, n: n}
	for _, x := range []struct {
		id   *loop.ScalarID
		name string
	}{{&p.tiles, "_tiles"}, {&p.bits, "_bits"}, {&p.passCount, "_passes"}, {&p.group, "_group"}, {&p.width, "_digit"}, {&p.odd, "_odd"}, {&p.cells, "_cells"}} {
		*x.id = m.scalar(s.Name + x.name)
	}
	for i := range p.active {
		p.active[i], p.shift[i], p.first[i] = m.scalar(s.Name+"_pass"), m.scalar(s.Name+"_shift"), m.scalar(s.Name+"_first")
	}
	for i := range p.keys {
		p.keys[i], p.numbers[i] = m.temp(s.Name+"_keys", loop.U32), m.temp(s.Name+"_numbers", loop.U32)
	}
	p.counts = m.temp(s.Name+"_digits", loop.U32)
	return p
}

// tile is how many pairs a tile has.
func (p *pairSort) tile() int64 { return int64(p.m.opts.Threads) * sortRounds }

// lets are the sort's scalars, given how many keys there are and, 1 or 0, whether anything
// is to be sorted.
func (p *pairSort) lets(keys, on loop.SizeExpr) []loop.ScalarLet {
	con := func(x int64) loop.SizeExpr { return loop.SizeConst(x) }
	one, eight := con(1), con(digitBits)
	n, count, group, width := loop.SizeScalar(p.n), loop.SizeScalar(p.passCount), loop.SizeScalar(p.group), loop.SizeScalar(p.width)
	bits := loop.SizeScalar(p.bits)
	few := sizeOp(loop.Min, one, sizeOp(loop.Div, sizeOp(loop.Mul, con(groupUpdates), keys), sizeOp(loop.Max, one, n)))
	needed := sizeOp(loop.Max, con(0), sizeOp(loop.Sub, bits, sizeOp(loop.Mul, con(groupBits), few)))
	lets := []loop.ScalarLet{
		{Scalar: p.tiles, Value: sizeOp(loop.Mul, on, emit.CeilDiv(n, con(p.tile())))},
		{Scalar: p.bits, Value: bitsFor(keys)},
		{Scalar: p.passCount, Value: emit.CeilDiv(needed, eight)},
		{Scalar: p.group, Value: sizeOp(loop.Max, con(0), sizeOp(loop.Sub, bits, sizeOp(loop.Mul, eight, count)))},
		{Scalar: p.width, Value: emit.CeilDiv(sizeOp(loop.Sub, bits, group), sizeOp(loop.Max, one, count))},
		{Scalar: p.odd, Value: sizeOp(loop.Sub, count, sizeOp(loop.Mul, con(2), sizeOp(loop.Div, count, con(2))))},
		{Scalar: p.cells, Value: sizeOp(loop.Mul, loop.SizeScalar(p.tiles), powerOf2(width, digitBits))},
	}
	for i := range p.active {
		number := sizeOp(loop.Sub, count, con(int64(mostPasses-i))) // of the pass, among those that run
		lets = append(lets,
			loop.ScalarLet{Scalar: p.active[i], Value: sizeOp(loop.Min, one, sizeOp(loop.Max, con(0), sizeOp(loop.Add, number, one)))},
			loop.ScalarLet{Scalar: p.shift[i], Value: sizeOp(loop.Add, group, sizeOp(loop.Mul, number, width))},
			loop.ScalarLet{Scalar: p.first[i], Value: emit.Not(sizeOp(loop.Min, one, sizeOp(loop.Max, con(0), number)))})
	}
	return lets
}

// bitsFor is how many bits the numbers below n, at most 2^32, have.
func bitsFor(n loop.SizeExpr) loop.SizeExpr {
	return emit.Doublings(sizeOp(loop.Max, loop.SizeConst(0), sizeOp(loop.Sub, n, loop.SizeConst(1))), 1, 32)
}

// powerOf2 is 2 to a power of at most most.
func powerOf2(log loop.SizeExpr, most int64) loop.SizeExpr {
	var x loop.SizeExpr = loop.SizeConst(1)
	for k := int64(1); k <= most; k++ {
		x = sizeOp(loop.Mul, x, sizeOp(loop.Add, loop.SizeConst(1), emit.AtLeast(log, k)))
	}
	return x
}

// allocs are those of the pairs, where anything is sorted.
func (p *pairSort) allocs() []loop.Alloc {
	on := sizeOp(loop.Min, loop.SizeConst(1), loop.SizeScalar(p.tiles))
	n := sizeOp(loop.Mul, on, loop.SizeScalar(p.n))
	several := func(passes int64) loop.SizeExpr {
		return sizeOp(loop.Mul, n, emit.AtLeast(loop.SizeScalar(p.passCount), passes))
	}
	return []loop.Alloc{
		{Buffer: p.keys[0], Len: n}, {Buffer: p.keys[1], Len: several(1)},
		{Buffer: p.numbers[0], Len: several(1)}, {Buffer: p.numbers[1], Len: several(2)},
		{Buffer: p.counts, Len: loop.SizeScalar(p.cells)},
	}
}

// writer gives a function the parameters with which it stores the key of a pair.
func (p *pairSort) writer(g *mappedFunc) func(at, key loop.Expr) {
	b := g.Builder
	even, odd := g.buffer(p.keys[0], loop.ReadWrite), g.buffer(p.keys[1], loop.ReadWrite)
	which := g.scalar(p.odd)
	return func(at, key loop.Expr) {
		k := b.Let("key", b.Cast(loop.U32, key))
		b.If(b.Eq(which, loop.Int(0)), func() { b.Store(even, at, k) }, func() { b.Store(odd, at, k) })
	}
}

// passes adds the stages of all passes. The last leaves the pairs in the first set of
// buffers.
func (p *pairSort) passes() {
	m := p.m
	for i := range mostPasses {
		from, to := i%2, (i+1)%2
		m.when(loop.SizeScalar(p.active[i]), func() {
			m.launch(p.s, "digits", p.countDigits(i, from), loop.SizeScalar(p.tiles))
			m.prefix(p.s, &loop.Prefix{Buffer: p.counts, Stride: 1, Total: -1,
				N: sizeOp(loop.Mul, loop.SizeScalar(p.active[i]), loop.SizeScalar(p.cells))})
			moves, _ := m.withQuick(func() loop.Stage { return p.movePairs(i, from, to) })
			m.run(moves, loop.SizeScalar(p.tiles))
		})
	}
}

// digitPass is a function of a pass under construction, whose blocks have a tile each.
type digitPass struct {
	*gridFunc
	digits coop.Digits
	keys   loop.BufID
	tiles  loop.Expr
	mask   loop.Expr // U32
	lo, hi loop.Expr // of the block's tile
}

// digitPass begins pass i.
func (p *pairSort) digitPass(name string, i, from int) *digitPass {
	x := &digitPass{gridFunc: p.m.newFunc(name)}
	b := x.Builder
	n, shift := x.scalar(p.n), x.scalar(p.shift[i])
	x.tiles, x.keys = x.scalar(p.tiles), x.buffer(p.keys[from], loop.ReadWrite)
	one := loop.Number(loop.U32, 1)
	x.mask = b.Let("mask", b.Sub(coop.Shl(one, b.Cast(loop.U32, x.scalar(p.width))), one))
	x.lo = b.Let("begin", b.Mul(x.block(), loop.Int(p.tile())))
	x.hi = b.Let("end", b.Min(n, b.Add(x.lo, loop.Int(p.tile()))))
	x.digits = coop.Digits{Team: x.team(), Bits: digitBits, Rounds: sortRounds}
	x.digits.Of = func(key loop.Expr) loop.Expr {
		return b.Let("digit", b.Cast(loop.I64, b.And(coop.Shr(key, b.Cast(loop.U32, shift)), x.mask)))
	}
	x.digits.Keys = func(_, hi loop.Expr) func(at []loop.Expr) (keys []loop.Expr, inside []*loop.Ref) {
		return func(at []loop.Expr) (keys []loop.Expr, inside []*loop.Ref) {
			keys = x.load(x.keys, at)
			for _, p := range at {
				inside = append(inside, b.Var("inside", b.Lt(p, hi)))
			}
			return keys, inside
		}
	}
	return x
}

// load reads the elements at some places, of which those from hi on are read as the last.
func (x *digitPass) load(buf loop.BufID, at []loop.Expr) []loop.Expr {
	b := x.Builder
	last := b.Let("last", b.Sub(x.hi, loop.Int(1)))
	list := make([]loop.Expr, len(at))
	for k, p := range at { // without a condition, so that all loads are under way at once
		list[k] = b.Let("loaded", b.Load(buf, b.Min(p, last)))
	}
	return list
}

// place calls with with the count of a digit of the tile, for those digits that there may be.
func (x *digitPass) place(d loop.Expr, with func(at loop.Expr)) {
	b := x.Builder
	b.If(b.Le(d, b.Cast(loop.I64, x.mask)), func() { with(b.Let("at", b.Add(b.Mul(d, x.tiles), x.block()))) }, nil)
}

// countDigits is the function that counts the digits of a tile.
func (p *pairSort) countDigits(i, from int) *gridFunc {
	x := p.digitPass("digits", i, from)
	b := x.Builder
	counts := x.buffer(p.counts, loop.ReadWrite)
	x.digits.Count(x.digits.Bins(), x.lo, x.hi, func(d, n loop.Expr) { x.place(d, func(at loop.Expr) { b.Store(counts, at, n) }) })
	return x.gridFunc
}

// movePairs is the stage that moves the pairs of a tile.
func (p *pairSort) movePairs(i, from, to int) loop.Stage {
	x := p.digitPass("moves", i, from)
	b := x.Builder
	numbers := x.buffer(p.numbers[from], loop.ReadWrite)
	keysOut, numbersOut := x.buffer(p.keys[to], loop.ReadWrite), x.buffer(p.numbers[to], loop.ReadWrite)
	counts, first := x.buffer(p.counts, loop.ReadWrite), x.scalar(p.first[i])
	into := func(buf loop.BufID) coop.Moved {
		return coop.Moved{Elem: loop.U32, Store: func(place, v loop.Expr) { b.Store(buf, place, v) }}
	}
	place := func(d loop.Expr, with func(at loop.Expr)) {
		x.place(d, func(at loop.Expr) { with(b.Load(counts, at)) })
	}
	x.digits.Mover(loop.U32, sortResident).Move(x.lo, x.hi, place, into(keysOut), func(at []loop.Expr) []coop.Moved {
		carried := make([]*loop.Ref, len(at))
		for k, q := range at {
			carried[k] = b.Var("number", b.Cast(loop.U32, q))
		}
		b.If(b.Eq(first, loop.Int(0)), func() {
			for k, number := range x.load(numbers, at) {
				b.Assign(carried[k], number)
			}
		}, nil)
		moved := into(numbersOut)
		moved.Load = func(k int) loop.Expr { return carried[k] }
		return []coop.Moved{moved}
	})
	return x.stage(p.s, "moves")
}
