package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// opsErrors are the errors of package ops for those of the vectors.
var opsErrors = map[string]error{
	"axis_out_of_range": ops.ErrAxis, "duplicate_axis": ops.ErrAxisTwice, "empty_reduction": ops.ErrEmptyReduction,
	"q_out_of_range": ops.ErrOrder, "q_empty": ops.ErrNoOrder, "bad_method": ops.ErrMethod,
}

type (
	operator = func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)
	adjoint  = func(context.Context, *tensor.Tensor, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)
)

var operators = map[string]operator{
	"sum": ops.Sum, "any": ops.Any, "all": ops.All, "max": ops.Max, "min": ops.Min, "prod": ops.Prod, "mean": ops.Mean,
	"logsumexp": ops.LogSumExp, "cumsum": ops.CumSum, "logcumsumexp": ops.LogCumSumExp, "median": ops.Median,
}

var adjoints = map[string]adjoint{
	"sum": ops.SumGrad, "max": ops.MaxGrad, "min": ops.MinGrad, "mean": ops.MeanGrad, "logsumexp": ops.LogSumExpGrad,
	"cumsum": ops.CumSumGrad, "logcumsumexp": ops.LogCumSumExpGrad, "median": ops.MedianGrad,
}

// TestOps runs all vectors, forward and backward, through the functions of package ops:
// values, shapes, types, what is stored, and errors.
func TestOps(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())), lacuna.WithThreads(2))
	paths, err := filepath.Glob(filepath.Join("testdata", "reductions", "*.json"))
	if err != nil || len(paths) < 13 {
		t.Fatalf("testdata/reductions has %d files, %v", len(paths), err)
	}
	ran := map[string]int{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file reductionFile
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for i := range file.Cases {
			c := &file.Cases[i]
			ran[c.Dir]++
			t.Run(c.ID, func(t *testing.T) {
				testengine.Parallel(t)
				in := file.Tensors[c.In]
				o := opsCase{c, file.Op, in, in.build(t), c.options(t, s)}
				if c.Dir == "bwd" {
					o.backward(t)
				} else {
					o.forward(t)
				}
			})
		}
	}
	if ran["fwd"] < 800 || ran["bwd"] < 90 {
		t.Errorf("only %v cases ran", ran)
	}
}

// opsCase is a case on the way through package ops.
type opsCase struct {
	*reductionCase
	op   string
	in   reductionTensor
	a    *tensor.Tensor
	opts []ops.Option
}

// options are the arguments of a case.
func (c *reductionCase) options(t *testing.T, s *lacuna.Session) []ops.Option {
	opts := []ops.Option{ops.In(s), ops.KeepLevels()}
	var one int
	switch raw := c.Args.Axis; {
	case raw == nil || string(raw) == "null":
	case json.Unmarshal(raw, &one) == nil:
		opts = append(opts, ops.Axes(one))
	default:
		var list []int
		unmarshal(t, raw, &list)
		opts = append(opts, ops.Axes(list...))
	}
	if c.Args.DType != "" {
		dt, err := tensor.ParseDType(c.Args.DType)
		if err != nil {
			t.Fatal(err)
		}
		opts = append(opts, ops.As(dt))
	}
	if c.Args.KeepDim {
		opts = append(opts, ops.KeepDims())
	}
	if c.Args.Exclusive {
		opts = append(opts, ops.Exclusive())
	}
	if c.Args.Reverse {
		opts = append(opts, ops.Reverse())
	}
	if c.Implicit == "skip" {
		opts = append(opts, ops.Stored())
	}
	if c.Args.Method != "" {
		opts = append(opts, ops.With(ops.Method(c.Args.Method)))
	}
	if c.Args.Mode == "min" {
		opts = append(opts, ops.With(ops.Lower))
	}
	return opts
}

// order reads q: the orders, and whether it is one number.
func (c *reductionCase) order(t *testing.T) (q []float64, one bool) {
	raw := c.Args.Q
	if one = raw[0] != '['; one {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	for _, v := range scalars(t, raw, tensor.Float64) {
		q = append(q, v.Float64())
	}
	return q, one
}

func (o *opsCase) forward(t *testing.T) {
	var got *tensor.Tensor
	var err error
	switch {
	case strings.HasSuffix(o.op, "quantile"):
		got, err = o.quantile(t)
	default:
		got, err = operators[o.op](t.Context(), o.a, o.opts...)
	}
	if o.Expect.Error != "" {
		if want := opsErrors[o.Expect.Error]; !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	o.check(t, o.op, got)
	if !slices.Equal(got.Shape(), o.Expect.Shape) {
		t.Errorf("shape %v, want %v", got.Shape(), o.Expect.Shape)
	}
	o.checkStored(t, got)
}

func (o *opsCase) quantile(t *testing.T) (*tensor.Tensor, error) {
	q, one := o.order(t)
	switch {
	case one && o.op == "quantile":
		return ops.Quantile(t.Context(), o.a, q[0], o.opts...)
	case one:
		return ops.NanQuantile(t.Context(), o.a, q[0], o.opts...)
	case o.op == "quantile":
		return ops.Quantiles(t.Context(), o.a, q, o.opts...)
	}
	return ops.NanQuantiles(t.Context(), o.a, q, o.opts...)
}

// checkStored compares what a sparse result stores with the projected pattern.
func (o *opsCase) checkStored(t *testing.T, got *tensor.Tensor) {
	if len(o.Expect.Pattern) == 0 || got.Format().IsDense() {
		return
	}
	pattern, err := tensor.Pattern(got)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := pattern.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	for i := range stored.Len() {
		want := o.Expect.Pattern == "all" || o.Expect.Pattern[i] == '1'
		if stored.Scalar(i).Bool() != want {
			t.Errorf("element %d: stored %v, want %v (%v)", i, stored.Scalar(i), want, got)
			return
		}
	}
}

func (o *opsCase) backward(t *testing.T) {
	up := o.upstream(t)
	var got *tensor.Tensor
	var err error
	if strings.HasSuffix(o.op, "quantile") {
		got, err = o.quantileGrad(t, up)
	} else {
		got, err = adjoints[o.op](t.Context(), o.a, up, o.opts...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got.Format() != o.a.Format() || got.NNZ() != o.a.NNZ() {
		t.Errorf("the gradient is %v, the operand %v", got, o.a)
	}
	if o.Expect.Grad != nil {
		o.Expect.Data = o.Expect.Grad
		o.Expect.DType, o.Expect.Shape = got.DType().String(), got.Shape()
		o.check(t, o.op+" backward", got)
		return
	}
	for i, want := range scalars(t, o.Expect.GradStored, got.DType()) {
		if have := got.At(o.coordinate(i)...); !o.close(have, *want) {
			t.Errorf("stored entry %d: %v, want %v", i, have, *want)
		}
	}
}

func (o *opsCase) quantileGrad(t *testing.T, up *tensor.Tensor) (*tensor.Tensor, error) {
	q, one := o.order(t)
	switch {
	case one && o.op == "quantile":
		return ops.QuantileGrad(t.Context(), o.a, q[0], up, o.opts...)
	case one:
		return ops.NanQuantileGrad(t.Context(), o.a, q[0], up, o.opts...)
	case o.op == "quantile":
		return ops.QuantilesGrad(t.Context(), o.a, q, up, o.opts...)
	}
	return ops.NanQuantilesGrad(t.Context(), o.a, q, up, o.opts...)
}

// upstream is the adjoint of the result. It has the shape of what ops gives.
func (o *opsCase) upstream(t *testing.T) *tensor.Tensor {
	forward := *o
	var result *tensor.Tensor
	var err error
	if strings.HasSuffix(o.op, "quantile") {
		result, err = forward.quantile(t)
	} else {
		result, err = operators[o.op](t.Context(), o.a, o.opts...)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Data json.RawMessage `json:"data"`
	}
	unmarshal(t, o.GradOut, &out)
	values := scalars(t, out.Data, result.DType())
	array, err := tensor.MakeArray(result.DType(), len(values))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if v != nil {
			array.SetScalar(i, *v)
		}
	}
	up, err := tensor.FromDense(result.Shape(), tensor.Dense(result.Rank()), array)
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// coordinate is that of the i-th stored entry, as the vectors count them.
func (o *opsCase) coordinate(i int) []int64 {
	coords := o.in.Coords
	if o.in.Format != "coo" {
		coords = o.in.rows()
	}
	at := make([]int64, len(coords))
	for axis := range at {
		at[axis] = coords[axis][i]
	}
	return at
}
