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

// byBlocks defines who takes lines: blocks if these have a length of least, or that many on average, and are of fewer entries
// than most, else threads.
func (l *lines) byBlocks(length loop.SizeExpr, least int64, entries loop.SizeExpr, most int64) (byBlock, byThread loop.ScalarID) {
	atLeast := func(n loop.SizeExpr, d int64) loop.SizeExpr {
		return emit.Min(loop.SizeConst(1), &loop.SizeOp{Op: loop.Div, X: n, Y: loop.SizeConst(d)})
	}
	less := func(y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Sub, X: loop.SizeConst(1), Y: y} }
	byBlock = l.define("by_block", emit.Times(atLeast(length, least), less(atLeast(entries, most))))
	return byBlock, l.define("by_thread", less(loop.SizeScalar(byBlock)))
}

// newPrefix is the prefix of the folds of a scan.
func (x *scanner) newPrefix(t *team) *fold.Prefix { return fold.NewPrefix(t.Team, t.B, x.fold) }
