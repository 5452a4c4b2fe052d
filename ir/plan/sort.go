package plan

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// sort plans a sort and returns an access of its result.
func (b *builder) sort(e *lang.Scan) (ir.Expr, error) {
	a, err := b.argument(e.Body, e.Vars, e.Pos)
	if err != nil {
		return nil, err
	}
	s := &ir.Sort{Axes: a.axes, Cast: a.cast(), First: e.First, Descending: e.Descending(), Positions: e.Op == lang.ArgSort, Op: e.Op, Pos: e.Pos}
	kept := a.kept()
	s.From = b.plan.materialise(a, func(f tensor.Format, fill *tensor.Scalar) tensor.Format {
		every := s.Positions || s.First > 0 && (fill == nil || !fill.Same(tensor.Zero(fill.DType())))
		return statisticLayout(&ir.Statistic{Axes: s.Axes, PerLine: every}, f, fill, kept, false)
	})
	f := s.From.Format
	s.To = &ir.Tensor{Name: b.plan.named(e.Op.String()), Rank: s.From.Rank, DType: ir.ComputeType(e.Typ), FillKnown: true, Whole: e.First == 0}
	s.To.Fill = tensor.Zero(s.To.DType)
	if !s.Positions && s.First == 0 && s.From.FillKnown {
		s.To.Fill = s.From.Fill
		if s.Cast.Valid() {
			s.To.Fill = s.To.Fill.Convert(s.Cast)
		}
		s.To.Fill = s.To.Fill.Convert(s.To.DType)
	}
	switch {
	case s.First > 0 && f.IsDense():
		s.To.Format = ir.MustFormat(f.Order(), tensor.Dense(len(kept)), tensor.Coordinates(1))
	case s.First > 0:
		s.To.Format = f
	case ir.LinesOf(f, s.Axes) == ir.SparseSegments:
		s.To.Format = upper(f, len(kept), len(s.Axes), f.Order())
	default:
		s.To.Format = ir.MustFormat(f.Order(), tensor.Dense(s.From.Rank))
	}
	b.plan.tensor(s.To)
	b.plan.Steps = append(b.plan.Steps, s)
	b.copies++
	return accessOf(s.To, a.vars), nil
}
