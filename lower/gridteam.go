package lower

import (
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Where threads have to exchange more than the sums that a mapping of plain loops
// knows of (package gpu), functions of grids are written here. A team of threads goes
// through tiles of a line: a block, or a warp where lines are short.

const (
	// warpSize is the number of lanes of a warp.
	warpSize = loop.WarpSize
	// warpLog is the logarithm of that to the base 2.
	warpLog = 5
)

// gridTeam is the team that a grid function is written for.
type gridTeam struct {
	*emitter
	warps int // of the team
	block int // warps of a block
	// quick says that the function stands in for another while that is compiled; see
	// loop.Func.Quick.
	quick bool
}

// gridEmitter begins a function for blocks of so many warps, in teams of one warp or of
// all.
func (k *kernel) gridEmitter(name string, warps, block int) *gridTeam {
	e := k.emitter(name)
	e.b = loop.NewGridBuilder(name, block*warpSize)
	return &gridTeam{emitter: e, warps: warps, block: block}
}

// standIn begins the quick function of a stage.
func (t *gridTeam) standIn(st loop.Stage) {
	t.quick = true
	for i, id := range st.Bufs {
		t.buf(id, loop.Access(st.Func.Bufs[i].ReadOnly))
	}
	for _, id := range st.Args {
		t.scalar(id)
	}
}

// standsIn finishes the quick function of a stage. The stage goes without if it does not fit: a test
// tells which functions have one.
func (t *gridTeam) standsIn(st *loop.Stage) {
	quick := loop.RemoveDead(t.b.Func())
	if slices.Equal(t.bufList, st.Bufs) && slices.Equal(t.argList, st.Args) && quick.Verify(lib.Lookup) == nil {
		st.Func.Quick = quick
	}
}

// times runs body for 0 … n-1, in copies of it or, in quick functions, in a loop.
func (t *gridTeam) times(n int64, body func(k loop.Expr)) {
	if t.quick {
		t.b.For("k", loop.Int(0), loop.Int(n), body)
		return
	}
	for k := range n {
		body(loop.Int(k))
	}
}

func (t *gridTeam) lane() loop.Expr { return t.b.Special(loop.LaneIndex) }
func (t *gridTeam) warp() loop.Expr { return t.b.Special(loop.WarpIndex) }

// single reports whether a team is one warp of several in a block.
func (t *gridTeam) single() bool { return t.warps < t.block }

// rank is the number of the thread in the team.
func (t *gridTeam) rank() loop.Expr {
	if t.single() {
		return t.lane()
	}
	return t.b.Special(loop.ThreadIndex)
}

// threads is how many a team has.
func (t *gridTeam) threads() int64 { return int64(t.warps) * warpSize }

// barrier lets the team's threads wait for each other.
func (t *gridTeam) barrier() {
	if t.single() {
		t.b.Barrier(loop.WarpScope)
		return
	}
	t.b.Barrier(loop.BlockScope)
}

// each runs body for items 0 … n-1, which the teams take in turns.
func (t *gridTeam) each(n loop.Expr, body func(item loop.Expr)) {
	b := t.b
	first, step := b.Special(loop.BlockIndex), b.Special(loop.BlockCount)
	if t.single() {
		per := loop.Int(int64(t.block))
		first, step = b.Add(b.Mul(first, per), t.warp()), b.Mul(step, per)
	}
	at := b.Var("at", first)
	b.While(b.Lt(at, n), func() {
		body(b.Let("item", at))
		b.Assign(at, b.Add(at, step))
	})
}

// blocksFor is the number of blocks for so many items.
func (t *gridTeam) blocksFor(items loop.SizeExpr) loop.SizeExpr {
	if t.single() {
		items = sizeCeil(items, loop.SizeConst(int64(t.block)))
	}
	return sizeMin(items, loop.SizeConst(maxGridBlocks))
}

// maxGridBlocks bounds a grid whose teams take items in turns.
const maxGridBlocks = 1 << 20

// gridStage finishes the function and makes it a stage of so many blocks.
func (t *gridTeam) gridStage(name string, blocks loop.SizeExpr) loop.Stage {
	st := t.stage(name)
	st.Blocks = blocks
	return st
}

// foldPrefix gives each thread of a team the fold of what the threads before it have,
// and of all. Everything has passed a barrier since the last call, if there was one.
type foldPrefix struct {
	*gridTeam
	fold   *ir.Reduce
	totals []loop.BufID // of the warps, shared, by part of the state
}

func (t *gridTeam) newPrefix(fold *ir.Reduce) *foldPrefix {
	p := &foldPrefix{gridTeam: t, fold: fold}
	if !t.single() {
		for _, typ := range stateTypes(fold) {
			p.totals = append(p.totals, t.b.Shared("totals", typ, int64(t.warps)))
		}
	}
	return p
}

// parts are the parts of a state as values.
func parts(acc accumulator) []loop.Expr {
	var list []loop.Expr
	for _, v := range acc.state {
		list = append(list, v)
	}
	return list
}

// shuffled is the state that another lane has.
func (p *foldPrefix) shuffled(kind loop.ShuffleKind, acc accumulator, lane loop.Expr) []loop.Expr {
	var list []loop.Expr
	for _, v := range acc.state {
		list = append(list, p.b.Shuffle("other", kind, v, lane, warpSize))
	}
	return list
}

// assign sets a state.
func (p *foldPrefix) assign(acc accumulator, state []loop.Expr) {
	for i, v := range acc.state {
		p.b.Assign(v, state[i])
	}
}

// inclusive folds into the state of each lane those of the lanes below, as far as the
// first so many lanes need.
func (p *foldPrefix) inclusive(acc accumulator, lanes int) {
	p.times(int64(bits.Len(uint(lanes-1))), func(k loop.Expr) {
		d := loop.NewBinary(loop.Shl, loop.Int(1), k)
		other := p.shuffled(loop.ShuffleUp, acc, d)
		p.b.If(p.b.Ge(p.lane(), d), func() { p.absorb(acc, other, loop.Truth(true)) }, nil)
	})
}

// of returns the fold before the thread and that of the whole team; own is changed.
func (p *foldPrefix) of(own accumulator) (before, total accumulator) {
	b := p.b
	p.inclusive(own, warpSize)
	below := p.shuffled(loop.ShuffleUp, own, loop.Int(1))
	before, total = p.open(p.fold), p.open(p.fold)
	if p.single() {
		b.If(b.Gt(p.lane(), loop.Int(0)), func() { p.assign(before, below) }, nil)
		p.assign(total, p.shuffled(loop.ShuffleIndex, own, loop.Int(warpSize-1)))
		return before, total
	}
	b.If(b.Eq(p.lane(), loop.Int(warpSize-1)), func() {
		for i, id := range p.totals {
			b.Store(id, p.warp(), own.state[i])
		}
	}, nil)
	p.barrier()
	sums := p.open(p.fold)
	b.If(b.Lt(p.lane(), loop.Int(int64(p.warps))), func() {
		for i, id := range p.totals {
			b.Assign(sums.state[i], b.Load(id, p.lane()))
		}
	}, nil)
	p.inclusive(sums, p.warps)
	earlier := p.shuffled(loop.ShuffleIndex, sums, b.Sub(p.warp(), loop.Int(1)))
	b.If(b.Gt(p.warp(), loop.Int(0)), func() { p.assign(before, earlier) }, nil)
	b.If(b.Gt(p.lane(), loop.Int(0)), func() { p.absorb(before, below, loop.Truth(true)) }, nil)
	p.assign(total, p.shuffled(loop.ShuffleIndex, sums, loop.Int(int64(p.warps)-1)))
	return before, total
}
