package dist

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
)

// Slab is a block of a tensor along one axis. Those of the ranks are next to each other, in the order of ranks.
type Slab struct {
	*Tensor
	Lo   int64
	Copy bool // another rank has the same, and counts
}

// Slab gives each rank a block of a tensor along an axis. What is placed so, in blocks of whatever length, stays where it is.
func (r *Rank) Slab(ctx context.Context, t *Tensor, axis int) (Slab, error) {
	over := t.slabs(axis)
	if over < 0 {
		over = 0
		p := placement.OneAxis(r.grid, len(t.Shape), axis, placement.Blocks(t.Shape[axis], r.grid.Sizes[0]), 0)
		var err error
		if t, err = r.Place(ctx, t, p); err != nil {
			return Slab{}, err
		}
	}
	s := Slab{Tensor: t, Copy: !t.Placement.First(r.Rank())}
	s.Lo, _, _ = t.Sets[axis].Bounds()
	if t.Sets[axis].Len() == 0 { // an empty range may stand anywhere
		s.Lo = 0
		for part := range r.grid.At(r.Rank())[over] {
			s.Lo += t.Placement.Cuts[axis].Coords(part).Len()
		}
	}
	return s, nil
}

// slabs is the axis of the grid over which a tensor lies in blocks along one of its own axes, in order; -1 if it does not.
func (t *Tensor) slabs(axis int) int {
	cut := t.Placement.Cuts[axis]
	if cut == nil {
		return -1
	}
	for k, c := range t.Placement.Cuts {
		if k != axis && !uncut(c) {
			return -1
		}
	}
	end := int64(0)
	for part := range cut.Parts {
		switch lo, hi, ok := cut.Coords(part).Bounds(); {
		case !ok || hi > lo && lo != end:
			return -1
		case hi > lo:
			end = hi
		}
	}
	return t.Placement.Over[axis]
}
