package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// On grids, sparse tensors become another one as lists of coordinates: their entries are
// independent of each other, whereas the outermost loop over rows of which only some are
// stored is one that cannot be cut.

// stale reports whether an access cannot be walked well as its tensor is stored, and has
// to read a copy that is stored otherwise.
func (s *scheduler) stale(a *ir.Access, c *candidate) bool {
	switch {
	case a.Tensor.Work != nil:
		return false
	case !c.at.concordant(a):
		return true
	case !s.opts.Grids || len(s.builder.spreads) > 0:
		return false
	case c.merged != nil:
		return !a.Tensor.Format.IsDense() && !slices.Equal(a.Tensor.Format.Levels(), c.merged.Levels())
	}
	return s.inRows(a)
}

// inRows reports whether a list of coordinates is to be stored by rows before it is
// walked. A thread of a grid cannot tell where the row of an entry begins or ends but by
// going through it; a positions array tells all threads. A fold over all of one list
// does not ask.
func (s *scheduler) inRows(a *ir.Access) bool {
	whole := s.lhs.Tensor.Rank == 0 && len(s.accesses) == 1
	return !whole && a.Tensor.Rank > 1 && a.Tensor.Format.IsCoordinates()
}

// mergedFormat has the levels that sparse operands have to have for a grid to take
// their entries, whatever their rows: those of the result, a list or all rows. Nil is for
// other statements.
func (s *scheduler) mergedFormat() *tensor.Format {
	f := s.lhs.Tensor.Format
	if !s.opts.Grids || f.Rank() == 0 || f.IsDense() {
		return nil
	}
	n, levels := s.mergedLists(), f.Physical()
	rows := levels[f.Rank()-1].Ranges() && !slices.ContainsFunc(levels[:f.Rank()-1], func(l tensor.LevelType) bool { return !l.Full() })
	if f.IsCoordinates() && n > 0 || rows && n > 1 {
		return &f
	}
	return nil
}

// becomesList reports whether a result that stores only some rows is better computed as a
// list, and cut into rows then.
func (nf *normalForm) becomesList(result *ir.Tensor) bool {
	f := result.Format
	walked := !slices.ContainsFunc(f.Physical(), func(l tensor.LevelType) bool { return !l.Walked() })
	return f.Rank() > 1 && result.FillKnown && !f.IsCoordinates() && walked && nf.covers() && nf.mergedLists() > 1
}

// mostMerged is how many operands package lower makes a list of.
const mostMerged = 4

// mergedLists is how many sparse operands the value comes of, if all have the variables of
// the result and no blocks; else 0.
func (nf *normalForm) mergedLists() int {
	if len(nf.reduces) > 0 || len(nf.builder.spreads) > 0 {
		return 0
	}
	var lists []*ir.Access
	fits := true
	nf.eachAccess(func(a *ir.Access) {
		switch {
		case a.Tensor.Format.IsDense():
		case !nf.alongResult(a) || a.Tensor.Format.HasBlocks() || a.Tensor.Format.Extended() || !a.Tensor.FillKnown:
			fits = false
		case !slices.ContainsFunc(lists, func(b *ir.Access) bool { return ir.Equal(a, b) }):
			lists = append(lists, a)
		}
	})
	if !fits || len(lists) > mostMerged {
		return 0
	}
	return len(lists)
}

// alongResult reports whether an access has the variables of the result, each once.
func (nf *normalForm) alongResult(a *ir.Access) bool {
	if len(a.Indices) != len(nf.lhs.Indices) {
		return false
	}
	for i, x := range a.Indices {
		v := x.Plain()
		is := func(y ir.IndexExpr) bool { return y.Plain() == v }
		if v == nil || slices.ContainsFunc(a.Indices[:i], is) || !slices.ContainsFunc(nf.lhs.Indices, is) {
			return false
		}
	}
	return true
}

// withAllRows is a format for an access whose outermost level stores all coordinates, if
// another tensor of the statement stores all of that index: then there is room for a
// position for each. Formats that cannot be so stay.
func (nf *normalForm) withAllRows(a *ir.Access, format tensor.Format) tensor.Format {
	v := a.Indices[format.Order()[0]].Plain()
	if v == nil || !someRows(format) {
		return format
	}
	all := storesAll(nf.lhs, v)
	nf.eachAccess(func(b *ir.Access) { all = all || storesAll(b, v) })
	if !all {
		return format
	}
	return ir.MustFormat(format.Order(), tensor.Dense(1), format.Inner(1))
}

// someRows reports whether the outermost level has only the coordinates that have entries, and a range of the next level for each.
func someRows(f tensor.Format) bool {
	return f.Rank() > 1 && f.Physical()[0].Ranges() && !beginsList(f)
}

// rowsOnly is f with only the rows that have entries, where it has a place for every row: for extents
// that no array has.
func rowsOnly(f tensor.Format) tensor.Format {
	if !f.AllRows() {
		return f
	}
	return ir.MustFormat(f.Order(), tensor.CSF(1), f.Inner(1))
}

// storesAll reports whether the tensor has a place for each value of an index, whatever
// the other ones are.
func storesAll(a *ir.Access, v *ir.Index) bool {
	f := a.Tensor.Format
	for l, level := range f.Physical() {
		if a.Indices[f.Order()[l]].Plain() == v {
			return level.Full()
		}
		if !level.Full() {
			return false
		}
	}
	return false
}
