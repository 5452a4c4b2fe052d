package ir

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// On grids, sparse tensors become another one as lists of coordinates: their entries are
// independent of each other, whereas the outermost loop over rows of which only some are
// stored is one that cannot be cut.

// isList reports whether a format is a list of coordinates.
func isList(f tensor.Format) bool { return onlyLevels(f, tensor.S) }

// onlyLevels reports whether all levels of a format are of some kinds.
func onlyLevels(f tensor.Format, kinds ...tensor.LevelKind) bool {
	return !slices.ContainsFunc(f.Levels(), func(kind tensor.LevelKind) bool { return !slices.Contains(kinds, kind) })
}

// listIn is a list of coordinates with the axes in the given order.
func listIn(order []int) tensor.Format {
	f, err := tensor.Coordinates(len(order)).WithOrder(order)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// becomesList reports whether a result that stores only some rows is better computed as a
// list, and cut into rows then.
func (nf *normalForm) becomesList(result *Tensor) bool {
	f := result.Format
	return f.Rank() > 1 && result.FillKnown && !isList(f) && onlyLevels(f, tensor.S, tensor.DC) && nf.covers() && nf.mergedLists() > 1
}

// mostMerged is how many operands package lower makes a list of.
const mostMerged = 4

// mergedLists is how many sparse operands the value comes of, if all have the variables of
// the result and no blocks; else 0.
func (nf *normalForm) mergedLists() int {
	if len(nf.reduces) > 0 || len(nf.builder.spreads) > 0 {
		return 0
	}
	var lists []*Access
	fits := true
	nf.eachAccess(func(a *Access) {
		switch {
		case a.Tensor.Format.IsDense():
		case !nf.alongResult(a) || !onlyLevels(a.Tensor.Format, tensor.S, tensor.DC, tensor.C) || !a.Tensor.FillKnown:
			fits = false
		case !slices.ContainsFunc(lists, func(b *Access) bool { return Equal(a, b) }):
			lists = append(lists, a)
		}
	})
	if !fits || len(lists) > mostMerged {
		return 0
	}
	return len(lists)
}

// alongResult reports whether an access has the variables of the result, each once.
func (nf *normalForm) alongResult(a *Access) bool {
	if len(a.Indices) != len(nf.lhs.Indices) {
		return false
	}
	for i, x := range a.Indices {
		v := x.Plain()
		is := func(y IndexExpr) bool { return y.Plain() == v }
		if v == nil || slices.ContainsFunc(a.Indices[:i], is) || !slices.ContainsFunc(nf.lhs.Indices, is) {
			return false
		}
	}
	return true
}
