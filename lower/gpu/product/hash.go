package product

import (
	"math/bits"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// hashTeam is the table of a row with few values: a hash table into which keys are entered
// by compare and swap. The keys that are found first are listed, and sorted in registers
// at the end (lower/gpu/coop/bitonic.go). Which lane enters a key, and where in the table it lands,
// differs from run to run; what is written does not.
type hashTeam struct {
	*Team
	class       *rowClass
	keyType     loop.Type
	table, list loop.BufID // shared; the list is of functions that fill
}

// rowsPerTeam is how many rows a team looks at together.
const rowsPerTeam = 8

func newHashTeam(g *team, p *Rows, c *rowClass, nest Nest, fills bool) *Team {
	h := &hashTeam{Team: newTeam(g, p, nest, fills, 2*max(c.most, loop.WarpSize)), class: c, keyType: p.Key}
	h.table = h.perTeam("table", h.keyType, h.slots)
	if h.fills || !p.Plain {
		h.list = h.perTeam("list", h.keyType, h.slots/2)
	}
	h.Team.table, h.Team.each = h, h.eachRow
	return h.Team
}

// free is the key of a slot that is not in use; it is no column.
func (h *hashTeam) free() loop.Expr { return loop.NewUnary(loop.Not, loop.Number(h.keyType, 0)) }

// eachRow runs body for the rows of the class. A team looks at some rows together, so that
// those of other classes cost little.
func (h *hashTeam) eachRow(body func(row loop.Expr)) {
	b := h.B
	rows := h.Scalar(h.rows.Count)
	items := b.Div(b.Add(rows, loop.Int(rowsPerTeam-1)), loop.Int(rowsPerTeam))
	h.team.Each(b.Let("items", items), func(item loop.Expr) {
		first := b.Let("first", b.Mul(item, loop.Int(rowsPerTeam)))
		mine := b.Var("mine", loop.Truth(false))
		row := b.Let("row", b.Add(first, h.Lane()))
		b.If(b.And(b.Lt(h.Lane(), loop.Int(rowsPerTeam)), b.Lt(row, rows)), func() {
			b.Assign(mine, h.class.has(b, b.Let("products", b.Load(h.Read(h.rows.Products), row))))
		}, nil)
		theirs := b.Ballot("theirs", mine)
		if !h.Single() {
			theirs = h.told(theirs)
		}
		todo := b.Var("todo", theirs)
		b.While(b.Ne(todo, loop.Number(loop.U32, 0)), func() {
			lowest := b.Cast(loop.I64, loop.NewUnary(loop.TrailingZeros, todo))
			row := b.Let("row", b.Add(first, lowest))
			b.Assign(todo, b.And(todo, b.Sub(todo, loop.Number(loop.U32, 1))))
			h.rows.Row(h.Func, h.nest.Entries, h.fills, b.And(h.leader, loop.Truth(true)), row, body)
		})
	})
}

// told gives the block what its first thread has.
func (h *hashTeam) told(v loop.Expr) loop.Expr {
	b := h.B
	b.If(b.Eq(h.Rank(), loop.Int(0)), func() { b.Store(h.tallies, loop.Int(0), v) }, nil)
	h.Barrier()
	told := b.Let("told", b.Load(h.tallies, loop.Int(0)))
	h.Barrier()
	return told
}

func (h *hashTeam) clear() {
	h.slotsInTurns(func(at loop.Expr) { h.B.Store(h.table, at, h.free()) })
}

// firstSlot is where the search for a key begins.
func (h *hashTeam) firstSlot(key loop.Expr) loop.Expr {
	b := h.B
	// 2^32 divided by the golden ratio; see workspace.HashFactor.
	factor, width := int64(0x9e3779b1), int64(32)
	if h.keyType == loop.U64 {
		factor, width = workspace.HashFactor, 64
	}
	bits := int64(bits.Len64(uint64(h.slots)) - 1)
	return b.Cast(loop.I64, loop.NewBinary(loop.Shr, b.Mul(key, loop.Number(h.keyType, factor)), loop.Number(h.keyType, width-bits)))
}

// after is the slot after one.
func (h *hashTeam) after(slot loop.Expr) loop.Expr {
	return h.B.And(h.B.Add(slot, loop.Int(1)), loop.Int(h.slots-1))
}

func (h *hashTeam) enter() (slot loop.Expr, fresh *loop.Ref) {
	b := h.B
	at := b.Var("slot", loop.Int(0))
	fresh = b.Var("fresh", loop.Truth(false))
	b.If(h.active, func() {
		b.Assign(at, h.firstSlot(h.key))
		going := b.Var("going", loop.Truth(true))
		b.While(going, func() {
			old := b.CompareAndSwap("old", h.table, h.slot(at), h.free(), h.key)
			b.Assign(fresh, b.Eq(old, h.free()))
			b.Assign(going, b.Not(b.Or(fresh, b.Eq(old, h.key))))
			b.If(going, func() { b.Assign(at, h.after(at)) }, nil)
		})
	}, nil)
	return b.Let("at", at), fresh
}

func (h *hashTeam) entered(n loop.Expr) { h.B.Store(h.list, h.own(h.slots/2, n), h.key) }

func (h *hashTeam) done(current loop.Expr) loop.Expr {
	b := h.B
	if h.Quick && h.rows.Plain && h.fills {
		h.Barrier()
		h.appendByRank(current)
		return h.distinct
	}
	if h.fills {
		h.sortKeys(h.distinct)
	}
	if h.rows.Plain {
		if h.fills {
			h.appendEntries(current)
		}
		return h.distinct
	}
	if !h.fills {
		h.Barrier() // the list is complete
	}
	to, first := b.Var("to", current), b.Var("first", loop.Int(0))
	b.While(b.Lt(first, h.distinct), func() {
		i := b.Let("i", b.Add(first, h.Rank()))
		h.choose(to, b.Lt(i, h.distinct), func() (key, slot loop.Expr) {
			found := b.Let("key", b.Load(h.list, h.own(h.slots/2, i)))
			key = b.Let("column", b.Cast(loop.I64, found))
			if h.fills {
				slot = h.find(found)
			}
			return key, slot
		})
		b.Assign(first, b.Add(first, loop.Int(h.Threads())))
	})
	return b.Sub(to, current)
}

// find is the slot of a key that is in the table.
func (h *hashTeam) find(key loop.Expr) loop.Expr {
	b := h.B
	at := b.Var("slot", h.firstSlot(key))
	b.While(b.Ne(b.Load(h.table, h.slot(at)), key), func() { b.Assign(at, h.after(at)) })
	return b.Let("at", at)
}

// sortKeys sorts the n keys of the list.
func (h *hashTeam) sortKeys(n loop.Expr) {
	b := h.B
	if h.Quick || !h.Single() {
		h.SortShared(h.list, n, h.free(), func(i loop.Expr) loop.Expr { return h.own(h.slots/2, i) })
		return
	}
	// Rows of fewer keys than half of what the class has room for are rare.
	var sorted func(per int64)
	sorted = func(per int64) {
		run := func() {
			var keys []loop.Expr
			for e := range per {
				i := b.Let("i", b.Add(b.Mul(h.Lane(), loop.Int(per)), loop.Int(e)))
				key := b.Var("key", h.free())
				b.If(b.Lt(i, n), func() { b.Assign(key, b.Load(h.list, h.own(h.slots/2, i))) }, nil)
				keys = append(keys, key)
			}
			keys = h.SortLanes(keys)
			for e, key := range keys {
				b.Store(h.list, h.own(h.slots/2, b.Add(b.Mul(h.Lane(), loop.Int(per)), loop.Int(int64(e)))), key)
			}
		}
		if per*loop.WarpSize >= h.slots/2 {
			run()
			return
		}
		b.If(b.Le(n, loop.Int(per*loop.WarpSize)), run, func() { sorted(2 * per) })
	}
	sorted(max(1, h.slots/2/loop.WarpSize/2))
	h.Barrier()
}

// appendByRank appends the listed keys and their values, each where the number of lesser keys tells.
func (h *hashTeam) appendByRank(current loop.Expr) {
	b := h.B
	h.strided(h.distinct, func(i loop.Expr) {
		key := b.Let("key", b.Load(h.list, h.own(h.slots/2, i)))
		to := b.Var("to", current)
		b.For("k", loop.Int(0), h.distinct, func(k loop.Expr) {
			b.Assign(to, b.Add(to, b.Cast(loop.I64, b.Lt(b.Load(h.list, h.own(h.slots/2, k)), key))))
		})
		h.appendEntry(to, key, h.valueAt(h.find(key)))
	})
}

// appendEntries appends the listed keys and their values.
func (h *hashTeam) appendEntries(current loop.Expr) {
	b := h.B
	h.strided(h.distinct, func(i loop.Expr) {
		key := b.Let("key", b.Load(h.list, h.own(h.slots/2, i)))
		at := h.find(key)
		h.appendEntry(b.Let("to", b.Add(current, i)), key, h.valueAt(at))
	})
}
