package dist

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// cutting is one way to compute a statement: along some of its indices, each over an axis of the grid of its own. Ranks along an
// axis that none is cut over compute the same.
//
// The distributions that are known by names are cuttings of C(i,k) = sum_j A(i,j)*B(j,k) (Koanantakool et al., IPDPS 2016; Bharadwaj et al., IPDPS
// 2022): 1-D cuts i; 1.5-D cuts i over one axis, and over a second, along which A is there again and again, k or j; 2-D cuts i and k, so that
// C stays, or i and j, and A stays; 2.5-D cuts all three.
type cutting struct {
	along []along
	with  string // how results are combined where a sum is cut
	bytes float64
	cost  float64
	next  *cutting // that is estimated to be second best; nil: there is none
	why   string   // nothing is cut, and the statement is computed on rank 0
}

// along is an index of which ranks have coordinates as a cut says.
type along struct {
	index *lang.Index
	cut   *placement.Cut
	over  int // the grid's axis
	at    int // the result's axis; -1: it is summed over
}

// of is how an index is cut; nil: it is not.
func (c *cutting) of(v *lang.Index) *along {
	k := slices.IndexFunc(c.along, func(a along) bool { return a.index == v })
	if v == nil || k < 0 {
		return nil
	}
	return &c.along[k]
}

// has reports whether an axis of a placement is cut as the index is.
func (a *along) has(p *placement.Placement, axis int) bool {
	return p.Cuts[axis] != nil && p.Over[axis] == a.over && p.Cuts[axis].Equal(a.cut)
}

// summed are the grid's axes over which sums are cut.
func (c *cutting) summed() (axes []int) {
	for _, a := range c.along {
		if a.at < 0 {
			axes = append(axes, a.over)
		}
	}
	return axes
}

// left is where a result of some rank is when ranks have computed what is theirs, but for sums that are cut.
func (c *cutting) left(g *placement.Grid, rank int) *placement.Placement {
	p := placement.Replicated(g, rank)
	for _, a := range c.along {
		if a.at >= 0 {
			p.Cuts[a.at], p.Over[a.at] = a.cut, a.over
		}
	}
	return p
}

// target is left where no sum is cut, and else where sums are added up: where the result is asked for, if the ranks that have summands of it are there,
// or each on one of those, if the result has an axis for that, or on all.
func (c *cutting) target(g *placement.Grid, shape []int64, asked *placement.Placement) *placement.Placement {
	to, summed := c.left(g, len(shape)), c.summed()
	if len(summed) > 0 && asked != nil && !slices.ContainsFunc(c.along, func(a along) bool { return a.at >= 0 && !a.has(asked, a.at) }) {
		return asked
	}
	for _, over := range summed {
		if k := slices.Index(to.Cuts, nil); k >= 0 {
			to.Cuts[k], to.Over[k] = placement.Blocks(shape[k], g.Sizes[over]), over
		}
	}
	return to
}

// choose takes the cutting that is estimated to cost least. It follows from what all ranks know alike.
func (s *statement) choose(g *placement.Grid, asked *placement.Placement) *cutting {
	axes, with, whys := s.candidates(g, asked)
	var list []*cutting
	drivers, work := s.drivers(), s.work()
	var add func(over int, so []along)
	add = func(over int, so []along) {
		if over == len(axes) {
			if len(so) > 0 {
				c := &cutting{along: slices.Clone(so), with: with}
				s.estimate(c, g, asked, drivers, work)
				list = append(list, c)
			}
			return
		}
		for _, a := range axes[over] {
			if !slices.ContainsFunc(so, func(b along) bool { return a.index == b.index }) {
				add(over+1, append(so, a))
			}
		}
		add(over+1, so)
	}
	add(0, nil)
	if len(list) == 0 {
		if len(whys) == 0 {
			whys = append(whys, "it has no index")
		}
		return &cutting{why: strings.Join(slices.Compact(whys), ", ")}
	}
	slices.SortStableFunc(list, func(a, b *cutting) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.summed()), len(b.summed())), cmp.Compare(len(b.along), len(a.along)))
	})
	if len(list) > 1 {
		list[0].next = list[1]
	}
	return list[0]
}

// candidates are, by axis of the grid, the indices that may be cut over it: as tensors are that are placed over it or, if there is none, into blocks.
func (s *statement) candidates(g *placement.Grid, asked *placement.Placement) (axes [][]along, with string, whys []string) {
	axes = make([][]along, len(g.Sizes))
	if s.whole != "" {
		return axes, "", []string{s.whole}
	}
	blocks := make([][]along, len(g.Sizes))
	for _, v := range s.Indices {
		at, combine, why := s.whyNot(v)
		if why != "" {
			whys = append(whys, why)
			continue
		}
		if at < 0 {
			with = combine // the reductions that can be cut are all the same
		}
		for _, a := range s.cuts(v, at, asked) {
			axes[a.over] = append(axes[a.over], a)
		}
		for over, n := range g.Sizes {
			blocks[over] = append(blocks[over], along{v, placement.Blocks(s.extents[v.ID], n), over, at})
		}
	}
	for over := range axes {
		if len(axes[over]) == 0 { // along others, ranks would need the whole of what is placed
			axes[over] = blocks[over]
		}
	}
	return axes, with, whys
}

// cuts are those of an index that tensors have at it and that is asked for.
func (s *statement) cuts(v *lang.Index, at int, asked *placement.Placement) (list []along) {
	add := func(p *placement.Placement, axis int) {
		if axis < 0 || p.Cuts[axis] == nil || p.Cuts[axis].Extent != s.extents[v.ID] {
			return
		}
		if !slices.ContainsFunc(list, func(x along) bool { return x.has(p, axis) }) {
			list = append(list, along{v, p.Cuts[axis], p.Over[axis], at})
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

// termBytes are as many bytes as are sent in the time that one term of a statement takes: about a nanosecond.
const termBytes = 8

// estimate sets how many bytes all ranks send for a cutting, and what it costs: those bytes, and the work that is done more than once.
func (s *statement) estimate(c *cutting, g *placement.Grid, asked *placement.Placement, drivers map[*lang.Index][]*use, work float64) {
	ranks, parts := float64(g.Ranks()), 1.0
	for _, u := range s.uses {
		c.bytes += ranks * c.received(u, drivers)
	}
	for _, a := range c.along {
		parts *= float64(a.cut.Parts)
	}
	to, bytes := c.target(g, s.shape, asked), s.resultBytes(work)
	if summed := c.summed(); len(summed) > 0 {
		part, group := bytes, 1.0 // what a rank gets of each that has a summand of it
		for _, cut := range to.Cuts {
			if cut != nil {
				part /= float64(cut.Parts)
			}
		}
		for _, over := range summed {
			group *= float64(g.Sizes[over])
		}
		c.bytes += ranks * part * (group - 1)
	}
	if asked != nil {
		need, have := 1.0, 1.0
		for k, cut := range asked.Cuts {
			if cut != nil {
				need /= float64(cut.Parts)
			}
			if at := to.Cuts[k]; at != nil && !(asked.Over[k] == to.Over[k] && at.Equal(cut)) {
				have /= float64(at.Parts)
			}
		}
		c.bytes += ranks * need * (1 - have) * bytes
	}
	if c.cost = c.bytes; len(c.summed()) > 0 {
		c.cost *= sumsCut
	}
	if c.cost += termBytes * work * (ranks/parts - 1); math.IsNaN(c.cost) {
		c.cost = math.Inf(1)
	}
}

// received estimates how many bytes a rank gets of what a use accesses.
func (c *cutting) received(u *use, drivers map[*lang.Index][]*use) float64 {
	need, both := 1.0, 1.0 // of the tensor: what is needed, and what of that the rank has
	for k, x := range u.Indices {
		v, n, cut := x.Plain(), float64(u.tensor.Shape[k]), u.tensor.Placement.Cuts[k]
		needs, miss := 1.0, 0.0
		a := c.of(v)
		if cut != nil && (a == nil || !a.has(u.tensor.Placement, k)) {
			miss = 1 - 1/float64(cut.Parts) // of what is needed
		}
		switch {
		case a != nil:
			needs = 1 / float64(a.cut.Parts)
			miss *= needs
		case v != nil && n > 0:
			needs, miss = c.touched(u, k, drivers[v], miss)
		}
		need, both = need*needs, both*(needs-miss)
	}
	return (need - both) * float64(u.tensor.Entries) * float64(u.tensor.DType.Size())
}

// touched estimates which part of the coordinates along an axis of a use a rank's entries of other operands touch, and which of those the rank has not, if that is a part of them.
func (c *cutting) touched(u *use, k int, drivers []*use, miss float64) (needs, misses float64) {
	n := float64(u.tensor.Shape[k])
	for _, d := range drivers {
		entries := float64(d.tensor.Entries)
		var by *along // a cut of the driver
		for i, a := range c.along {
			if axis(d.Access, a.index) >= 0 {
				entries, by = entries/float64(a.cut.Parts), &c.along[i]
			}
		}
		if d == u || by == nil {
			continue
		}
		needs = -math.Expm1(-entries / n) // of coordinates without structure, so many are touched
		if misses = needs * miss; d.spread == nil || !by.cut.Contiguous() {
			return needs, misses
		}
		far := d.spread(axis(d.Access, by.index), axis(d.Access, u.Indices[k].Plain()))
		if far == nil {
			return needs, misses
		}
		own, out := far.touched(n, by.cut.Parts, entries)
		needs = min(needs, (own+out)/n)
		if cut := u.tensor.Placement.Cuts[k]; cut != nil && cut.Contiguous() && cut.Parts == by.cut.Parts && u.tensor.Placement.Over[k] == by.over {
			return needs, min(misses, out/n)
		}
		return needs, needs * miss
	}
	return 1, miss
}

// work estimates how many terms the statement has.
func (s *statement) work() float64 {
	terms := func(of func(*lang.Index) bool) float64 {
		n := 1.0
		for _, v := range s.Indices {
			if of(v) {
				n *= float64(s.extents[v.ID])
			}
		}
		return n
	}
	all := terms(func(*lang.Index) bool { return true })
	if gates := s.gates(s.RHS); len(gates) > 0 { // a product has a term where all of its factors have
		for _, a := range gates {
			t := s.use(a).tensor
			for _, n := range t.Shape {
				if n == 0 {
					return 0
				}
				all /= float64(n)
			}
			all *= float64(t.Entries)
		}
		return all
	}
	most := 0.0
	for _, u := range s.uses {
		if !u.left {
			most = max(most, float64(u.tensor.Entries)*terms(func(v *lang.Index) bool { return axis(u.Access, v) < 0 }))
		}
	}
	return most
}

// resultBytes is how large the result is: dense, or with an entry for each term.
func (s *statement) resultBytes(work float64) float64 {
	elements := 1.0
	for _, n := range s.shape {
		elements *= float64(n)
	}
	if t := s.LHS.Tensor; t.HasFormat && !t.Format.IsDense() {
		elements = min(elements, work)
	}
	return elements * float64(s.LHS.Tensor.DType.Size())
}

// owns reports whether a rank needs of a use just the part that it has.
func (c *cutting) owns(u *use) bool {
	p := u.tensor.Placement
	for k, x := range u.Indices {
		if a := c.of(x.Plain()); a != nil {
			if !a.has(p, k) {
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

// aboveListed reports whether a level below that of an axis lists its coordinates, so that nothing is stored where nothing is listed.
func aboveListed(f tensor.Format, axis int) bool {
	k := slices.Index(f.Order(), axis)
	return slices.ContainsFunc(f.Physical()[k+1:], func(l tensor.LevelType) bool { return !l.Full() })
}
