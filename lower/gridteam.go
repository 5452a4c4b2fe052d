package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

const (
	// warpSize is the number of lanes of a warp.
	warpSize = loop.WarpSize
	// warpLog is the logarithm of that to the base 2.
	warpLog = 5
)

// gridTeam writes a function for a team of a GPU's threads.
type gridTeam struct {
	*emitter
	*gpu.Team
}

// gridEmitter begins a function for blocks of so many warps, in teams of one warp or of
// all.
func (k *kernel) gridEmitter(name string, warps, block int) *gridTeam {
	t, f := gpu.NewTeam(k.Builder, name, warps, block)
	return &gridTeam{emitter: k.emitterOf(f), Team: t}
}

// foldPrefix gives each thread of a team the fold of what the threads before it have,
// and of all.
type foldPrefix struct {
	fold   *ir.Reduce
	prefix *gpu.Prefix
}

func (t *gridTeam) newPrefix(fold *ir.Reduce) *foldPrefix {
	return &foldPrefix{fold, t.Prefix(foldMonoid{t.emitter, fold})}
}

// of returns the fold before the thread and that of the whole team; own is changed.
func (p *foldPrefix) of(own accumulator) (before, total accumulator) {
	x, y := p.prefix.Of(own.state)
	return accumulator{reduce: p.fold, state: x}, accumulator{reduce: p.fold, state: y}
}

// assign sets a state.
func (p *foldPrefix) assign(acc accumulator, state []loop.Expr) { p.prefix.Assign(acc.state, state) }

// parts are the parts of a state as values.
func parts(acc accumulator) []loop.Expr { return gpu.Values(acc.state) }

// foldMonoid is a fold as the threads of a team combine it.
type foldMonoid struct {
	e    *emitter
	fold *ir.Reduce
}

func (m foldMonoid) Types() []loop.Type { return stateTypes(m.fold) }
func (m foldMonoid) Open() []*loop.Ref  { return m.e.open(m.fold).state }
func (m foldMonoid) Combine(state []*loop.Ref, with []loop.Expr) {
	m.e.combineStates(accumulator{reduce: m.fold, state: state}, with)
}
