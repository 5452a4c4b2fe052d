package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// The rule of this file: an aggregate that stands inside loops that it does not depend on, where nothing distributes, becomes a
// tensor of its own, if it would be computed many times over.

// hoisted reports whether the value of a query is made before the loops in which it stands.
func (s *statement) hoisted(p *plan, c context) bool {
	free := p.query.free
	if c.root || s.preserve || len(free) == 0 || len(free) >= len(c.loops) {
		return false
	}
	times, cells := 1.0, 1.0
	for k, v := range c.loops {
		if !slices.Contains(free, v) {
			times *= max(s.extents[v], 1)
		} else {
			cells *= max(s.extents[v], 1)
			if k >= len(free) {
				continue
			}
		}
	}
	if !slices.ContainsFunc(c.loops[:len(free)], func(v *lang.Index) bool { return !slices.Contains(free, v) }) {
		return false // the loops over these stand outside: it is computed once there anyway
	}
	return times >= cost.Repeats && cells <= cost.MostCells && cost.Statement+p.cost+cost.Cell*cells < cost.Worthwhile*p.flat*times
}
