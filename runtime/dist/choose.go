package dist

import (
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// cutting is one way to compute a statement: along an index, whose coordinates belong to ranks as a cut says.
type cutting struct {
	index *lang.Index // nil: the statement is computed on rank 0
	cut   *placement.Cut
	over  int    // the grid's axis
	at    int    // the result's axis; -1: results are combined
	with  string // how
	cost  float64
	why   string // it is not cut
}

// choose takes the cutting that is estimated to have least sent. It follows from what all ranks know alike.
func (s *statement) choose(g *placement.Grid, asked *placement.Placement) *cutting {
	var list, blocks []*cutting
	var whys []string
	if s.whole != "" {
		whys = append(whys, s.whole)
	} else {
		for _, v := range s.Indices {
			at, with, why := s.whyNot(v)
			if why != "" {
				whys = append(whys, why)
				continue
			}
			even := &cutting{cut: placement.Blocks(s.extents[v.ID], g.Sizes[0])}
			cuts := s.cuts(v, at, asked)
			for _, c := range append(cuts, even) {
				c.index, c.at, c.with = v, at, with
				c.cost = s.cost(c, g) + s.moved(c, g, asked)
			}
			list, blocks = append(list, cuts...), append(blocks, even)
		}
	}
	if len(list) == 0 { // along others, ranks would need the whole of what is placed
		list = blocks
	}
	if len(list) == 0 {
		if len(whys) == 0 {
			whys = append(whys, "it has no index")
		}
		return &cutting{why: strings.Join(slices.Compact(whys), ", "), at: -1}
	}
	return slices.MinFunc(list, func(a, b *cutting) int {
		switch {
		case a.cost != b.cost:
			if a.cost < b.cost {
				return -1
			}
			return 1
		case a.at >= 0 && b.at < 0:
			return -1
		case a.at < 0 && b.at >= 0:
			return 1
		}
		return 0
	})
}

// cuts are those of an index that tensors have at it and that is asked for.
func (s *statement) cuts(v *lang.Index, at int, asked *placement.Placement) (list []*cutting) {
	add := func(p *placement.Placement, axis int) {
		if axis < 0 || p.Cuts[axis] == nil || p.Cuts[axis].Extent != s.extents[v.ID] {
			return
		}
		c := &cutting{cut: p.Cuts[axis], over: p.Over[axis]}
		if !slices.ContainsFunc(list, func(x *cutting) bool { return x.over == c.over && x.cut.Equal(c.cut) }) {
			list = append(list, c)
		}
	}
	if asked != nil && at >= 0 {
		add(asked, at)
	}
	for _, u := range s.uses {
		add(u.tensor.Placement, axis(u.Access, v))
	}
	return list
}

// sumsCut is how many times as much must be sent otherwise for a sum to be cut, which then has other bits than on one rank.
const sumsCut = 4

// cost estimates how many bytes all ranks send for a cutting.
func (s *statement) cost(c *cutting, g *placement.Grid) float64 {
	parts := float64(c.cut.Parts)
	drivers := s.drivers()
	var total float64
	for _, u := range s.uses {
		if u.tensor.Placement.IsReplicated() || c.owns(u) {
			continue
		}
		share := 1.0 // of the tensor, that a rank needs
		for k, x := range u.Indices {
			v := x.Plain()
			switch n := float64(u.tensor.Shape[k]); {
			case v == nil || n == 0:
			case v == c.index:
				share /= parts
			default:
				for _, d := range drivers[v] {
					if d != u && axis(d.Access, c.index) >= 0 {
						share *= min(1, float64(d.tensor.Entries)/parts/n)
						break
					}
				}
			}
		}
		total += share * float64(u.tensor.Entries) * float64(u.tensor.DType.Size()) * (float64(g.Ranks()) - 1)
	}
	if c.at < 0 {
		total = (total + s.resultBytes()*(parts-1)) * sumsCut
	}
	if math.IsNaN(total) {
		return math.Inf(1)
	}
	return total
}

// resultBytes is how large the result is where it is dense.
func (s *statement) resultBytes() float64 {
	result := float64(s.LHS.Tensor.DType.Size())
	for _, x := range s.LHS.Indices {
		if v := x.Plain(); v != nil {
			result *= float64(s.extents[v.ID])
		}
	}
	return result
}

// moved estimates how many bytes all ranks send to place the result as is asked, where the cutting leaves it elsewhere.
func (s *statement) moved(c *cutting, g *placement.Grid, asked *placement.Placement) float64 {
	switch {
	case asked == nil || c.at < 0: // parts of a reduction are combined where they are wanted
		return 0
	case asked.IsReplicated():
		return s.resultBytes() * float64(g.Ranks()-1)
	case asked.Cuts[c.at] != nil && asked.Over[c.at] == c.over && asked.Cuts[c.at].Equal(c.cut):
		return 0
	}
	return s.resultBytes() * (1 - 1/float64(c.cut.Parts))
}

// owns reports whether a rank needs of a use just the part that it has.
func (c *cutting) owns(u *use) bool {
	p := u.tensor.Placement
	for k, x := range u.Indices {
		if v := x.Plain(); v == c.index {
			if p.Cuts[k] == nil || p.Over[k] != c.over || !p.Cuts[k].Equal(c.cut) {
				return false
			}
		} else if p.Cuts[k] != nil {
			return false
		}
	}
	return true
}

// listed reports whether the coordinates of an axis are listed in a format, so that they can get other numbers.
func listed(f tensor.Format, axis int) bool {
	k := slices.Index(f.Order(), axis)
	return !f.Physical()[k].Full()
}
