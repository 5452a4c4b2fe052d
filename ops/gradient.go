package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// ErrNotDifferentiable: the operation has steps instead of slopes.
var ErrNotDifferentiable = errors.New("not differentiable: its values do not change gradually with its elements")

// StraightThrough gives Any and All the gradient that they do not have: the adjoint of the result,
// spread over the elements that it was made of, as that of [Sum]. It is what
// the first design of paddle.sparse.any asks for.
func StraightThrough() Option { return func(s *settings) { s.straightThrough = true } }

// SumGrad is the gradient of [Sum] with respect to A for the same options: upstream, of the shape
// and type of the sum, is the adjoint of the result. The gradient has the type, the format and the
// coordinates of A.
func SumGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "SumGrad", word: "sum"}, A, upstream, opts)
}

// ProdGrad is the gradient of [Prod]; see [SumGrad].
func ProdGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "ProdGrad", word: "prod"}, A, upstream, opts)
}

// MinGrad is the gradient of [Min]: elements that are equally small share it. See [SumGrad].
func MinGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "MinGrad", word: "min", some: true}, A, upstream, opts)
}

// MaxGrad is the gradient of [Max]: elements that are equally large share it. See [SumGrad].
func MaxGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "MaxGrad", word: "max", some: true}, A, upstream, opts)
}

// MeanGrad is the gradient of [Mean]; see [SumGrad].
func MeanGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "MeanGrad", word: "mean"}, A, upstream, opts)
}

// VarGrad is the gradient of [Var]; see [SumGrad].
func VarGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "VarGrad", word: "var"}, A, upstream, opts)
}

// NormGrad is the gradient of [Norm], 0 where all elements are; see [SumGrad].
func NormGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "NormGrad", word: "norm"}, A, upstream, opts)
}

// LogSumExpGrad is the gradient of [LogSumExp]; see [SumGrad].
func LogSumExpGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reductionGrad(ctx, reduction{name: "LogSumExpGrad", word: "logsumexp"}, A, upstream, opts)
}

// AnyGrad fails with [ErrNotDifferentiable]; with [StraightThrough] it gives upstream spread over the
// elements, in the type of upstream and the format of A.
func AnyGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return straightGrad(ctx, "AnyGrad", A, upstream, opts)
}

// AllGrad is [AnyGrad] for [All].
func AllGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return straightGrad(ctx, "AllGrad", A, upstream, opts)
}

// CumSumGrad is the gradient of [CumSum] with respect to A for the same options: upstream, of the shape
// of A, or with one axis for scans over all elements, is the adjoint of the result.
func CumSumGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scanGrad(ctx, reduction{name: "CumSumGrad", word: "cumsum"}, A, upstream, opts)
}

// LogCumSumExpGrad is the gradient of [LogCumSumExp]; see [CumSumGrad].
func LogCumSumExpGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scanGrad(ctx, reduction{name: "LogCumSumExpGrad", word: "logcumsumexp"}, A, upstream, opts)
}

// CumProdGrad is the gradient of [CumProd]; see [CumSumGrad].
func CumProdGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scanGrad(ctx, reduction{name: "CumProdGrad", word: "cumprod"}, A, upstream, opts)
}

// CumMinGrad is the gradient of [CumMin]: the adjoint of each result goes to the last element up to there that is
// as small as it, or NaN. See [CumSumGrad].
func CumMinGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scanGrad(ctx, reduction{name: "CumMinGrad", word: "cummin"}, A, upstream, opts)
}

// CumMaxGrad is the gradient of [CumMax]: the adjoint of each result goes to the last element up to there that is
// as large as it, or NaN, as in torch. See [CumSumGrad].
func CumMaxGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scanGrad(ctx, reduction{name: "CumMaxGrad", word: "cummax"}, A, upstream, opts)
}

// QuantileGrad is the gradient of [Quantile] with respect to A for the same options: upstream, of the
// shape of the result, is its adjoint, and goes to the one or two elements that the quantile is
// made of.
func QuantileGrad(ctx context.Context, A *tensor.Tensor, q float64, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return quantileGrad(ctx, "QuantileGrad", "quantile", A, []float64{q}, true, upstream, opts)
}

// QuantilesGrad is the gradient of [Quantiles]; see [QuantileGrad].
func QuantilesGrad(ctx context.Context, A *tensor.Tensor, q []float64, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return quantileGrad(ctx, "QuantilesGrad", "quantile", A, q, false, upstream, opts)
}

// NanQuantileGrad is the gradient of [NanQuantile]; that of elements that are NaN is 0.
func NanQuantileGrad(ctx context.Context, A *tensor.Tensor, q float64, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return quantileGrad(ctx, "NanQuantileGrad", "nanquantile", A, []float64{q}, true, upstream, opts)
}

// NanQuantilesGrad is the gradient of [NanQuantiles]; see [NanQuantileGrad].
func NanQuantilesGrad(ctx context.Context, A *tensor.Tensor, q []float64, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return quantileGrad(ctx, "NanQuantilesGrad", "nanquantile", A, q, false, upstream, opts)
}

// MedianGrad is the gradient of [Median]; see [QuantileGrad].
func MedianGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return quantileGrad(ctx, "MedianGrad", "quantile", A, []float64{0.5}, true, upstream, opts)
}

func reductionGrad(ctx context.Context, kind reduction, A, upstream *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, kind.name, opts, A, upstream)
	if err != nil {
		return nil, err
	}
	p, err := op.reductionProgram(kind, A)
	if err != nil {
		return nil, err
	}
	return op.grad(p, lacuna.Args{"A": p.operand, "dR": upstream}, A)
}

func scanGrad(ctx context.Context, kind reduction, A, upstream *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, kind.name, opts, A, upstream)
	if err != nil {
		return nil, err
	}
	p, err := op.scanProgram(kind, A)
	if err != nil {
		return nil, err
	}
	if !op.hasAxes && A.Rank() != 1 {
		if upstream, err = op.reshape(upstream, p.operand.Shape(), reshapedFormat(upstream, p.operand.Shape())); err != nil {
			return nil, err
		}
	}
	return op.grad(p, lacuna.Args{"A": p.operand, "dR": upstream}, A)
}

func quantileGrad(ctx context.Context, name, word string, A *tensor.Tensor, q []float64, one bool, upstream *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, name, opts, A, upstream)
	if err != nil {
		return nil, err
	}
	p, args, err := op.quantileProgram(word, A, q, one)
	if err != nil {
		return nil, err
	}
	args["dR"] = upstream
	return op.grad(p, args, A)
}

// grad runs the gradient of a program with respect to A, of whose shape it is.
func (op *operation) grad(p program, args lacuna.Args, A *tensor.Tensor) (*tensor.Tensor, error) {
	out, err := op.gradOf(p, args)
	if err != nil {
		return nil, err
	}
	return op.shapedLike(out, A)
}

// gradOf runs the gradient of a program with respect to its operand A.
func (op *operation) gradOf(p program, args lacuna.Args) (*tensor.Tensor, error) {
	out, err := op.session.EvalGrad(op.ctx, p.text, "A", args, p.options...)
	return out, op.fail(adjointError(err))
}

// adjointError says what is wrong with an adjoint in the words of who passed it as upstream, and knows nothing of dR and R.
func adjointError(err error) error {
	var e *lang.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Msg, "dR ") {
		return err
	}
	words := strings.NewReplacer("dR ", "upstream ", "it is the adjoint of R, which", "the result")
	return &lang.Error{Code: e.Code, Msg: words.Replace(e.Msg), Hint: "the adjoint says for each element of the result how much a quantity changes with it", Err: e.Err}
}

// shapedLike gives a gradient the shape and the format of the operand, which may have been flattened.
func (op *operation) shapedLike(g, A *tensor.Tensor) (*tensor.Tensor, error) {
	var err error
	if g.Rank() != A.Rank() {
		if g, err = op.reshape(g, A.Shape(), A.Format().Standard()); err != nil {
			return nil, err
		}
	}
	if A.Structure() == tensor.General && A.Format().Relaxed() && g.Format() != A.Format() {
		// What the identity hands back has the order of A.
		names := indices(A.Rank())
		same := program{access("R", names) + " = " + access("A", names), A, nil}
		if g, err = op.gradOf(same, lacuna.Args{"A": A, "dR": g}); err != nil {
			return nil, err
		}
	}
	return op.finish(g, nil)
}

// straightGrad writes dA(i,j) = where(stored(A(i,j)), dR(i), 0).
func straightGrad(ctx context.Context, name string, A, upstream *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, name, opts, A, upstream)
	if err != nil {
		return nil, err
	}
	if !op.straightThrough {
		return nil, op.fail(fmt.Errorf("%w: StraightThrough spreads the adjoint over the elements instead", ErrNotDifferentiable))
	}
	along, err := op.reducedAxes(A.Rank())
	if err != nil {
		return nil, err
	}
	names := indices(A.Rank())
	left, _ := op.leftSide(names, along)
	if got, want := upstream.Rank(), len(left); got != want {
		return nil, op.failf("the adjoint has %d axes, and the result has %d", got, want)
	}
	text := fmt.Sprintf("%s = where(stored(%s), %s, 0)", access("R", names), access("A", names), access("dR", left))
	if A.Format().IsDense() {
		text = fmt.Sprintf("%s = like(%s, %s)", access("R", names), access("dR", left), access("A", names))
	}
	return op.run(text, lacuna.Args{"A": A, "dR": upstream}, lacuna.Result("R", A.Format().Standard()), lacuna.Fill("R", tensor.Zero(upstream.DType())))
}
