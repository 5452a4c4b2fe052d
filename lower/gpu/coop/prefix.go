package coop

import (
	"math/bits"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A Monoid is what the threads of a team combine: states of one value or several, an
// associative operation on them, and its neutral element.
type Monoid interface {
	// Types are the types of a state's values.
	Types() []loop.Type
	// Open declares a state at the neutral element.
	Open() []*loop.Ref
	// Combine changes a state to its combination with another behind it.
	Combine(state []*loop.Ref, with []loop.Expr)
}

// Prefix gives each thread of a team the combination of what the threads before it have,
// and of all. Everything has passed a barrier since the last call, if there was one.
type Prefix struct {
	Monoid
	t      *Team
	totals []loop.BufID // of the warps, shared, by part of the state
}

// Prefix begins the use of a monoid.
func (t *Team) Prefix(m Monoid) *Prefix {
	p := &Prefix{Monoid: m, t: t}
	if !t.Single() {
		for _, typ := range m.Types() {
			p.totals = append(p.totals, t.Builder.Shared("totals", typ, int64(t.Warps)))
		}
	}
	return p
}

// PrefixOf is Prefix for a single value, by an operation with a neutral element.
func (t *Team) PrefixOf(op loop.BinaryOp, neutral loop.Expr) *Prefix {
	return t.Prefix(operation{t.Builder, op, neutral})
}

// operation is the monoid of an operation of the loop language.
type operation struct {
	b       *loop.Builder
	op      loop.BinaryOp
	neutral loop.Expr
}

func (o operation) Types() []loop.Type { return []loop.Type{o.neutral.Type()} }
func (o operation) Open() []*loop.Ref  { return []*loop.Ref{o.b.Var("acc", o.neutral)} }
func (o operation) Combine(state []*loop.Ref, with []loop.Expr) {
	o.b.Assign(state[0], loop.NewBinary(o.op, state[0], with[0]))
}

// Values are the parts of a state as values.
func Values(state []*loop.Ref) []loop.Expr {
	var list []loop.Expr
	for _, v := range state {
		list = append(list, v)
	}
	return list
}

// shuffled is the state that another lane has.
func (p *Prefix) shuffled(kind loop.ShuffleKind, state []*loop.Ref, lane loop.Expr) []loop.Expr {
	var list []loop.Expr
	for _, v := range state {
		list = append(list, p.t.Builder.Shuffle("other", kind, v, lane, loop.WarpSize))
	}
	return list
}

// Assign sets a state.
func (p *Prefix) Assign(state []*loop.Ref, values []loop.Expr) {
	for i, v := range state {
		p.t.Builder.Assign(v, values[i])
	}
}

// inclusive combines with the state of each lane those of the lanes below, as far as the
// first so many lanes need.
func (p *Prefix) inclusive(state []*loop.Ref, lanes int) {
	b := p.t.Builder
	p.t.Times(int64(bits.Len(uint(lanes-1))), func(k loop.Expr) {
		d := loop.NewBinary(loop.Shl, loop.Int(1), k)
		other := p.shuffled(loop.ShuffleUp, state, d)
		b.If(b.Ge(p.t.Lane(), d), func() { p.Combine(state, other) }, nil)
	})
}

// Of returns the combination before the thread and that of the whole team; own is changed.
func (p *Prefix) Of(own []*loop.Ref) (before, total []*loop.Ref) {
	t, b := p.t, p.t.Builder
	p.inclusive(own, loop.WarpSize)
	below := p.shuffled(loop.ShuffleUp, own, loop.Int(1))
	before, total = p.Open(), p.Open()
	if t.Single() {
		b.If(b.Gt(t.Lane(), loop.Int(0)), func() { p.Assign(before, below) }, nil)
		p.Assign(total, p.shuffled(loop.ShuffleIndex, own, loop.Int(loop.WarpSize-1)))
		return before, total
	}
	b.If(b.Eq(t.Lane(), loop.Int(loop.WarpSize-1)), func() {
		for i, id := range p.totals {
			b.Store(id, t.Warp(), own[i])
		}
	}, nil)
	t.Barrier()
	sums := p.Open()
	b.If(b.Lt(t.Lane(), loop.Int(int64(t.Warps))), func() {
		for i, id := range p.totals {
			b.Assign(sums[i], b.Load(id, t.Lane()))
		}
	}, nil)
	p.inclusive(sums, t.Warps)
	earlier := p.shuffled(loop.ShuffleIndex, sums, b.Sub(t.Warp(), loop.Int(1)))
	b.If(b.Gt(t.Warp(), loop.Int(0)), func() { p.Assign(before, earlier) }, nil)
	b.If(b.Gt(t.Lane(), loop.Int(0)), func() { p.Combine(before, below) }, nil)
	p.Assign(total, p.shuffled(loop.ShuffleIndex, sums, loop.Int(int64(t.Warps)-1)))
	return before, total
}
