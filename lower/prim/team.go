package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

const (
	// warpSize is the number of lanes of a warp.
	warpSize = loop.WarpSize
	// warpLog is the logarithm of that to the base 2.
	warpLog = 5
)

// team is a function for teams of a GPU's threads.
type team struct {
	*emit.Func
	*coop.Team
}

// team begins a function for blocks of so many warps, in teams of one warp or of all.
func (l *lines) team(name string, warps, block int) *team {
	t, f := coop.NewTeam(l.Builder, name, warps, block)
	return &team{f, t}
}

// teamStage adds a stage of teams of so many warps, whose function emit writes.
func (l *lines) teamStage(function, stage string, warps, block int, emit func(t *team), blocks func(t *team) loop.SizeExpr) {
	st, _ := coop.Twice(func() *team { return l.team(function, warps, block) },
		func(t *team) bool {
			emit(t)
			return true
		}, func(t *team) loop.Stage { return t.Launch(stage, blocks(t)) })
	l.AddStage(st)
}

// newPrefix is the prefix of the folds of a scan.
func (x *scanner) newPrefix(t *team) *fold.Prefix { return fold.NewPrefix(t.Team, t.B, x.fold) }
