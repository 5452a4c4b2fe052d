package ir

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Sort is a step of a plan: every line of a tensor in order. Equal elements stay in the
// order of their coordinates; NaN is greater than every number.
type Sort struct {
	// From and To have the same shape. From holds lines along Axes in segments, or as
	// the innermost axes of a dense tensor. To is as in Scan.
	From, To *Tensor
	Axes     []int
	// Cast, unless invalid, is what elements are converted to first.
	Cast tensor.DType
	// First, unless 0, is how many elements of a line are kept: To stores these, at the
	// first coordinates, and the others are 0.
	First int64
	// Descending has the greatest element first.
	Descending bool
	// Positions gives where along its line an element was, rather than its value.
	Positions bool
	Op        lang.ScanOp
	Pos       lang.Pos // of the operator
}

func (*Sort) step() {}

// sort plans a sort and returns an access of its result.
func (b *builder) sort(e *lang.Scan) (Expr, error) {
	a, err := b.argument(e.Body, e.Vars, e.Pos)
	if err != nil {
		return nil, err
	}
	s := &Sort{Axes: a.axes, Cast: a.cast(), First: e.First, Descending: e.Descending(), Positions: e.Op == lang.ArgSort, Op: e.Op, Pos: e.Pos}
	kept := a.kept()
	s.From = b.plan.materialise(a, func(f tensor.Format, fill *tensor.Scalar) tensor.Format {
		every := s.Positions || s.First > 0 && (fill == nil || !fill.Same(tensor.Zero(fill.DType())))
		return (&Statistic{Axes: s.Axes, PerLine: every}).layout(f, fill, kept, false)
	})
	f := s.From.Format
	s.To = &Tensor{Name: b.plan.named(e.Op.String()), Rank: s.From.Rank, DType: ComputeType(e.Typ), FillKnown: true, Whole: e.First == 0}
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
		levels := slices.Repeat([]tensor.LevelKind{tensor.C}, len(kept))
		s.To.Format = formatOf(append(levels, tensor.S), f.Order())
	case s.First > 0:
		s.To.Format = f
	case LinesOf(f, s.Axes) == SparseSegments:
		s.To.Format = upper(f, len(kept), len(s.Axes), f.Order())
	default:
		s.To.Format = formatOf(slices.Repeat([]tensor.LevelKind{tensor.D}, s.From.Rank), f.Order())
	}
	b.plan.tensor(s.To)
	b.plan.Steps = append(b.plan.Steps, s)
	b.copies++
	return accessOf(s.To, a.vars), nil
}

// String describes the sort for readers of a plan.
func (s *Sort) String() string {
	text := fmt.Sprintf("%s along %s", s.Op, axesText(s.Axes))
	if s.Descending {
		text += ", descending"
	}
	if s.First > 0 {
		text += fmt.Sprintf(", the first %d", s.First)
	}
	return text
}
