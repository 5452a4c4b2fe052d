package coop

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Items are sorted on grids by the digits of their keys, the lowest first (radix sort: N. Satish, M. Harris and
// M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", 2009). A pass goes through tiles of items, a
// block for each. One function counts the digits of every tile; the running sum of the counts, over digits and the
// tiles within each, is where a tile's items of a digit go. In another function every warp ranks its items among
// those of the same digit, in their order, by ballots, so that passes are stable; sums over the warps and digits of
// the block then are where items go in the tile, in which the arrays of the items are brought into that order in shared
// memory, one after another, so that what neighbouring threads store lies side by side.

// Digits are those that keys have in a pass.
type Digits struct {
	*Team
	Bits, Rounds int64 // of a digit, at most; items of a tile for each thread
	// Of is the digit of a key, of type I64.
	Of func(key loop.Expr) loop.Expr
	// Keys gives what reads the keys at some places of the tile from lo to hi, which is not empty, and tells which of the
	// places have an item: the others have any key.
	Keys func(lo, hi loop.Expr) func(at []loop.Expr) (keys []loop.Expr, inside []*loop.Ref)
}

// each runs body for every digit, each of which is a thread's.
func (x *Digits) each(body func(d loop.Expr)) {
	b, digits, threads := x.Builder, int64(1)<<x.Bits, x.Threads()
	for first := int64(0); first < digits; first += threads {
		d := b.Let("d", b.Add(x.Rank(), loop.Int(first)))
		if first+threads <= digits {
			body(d)
			continue
		}
		b.If(b.Lt(d, loop.Int(digits)), func() { body(d) }, nil)
	}
}

// Bins is the shared array that Count needs.
func (x *Digits) Bins() loop.BufID { return x.Builder.Shared("bins", loop.U32, 1<<x.Bits) }

// Count counts the digits of the tile from lo to hi, and has store take the number of each, of type U32.
func (x *Digits) Count(bins loop.BufID, lo, hi loop.Expr, store func(d, n loop.Expr)) {
	b := x.Builder
	x.each(func(d loop.Expr) { b.Store(bins, d, loop.Number(loop.U32, 0)) })
	x.Barrier()
	keys := x.Keys(lo, hi)
	var at []loop.Expr
	for k := range x.Rounds {
		at = append(at, b.Let("p", b.Add(b.Add(lo, loop.Int(k*x.Threads())), x.Rank())))
	}
	b.If(b.Lt(lo, hi), func() {
		keys, inside := keys(at)
		for k := range at {
			b.If(inside[k], func() { b.Atomic(loop.AtomicAdd, bins, x.Of(keys[k]), loop.Number(loop.U32, 1)) }, nil)
		}
	}, nil)
	x.Barrier()
	x.each(func(d loop.Expr) { store(d, b.Load(bins, d)) })
}

// Multisplit moves items by their digits.
type Multisplit struct {
	*Digits
	counters loop.BufID // shared: by warp and digit
	own      loop.Expr  // where those of the warp begin
	prefix   *Prefix

	places    loop.Type  // of what Move adds up; Invalid where it is not used
	base      loop.BufID // shared, by digit: how far its items go from their place in the tile
	exchanged loop.BufID // shared: what goes to its place in the tile; -1 if nothing does
}

// Multisplit begins the use of counters, without Move.
func (x *Digits) Multisplit() *Multisplit { return x.multisplit(loop.Invalid) }

func (x *Digits) multisplit(places loop.Type) *Multisplit {
	b := x.Builder
	m := &Multisplit{Digits: x, places: places, exchanged: -1}
	m.counters = b.Shared("counters", loop.U32, int64(x.Warps)<<x.Bits)
	if places != loop.Invalid {
		m.base = b.Shared("base", places, 1<<x.Bits)
	}
	m.prefix = x.PrefixOf(loop.Add, loop.Int(0))
	m.own = b.Let("own", b.Mul(x.Warp(), loop.Int(1<<x.Bits)))
	return m
}

// Mover begins the use of Move, to places of some type. resident is how many blocks a processor has room for where items
// go through shared memory: those do in functions that are not quick, unless resident is 0.
func (x *Digits) Mover(places loop.Type, resident int) *Multisplit {
	exchanged := loop.BufID(-1)
	if resident > 0 && !x.Quick {
		x.Builder.Resident(resident)
		exchanged = x.Builder.Shared("exchange", loop.U64, x.Threads()*x.Rounds)
	}
	m := x.multisplit(places)
	m.exchanged = exchanged
	return m
}

// Clear sets all counters to 0.
func (m *Multisplit) Clear() {
	b, n := m.Builder, int64(m.Warps)<<m.Bits
	m.Times((n+m.Threads()-1)/m.Threads(), func(k loop.Expr) {
		at := b.Let("at", b.Add(m.Rank(), b.Mul(k, loop.Int(m.Threads()))))
		b.If(b.Lt(at, loop.Int(n)), func() { b.Store(m.counters, at, loop.Number(loop.U32, 0)) }, nil)
	})
}

// Add counts the thread's key.
func (m *Multisplit) Add(key loop.Expr) {
	m.Builder.Atomic(loop.AtomicAdd, m.counters, m.Builder.Add(m.own, m.Of(key)), loop.Number(loop.U32, 1))
}

// RankOf is how many items of the warp, and of those that the counters had before, stand before that of the lane and have
// its digit, as U32. The counters then have those of the warp too.
func (m *Multisplit) RankOf(key, inside loop.Expr) loop.Expr {
	b := m.Builder
	digit := m.Of(key)
	same, among := m.Peers(digit, m.Bits, inside)
	counter := b.Let("counter", b.Add(m.own, digit))
	before := b.Let("before", b.Load(m.counters, counter))
	b.Barrier(loop.WarpScope)
	b.If(b.And(inside, b.Eq(among, loop.Number(loop.U32, 0))), func() {
		b.Store(m.counters, counter, b.Add(before, b.Cast(loop.U32, loop.NewUnary(loop.OnesCount, same))))
	}, nil)
	b.Barrier(loop.WarpScope)
	return b.Let("rank", b.Add(before, among))
}

// Starts turns the counters into where the items of each warp and digit begin, those of all warps with lesser digits being
// before. It returns how many items there are. digit, unless nil, is told where each digit begins. A barrier is before and one is needed behind.
func (m *Multisplit) Starts(digit func(d, begin loop.Expr)) loop.Expr {
	b, digits := m.Builder, int64(1)<<m.Bits
	per := (digits + m.Threads() - 1) / m.Threads()
	first := b.Let("first_digit", b.Min(loop.Int(digits), b.Mul(m.Rank(), loop.Int(per))))
	end := b.Let("end_digit", b.Min(loop.Int(digits), b.Add(first, loop.Int(per))))
	counters := func(d loop.Expr, body func(at loop.Expr)) {
		m.Times(int64(m.Warps), func(w loop.Expr) { body(b.Let("at", b.Add(d, b.Mul(w, loop.Int(digits))))) })
	}
	own := m.prefix.Open()
	b.For("d", first, end, func(d loop.Expr) {
		counters(d, func(at loop.Expr) { b.Assign(own[0], b.Add(own[0], b.Cast(loop.I64, b.Load(m.counters, at)))) })
	})
	before, total := m.prefix.Of(own)
	next := b.Var("next", b.Cast(loop.U32, before[0]))
	b.For("d", first, end, func(d loop.Expr) {
		if digit != nil {
			digit(d, next)
		}
		counters(d, func(at loop.Expr) {
			n := b.Let("n", b.Load(m.counters, at))
			b.Store(m.counters, at, next)
			b.Assign(next, b.Add(next, n))
		})
	})
	return b.Let("total", total[0])
}

// Moved is an array of the items that are moved: how a thread loads the element of its k-th item, and stores an element
// at a place, of type I64.
type Moved struct {
	Elem  loop.Type
	Load  func(k int) loop.Expr
	Store func(place, v loop.Expr)
}

// Move moves the items of the tile from lo to hi, which is not empty. place calls with with where those of a digit go, if
// there are such; key says where keys are stored, and others, given the places of a thread's items, says what else is moved.
func (m *Multisplit) Move(lo, hi loop.Expr, place func(d loop.Expr, with func(at loop.Expr)), key Moved, others func(at []loop.Expr) []Moved) {
	b := m.Builder
	first := b.Let("first", b.Add(b.Add(lo, b.Mul(m.Warp(), loop.Int(m.Rounds*loop.WarpSize))), m.Lane()))
	starts := func(d, next loop.Expr) {
		place(d, func(at loop.Expr) { b.Store(m.base, d, b.Sub(at, b.Cast(m.places, next))) })
	}
	if m.exchanged < 0 {
		m.oneByOne(lo, hi, first, starts, key, others)
		return
	}
	var at []loop.Expr
	for k := range m.Rounds {
		at = append(at, b.Let("p", b.Add(first, loop.Int(k*loop.WarpSize))))
	}
	keys, inside := m.Keys(lo, hi)(at)
	m.Clear()
	m.Barrier()
	slots, total := m.slots(keys, inside, starts)
	targets := make([]*loop.Ref, len(at))
	for k := range targets {
		targets[k] = b.Var("target", loop.Number(m.places, 0))
	}
	key.Load = func(k int) loop.Expr { return keys[k] }
	arrays := append([]Moved{key}, others(at)...)
	for i := 0; i < len(arrays); {
		n := 1
		if i+1 < len(arrays) && arrays[i].Elem.Size() <= 4 && arrays[i+1].Elem.Size() <= 4 {
			n = 2
		}
		m.exchange(arrays[i:i+n], inside, slots, total, func(k int, slot, v loop.Expr) loop.Expr {
			if i == 0 {
				b.Assign(targets[k], b.Add(b.Load(m.base, m.Of(v)), b.Cast(m.places, slot)))
			}
			return b.Cast(loop.I64, targets[k])
		})
		i += n
	}
}

// slots are where items go in the tile, of which total are inside.
func (m *Multisplit) slots(keys []loop.Expr, inside []*loop.Ref, starts func(d, begin loop.Expr)) (slots []loop.Expr, total loop.Expr) {
	b := m.Builder
	var ranks []loop.Expr
	for k := range keys {
		ranks = append(ranks, m.RankOf(keys[k], inside[k]))
	}
	m.Barrier()
	total = m.Starts(starts)
	m.Barrier()
	for k := range keys {
		slot := b.Var("to", loop.Number(loop.U32, 0))
		b.If(inside[k], func() { b.Assign(slot, b.Add(b.Load(m.counters, b.Add(m.own, m.Of(keys[k]))), ranks[k])) }, nil)
		slots = append(slots, slot)
	}
	return slots, total
}

// exchange sends an array, or two that are narrow, through shared memory. target is where the k-th item that a thread
// stores goes, given its slot and its element of the first array.
func (m *Multisplit) exchange(arrays []Moved, inside []*loop.Ref, slots []loop.Expr, total loop.Expr, target func(k int, slot, v loop.Expr) loop.Expr) {
	b := m.Builder
	half := loop.Number(loop.U64, 32)
	values := make([]*loop.Ref, len(slots))
	for k := range slots {
		values[k] = b.Var("v", loop.Number(loop.U64, 0))
		b.If(inside[k], func() {
			v := b.Cast(loop.U64, arrays[0].Load(k))
			if len(arrays) == 2 {
				v = b.Or(v, Shl(b.Cast(loop.U64, arrays[1].Load(k)), half))
			}
			b.Assign(values[k], v)
		}, nil)
	}
	for k := range slots {
		b.If(inside[k], func() { b.Store(m.exchanged, b.Cast(loop.I64, slots[k]), values[k]) }, nil)
	}
	m.Barrier()
	for k := range slots {
		slot := b.Let("i", b.Add(m.Rank(), loop.Int(int64(k)*m.Threads())))
		b.If(b.Lt(slot, total), func() {
			v := b.Let("v", b.Load(m.exchanged, slot))
			low := b.Let("low", b.Cast(arrays[0].Elem, v))
			place := target(k, slot, low)
			arrays[0].Store(place, low)
			if len(arrays) == 2 {
				arrays[1].Store(place, b.Let("high", b.Cast(arrays[1].Elem, Shr(v, half))))
			}
		}, nil)
	}
	m.Barrier()
}

// oneByOne moves items from where they are to where they go. They are read twice, as they are counted first.
func (m *Multisplit) oneByOne(lo, hi, first loop.Expr, starts func(d, begin loop.Expr), key Moved, others func(at []loop.Expr) []Moved) {
	b := m.Builder
	m.Clear()
	m.Barrier()
	read := m.Keys(lo, hi)
	each := func(body func(p, key loop.Expr, inside *loop.Ref)) {
		m.Times(m.Rounds, func(k loop.Expr) {
			p := b.Let("p", b.Add(first, b.Mul(k, loop.Int(loop.WarpSize))))
			keys, inside := read([]loop.Expr{p})
			body(p, keys[0], inside[0])
		})
	}
	each(func(_, key loop.Expr, inside *loop.Ref) { b.If(inside, func() { m.Add(key) }, nil) })
	m.Barrier()
	m.Starts(starts)
	m.Barrier()
	each(func(p, k loop.Expr, inside *loop.Ref) {
		slot := m.RankOf(k, inside)
		b.If(inside, func() {
			place := b.Let("target", b.Cast(loop.I64, b.Add(b.Load(m.base, m.Of(k)), b.Cast(m.places, slot))))
			key.Store(place, k)
			for _, x := range others([]loop.Expr{p}) {
				x.Store(place, x.Load(0))
			}
		}, nil)
	})
	m.Barrier() // before the counters are cleared again
}
