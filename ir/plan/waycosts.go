package plan

import (
	"cmp"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
)

// way is the kind of a candidate.
func (c *candidate) way() ir.Way {
	return ir.Way{Workspaces: c.split != nil, Conversions: len(c.convert) > 0}
}

// compare notes what a candidate costs.
func (s *scheduler) compare(c *candidate) {
	for i := range s.ways {
		if w := &s.ways[i]; w.Way == c.way() {
			w.Iterations = min(w.Iterations, c.cost)
			return
		}
	}
	s.ways = append(s.ways, ir.WayCost{Way: c.way(), Iterations: c.cost})
}

// compared lists the ways with that of the best candidate first, then by cost; none if the best
// candidate needs nothing that has to be explained.
func (s *scheduler) compared() []ir.WayCost {
	best := s.best.way()
	if best == (ir.Way{}) {
		return nil
	}
	for i := range s.ways {
		if s.ways[i].Way == best {
			s.ways[i].Iterations = s.best.cost
		}
	}
	slices.SortStableFunc(s.ways, func(x, y ir.WayCost) int {
		switch best {
		case x.Way:
			return -1
		case y.Way:
			return 1
		}
		return cmp.Compare(x.Iterations, y.Iterations)
	})
	return s.ways
}
