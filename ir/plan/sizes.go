package plan

import (
	"math"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// How often loops run, by statistics of what they run over (ir.Options.Sizes). Without any, cost.go guesses.

// sizes estimate the loops of one nest.
type sizes struct {
	known   map[string]*tensor.Statistics
	reads   []*ir.Access
	extents map[*ir.Index]float64
	fibres  []fibre // by atom
	tabled  map[*ir.Access]bool
	grids   bool
}

// fibre is what a loop runs through of an operand.
type fibre struct {
	access *ir.Access
	level  int
	length float64
}

// sizesOf are those of a nest that reads so; nil if nothing is known.
func (s *scheduler) sizesOf(reads []*ir.Access) *sizes {
	if len(s.opts.Sizes) == 0 {
		return nil
	}
	z := &sizes{known: s.opts.Sizes, reads: reads, extents: map[*ir.Index]float64{}, tabled: map[*ir.Access]bool{}, grids: s.opts.Grids}
	for _, a := range reads {
		if st := z.of(a.Tensor); st != nil {
			for axis, x := range a.Indices {
				if v := x.Plain(); v != nil {
					z.extents[v] = max(z.extents[v], st.Axes[axis].Extent)
				}
			}
		}
	}
	return z
}

// of are the statistics of a tensor, nil if there are none.
func (z *sizes) of(t *ir.Tensor) *tensor.Statistics {
	if t.StoredOf != nil {
		t = t.StoredOf
	}
	st := z.known[t.Name]
	if st == nil || t.Work != nil || len(st.Axes) != t.Rank {
		return nil
	}
	return st
}

// conversion is what it costs to store an operand again once. Runs with the same operand do not again.
func (z *sizes) conversion(t *ir.Tensor) float64 {
	if z == nil {
		return cost.Conversion
	}
	if st := z.of(t); st != nil {
		return st.Entries * builtin.Move / builtin.Step
	}
	return cost.Conversion
}

// extent is how many coordinates an index has.
func (z *sizes) extent(v *ir.Index) float64 {
	if n, ok := z.extents[v]; ok {
		return n
	}
	return cost.GuessedExtent
}

// atom stands for what a loop runs through of a level of an access that is stored in some format.
func (z *sizes) atom(a *ir.Access, level int, f tensor.Format) ir.Atom {
	for i, x := range z.fibres {
		if x.access == a && x.level == level {
			return ir.Atom(i)
		}
	}
	z.fibres = append(z.fibres, fibre{a, level, z.length(a, level, f)})
	return ir.Atom(len(z.fibres) - 1)
}

// length is the mean number of entries that a loop finds in a fibre of a level.
func (z *sizes) length(a *ir.Access, level int, f tensor.Format) float64 {
	st := z.of(a.Tensor)
	if st == nil {
		if level == 0 && f.Rank() > 1 {
			return cost.GuessedExtent
		}
		return cost.GuessedLength
	}
	n := positions(st, f, level)
	if level == 0 {
		return n
	}
	return n / max(positions(st, f, level-1), 1) * z.bias(a, st, f.Order()[level-1])
}

// positions are those of a level: as many coordinates as entries thrown at random have.
func positions(st *tensor.Statistics, f tensor.Format, level int) float64 {
	order, sparse := f.Order(), f.SparseRank()
	n, cells := st.Entries, 1.0
	for _, axis := range order[sparse:] {
		n /= max(st.Axes[axis].Extent, 1)
	}
	levels := f.Physical()
	full := true // no level so far is cut short
	for l, axis := range order[:level+1] {
		if full = full && !levels[l].Walked(); full {
			cells *= st.Axes[axis].Extent
		} else {
			cells *= st.Axes[axis].NonEmpty
		}
	}
	switch {
	case full:
		return cells
	case level == sparse-1:
		return n
	case cells > 1e6*n:
		return n
	}
	return -cells * math.Expm1(-n/cells)
}

// bias is how much longer than usual the fibres are that another operand leads to, which has many entries where these are long: the geometric mean of
// 1 and the most that it can be.
func (z *sizes) bias(a *ir.Access, st *tensor.Statistics, axis int) float64 {
	v := a.Indices[axis].Plain()
	if v == nil {
		return 1
	}
	most := 1.0
	for _, b := range z.reads {
		other := z.of(b.Tensor)
		if b == a || other == nil || b.Tensor.Format.IsDense() {
			continue
		}
		for l, k := range b.Tensor.Format.Order() {
			x, y := st.Axes[axis], other.Axes[k]
			if l > 0 && b.Indices[k].Plain() == v && st.Entries > 0 && other.Entries > 0 {
				independent := st.Entries * other.Entries / max(x.NonEmpty, y.NonEmpty, 1)
				most = max(most, math.Sqrt(x.Squares*y.Squares)/independent)
			}
		}
	}
	return math.Sqrt(most)
}

// visits is how many steps a loop over a set takes. What is in a table is looked up. A merge goes through all operands, or seeks in
// the longer one for each entry of the shorter; a step of it that finds nothing is half of one.
func (z *sizes) visits(set ir.SetExpr, extent float64) float64 {
	if atom, ok := set.IsAtom(); ok {
		return z.fibres[atom].length
	}
	total, least, seen, most := 0.0, math.Inf(1), 0, math.Inf(1)
	for _, x := range set.Args() {
		n := z.visits(x, extent)
		most = min(most, n)
		if atom, ok := x.IsAtom(); ok && set.IsIntersection() && z.tabled[z.fibres[atom].access] {
			continue
		}
		total, least, seen = total+n, min(least, n), seen+1
	}
	switch {
	case set.IsUnion():
		return total
	case seen == 0:
		return most
	case seen == 1:
		return total
	}
	return min(total, builtin.Seek/builtin.Step*least) / 2
}

var builtin = cost.Builtin() // what decides the order of sums is the same on every machine

// size is how many coordinates a set has, as if operands had theirs independently of each other.
func (z *sizes) size(set ir.SetExpr, extent float64) float64 {
	if atom, ok := set.IsAtom(); ok {
		return min(z.fibres[atom].length, extent)
	}
	n := extent
	if set.IsUnion() {
		n = 0
	}
	for _, x := range set.Args() {
		if set.IsUnion() {
			n = min(n+z.size(x, extent), extent)
		} else {
			n *= z.size(x, extent) / max(extent, 1)
		}
	}
	return n
}
