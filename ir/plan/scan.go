package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// scanFolds are the folds of scans.
var scanFolds = map[lang.ScanOp]ir.Fold{
	lang.CumSum: ir.FoldSum, lang.CumProd: ir.FoldProd, lang.CumMin: ir.FoldMin, lang.CumMax: ir.FoldMax,
	lang.LogCumSumExp: ir.FoldLogSumExp,
}

// scan plans a scan and returns an access of its result.
func (b *builder) scan(e *lang.Scan) (ir.Expr, error) {
	a, err := b.argument(e.Body, e.Vars, e.Pos)
	if err != nil {
		return nil, err
	}
	s := &ir.Scan{Cast: a.cast(), Axes: a.axes, Op: e.Op, Fold: scanFolds[e.Op], Typ: e.Typ, Exclusive: e.Exclusive(), Reverse: e.Reverse(), Pos: e.Pos}
	b.plan.scan(a, s)
	b.copies++
	return accessOf(s.To, a.vars), nil
}

// scan adds the steps of a scan.
func (p *planner) scan(a *argument, s *ir.Scan) {
	kept := a.kept()
	s.From = p.materialise(a, func(f tensor.Format, fill *tensor.Scalar) tensor.Format {
		return scanLayout(s, f, fill, kept, a.stored(f))
	})
	f := s.From.Format
	s.Stored = a.stored(f)
	s.To = &ir.Tensor{Name: p.named(s.Op.String()), Rank: s.From.Rank, DType: ir.ComputeType(s.Typ), Format: f, FillKnown: true, Whole: !s.Stored}
	s.To.Fill = tensor.Zero(s.To.DType)
	if s.From.FillKnown && keepsFill(s, s.From.Fill) {
		s.To.Fill = elementOf(s, s.From.Fill)
	}
	switch {
	case s.Stored:
		s.To.Fill = identityOf(s)
	case ir.LinesOf(f, s.Axes) == ir.SparseSegments:
		s.To.Format = upper(f, len(kept), len(s.Axes), f.Order())
	default:
		s.To.Format = ir.MustFormat(f.Order(), tensor.Dense(s.From.Rank))
	}
	p.tensor(s.To)
	p.Steps = append(p.Steps, s)
}

// scanLayout is the format in which a scan takes an argument of format f.
func scanLayout(s *ir.Scan, f tensor.Format, fill *tensor.Scalar, kept []int, stored bool) tensor.Format {
	lines := ir.LinesOf(f, s.Axes)
	switch {
	case f.IsDense() && lines == ir.Planes:
		return f
	case f.IsDense(), fill == nil && !stored:
		return planes(f, kept, s.Axes)
	case stored && lines != ir.Apart:
		return f
	case stored:
		return segments(f, kept, s.Axes)
	case lines == ir.Segments, lines == ir.SparseSegments && keepsFill(s, *fill):
		return f
	case keepsFill(s, *fill) || len(kept) == 0:
		g := segments(f, kept, s.Axes)
		if ir.LinesOf(g, s.Axes) == ir.SparseSegments || slices.IsSorted(g.Order()) {
			return g
		}
	}
	return planes(f, kept, s.Axes)
}

// keepsFill reports whether a line of nothing but the fill stays as it is.
func keepsFill(s *ir.Scan, fill tensor.Scalar) bool {
	fill = elementOf(s, fill)
	if s.Fold == ir.FoldLogSumExp {
		return fill == ir.Lowest(fill.DType())
	}
	return s.Fold.IsIdentity(fill) || s.Fold.Facts().Idempotent && !s.Exclusive
}

// elementOf is a value of the argument in the type in which the scan computes.
func elementOf(s *ir.Scan, v tensor.Scalar) tensor.Scalar {
	if s.Cast.Valid() {
		v = v.Convert(s.Cast)
	}
	return v.Convert(ir.ComputeType(s.Typ))
}

// identityOf is the value of a scan over nothing.
func identityOf(s *ir.Scan) tensor.Scalar {
	if s.Fold == ir.FoldLogSumExp {
		return ir.Lowest(ir.ComputeType(s.Typ))
	}
	return s.Fold.Identity(ir.ComputeType(s.Typ))
}
