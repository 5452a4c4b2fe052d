package lower

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
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
	*coop.Team
}

// gridEmitter begins a function for blocks of so many warps, in teams of one warp or of
// all.
func (k *kernel) gridEmitter(name string, warps, block int) *gridTeam {
	t, f := coop.NewTeam(k.Builder, name, warps, block)
	return &gridTeam{emitter: k.emitterOf(f), Team: t}
}
