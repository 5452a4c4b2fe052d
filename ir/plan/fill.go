package plan

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// fill decides the value of coordinates that the result does not store.
func (p *planner) fill(result *ir.Tensor, declared *lang.Tensor, background ir.Expr, covers bool) {
	v, known := ir.ConstValue(background)
	switch {
	case declared.FillKnown:
		result.Fill, result.FillKnown = declared.Fill, true
	case known && covers:
		result.Fill, result.FillKnown = v.Convert(result.DType), true
	case result.Format.IsDense() || !covers || background == nil:
		result.Fill, result.FillKnown = tensor.Zero(result.DType), true
	default:
		// Known only at run time; convert needs a value to be there.
		result.Fill = tensor.Zero(result.DType)
	}
}

// beyond is the value of a statement's right side where nothing is stored: its
// background or, where loops visit everything, what it is if all operands have
// their fills. So a fill does not depend on how the operands are stored.
func (p *planner) beyond(nf *normalForm, result *ir.Tensor, background ir.Expr) ir.Expr {
	if background != nil && !result.Format.IsDense() {
		return background
	}
	if v, ok := ir.ConstValue(p.alg.Of(nf.value, fillLeaves{p.alg}).Background); ok {
		return &ir.Literal{Value: v}
	}
	return nil
}

// fillLeaves describes leaves where every operand has its fill, dense ones too.
type fillLeaves struct{ alg ir.Algebra }

func (f fillLeaves) Access(a *ir.Access) ir.Support {
	if len(a.Vars(nil)) == 0 || !a.Tensor.FillKnown {
		return ir.Everywhere()
	}
	return ir.Constant(ir.GapOf(a.Tensor))
}

func (f fillLeaves) Index(*ir.Index) ir.Support { return ir.Everywhere() }

func (f fillLeaves) Temp(t *ir.Temp) ir.Behaviour { return f.alg.TempBehaviour(t, f) }
