package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// C(j,i) = A(i,j) stores the entries of A in another order, or by other levels, and does
// nothing else. That is a conversion: one step, of counting passes where loops over the
// result would need A stored again first and then copy it.

// restore plans a statement as a conversion, if that is all that it is, and reports whether it
// did. Where the result is stored as the operand is, loops copy it: what a
// conversion makes shares arrays with its source.
func (p *planner) restore(nf *normalForm, s *lang.Stmt, result *ir.Tensor, background ir.Expr) bool {
	x, ok := nf.value.(*ir.Access)
	if !ok || p.Options.OwnResults || p.Options.NarrowWorkspaces || !s.LHS.Whole() {
		return false
	}
	from := x.Tensor
	axes := make([]int, len(nf.lhs.Indices)) // of from, by axis of the result
	for k, place := range nf.lhs.Indices {
		axes[k] = slices.IndexFunc(x.Indices, func(i ir.IndexExpr) bool { return i.Plain() == place.Plain() })
	}
	switch {
	case from.Rank != result.Rank || slices.Contains(axes, -1) || p.forms[from.Source] != nil || from.StoredOf != nil:
		return false
	case from.DType != result.DType || !from.FillKnown:
		return false
	case !onlyEntries(from.Format) || !onlyEntries(result.Format):
		return false
	}
	step := &ir.Convert{From: from, To: result, Axes: axes, Why: "the statement only stores it again", Assigns: true}
	if slices.IsSorted(axes) {
		step.Axes = nil
	}
	if step.View().Format == result.Format {
		return false
	}
	p.fill(result, s.LHS.Tensor, p.beyond(nf, result, background), true)
	if !result.FillKnown || !result.Fill.Same(from.Fill) {
		return false
	}
	p.Steps = append(p.Steps, step)
	p.current[s.LHS.Tensor] = p.tensor(result)
	return true
}

// onlyEntries reports whether a format stores single entries, each once and in order.
func onlyEntries(f tensor.Format) bool {
	return f.Rank() > 0 && !f.Relaxed() && !f.HasBlocks()
}
