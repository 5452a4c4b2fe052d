package coop

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// A Team is a cooperative group, for which a function of a grid is written: the threads of
// a block, or of a warp where there is too little to do for more.
type Team struct {
	Warps int // of the team
	Block int // warps of a block
	Code
	f *emit.Func
}

// NewTeam begins a function for blocks of so many warps, in teams of one warp or of all.
func NewTeam(k *emit.Builder, name string, warps, block int) (*Team, *emit.Func) {
	f := k.NewGridFunc(name, block*loop.WarpSize)
	return &Team{Warps: warps, Block: block, Code: Code{Builder: f.B}, f: f}, f
}

// Twice makes a stage of a function that emit writes twice, into what begin begins: as it is, and quick. launch makes the
// stage of a team. It goes without the quick one if that does not fit: a test tells which functions have one. It is not ok
// where emit says so, or the function breaks a rule.
func Twice[T interface{ group() *Team }](begin func() T, emit func(T) bool, launch func(T) loop.Stage) (st loop.Stage, ok bool) {
	first := begin()
	ok = emit(first)
	st = launch(first)
	if !ok || st.Func.Verify(lib.Lookup) != nil {
		return st, false
	}
	second := begin()
	t := second.group()
	t.Quick = true
	for i, id := range st.Bufs {
		t.f.Buf(id, loop.Access(st.Func.Bufs[i].ReadOnly))
	}
	for _, id := range st.Args {
		t.f.Scalar(id)
	}
	emit(second)
	q := t.f.Stage(st.Name)
	if slices.Equal(q.Bufs, st.Bufs) && slices.Equal(q.Args, st.Args) && q.Func.Verify(lib.Lookup) == nil {
		st.Func.Quick = q.Func
	}
	return st, true
}

func (t *Team) group() *Team { return t }

// Single reports whether a team is one warp of several in a block.
func (t *Team) Single() bool { return t.Warps < t.Block }

// Rank is the number of the thread in the team.
func (t *Team) Rank() loop.Expr {
	if t.Single() {
		return t.Lane()
	}
	return t.Builder.Special(loop.ThreadIndex)
}

// Threads is how many a team has.
func (t *Team) Threads() int64 { return int64(t.Warps) * loop.WarpSize }

// Barrier lets the team's threads wait for each other.
func (t *Team) Barrier() {
	if t.Single() {
		t.Builder.Barrier(loop.WarpScope)
		return
	}
	t.Builder.Barrier(loop.BlockScope)
}

// Each runs body for items 0 … n-1, which the teams take in turns.
func (t *Team) Each(n loop.Expr, body func(item loop.Expr)) {
	b := t.Builder
	first, step := b.Special(loop.BlockIndex), b.Special(loop.BlockCount)
	if t.Single() {
		per := loop.Int(int64(t.Block))
		first, step = b.Add(b.Mul(first, per), t.Warp()), b.Mul(step, per)
	}
	t.InTurns("item", first, n, step, body)
}

// BlocksFor is the number of blocks for so many items.
func (t *Team) BlocksFor(items loop.SizeExpr) loop.SizeExpr {
	if t.Single() {
		items = emit.CeilDiv(items, loop.SizeConst(int64(t.Block)))
	}
	return emit.Min(items, loop.SizeConst(MaxBlocks))
}

// Launch finishes the function and makes it a stage of so many blocks.
func (t *Team) Launch(name string, blocks loop.SizeExpr) loop.Stage {
	st := t.f.Stage(name)
	st.Blocks = blocks
	return st
}
