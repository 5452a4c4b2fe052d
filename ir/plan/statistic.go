package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// order plans a median or quantile and returns an access of its result.
func (b *builder) order(e *lang.Reduce) (ir.Expr, error) {
	a, err := b.argument(e.Body, e.Vars, e.Pos)
	if err != nil {
		return nil, err
	}
	s := &ir.Statistic{Axes: a.axes, Cast: a.cast(), Order: 0.5, Method: "linear", SkipNaN: e.Op == lang.NanQuantile, Name: e.Op.String(), Pos: e.Pos}
	if len(e.Options) > 0 {
		s.Method = e.Options[0]
	}
	var own []*ir.Index
	var orders *argument
	if e.Q != nil {
		if orders, err = b.orders(e.Q); err != nil {
			return nil, err
		}
		if v, ok := ir.ConstValue(orders.value); ok {
			s.Order, orders = v.Float64(), nil
		} else {
			for _, v := range orders.vars {
				s.PerLine = s.PerLine || slices.Contains(a.vars, v)
				if !slices.Contains(a.vars, v) {
					own = append(own, v)
				}
			}
		}
	}
	s.Own = len(own)
	vars := b.plan.order(a, s, own, b.lhs.Vars(nil))
	if orders != nil {
		b.plan.orders(orders, s, vars, own)
	}
	b.plan.Steps = append(b.plan.Steps, s)
	b.copies++
	return accessOf(s.To, vars), nil
}

// orders rewrites the order of a quantile, which is ranked in f64.
func (b *builder) orders(q lang.Expr) (*argument, error) {
	sub := b.sub()
	value, err := sub.expr(q)
	if err != nil {
		return nil, err
	}
	value = sub.cast(tensor.Float64, value)
	return &argument{builder: sub, value: value, vars: b.inOrder(ir.FreeVars(value)), typ: tensor.Float64}, nil
}

// order plans the lines of a statistic and its result, and returns the variables of
// the result's axes. Those of the statement's left side are left.
func (p *planner) order(a *argument, s *ir.Statistic, own, left []*ir.Index) []*ir.Index {
	kept := a.kept()
	s.From = p.materialise(a, func(f tensor.Format, fill *tensor.Scalar) tensor.Format {
		return statisticLayout(s, f, fill, kept, a.stored(f))
	})
	f := s.From.Format
	s.Stored = a.stored(f)
	sparse := ir.LinesOf(f, s.Axes) == ir.SparseSegments
	var vars []*ir.Index
	for _, axis := range f.Order()[:len(kept)] {
		vars = append(vars, a.vars[axis])
	}
	if !sparse && len(own) > 0 && len(left) > 0 && slices.Contains(own, left[0]) {
		s.OrdersFirst = true
		vars = append(slices.Clone(own), vars...)
	} else {
		vars = append(vars, own...)
	}
	s.To = &ir.Tensor{Name: p.named(s.Name), Rank: len(vars), DType: ir.ComputeType(a.typ), FillKnown: true, Whole: true,
		Format: tensor.Dense(len(vars)), Fill: tensor.Zero(ir.ComputeType(a.typ))}
	if sparse {
		s.To.Format = upper(f, len(kept), len(own), s.To.Format.Order()) // its axes are in the order of the levels
	}
	if s.Stored || s.From.FillKnown {
		s.To.Fill = gapOf(s)
	}
	p.tensor(s.To)
	return vars
}

// gapOf is the statistic of a line without entries.
func gapOf(s *ir.Statistic) tensor.Scalar {
	dt := s.To.DType
	if s.Stored {
		return ir.NaN(dt)
	}
	v := s.From.Fill
	if s.Cast.Valid() {
		v = v.Convert(s.Cast)
	}
	return v.Convert(dt)
}

// statisticLayout is the format in which a statistic takes an argument of format f.
func statisticLayout(s *ir.Statistic, f tensor.Format, fill *tensor.Scalar, kept []int, stored bool) tensor.Format {
	lines := ir.LinesOf(f, s.Axes)
	order := keptFirst(f, kept, s.Axes)
	switch {
	case f.IsDense() && slices.Equal(f.Order(), order):
		return f
	case f.IsDense(), fill == nil && !stored:
		return ir.MustFormat(order, tensor.Dense(len(order)))
	case s.PerLine && lines != ir.Segments:
		return ir.MustFormat(order, tensor.Dense(len(kept)), tensor.Coordinates(len(s.Axes)))
	case lines != ir.Apart:
		return f
	}
	return segments(f, kept, s.Axes)
}

// orders computes the orders of a statistic into a dense tensor.
func (p *planner) orders(q *argument, s *ir.Statistic, vars, own []*ir.Index) {
	axes := own
	if s.PerLine {
		axes = nil
		for _, v := range vars {
			if !slices.Contains(own, v) {
				axes = append(axes, v)
			}
		}
		axes = append(axes, own...)
	}
	q.vars = axes
	if q.direct() && q.access().Tensor.DType == tensor.Float64 && q.access().Tensor.Format == tensor.Dense(len(axes)) {
		s.Orders = q.access().Tensor
		return
	}
	nf := &q.normalForm
	nf.value = q.value
	s.Orders = &ir.Tensor{Name: p.named("orders"), Rank: len(axes), DType: tensor.Float64, Format: tensor.Dense(len(axes)),
		Fill: tensor.Zero(tensor.Float64), FillKnown: true}
	nf.lhs = accessOf(s.Orders, axes)
	background := p.alg.Of(nf.value, ir.GlobalLeaves(p.alg)).Background
	if err := p.compute(nf, q.stmt, s.Orders, &ir.Compute{Covers: true, Background: background, Shape: axes}); err != nil {
		panic("BUG: " + err.Error()) // only a schedule is refused, and this has none
	}
	p.tensor(s.Orders)
}
