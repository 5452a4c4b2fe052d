package product

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Team is a warp, or a block, which makes a row of a result that is gathered in a workspace. The entries
// of the outer loop of a producer are spread over the threads, one for each at a time, to
// see how long the inner loop is for each; a running sum of the lengths numbers all values,
// and the threads take them in turns, however long the inner loops are. A table in shared
// memory has a place for each key. Where two threads have one key at the same time, they
// take turns in the order of the values: so sums are added in the order in which a single
// thread would.
type Team struct {
	*team
	rows  *Rows
	nest  Nest
	fills bool // values are wanted
	fits  bool
	row   Row // that is being made
	// leader holds for the one thread that stores what all have.
	leader loop.Expr
	table  rowTable
	slots  int64 // of the table
	// each runs body for what the teams take, which narrow, when not nil, says the columns of.
	each   func(body func(row loop.Expr))
	narrow func(l Loop) (begin, end loop.Expr)
	// Shared, a part of each for every team. vals and owner are of functions that fill,
	// tallies and sums, by warp, of blocks.
	vals, owner, firsts, lows, tallies, sums loop.BufID

	phase phase
	at    loop.Expr                  // of the inner loop, while placing
	found func(begin, end loop.Expr) // tells the ends of the inner loop, while measuring
	// What the thread puts into the workspace in this step, if active.
	active, key, value *loop.Ref
	distinct           *loop.Ref // keys so far
	turn               *loop.Ref // grows with the turns that threads with one key have taken
}

// team writes a function for a team of a GPU's threads.
type team struct {
	*emit.Func
	*coop.Team
}

// team begins a function for blocks of so many warps, in teams of one warp or of
// all.
func (p *Rows) team(name string, warps, block int) *team {
	t, f := coop.NewTeam(p.Builder, name, warps, block)
	return &team{f, t}
}

// rowTable tells the keys of a row's values apart.
type rowTable interface {
	// clear makes the table empty. A barrier follows.
	clear()
	// enter finds the slot of the thread's key, if it is active, and says whether the thread
	// is the first that has the key.
	enter() (slot loop.Expr, fresh *loop.Ref)
	// entered says that the key of a thread that is the first is number n of the row's. It is
	// not said by functions that only count them.
	entered(n loop.Expr)
	// done ends a row: where it fills, the entries are appended to the last segment of the
	// result, in the order of their columns. It returns how many the row has in all.
	done(current loop.Expr) loop.Expr
}

// phase says how the team goes through the inner loop of a producer.
type phase uint8

const (
	idle      phase = iota
	measuring       // only its ends are wanted
	placing         // one turn of it is
)

func newTeam(g *team, p *Rows, nest Nest, fills bool, slots int64) *Team {
	t := &Team{team: g, rows: p, nest: nest, fills: fills, fits: true, slots: slots}
	t.firsts, t.lows = t.perTeam("firsts", loop.I64, t.Threads()), t.perTeam("lows", loop.I64, t.Threads())
	if !t.Single() {
		t.tallies, t.sums = t.B.Shared("tallies", loop.U32, int64(t.Warps)), t.B.Shared("sums", loop.I64, int64(t.Warps))
	}
	if t.fills {
		t.vals = t.perTeam("vals", p.Space.ValueType(), slots)
		t.owner = t.perTeam("owner", loop.U32, slots)
		t.turn = t.B.Var("turn", loop.Number(loop.U32, 0))
		t.clearOwners()
	}
	return t
}

// clearOwners forgets the turns that were taken.
func (t *Team) clearOwners() {
	t.slotsInTurns(func(at loop.Expr) { t.B.Store(t.owner, at, loop.Number(loop.U32, 0)) })
}

// slotsInTurns runs body for the places of all slots.
func (t *Team) slotsInTurns(body func(at loop.Expr)) {
	t.Times((t.slots+t.Threads()-1)/t.Threads(), func(k loop.Expr) {
		body(t.slot(t.B.Add(t.Rank(), t.B.Mul(k, loop.Int(t.Threads())))))
	})
}

// lastTurn is when owners are cleared and turns begin anew, so that numbers do not wrap.
const lastTurn = 1 << 30

// perTeam makes a shared array of n elements for each team.
func (t *Team) perTeam(name string, elem loop.Type, n int64) loop.BufID {
	return t.B.Shared(name, elem, n*int64(t.Block/t.Warps))
}

// own is the place of element i of the n that the team has of a shared array.
func (t *Team) own(n int64, i loop.Expr) loop.Expr {
	if !t.Single() {
		return i
	}
	return t.B.Add(t.B.Mul(t.Warp(), loop.Int(n)), i)
}

func (t *Team) slot(i loop.Expr) loop.Expr { return t.own(t.slots, i) }

// Loop takes over a loop of the nest, or says that it does not. Loops that it leaves alone are run by all threads of a
// team, in step.
func (t *Team) Loop(l Loop) bool {
	if t.phase == idle && !l.Root && !l.Inner && !(l.Outer && l.Plain) {
		return false
	}
	switch {
	case !t.fits:
	case !l.Plain:
		t.fits = false
	case l.Root:
		t.each(l.Visit)
	case t.phase == measuring && l.Inner:
		t.found(t.ends(l))
	case t.phase == placing && l.Inner:
		l.Visit(t.at)
	case t.phase == idle && l.Inner:
		begin, end := t.ends(l)
		t.spread(t.B.Sub(end, begin), func(i loop.Expr) { l.Visit(t.B.Let("p", t.B.Add(begin, i))) })
	case t.phase == idle:
		t.outer(l)
	default:
		t.fits = false
	}
	return true
}

// ends are those of an inner loop.
func (t *Team) ends(l Loop) (begin, end loop.Expr) {
	if t.narrow == nil {
		return l.Begin, l.End
	}
	t.fits = t.fits && l.Columns
	return t.narrow(l)
}

// strided runs body for the thread's elements of n.
func (t *Team) strided(n loop.Expr, body func(i loop.Expr)) {
	t.InTurns("i", t.Rank(), n, loop.Int(t.Threads()), body)
}

// Gather makes a row: the producers' values go into the table, whose entries are then
// appended to the result in the order of their columns.
func (t *Team) Gather(r Row) {
	b := t.B
	t.row = r
	t.table.clear()
	t.active = b.Var("active", loop.Truth(false))
	t.key = b.Var("key", loop.Number(t.rows.Key, 0))
	t.distinct = b.Var("distinct", loop.Int(0))
	if t.fills {
		t.value = b.Var("value", loop.Number(t.rows.Space.ValueType(), 0))
	}
	t.Barrier()
	r.Produce()
	t.consume()
	entries := t.nest.Entries
	current := entries[len(entries)-1]
	b.Assign(current, b.Add(current, t.table.done(current)))
	t.Barrier() // the table is free again
}

// Insert takes note of what the thread has. In a function that counts, x is nil.
func (t *Team) Insert(key, x loop.Expr) {
	b := t.B
	b.Assign(t.active, loop.Truth(true))
	b.Assign(t.key, b.Cast(t.rows.Key, key))
	if x != nil {
		b.Assign(t.value, x)
	}
}

// outer emits a loop around the inner one.
func (t *Team) outer(l Loop) {
	b := t.B
	first := b.Var("first", l.Begin)
	b.While(b.Lt(first, l.End), func() {
		low, length := b.Var("low", loop.Int(0)), b.Var("length", loop.Int(0))
		p := b.Let("p", b.Add(first, t.Rank()))
		b.If(b.Lt(p, l.End), func() {
			t.phase = measuring
			t.found = func(begin, end loop.Expr) {
				b.Assign(low, begin)
				b.Assign(length, b.Max(loop.Int(0), b.Sub(end, begin)))
			}
			l.Visit(p)
			t.phase = idle
		}, nil)
		before, total := t.sum(length)
		b.Store(t.firsts, t.own(t.Threads(), t.Rank()), before)
		b.Store(t.lows, t.own(t.Threads(), t.Rank()), b.Sub(low, before))
		t.Barrier()
		t.spread(total, func(i loop.Expr) {
			k := t.lastBefore(i) // which has it
			t.phase = placing
			t.at = b.Let("p", b.Add(b.Load(t.lows, t.own(t.Threads(), k)), i))
			l.Visit(b.Let("p", b.Add(first, k)))
			t.phase = idle
		})
		t.Barrier()
		b.Assign(first, b.Add(first, loop.Int(t.Threads())))
	})
}

// lastBefore is the last thread whose values begin at i or before.
func (t *Team) lastBefore(i loop.Expr) loop.Expr {
	b := t.B
	better := func(k, d loop.Expr) loop.Expr {
		next := b.Add(k, d)
		return b.Select(b.Le(b.Load(t.firsts, t.own(t.Threads(), next)), i), next, k)
	}
	half := t.Threads() / 2
	if t.Quick {
		k, d := b.Var("k", loop.Int(0)), b.Var("d", loop.Int(half))
		b.While(b.Gt(d, loop.Int(0)), func() {
			b.Assign(k, better(k, d))
			b.Assign(d, coop.Shr(d, loop.Int(1)))
		})
		return k
	}
	k := b.Let("k", loop.Int(0))
	for d := half; d > 0; d /= 2 {
		k = b.Let("k", better(k, loop.Int(d)))
	}
	return k
}

// spread runs visit for 0 … n-1, a value for each thread at a time.
func (t *Team) spread(n loop.Expr, visit func(i loop.Expr)) { t.spreading(n, visit, t.enter) }

// spreading is spread with another way to enter the values.
func (t *Team) spreading(n loop.Expr, visit func(i loop.Expr), enter func()) {
	b := t.B
	done := b.Var("done", loop.Int(0))
	b.While(b.Lt(done, n), func() {
		b.Assign(t.active, loop.Truth(false))
		i := b.Let("i", b.Add(done, t.Rank()))
		b.If(b.Lt(i, n), func() { visit(i) }, nil)
		enter()
		b.Assign(done, b.Add(done, loop.Int(t.Threads())))
	})
}

// enter puts the threads' values into the table.
func (t *Team) enter() {
	b := t.B
	at, fresh := t.table.enter()
	if !t.fills {
		before, n, _ := t.tally(fresh, loop.Truth(false))
		if !t.rows.Plain {
			b.If(fresh, func() { t.table.entered(b.Add(t.distinct, before)) }, nil)
		}
		b.Assign(t.distinct, b.Add(t.distinct, n))
		if !t.Single() {
			t.Barrier() // the tallies have been read
		}
		return
	}
	before, n, again := t.tally(fresh, b.And(t.active, b.Not(fresh)))
	b.If(fresh, func() { t.table.entered(b.Add(t.distinct, before)) }, nil)
	t.fold(t.slot(at), fresh, again)
	b.Assign(t.distinct, b.Add(t.distinct, n))
}

// lanesBelow are those bits of a ballot that stand for the lanes before the own one.
func (t *Team) lanesBelow(ballot loop.Expr) loop.Expr {
	b, one := t.B, loop.Number(loop.U32, 1)
	return b.And(ballot, b.Sub(loop.NewBinary(loop.Shl, one, b.Cast(loop.U32, t.Lane())), one))
}

// bitsOf is the number of bits that are set.
func (t *Team) bitsOf(word loop.Expr) loop.Expr {
	return t.B.Cast(loop.I64, loop.NewUnary(loop.OnesCount, word))
}

// tally counts the threads for which x holds: those before the own one and all; and those
// for which y holds. In a block there is a barrier in it, and there must be one before the
// next.
func (t *Team) tally(x, y loop.Expr) (before, all, others loop.Expr) {
	b := t.B
	of := func(name string, cond loop.Expr) loop.Expr {
		if c, ok := cond.(*loop.Const); ok && c.Bits == 0 {
			return loop.Number(loop.U32, 0)
		}
		return b.Ballot(name, cond)
	}
	bx, by := of("entered", x), of("again", y)
	before = t.bitsOf(t.lanesBelow(bx))
	if t.Single() {
		return before, t.bitsOf(bx), t.bitsOf(by)
	}
	// Both numbers in one word.
	const half = 16
	count := func(word loop.Expr) loop.Expr { return loop.NewUnary(loop.OnesCount, word) }
	b.If(b.Eq(t.Lane(), loop.Int(0)), func() {
		b.Store(t.tallies, t.Warp(), b.Or(count(bx), loop.NewBinary(loop.Shl, count(by), loop.Number(loop.U32, half))))
	}, nil)
	t.Barrier()
	sum, earlier := t.ofWarps(t.tallies, loop.Number(loop.U32, 0))
	low := func(v loop.Expr) loop.Expr { return b.Cast(loop.I64, b.And(v, loop.Number(loop.U32, 1<<half-1))) }
	return b.Add(before, low(earlier)), low(sum), b.Cast(loop.I64, loop.NewBinary(loop.Shr, sum, loop.Number(loop.U32, half)))
}

// sum is the sum of what the threads before the own one have, and of all.
func (t *Team) sum(n loop.Expr) (before, all loop.Expr) {
	b := t.B
	upTo := t.lanesUpTo(n)
	before = b.Let("before", b.Sub(upTo, n))
	if t.Single() {
		return before, b.Shuffle("total", loop.ShuffleIndex, upTo, loop.Int(loop.WarpSize-1), loop.WarpSize)
	}
	b.If(b.Eq(t.Lane(), loop.Int(loop.WarpSize-1)), func() { b.Store(t.sums, t.Warp(), upTo) }, nil)
	t.Barrier()
	sum, earlier := t.ofWarps(t.sums, loop.Int(0))
	return b.Let("before", b.Add(before, earlier)), b.Let("total", sum)
}

// ofWarps is the sum of what the warps have in a shared array, and of what those before the own one have.
func (t *Team) ofWarps(array loop.BufID, zero loop.Expr) (sum, earlier *loop.Ref) {
	b := t.B
	sum, earlier = b.Var("sum", zero), b.Var("earlier", zero)
	t.Times(int64(t.Warps), func(w loop.Expr) {
		b.If(b.Eq(t.Warp(), w), func() { b.Assign(earlier, sum) }, nil)
		b.Assign(sum, b.Add(sum, b.Load(array, w)))
	})
	return sum, earlier
}

// fold folds the threads' values into those of their slots. fresh says that the thread is
// the first with its key, and again counts those that are not.
func (t *Team) fold(at, fresh, again loop.Expr) {
	b, w := t.B, t.rows.Space
	step := func(old loop.Expr) { b.Store(t.vals, at, fold.Step(b, w.Fold(), old, t.value)) }
	b.If(b.Eq(again, loop.Int(0)), func() {
		b.If(t.active, func() { step(w.Identity()) }, nil)
	}, func() {
		b.If(b.Gt(t.turn, loop.Number(loop.U32, lastTurn)), func() {
			t.clearOwners()
			b.Assign(t.turn, loop.Number(loop.U32, 0))
		}, nil)
		b.If(fresh, func() { b.Store(t.vals, at, w.Identity()) }, nil)
		t.Barrier()
		left := b.Var("left", again)
		b.While(b.Gt(left, loop.Int(0)), func() {
			// The owner of a slot has the greatest number: that of the last turn and, in
			// it, of the first thread.
			b.Assign(t.turn, b.Add(t.turn, loop.Number(loop.U32, t.Threads())))
			number := b.Let("number", b.Sub(t.turn, b.Cast(loop.U32, t.Rank())))
			b.If(t.active, func() { b.Atomic(loop.AtomicMax, t.owner, at, number) }, nil)
			t.Barrier()
			b.If(t.active, func() {
				b.If(b.Eq(b.Load(t.owner, at), number), func() {
					step(b.Load(t.vals, at))
					b.Assign(t.active, loop.Truth(false))
				}, nil)
			}, nil)
			_, more, _ := t.tally(t.active, loop.Truth(false))
			b.Assign(left, more)
			t.Barrier()
		})
	})
	t.Barrier()
}

// appendEntry stores the coordinates and the value of an entry of the result.
func (t *Team) appendEntry(to, key, value loop.Expr) {
	b := t.B
	for k, c := range append(slices.Clone(t.row.Coords), b.Cast(loop.I64, key)) {
		crd := t.Write(t.rows.Crd[k])
		b.Store(crd, to, b.Cast(b.Elem(crd), c))
	}
	b.Store(t.Write(t.rows.Result.Values), to, value)
}

// valueAt is the value of a slot.
func (t *Team) valueAt(slot loop.Expr) loop.Expr { return t.B.Load(t.vals, t.slot(slot)) }

// consume prepares what the consumer reads: it may take some of the workspace's entries
// only, or make other values of them. Where it takes others as well, those of operands, their
// keys are entered into the table, with the value that stands for no entry.
func (t *Team) consume() {
	if t.rows.Plain {
		return
	}
	others, ok := t.row.Others()
	t.fits = t.fits && ok
	if !t.fits {
		return
	}
	for _, o := range others {
		begin, end := o.Begin, o.End
		if t.narrow != nil {
			begin, end = t.narrow(o.Loop)
		}
		t.spreading(t.B.Sub(end, begin), func(i loop.Expr) {
			t.B.Assign(t.active, loop.Truth(true))
			t.B.Assign(t.key, t.B.Cast(t.rows.Key, o.Key(t.B.Let("p", t.B.Add(begin, i)))))
		}, func() {
			at, fresh := t.table.enter()
			before, n, _ := t.tally(fresh, loop.Truth(false))
			t.B.If(fresh, func() {
				t.table.entered(t.B.Add(t.distinct, before))
				if t.fills {
					t.B.Store(t.vals, t.slot(at), t.rows.Space.Identity())
				}
			}, nil)
			t.B.Assign(t.distinct, t.B.Add(t.distinct, n))
			t.Barrier()
		})
	}
}

// choose appends an entry for each thread for which is holds, and whose entry the consumer
// takes, to those up to place to; entry gives its key and slot.
func (t *Team) choose(to *loop.Ref, is loop.Expr, entry func() (key, slot loop.Expr)) {
	b := t.B
	taken, column := b.Var("taken", loop.Truth(false)), b.Var("column", loop.Int(0))
	var value *loop.Ref
	if t.fills {
		value = b.Var("result", loop.Number(emit.ComputeType(t.rows.Result.Tensor.DType), 0))
	}
	b.If(is, func() {
		key, slot := entry()
		b.Assign(column, key)
		var of func() loop.Expr
		if t.fills {
			of = func() loop.Expr { return t.valueAt(slot) }
		}
		t.row.Choose(column, of, func(result func() loop.Expr) {
			b.Assign(taken, loop.Truth(true))
			if t.fills {
				b.Assign(value, result())
			}
		})
	}, nil)
	before, n, _ := t.tally(taken, loop.Truth(false))
	if t.fills {
		b.If(taken, func() { t.appendEntry(b.Let("p", b.Add(to, before)), column, value) }, nil)
	}
	b.Assign(to, b.Add(to, n))
	if !t.Single() {
		t.Barrier()
	}
}
