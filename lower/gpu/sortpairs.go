package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Pairs of a key and a number, both of 32 bits, are sorted by their keys by digits, the
// lowest first, a tile of pairs at a time (radix sort: N. Satish, M. Harris and M. Garland,
// "Designing Efficient Sorting Algorithms for Manycore GPUs", 2009): one grid counts the
// digits of each tile; the running sums of the counts, over digits and the tiles within
// each, say where they go; and another moves them, each warp ranking its pairs among those
// of the same digit by ballots, so that every pass is stable. The numbers are at first
// those of the places, and not read by the first pass.
//
// How many digits there are is known only when the program runs: of the passes that the
// program has, the last so many run.

const (
	mostPasses = 4
	digitBits  = 8
	digits     = 1 << digitBits
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
		{Scalar: p.tiles, Value: sizeOp(loop.Mul, on, ceilDiv(n, con(p.tile())))},
		{Scalar: p.bits, Value: bitsFor(keys)},
		{Scalar: p.passCount, Value: ceilDiv(needed, eight)},
		{Scalar: p.group, Value: sizeOp(loop.Max, con(0), sizeOp(loop.Sub, bits, sizeOp(loop.Mul, eight, count)))},
		{Scalar: p.width, Value: ceilDiv(sizeOp(loop.Sub, bits, group), sizeOp(loop.Max, one, count))},
		{Scalar: p.odd, Value: sizeOp(loop.Sub, count, sizeOp(loop.Mul, con(2), sizeOp(loop.Div, count, con(2))))},
		{Scalar: p.cells, Value: sizeOp(loop.Mul, loop.SizeScalar(p.tiles), powerOf2(width, digitBits))},
	}
	for i := range p.active {
		number := sizeOp(loop.Sub, count, con(int64(mostPasses-i))) // of the pass, among those that run
		lets = append(lets,
			loop.ScalarLet{Scalar: p.active[i], Value: sizeOp(loop.Min, one, sizeOp(loop.Max, con(0), sizeOp(loop.Add, number, one)))},
			loop.ScalarLet{Scalar: p.shift[i], Value: sizeOp(loop.Add, group, sizeOp(loop.Mul, number, width))},
			loop.ScalarLet{Scalar: p.first[i], Value: sizeOp(loop.Sub, one, sizeOp(loop.Min, one, sizeOp(loop.Max, con(0), number)))})
	}
	return lets
}

// bitsFor is how many bits the numbers below n, at most 2^32, have.
func bitsFor(n loop.SizeExpr) loop.SizeExpr {
	last := sizeOp(loop.Max, loop.SizeConst(0), sizeOp(loop.Sub, n, loop.SizeConst(1)))
	var bits loop.SizeExpr = loop.SizeConst(0)
	for k := range 32 {
		bits = sizeOp(loop.Add, bits, atLeast(last, 1<<k))
	}
	return bits
}

// powerOf2 is 2 to a power of at most most.
func powerOf2(log loop.SizeExpr, most int64) loop.SizeExpr {
	var x loop.SizeExpr = loop.SizeConst(1)
	for k := int64(1); k <= most; k++ {
		x = sizeOp(loop.Mul, x, sizeOp(loop.Add, loop.SizeConst(1), atLeast(log, k)))
	}
	return x
}

// allocs are those of the pairs, where anything is sorted.
func (p *pairSort) allocs() []loop.Alloc {
	on := sizeOp(loop.Min, loop.SizeConst(1), loop.SizeScalar(p.tiles))
	n := sizeOp(loop.Mul, on, loop.SizeScalar(p.n))
	several := func(passes int64) loop.SizeExpr {
		return sizeOp(loop.Mul, n, atLeast(loop.SizeScalar(p.passCount), passes))
	}
	return []loop.Alloc{
		{Buffer: p.keys[0], Len: n}, {Buffer: p.keys[1], Len: several(1)},
		{Buffer: p.numbers[0], Len: several(1)}, {Buffer: p.numbers[1], Len: several(2)},
		{Buffer: p.counts, Len: loop.SizeScalar(p.cells)},
	}
}

// writer gives a function the parameters with which it stores the key of a pair.
func (p *pairSort) writer(g *gridFunc) func(at, key loop.Expr) {
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
			m.launch(p.s, "moves", p.movePairs(i, from, to), loop.SizeScalar(p.tiles))
		})
	}
}

// digitPass is a function of a pass under construction.
type digitPass struct {
	*gridFunc
	n, tiles, shift loop.Expr
	mask            loop.Expr // U32
	lo, hi          loop.Expr // of the block's tile
}

// digitPass begins a function, whose blocks have a tile each.
func (p *pairSort) digitPass(name string, i int) *digitPass {
	x := &digitPass{gridFunc: p.m.newFunc(name)}
	b := x.Builder
	x.n, x.tiles, x.shift = x.scalar(p.n), x.scalar(p.tiles), x.scalar(p.shift[i])
	one := loop.Number(loop.U32, 1)
	x.mask = b.Let("mask", b.Sub(loop.NewBinary(loop.Shl, one, b.Cast(loop.U32, x.scalar(p.width))), one))
	x.lo = b.Let("begin", b.Mul(x.block(), loop.Int(p.tile())))
	x.hi = b.Let("end", b.Min(x.n, b.Add(x.lo, loop.Int(p.tile()))))
	return x
}

// digitOf is the digit of a key.
func (x *digitPass) digitOf(key loop.Expr) loop.Expr {
	b := x.Builder
	return b.Let("digit", b.Cast(loop.I64, b.And(coop.Shr(key, b.Cast(loop.U32, x.shift)), x.mask)))
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

// each runs body for the digits that there may be, each of which is a thread's.
func (x *digitPass) each(body func(d loop.Expr)) {
	b := x.Builder
	for first := 0; first < digits; first += x.m.opts.Threads {
		d := b.Let("d", b.Add(x.thread(), loop.Int(int64(first))))
		if first+x.m.opts.Threads <= digits {
			body(d)
			continue
		}
		b.If(b.Lt(d, loop.Int(digits)), func() { body(d) }, nil)
	}
}

// place is where the counts of a digit of the block's tile are.
func (x *digitPass) place(d loop.Expr) loop.Expr {
	return x.Builder.Let("at", x.Builder.Add(x.Builder.Mul(d, x.tiles), x.block()))
}

// countDigits is the function that counts the digits of a tile.
func (p *pairSort) countDigits(i, from int) *gridFunc {
	x := p.digitPass("digits", i)
	b := x.Builder
	keys, counts := x.buffer(p.keys[from], loop.ReadWrite), x.buffer(p.counts, loop.ReadWrite)
	bins := b.Shared("bins", loop.U32, digits)
	x.each(func(d loop.Expr) { b.Store(bins, d, loop.Number(loop.U32, 0)) })
	b.Barrier(loop.BlockScope)
	var at []loop.Expr
	for k := range int64(sortRounds) {
		at = append(at, b.Let("p", b.Add(x.lo, b.Add(x.thread(), loop.Int(k*int64(p.m.opts.Threads))))))
	}
	for k, key := range x.load(keys, at) {
		b.If(b.Lt(at[k], x.hi), func() { b.Atomic(loop.AtomicAdd, bins, x.digitOf(key), loop.Number(loop.U32, 1)) }, nil)
	}
	b.Barrier(loop.BlockScope)
	x.each(func(d loop.Expr) {
		b.If(b.Le(d, b.Cast(loop.I64, x.mask)), func() { b.Store(counts, x.place(d), b.Load(bins, d)) }, nil)
	})
	return x.gridFunc
}

// pairMove is the function that moves the pairs of a tile under construction.
type pairMove struct {
	*digitPass
	keys, numbers, keysOut, numbersOut, counts loop.BufID
	first                                      loop.Expr  // the numbers are those of the places
	counters, base                             loop.BufID // shared: by warp and digit, by digit
	begin                                      loop.Expr  // the place of the lane's first pair
	own                                        loop.Expr  // where the warp's counters begin
}

// pairMove begins the function.
func (p *pairSort) pairMove(i, from, to int) *pairMove {
	x := &pairMove{digitPass: p.digitPass("moves", i)}
	b := x.Builder
	x.keys, x.numbers = x.buffer(p.keys[from], loop.ReadWrite), x.buffer(p.numbers[from], loop.ReadWrite)
	x.keysOut, x.numbersOut = x.buffer(p.keys[to], loop.ReadWrite), x.buffer(p.numbers[to], loop.ReadWrite)
	x.counts = x.buffer(p.counts, loop.ReadWrite)
	x.first = x.scalar(p.first[i])
	x.counters = b.Shared("counters", loop.U32, x.warps()*digits)
	x.base = b.Shared("base", loop.U32, digits)
	x.begin = b.Let("first", b.Add(b.Add(x.lo, b.Mul(x.Warp(), loop.Int(sortRounds*warp))), x.Lane()))
	return x
}

// warps is how many a block has.
func (x *digitPass) warps() int64 { return int64(x.threads / warp) }

// movePairs is the function that moves the pairs of a tile, and what stands in for it.
func (p *pairSort) movePairs(i, from, to int) *gridFunc {
	x, q := p.pairMove(i, from, to), p.pairMove(i, from, to)
	x.throughShared(p.tile())
	q.standsInFor(x.gridFunc)
	q.oneByOne()
	return x.gridFunc
}

// throughShared moves the pairs through shared memory, where they come into their order.
func (x *pairMove) throughShared(tile int64) {
	b := x.Builder
	b.Resident(sortResident)
	exchange := b.Shared("exchange", loop.U64, tile)
	var at []loop.Expr
	for k := range int64(sortRounds) {
		at = append(at, b.Let("p", b.Add(x.begin, loop.Int(k*warp))))
	}
	words := x.load(x.keys, at)
	x.clearCounters()
	ranks := make([]loop.Expr, len(at))
	for k := range at {
		ranks[k] = x.rank(x.counters, b.Let("counter", b.Add(x.own, x.digitOf(words[k]))), words[k], b.Let("inside", b.Lt(at[k], x.hi)))
	}
	b.Barrier(loop.BlockScope)
	x.starts(x.counters, x.base, x.counts)
	b.Barrier(loop.BlockScope)
	carried := make([]*loop.Ref, len(at))
	for k, q := range at {
		carried[k] = b.Var("number", b.Cast(loop.U32, q))
	}
	b.If(b.Eq(x.first, loop.Int(0)), func() {
		for k, number := range x.load(x.numbers, at) {
			b.Assign(carried[k], number)
		}
	}, nil)
	half := loop.Number(loop.U64, 32)
	for k := range at {
		b.If(b.Lt(at[k], x.hi), func() {
			place := b.Add(b.Load(x.counters, b.Add(x.own, x.digitOf(words[k]))), ranks[k])
			pair := b.Or(b.Cast(loop.U64, words[k]), loop.NewBinary(loop.Shl, b.Cast(loop.U64, carried[k]), half))
			b.Store(exchange, b.Cast(loop.I64, place), pair)
		}, nil)
	}
	b.Barrier(loop.BlockScope)
	for k := range int64(sortRounds) {
		place := b.Let("i", b.Add(x.thread(), loop.Int(k*int64(x.threads))))
		b.If(b.Lt(place, b.Sub(x.hi, x.lo)), func() {
			pair := b.Let("pair", b.Load(exchange, place))
			key := b.Let("key", b.Cast(loop.U32, pair))
			x.store(key, b.Cast(loop.U32, place), b.Cast(loop.U32, coop.Shr(pair, half)))
		}, nil)
	}
}

// clearCounters sets all counters to 0, behind which is a barrier.
func (x *pairMove) clearCounters() {
	b := x.Builder
	x.Times(x.warps()*digits/int64(x.threads), func(k loop.Expr) {
		b.Store(x.counters, b.Add(x.thread(), b.Mul(k, loop.Int(int64(x.threads)))), loop.Number(loop.U32, 0))
	})
	b.Barrier(loop.BlockScope)
	x.own = b.Let("own", b.Mul(x.Warp(), loop.Int(digits)))
}

// store puts a pair that has a place in the tile's order where it goes.
func (x *pairMove) store(key, place, number loop.Expr) {
	b := x.Builder
	target := b.Let("target", b.Cast(loop.I64, b.Add(b.Load(x.base, x.digitOf(key)), place)))
	b.Store(x.keysOut, target, key)
	b.Store(x.numbersOut, target, number)
}

// oneByOne moves the pairs from where they are to where they go. They are read twice, as
// they are counted first.
func (x *pairMove) oneByOne() {
	b := x.Builder
	x.clearCounters()
	each := func(body func(p, key, inside loop.Expr)) {
		x.Times(sortRounds, func(k loop.Expr) {
			p := b.Let("p", b.Add(x.begin, b.Mul(k, loop.Int(warp))))
			body(p, x.load(x.keys, []loop.Expr{p})[0], b.Let("inside", b.Lt(p, x.hi)))
		})
	}
	each(func(_, key, inside loop.Expr) {
		b.If(inside, func() { b.Atomic(loop.AtomicAdd, x.counters, b.Add(x.own, x.digitOf(key)), loop.Number(loop.U32, 1)) }, nil)
	})
	b.Barrier(loop.BlockScope)
	x.starts(x.counters, x.base, x.counts)
	b.Barrier(loop.BlockScope)
	each(func(p, key, inside loop.Expr) {
		place := x.rank(x.counters, b.Let("counter", b.Add(x.own, x.digitOf(key))), key, inside)
		b.If(inside, func() {
			number := b.Var("number", b.Cast(loop.U32, p))
			b.If(b.Eq(x.first, loop.Int(0)), func() { b.Assign(number, b.Load(x.numbers, p)) }, nil)
			x.store(key, place, number)
		}, nil)
	})
}

// rank is how many pairs of the warp stand before that of the lane and have its digit. All
// those before have been counted, and then so are the warp's.
func (x *digitPass) rank(counters loop.BufID, counter, key, inside loop.Expr) loop.Expr {
	b := x.Builder
	same, among := x.Peers(x.digitOf(key), digitBits, inside)
	before := b.Let("before", b.Load(counters, counter))
	b.Barrier(loop.WarpScope)
	b.If(b.And(inside, b.Eq(among, loop.Number(loop.U32, 0))), func() {
		b.Store(counters, counter, b.Add(before, b.Cast(loop.U32, loop.NewUnary(loop.OnesCount, same))))
	}, nil)
	b.Barrier(loop.WarpScope)
	return b.Let("rank", b.Add(before, among))
}

// starts turns the counters of the warps into where their pairs of a digit begin in the
// tile. base becomes how far they go from there.
func (x *digitPass) starts(counters, base, counts loop.BufID) {
	b := x.Builder
	threads := int64(x.threads)
	per := max(1, digits/threads)
	first := b.Let("first_digit", b.Mul(x.thread(), loop.Int(per)))
	inside := b.Let("has_digits", b.Lt(first, loop.Int(digits)))
	each := func(digit func(d loop.Expr), body func(at loop.Expr)) {
		b.If(inside, func() {
			for k := range per {
				d := b.Let("d", b.Add(first, loop.Int(k)))
				digit(d)
				x.Times(x.warps(), func(w loop.Expr) { body(b.Let("at", b.Add(d, b.Mul(w, loop.Int(digits))))) })
			}
		}, nil)
	}
	sum := b.Var("sum", loop.Number(loop.U32, 0))
	each(func(loop.Expr) {}, func(at loop.Expr) { b.Assign(sum, b.Add(sum, b.Load(counters, at))) })
	before, _ := x.blockPrefix(&prefixParts{Prefix: &loop.Prefix{}, elem: loop.U32, threads: int(threads)}, sum)
	next := b.Var("next", before)
	each(func(d loop.Expr) {
		b.If(b.Le(d, b.Cast(loop.I64, x.mask)), func() { b.Store(base, d, b.Sub(b.Load(counts, x.place(d)), next)) }, nil)
	}, func(at loop.Expr) {
		n := b.Let("n", b.Load(counters, at))
		b.Store(counters, at, next)
		b.Assign(next, b.Add(next, n))
	})
}
