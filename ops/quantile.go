package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The mistakes that arguments of quantiles may have, besides those of axes.
var (
	// ErrOrder: an order that is NaN or not from 0 to 1.
	ErrOrder = errors.New("the order of a quantile lies between 0 and 1")
	// ErrNoOrder: an empty list of orders.
	ErrNoOrder = errors.New("there is no order")
	// ErrMethod: a method that does not exist.
	ErrMethod = errors.New("there is no such method")
)

// Method is how a quantile between two elements is made of them. The names and the formulas are those of NumPy's
// quantile, and the last eight with Linear are the nine types of Hyndman and Fan (Sample Quantiles in Statistical Packages, 1996).
type Method string

// The methods. ClosestObservation is that of NumPy from 2.0.1 on: the versions before take the other one
// of two elements that are equally close.
const (
	Linear                  Method = "linear"
	Lower                   Method = "lower"
	Higher                  Method = "higher"
	Midpoint                Method = "midpoint"
	Nearest                 Method = "nearest"
	Hazen                   Method = "hazen"
	Weibull                 Method = "weibull"
	MedianUnbiased          Method = "median_unbiased"
	NormalUnbiased          Method = "normal_unbiased"
	InterpolatedInvertedCDF Method = "interpolated_inverted_cdf"
	InvertedCDF             Method = "inverted_cdf"
	AveragedInvertedCDF     Method = "averaged_inverted_cdf"
	ClosestObservation      Method = "closest_observation"
)

// With chooses the method of a quantile; the default is [Linear].
func With(m Method) Option { return func(s *settings) { s.method = m } }

// methods lists all methods.
var methods = []Method{
	Linear, Lower, Higher, Midpoint, Nearest, Hazen, Weibull, MedianUnbiased, NormalUnbiased,
	InterpolatedInvertedCDF, InvertedCDF, AveragedInvertedCDF, ClosestObservation,
}

// known reports whether m is a method, or none.
func (m Method) known() bool { return m == "" || slices.Contains(methods, m) }

// Quantile is the q-quantile along axes: of n elements in order the one at rank q*(n-1), or between two
// of them as the method says ([With]). NaN makes it NaN. Integers are computed in f64. Of
// nothing there is none: [ErrEmptyReduction]. The gaps of a sparse tensor count as so many elements equal
// to the fill, at a cost that follows from what is stored.
func Quantile(ctx context.Context, A *tensor.Tensor, q float64, opts ...Option) (*tensor.Tensor, error) {
	return quantile(ctx, "Quantile", "quantile", A, []float64{q}, true, opts)
}

// Quantiles is [Quantile] for several orders: the result has an axis for them before the others,
// also if there is only one.
func Quantiles(ctx context.Context, A *tensor.Tensor, q []float64, opts ...Option) (*tensor.Tensor, error) {
	return quantile(ctx, "Quantiles", "quantile", A, q, false, opts)
}

// NanQuantile is [Quantile] of the elements that are not NaN; NaN if there are none.
func NanQuantile(ctx context.Context, A *tensor.Tensor, q float64, opts ...Option) (*tensor.Tensor, error) {
	return quantile(ctx, "NanQuantile", "nanquantile", A, []float64{q}, true, opts)
}

// NanQuantiles is [Quantiles] of the elements that are not NaN.
func NanQuantiles(ctx context.Context, A *tensor.Tensor, q []float64, opts ...Option) (*tensor.Tensor, error) {
	return quantile(ctx, "NanQuantiles", "nanquantile", A, q, false, opts)
}

// Median is the middle element along axes, or the mean of the two in the middle; with
// [With] and [Lower] the lower of them.
func Median(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return quantile(ctx, "Median", "quantile", A, []float64{0.5}, true, opts)
}

func quantile(ctx context.Context, name, word string, A *tensor.Tensor, q []float64, one bool, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, name, opts, A)
	if err != nil {
		return nil, err
	}
	without := *op
	without.keepDims = false
	if op.keepDims {
		without.format = nil
	}
	p, args, err := without.quantileProgram(word, A, q, one)
	if err != nil {
		return nil, err
	}
	if one {
		p.options = append(p.options, op.denseVector(p.operand)...)
	}
	out, err := without.run(p.text, args, p.options...)
	if err != nil {
		return nil, op.tooLong(err)
	}
	if !op.keepDims || A.Rank() == 0 {
		return op.finish(out, nil)
	}
	// Axes of extent 1 are put in afterwards, as for reductions: so a sparse result stays one.
	shape, err := op.keptShape(A)
	if err != nil {
		return nil, err
	}
	format := A.Format().Standard()
	if !one {
		shape = append([]int64{int64(len(q))}, shape...)
		format = reshapedFormat(out, shape)
	}
	if out.Format().IsDense() {
		format = tensor.Dense(len(shape))
	}
	return op.reshape(out, shape, op.target(format))
}

// quantileProgram writes R(k,i) = quantile_j[linear](A(i,j), q(k)).
func (op *operation) quantileProgram(word string, A *tensor.Tensor, q []float64, one bool) (program, lacuna.Args, error) {
	what := "a quantile"
	if strings.HasPrefix(op.name, "Median") {
		what = "a median"
	}
	if err := op.refuse(what, slices.Concat(op.ofScans(), op.ofSorts())...); err != nil {
		return program{}, nil, err
	}
	if op.elementType(A).IsComplex() {
		return program{}, nil, op.fail(errComplexOrder)
	}
	if len(q) == 0 {
		return program{}, nil, op.fail(ErrNoOrder)
	}
	for _, x := range q {
		if !(x >= 0 && x <= 1) {
			return program{}, nil, op.fail(fmt.Errorf("%w: it is %v", ErrOrder, x))
		}
	}
	if !op.method.known() {
		return program{}, nil, op.fail(fmt.Errorf("%w: %q (methods are %s)", ErrMethod, op.method, listed(methods)))
	}
	kind := reduction{word: word, some: true}
	op, A, along, err := op.withAxes(A)
	if err != nil {
		return program{}, nil, err
	}
	names := indices(A.Rank())
	left, within := op.leftSide(names, along)
	order := "q"
	orders := tensor.ScalarTensor(tensor.Float(tensor.Float64, q[0]))
	if !one {
		left = append([]string{"k"}, left...)
		order = "q(k)"
		if orders, err = tensor.FromDense([]int64{int64(len(q))}, tensor.Dense(1), tensor.ArrayOf(append([]float64(nil), q...))); err != nil {
			return program{}, nil, op.fail(err)
		}
	}
	dt := op.resultType(kind, A)
	value := fmt.Sprintf("%s_{%s}%s(%s, %s)", word, strings.Join(within, ","), op.brackets(), op.element(names), order)
	if groupSize(A.Shape(), along) == 0 && !op.stored {
		if !emptyResult(A.Shape(), along) {
			return program{}, nil, op.fail(fmt.Errorf("%w: the axes of shape %v have no elements", ErrEmptyReduction, A.Shape()))
		}
		value = fmt.Sprintf("like(%s(0)*%s(%s), %s)", dt, dt, order, access("A", zeroed(names, along)))
	}
	p := program{access("R", left) + " = " + value, A, []lacuna.Option{lacuna.ResultType("R", dt)}}
	return p, lacuna.Args{"A": A, "q": orders}, nil
}

// brackets writes the method.
func (op *operation) brackets() string {
	if op.method == "" {
		return ""
	}
	return "[" + string(op.method) + "]"
}

func listed(list []Method) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}
