package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A warp makes a row of a result that is gathered in a workspace. The entries of the
// outer loop of a producer are spread over the lanes, 32 at a time, to see how long the
// inner loop is for each; a running sum of the lengths numbers all values, and the lanes
// take them 32 at a time, however long the inner loops are. A table in shared memory has a
// place for each key. Where two lanes have one key at the same time, they take turns in
// the order of the values: so sums are added in the order in which a single thread would.
type productTeam struct {
	*gridTeam
	rows  *teamProducts
	fits  bool
	table rowTable
	slots int64 // of the table
	// each runs body for what the warps take, which narrow, when not nil, says the columns of.
	each   func(body func(row loop.Expr))
	narrow func(s steps) (begin, end loop.Expr)
	// Shared, a part of each for every warp. vals and owner are of functions that fill.
	vals, owner, firsts, lows loop.BufID

	phase phase
	at    loop.Expr                  // of the inner loop, while placing
	found func(begin, end loop.Expr) // tells the ends of the inner loop, while measuring
	// What the lane puts into the workspace in this step, if active.
	active, key, value *loop.Ref
	distinct           *loop.Ref // keys so far
	turn               *loop.Ref // grows with the turns that lanes with one key have taken
}

// rowTable tells the keys of a row's values apart.
type rowTable interface {
	// clear makes the table empty. A barrier follows.
	clear()
	// enter finds the slot of the lane's key, if it is active, and says whether the lane
	// is the first that has the key. The ballot of the latter is entered.
	enter() (slot loop.Expr, fresh *loop.Ref, entered loop.Expr)
	// done ends a row: where it fills, the entries are appended to the last segment of the
	// result, in the order of their columns. It returns how many the row has in all.
	done(st *state, current loop.Expr) loop.Expr
}

// phase says how the team goes through the inner loop of a producer.
type phase uint8

const (
	idle      phase = iota
	measuring       // only its ends are wanted
	placing         // one turn of it is
)

func newProductTeam(g *gridTeam, p *teamProducts, slots int64) *productTeam {
	t := &productTeam{gridTeam: g, rows: p, fits: true, slots: slots}
	t.firsts, t.lows = t.perWarp("firsts", loop.I64, warpSize), t.perWarp("lows", loop.I64, warpSize)
	if t.fills() {
		t.vals = t.perWarp("vals", p.store.valueType(), slots)
		t.owner = t.perWarp("owner", loop.U32, slots)
		t.turn = t.b.Var("turn", loop.Number(loop.U32, 0))
		t.clearOwners()
	}
	t.shared = &sharing{loop: t.loop, workspace: t.workspace, insert: t.insert}
	return t
}

// clearOwners forgets the turns that were taken.
func (t *productTeam) clearOwners() {
	t.slotsInTurns(func(at loop.Expr) { t.b.Store(t.owner, at, loop.Number(loop.U32, 0)) })
}

// slotsInTurns runs body for the places of all slots, those of a lane after each other.
func (t *productTeam) slotsInTurns(body func(at loop.Expr)) {
	for i := int64(0); i < t.slots; i += warpSize {
		body(t.slot(t.b.Add(t.lane(), loop.Int(i))))
	}
}

// lastTurn is when owners are cleared and turns begin anew.
const lastTurn = 1 << 30

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

// loop emits a loop of the nest.
func (t *productTeam) loop(w *walk, s steps) bool {
	inner := inserts(w.f.Body)
	switch {
	case !t.fits:
	case !s.plain:
		t.fits = false
	case w.depth == 1:
		t.each(s.visit)
	case t.phase == measuring && inner:
		t.found(t.ends(w, s))
	case t.phase == placing && inner:
		s.visit(t.at)
	case t.phase == idle && inner:
		begin, end := t.ends(w, s)
		t.spread(t.b.Sub(end, begin), func(i loop.Expr) { s.visit(t.b.Let("p", t.b.Add(begin, i))) })
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

// ends are those of an inner loop.
func (t *productTeam) ends(w *walk, s steps) (begin, end loop.Expr) {
	if t.narrow == nil {
		return s.begin, s.end
	}
	if x := w.f.Body.(*ir.Assign).LHS.Indices[0]; x.Plain() != w.f.Index {
		t.fits = false // the loop does not go through columns
	}
	return t.narrow(s)
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
	t.table.clear()
	t.active = b.Var("active", loop.Truth(false))
	t.key = b.Var("key", loop.Number(t.rows.keyType(), 0))
	t.distinct = b.Var("distinct", loop.Int(0))
	if t.fills() {
		t.value = b.Var("value", loop.Number(t.rows.store.valueType(), 0))
		b.If(b.Gt(t.turn, loop.Number(loop.U32, lastTurn)), func() {
			t.clearOwners()
			b.Assign(t.turn, loop.Number(loop.U32, 0))
		}, nil)
	}
	t.barrier()
	t.emitter.produce(st, s)
	current := t.out.current[len(t.out.segments)-1]
	b.Assign(current, b.Add(current, t.table.done(st, current)))
	t.barrier() // the table is free again
}

// insert takes note of what the lane has.
func (t *productTeam) insert(_ *emitter, _ *workspace, key, x loop.Expr) {
	b := t.b
	b.Assign(t.active, loop.Truth(true))
	b.Assign(t.key, b.Cast(t.rows.keyType(), key))
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
		sum := t.lanesUpTo(length)
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

// enter puts the lanes' values into the table.
func (t *productTeam) enter() {
	b := t.b
	at, fresh, entered := t.table.enter()
	if t.fills() {
		t.fold(t.slot(at), fresh)
	}
	b.Assign(t.distinct, b.Add(t.distinct, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, entered))))
}

// lanesBelow are those bits of a ballot that stand for the lanes before the own one.
func (t *productTeam) lanesBelow(ballot loop.Expr) loop.Expr {
	b, one := t.b, loop.Number(loop.U32, 1)
	return b.And(ballot, b.Sub(loop.NewBinary(loop.Shl, one, b.Cast(loop.U32, t.lane())), one))
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

// appendEntry stores the coordinates and the value of an entry of the result.
func (t *productTeam) appendEntry(st *state, to, key, slot loop.Expr) {
	b := t.b
	s := t.out.segments[len(t.out.segments)-1]
	for k, c := range append(slices.Clone(st.result.coords), b.Cast(loop.I64, key)) {
		crd := t.write(s.crd[k])
		b.Store(crd, to, b.Cast(b.Elem(crd), c))
	}
	b.Store(t.write(t.result.Values), to, b.Load(t.vals, t.slot(slot)))
}
