package plan

import (
	"math/cmplx"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file plans a dense result that is a function of a sum, or of another fold, such as y(i) = sqrt(sum_j A(j,i)^2) with A in CSR, in two steps. The loops of the sum by itself may
// follow A's storage and add to elements in memory; the function is applied when all is there. Where the function
// stands around the sum in one nest, A would have to be stored again.

// finish plans a statement in two steps where that takes less than best, its plan in one, which is nil if none is as its schedule says. It reports whether it did.
func (p *planner) finish(nf *normalForm, s *lang.Stmt, result *ir.Tensor, step *ir.Compute, best *candidate) bool {
	t := nf.finished(p.alg)
	if p.Options.Grids || t == nil || !result.Format.IsDense() || step.Base != nil || !step.Covers || best != nil && len(best.convert) == 0 {
		return false
	}
	var axes []*ir.Index
	for _, x := range nf.lhs.Indices {
		axes = append(axes, x.Plain())
	}
	r := t.Reduce
	sum := &ir.Tensor{Rank: len(axes), DType: r.Typ, Format: result.Format, Fill: tensor.Zero(r.Typ), FillKnown: true}
	first, later := *nf, *nf
	first.lhs, first.value = accessOf(sum, axes), &ir.TempRef{Temp: t}
	later.value, later.reduces = replaceTemps(nf.value, map[*ir.Temp]ir.Expr{t: accessOf(sum, axes)}), nil
	fold := &ir.Compute{Main: true, Covers: true, Shape: axes, Stmt: s, Background: p.alg.Of(first.value, ir.GlobalLeaves(p.alg)).Background}
	folds, err := p.scheduled(&first, s, fold)
	if err != nil || !folds.accumulate || len(folds.convert) > 0 {
		return false
	}
	applies, err := later.schedule(p.alg, p.Options, nil)
	if err != nil || best != nil && folds.cost+applies.cost >= best.cost {
		return false
	}
	sum.Name = p.named("fold")
	p.emit(&first, folds, fold, sum)
	p.tensor(sum)
	step.Main, step.Stmt, step.Directives = false, s, ir.Directives{}
	p.emit(&later, applies, step, result)
	return true
}

// finished is the fold that the value is a function of, and of nothing else but dense operands; nil if there is no one such fold.
func (nf *normalForm) finished(alg ir.Algebra) *ir.Temp {
	if _, alone := nf.value.(*ir.TempRef); alone || !nf.covers() {
		return nil
	}
	var found *ir.Temp
	apart := true
	ir.Walk(nf.value, func(e ir.Expr) {
		switch e := e.(type) {
		case *ir.TempRef:
			apart = apart && (found == nil || found == e.Temp)
			found = e.Temp
		case *ir.Access:
			apart = apart && e.Tensor.Format.IsDense()
		case *ir.Select:
			apart = false
		case *ir.Call:
			apart = apart && byValue(alg, e)
		}
	})
	if !apart || found == nil {
		return nil
	}
	r, vars := found.Reduce, nf.lhs.Vars(nil)
	inside := refersTo(r.Body, nil)
	if r.Fold.Facts().Pair || r.In != nil || len(vars) == 0 || !within(vars, r.FreeVars()) ||
		slices.ContainsFunc(nf.reduces, func(x *ir.Reduce) bool { return x != r && !inside[x] }) {
		return nil
	}
	gap, known := ir.ConstValue(alg.Of(&ir.TempRef{Temp: found}, ir.GlobalLeaves(alg)).Background)
	if !known || !finite(gap) {
		return nil
	}
	return found
}

// byValue reports whether a call makes of a fold's result, if that is in an argument, the same whether it is stored or not: a 0 that is not stored annihilates what is not finite, a
// number does not.
func byValue(alg ir.Algebra, c *ir.Call) bool {
	for i, a := range c.Args {
		if len(refersTo(a, nil)) == 0 || c.Fn == "+" || !alg.MayAnnihilate(c.Fn, i) { // what annihilates in a sum is infinite
			continue
		}
		for k, other := range c.Args {
			if k != i && !steady(other) {
				return false
			}
		}
	}
	return true
}

// steady reports whether an expression is a finite number other than 0, as extents are where there is anything.
func steady(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Literal:
		return finite(e.Value) && !e.Value.IsZero()
	case *ir.Cast:
		_, extent := e.X.(*ir.Extent)
		return extent
	}
	return false
}

func finite(v tensor.Scalar) bool {
	z := v.Complex128()
	return !cmplx.IsInf(z) && !cmplx.IsNaN(z)
}
