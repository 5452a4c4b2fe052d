package ir

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// scanFolds are the folds of scans.
var scanFolds = map[lang.ScanOp]Fold{
	lang.CumSum: FoldSum, lang.CumProd: FoldProd, lang.CumMin: FoldMin, lang.CumMax: FoldMax,
	lang.LogCumSumExp: FoldLogSumExp,
}

// scan plans a scan and returns an access of its result.
func (b *builder) scan(e *lang.Scan) (Expr, error) {
	a, err := b.argument(e.Body, e.Vars, e.Pos)
	if err != nil {
		return nil, err
	}
	s := &Scan{Cast: a.cast(), Axes: a.axes, Op: e.Op, Fold: scanFolds[e.Op], Typ: e.Typ, Exclusive: e.Exclusive(), Reverse: e.Reverse(), Pos: e.Pos}
	b.plan.scan(a, s)
	b.copies++
	return accessOf(s.To, a.vars), nil
}

// scan adds the steps of a scan.
func (p *planner) scan(a *argument, s *Scan) {
	kept := a.kept()
	s.From = p.materialise(a, func(f tensor.Format, fill *tensor.Scalar) tensor.Format {
		return scanLayout(s, f, fill, kept, a.stored(f))
	})
	f := s.From.Format
	s.Stored = a.stored(f)
	s.To = &Tensor{Name: p.named(s.Op.String()), Rank: s.From.Rank, DType: ComputeType(s.Typ), Format: f, FillKnown: true, Whole: !s.Stored}
	s.To.Fill = tensor.Zero(s.To.DType)
	if s.From.FillKnown && keepsFill(s, s.From.Fill) {
		s.To.Fill = elementOf(s, s.From.Fill)
	}
	switch {
	case s.Stored:
		s.To.Fill = identityOf(s)
	case LinesOf(f, s.Axes) == SparseSegments:
		s.To.Format = upper(f, len(kept), len(s.Axes), f.Order())
	default:
		s.To.Format = formatOf(slices.Repeat([]tensor.LevelKind{tensor.D}, s.From.Rank), f.Order())
	}
	p.tensor(s.To)
	p.Steps = append(p.Steps, s)
}

// scanLayout is the format in which a scan takes an argument of format f.
func scanLayout(s *Scan, f tensor.Format, fill *tensor.Scalar, kept []int, stored bool) tensor.Format {
	lines := LinesOf(f, s.Axes)
	switch {
	case f.IsDense() && lines == Planes:
		return f
	case f.IsDense(), fill == nil && !stored:
		return planes(f, kept, s.Axes)
	case stored && lines != Apart:
		return f
	case stored:
		return segments(f, kept, s.Axes)
	case lines == Segments, lines == SparseSegments && keepsFill(s, *fill):
		return f
	case keepsFill(s, *fill) || len(kept) == 0:
		g := segments(f, kept, s.Axes)
		if LinesOf(g, s.Axes) == SparseSegments || slices.IsSorted(g.Order()) {
			return g
		}
	}
	return planes(f, kept, s.Axes)
}

// keepsFill reports whether a line of nothing but the fill stays as it is.
func keepsFill(s *Scan, fill tensor.Scalar) bool {
	fill = elementOf(s, fill)
	if s.Fold == FoldLogSumExp {
		return fill == Lowest(fill.DType())
	}
	return s.Fold.IsIdentity(fill) || s.Fold.Facts().Idempotent && !s.Exclusive
}

// elementOf is a value of the argument in the type in which the scan computes.
func elementOf(s *Scan, v tensor.Scalar) tensor.Scalar {
	if s.Cast.Valid() {
		v = v.Convert(s.Cast)
	}
	return v.Convert(ComputeType(s.Typ))
}

// identityOf is the value of a scan over nothing.
func identityOf(s *Scan) tensor.Scalar {
	if s.Fold == FoldLogSumExp {
		return Lowest(ComputeType(s.Typ))
	}
	return s.Fold.Identity(ComputeType(s.Typ))
}
