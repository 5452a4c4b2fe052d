package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Scan is a step of a plan: running folds along some axes of a tensor. The order is
// row-major over the axes, from the first coordinate to the last.
type Scan struct {
	// From and To have the same shape. From holds lines along Axes in planes or in
	// segments. To is dense with From's axis order; or has From's levels down to
	// the segments and dense ones below, where a line without entries keeps the
	// fill; or, if Stored, has From's pattern.
	From, To *Tensor
	Axes     []int
	Op       lang.ScanOp
	Fold     Fold
	// Cast, unless invalid, is what elements are converted to first.
	Cast tensor.DType
	// Typ is the type of elements, then, and of the result.
	Typ tensor.DType
	// Exclusive leaves an element's own value out of it.
	Exclusive bool
	// Reverse runs from the last coordinate to the first.
	Reverse bool
	// Stored runs over stored elements only.
	Stored bool
	Pos    lang.Pos // of the operator
}

func (*Scan) step() {}

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
		return s.layout(f, fill, kept, a.stored(f))
	})
	f := s.From.Format
	s.Stored = a.stored(f)
	s.To = &Tensor{Name: p.named(s.Op.String()), Rank: s.From.Rank, DType: ComputeType(s.Typ), Format: f, FillKnown: true, Whole: !s.Stored}
	s.To.Fill = tensor.Zero(s.To.DType)
	if s.From.FillKnown && s.keeps(s.From.Fill) {
		s.To.Fill = s.element(s.From.Fill)
	}
	switch {
	case s.Stored:
		s.To.Fill = s.identity()
	case LinesOf(f, s.Axes) == SparseSegments:
		s.To.Format = upper(f, len(kept), len(s.Axes), f.Order())
	default:
		s.To.Format = formatOf(slices.Repeat([]tensor.LevelKind{tensor.D}, s.From.Rank), f.Order())
	}
	p.tensor(s.To)
	p.Steps = append(p.Steps, s)
}

// layout is the format in which a scan takes an argument of format f.
func (s *Scan) layout(f tensor.Format, fill *tensor.Scalar, kept []int, stored bool) tensor.Format {
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
	case lines == Segments, lines == SparseSegments && s.keeps(*fill):
		return f
	case s.keeps(*fill) || len(kept) == 0:
		g := segments(f, kept, s.Axes)
		if LinesOf(g, s.Axes) == SparseSegments || slices.IsSorted(g.Order()) {
			return g
		}
	}
	return planes(f, kept, s.Axes)
}

// keeps reports whether a line of nothing but the fill stays as it is.
func (s *Scan) keeps(fill tensor.Scalar) bool {
	fill = s.element(fill)
	if s.Fold == FoldLogSumExp {
		return fill == Lowest(fill.DType())
	}
	return s.Fold.IsIdentity(fill) || s.Fold.Facts().Idempotent && !s.Exclusive
}

// element is a value of the argument in the type in which the scan computes.
func (s *Scan) element(v tensor.Scalar) tensor.Scalar {
	if s.Cast.Valid() {
		v = v.Convert(s.Cast)
	}
	return v.Convert(ComputeType(s.Typ))
}

// identity is the value of a scan over nothing.
func (s *Scan) identity() tensor.Scalar {
	if s.Fold == FoldLogSumExp {
		return Lowest(ComputeType(s.Typ))
	}
	return s.Fold.Identity(ComputeType(s.Typ))
}

// String describes the scan for readers of a plan.
func (s *Scan) String() string {
	var words []string
	if s.Exclusive {
		words = append(words, "exclusive")
	}
	if s.Reverse {
		words = append(words, "reverse")
	}
	if s.Stored {
		words = append(words, "stored elements only")
	}
	text := fmt.Sprintf("%s along %s", s.Op, axesText(s.Axes))
	if len(words) > 0 {
		text += ", " + strings.Join(words, ", ")
	}
	return text
}

// axesText is "axis 1" or "axes 0, 2".
func axesText(axes []int) string {
	if len(axes) == 1 {
		return fmt.Sprintf("axis %d", axes[0])
	}
	return "axes " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(axes)), ", "), "[]")
}
