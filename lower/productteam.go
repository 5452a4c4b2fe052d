package lower

import (
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A warp makes a row of a result that is gathered in a workspace. The entries of the
// outer loop of a producer are spread over the lanes, 32 at a time, to see how long the
// inner loop is for each; a running sum of the lengths numbers all values, and the lanes
// take them 32 at a time, however long the inner loops are. Each value's key is looked up
// in a hash table in shared memory and entered if it is not there (compare and swap).
// Where two lanes have one key at the same time, they take turns in the order of the
// values: so sums are added in the order in which a single thread would.
//
// The keys that are found first are listed, and sorted in registers at the end (lanesort.go).
// Which lane enters a key, and where in the table it lands, differs from run to run; what
// is written does not.
type productTeam struct {
	*gridTeam
	rows  *teamProducts
	class *rowClass
	fits  bool

	keyType loop.Type
	slots   int64
	// Shared, a part of each for every warp. vals, owner and list are of functions that fill.
	table, vals, owner, list, firsts, lows loop.BufID

	phase phase
	at    loop.Expr                  // of the inner loop, while placing
	found func(begin, end loop.Expr) // tells the ends of the inner loop, while measuring
	// What the lane puts into the workspace in this step, if active.
	active, key, value *loop.Ref
	distinct           *loop.Ref // keys so far
	turn               *loop.Ref // number of turns that lanes with one key have taken
}

// phase says how the team goes through the inner loop of a producer.
type phase uint8

const (
	idle      phase = iota
	measuring       // only its ends are wanted
	placing         // one turn of it is
)

// rowsPerWarp is how many rows a warp looks at together.
const rowsPerWarp = 8

func newProductTeam(g *gridTeam, p *teamProducts, c *rowClass) *productTeam {
	t := &productTeam{gridTeam: g, rows: p, class: c, fits: true, keyType: p.keyType(), slots: 2 * max(c.most, warpSize)}
	t.table = t.perWarp("table", t.keyType, t.slots)
	t.firsts, t.lows = t.perWarp("firsts", loop.I64, warpSize), t.perWarp("lows", loop.I64, warpSize)
	if t.fills() {
		t.vals = t.perWarp("vals", p.store.valueType(), t.slots)
		t.owner = t.perWarp("owner", loop.U32, t.slots)
		t.list = t.perWarp("list", t.keyType, t.slots/2)
	}
	return t
}

// fills reports whether values are wanted.
func (t *productTeam) fills() bool { return !t.symbolic }

// perWarp makes a shared array of n elements for each warp.
func (t *productTeam) perWarp(name string, elem loop.Type, n int64) loop.BufID {
	return t.b.Shared(name, elem, n*int64(t.block))
}

// own is the place of element i of the n that the warp has of a shared array.
func (t *productTeam) own(n int64, i loop.Expr) loop.Expr {
	return t.b.Add(t.b.Mul(t.warp(), loop.Int(n)), i)
}

func (t *productTeam) slot(i loop.Expr) loop.Expr { return t.own(t.slots, i) }

// free is the key of a slot that is not in use; it is no column.
func (t *productTeam) free() loop.Expr { return loop.NewUnary(loop.Not, loop.Number(t.keyType, 0)) }

// loop emits a loop of the nest.
func (t *productTeam) loop(w *walk, s steps) bool {
	inner := inserts(w.f.Body)
	switch {
	case !t.fits:
	case !s.plain:
		t.fits = false
	case w.depth == 1:
		t.eachRow(func(row loop.Expr) { t.rows.row(t.emitter, row, s.visit) })
	case t.phase == measuring && inner:
		t.found(s.begin, s.end)
	case t.phase == placing && inner:
		s.visit(t.at)
	case t.phase == idle && inner:
		t.spread(t.b.Sub(s.end, s.begin), func(i loop.Expr) { s.visit(t.b.Let("p", t.b.Add(s.begin, i))) })
	case t.phase == idle:
		f, ok := w.f.Body.(*ir.Forall)
		if t.fits = ok && inserts(f.Body); t.fits {
			t.outer(s)
		}
	default:
		t.fits = false
	}
	return true
}

// eachRow runs body for the rows of the class. A warp looks at some rows together, so that
// those of other classes cost little.
func (t *productTeam) eachRow(body func(row loop.Expr)) {
	b := t.b
	rows := t.scalar(t.rows.rows)
	items := b.Div(b.Add(rows, loop.Int(rowsPerWarp-1)), loop.Int(rowsPerWarp))
	t.each(b.Let("items", items), func(item loop.Expr) {
		first := b.Let("first", b.Mul(item, loop.Int(rowsPerWarp)))
		mine := b.Var("mine", loop.Truth(false))
		row := b.Let("row", b.Add(first, t.lane()))
		b.If(b.And(b.Lt(t.lane(), loop.Int(rowsPerWarp)), b.Lt(row, rows)), func() {
			b.Assign(mine, t.class.has(b, b.Let("products", b.Load(t.read(t.rows.products), row))))
		}, nil)
		todo := b.Var("todo", b.Ballot("theirs", mine))
		b.While(b.Ne(todo, loop.Number(loop.U32, 0)), func() {
			lowest := b.Cast(loop.I64, loop.NewUnary(loop.TrailingZeros, todo))
			row := b.Let("row", b.Add(first, lowest))
			b.Assign(todo, b.And(todo, b.Sub(todo, loop.Number(loop.U32, 1))))
			body(row)
		})
	})
}

// strided runs body for the lane's elements of n.
func (t *productTeam) strided(n loop.Expr, body func(i loop.Expr)) {
	b := t.b
	at := b.Var("at", t.lane())
	b.While(b.Lt(at, n), func() {
		body(b.Let("i", at))
		b.Assign(at, b.Add(at, loop.Int(warpSize)))
	})
}

// workspace emits a row: the producers' values go into the table, whose entries are then
// appended to the result in the order of their columns.
func (t *productTeam) workspace(st *state, s *ir.Workspace) {
	b := t.b
	for i := int64(0); i < t.slots; i += warpSize {
		at := t.slot(b.Add(t.lane(), loop.Int(i)))
		b.Store(t.table, at, t.free())
		if t.fills() {
			b.Store(t.owner, at, loop.Number(loop.U32, 0))
		}
	}
	t.active = b.Var("active", loop.Truth(false))
	t.key = b.Var("key", loop.Number(t.keyType, 0))
	t.distinct = b.Var("distinct", loop.Int(0))
	if t.fills() {
		t.value = b.Var("value", loop.Number(t.rows.store.valueType(), 0))
		t.turn = b.Var("turn", loop.Number(loop.U32, 0))
	}
	t.barrier()
	t.emitter.produce(st, s)
	n := t.distinct
	current := t.out.current[len(t.out.segments)-1]
	if t.fills() {
		t.sortKeys(n)
		t.appendEntries(st, current)
	}
	b.Assign(current, b.Add(current, n))
	t.barrier() // the table is free again
}

// insert takes note of what the lane has.
func (t *productTeam) insert(_ *emitter, _ *workspace, key, x loop.Expr) {
	b := t.b
	b.Assign(t.active, loop.Truth(true))
	b.Assign(t.key, b.Cast(t.keyType, key))
	if x != nil {
		b.Assign(t.value, x)
	}
}

// outer emits a loop around the inner one.
func (t *productTeam) outer(s steps) {
	b := t.b
	first := b.Var("first", s.begin)
	b.While(b.Lt(first, s.end), func() {
		low, length := b.Var("low", loop.Int(0)), b.Var("length", loop.Int(0))
		p := b.Let("p", b.Add(first, t.lane()))
		b.If(b.Lt(p, s.end), func() {
			t.phase = measuring
			t.found = func(begin, end loop.Expr) {
				b.Assign(low, begin)
				b.Assign(length, b.Max(loop.Int(0), b.Sub(end, begin)))
			}
			s.visit(p)
			t.phase = idle
		}, nil)
		sum := b.Var("sum", length)
		for d := int64(1); d < warpSize; d *= 2 {
			below := b.Shuffle("below", loop.ShuffleUp, sum, loop.Int(d), warpSize)
			b.If(b.Ge(t.lane(), loop.Int(d)), func() { b.Assign(sum, b.Add(sum, below)) }, nil)
		}
		total := b.Shuffle("total", loop.ShuffleIndex, sum, loop.Int(warpSize-1), warpSize)
		before := b.Let("before", b.Sub(sum, length))
		b.Store(t.firsts, t.own(warpSize, t.lane()), before)
		b.Store(t.lows, t.own(warpSize, t.lane()), b.Sub(low, before))
		t.barrier()
		t.spread(total, func(i loop.Expr) {
			// The last lane whose values begin at i or before has it.
			k := b.Let("k", loop.Int(0))
			for d := int64(warpSize / 2); d > 0; d /= 2 {
				next := b.Add(k, loop.Int(d))
				k = b.Let("k", b.Select(b.Le(b.Load(t.firsts, t.own(warpSize, next)), i), next, k))
			}
			t.phase = placing
			t.at = b.Let("p", b.Add(b.Load(t.lows, t.own(warpSize, k)), i))
			s.visit(b.Let("p", b.Add(first, k)))
			t.phase = idle
		})
		t.barrier()
		b.Assign(first, b.Add(first, loop.Int(warpSize)))
	})
}

// spread runs visit for 0 … n-1, a value for each lane at a time.
func (t *productTeam) spread(n loop.Expr, visit func(i loop.Expr)) {
	b := t.b
	done := b.Var("done", loop.Int(0))
	b.While(b.Lt(done, n), func() {
		b.Assign(t.active, loop.Truth(false))
		i := b.Let("i", b.Add(done, t.lane()))
		b.If(b.Lt(i, n), func() { visit(i) }, nil)
		t.enter()
		b.Assign(done, b.Add(done, loop.Int(warpSize)))
	})
}

// firstSlot is where the search for a key begins.
func (t *productTeam) firstSlot(key loop.Expr) loop.Expr {
	b := t.b
	// 2^32 divided by the golden ratio; see hashFactor.
	factor, width := int64(0x9e3779b1), int64(32)
	if t.keyType == loop.U64 {
		factor, width = hashFactor, 64
	}
	bits := int64(bits.Len64(uint64(t.slots)) - 1)
	return b.Cast(loop.I64, loop.NewBinary(loop.Shr, b.Mul(key, loop.Number(t.keyType, factor)), loop.Number(t.keyType, width-bits)))
}

// after is the slot after one.
func (t *productTeam) after(slot loop.Expr) loop.Expr {
	return t.b.And(t.b.Add(slot, loop.Int(1)), loop.Int(t.slots-1))
}

// enter puts the lanes' values into the table.
func (t *productTeam) enter() {
	b := t.b
	at := b.Var("slot", loop.Int(0))
	fresh := b.Var("fresh", loop.Truth(false))
	b.If(t.active, func() {
		b.Assign(at, t.firstSlot(t.key))
		going := b.Var("going", loop.Truth(true))
		b.While(going, func() {
			old := b.CompareAndSwap("old", t.table, t.slot(at), t.free(), t.key)
			b.Assign(fresh, b.Eq(old, t.free()))
			b.Assign(going, b.Not(b.Or(fresh, b.Eq(old, t.key))))
			b.If(going, func() { b.Assign(at, t.after(at)) }, nil)
		})
	}, nil)
	entered := b.Ballot("entered", fresh)
	if t.fills() {
		b.If(fresh, func() {
			below := b.And(entered, b.Sub(loop.NewBinary(loop.Shl, loop.Number(loop.U32, 1), b.Cast(loop.U32, t.lane())), loop.Number(loop.U32, 1)))
			place := b.Add(t.distinct, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, below)))
			b.Store(t.list, t.own(t.slots/2, place), t.key)
		}, nil)
		t.fold(t.slot(b.Let("at", at)), fresh)
	}
	b.Assign(t.distinct, b.Add(t.distinct, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, entered))))
}

// fold folds the lanes' values into those of their slots.
func (t *productTeam) fold(at loop.Expr, fresh loop.Expr) {
	b, w := t.b, t.rows.store
	fold := func(old loop.Expr) { b.Store(t.vals, at, t.combine(w.tensor.Work.Fold, old, t.value)) }
	again := b.Ballot("again", b.And(t.active, b.Not(fresh)))
	b.If(b.Eq(again, loop.Number(loop.U32, 0)), func() {
		b.If(t.active, func() { fold(w.identity()) }, nil)
	}, func() {
		b.If(fresh, func() { b.Store(t.vals, at, w.identity()) }, nil)
		left := b.Var("left", again)
		b.While(b.Ne(left, loop.Number(loop.U32, 0)), func() {
			// The owner of a slot has the greatest number: that of the last turn and, in
			// it, of the first lane.
			b.Assign(t.turn, b.Add(t.turn, loop.Number(loop.U32, warpSize)))
			number := b.Let("number", b.Sub(t.turn, b.Cast(loop.U32, t.lane())))
			b.If(t.active, func() { b.Atomic(loop.AtomicMax, t.owner, at, number) }, nil)
			t.barrier()
			b.If(t.active, func() {
				b.If(b.Eq(b.Load(t.owner, at), number), func() {
					fold(b.Load(t.vals, at))
					b.Assign(t.active, loop.Truth(false))
				}, nil)
			}, nil)
			b.Assign(left, b.Ballot("more", t.active))
			t.barrier()
		})
	})
	t.barrier()
}

// sortKeys sorts the n keys of the list.
func (t *productTeam) sortKeys(n loop.Expr) {
	b := t.b
	var sorted func(per int64)
	sorted = func(per int64) {
		run := func() {
			var keys []loop.Expr
			for e := range per {
				i := b.Let("i", b.Add(b.Mul(t.lane(), loop.Int(per)), loop.Int(e)))
				key := b.Var("key", t.free())
				b.If(b.Lt(i, n), func() { b.Assign(key, b.Load(t.list, t.own(t.slots/2, i))) }, nil)
				keys = append(keys, key)
			}
			keys = t.sortLanes(keys)
			for e, key := range keys {
				b.Store(t.list, t.own(t.slots/2, b.Add(b.Mul(t.lane(), loop.Int(per)), loop.Int(int64(e)))), key)
			}
		}
		if per*warpSize >= t.slots/2 {
			run()
			return
		}
		b.If(b.Le(n, loop.Int(per*warpSize)), run, func() { sorted(2 * per) })
	}
	sorted(1)
	t.barrier()
}

// appendEntries appends the listed keys and their values to the last segment of the result.
func (t *productTeam) appendEntries(st *state, current loop.Expr) {
	b := t.b
	s := t.out.segments[len(t.out.segments)-1]
	vals := t.write(t.result.Values)
	t.strided(t.distinct, func(i loop.Expr) {
		key := b.Let("key", b.Load(t.list, t.own(t.slots/2, i)))
		at := b.Var("slot", t.firstSlot(key))
		b.While(b.Ne(b.Load(t.table, t.slot(at)), key), func() { b.Assign(at, t.after(at)) })
		to := b.Let("to", b.Add(current, i))
		for k, c := range append(slices.Clone(st.result.coords), b.Cast(loop.I64, key)) {
			crd := t.write(s.crd[k])
			b.Store(crd, to, b.Cast(b.Elem(crd), c))
		}
		b.Store(vals, to, b.Load(t.vals, t.slot(at)))
	})
}
