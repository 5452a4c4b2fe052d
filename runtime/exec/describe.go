package exec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Statistics of tensors that only a device has are computed there, by a program: one pass over the arrays, of which a few numbers come back.

// statistics returns those of an operand, if it is one tensor that can have some.
func (s *Session) statistics(ctx context.Context, o tensor.Operand) (*tensor.Statistics, bool) {
	t, ok := o.(*tensor.Tensor)
	if !ok || t == nil {
		return nil, false
	}
	return t.StatisticsBy(func() (*tensor.Statistics, error) {
		if !s.env.OnGrids() { // which the run brings here anyway
			if err := t.Fetch(); err != nil {
				return nil, err
			}
			st, _ := t.Statistics()
			return st, nil
		}
		st, err := s.describe(ctx, t)
		if err != nil && ctx.Err() == nil {
			return nil, nil // the device cannot, and will not be asked again
		}
		return st, err
	})
}

// description is a program that describes a tensor A, of which the values are v.
type description struct {
	lines []string
	args  Args
	opts  []declare.Option
	names []string // of the results, which are scalars
}

// add adds a result.
func (d *description) add(name, is string) {
	d.lines = append(d.lines, name+" = "+is)
	d.names = append(d.names, name)
	d.opts = append(d.opts, declare.Result(name, tensor.Dense(0)))
}

// describe computes statistics on the device, nearly as [tensor.Tensor.Statistics] does: where that looks at positions, or at some of the rows that there are, it
// looks at entries, and at some of all rows.
func (s *Session) describe(ctx context.Context, t *tensor.Tensor) (*tensor.Statistics, error) {
	format, dims, n := t.Format(), t.Shape(), float64(t.NNZ())
	st := &tensor.Statistics{Entries: n, Axes: make([]tensor.AxisStatistics, len(dims))}
	d := &description{args: Args{"A": t}}
	values := tensor.NewTrusted([]int64{t.NNZ()}, tensor.Dense(1), nil, t.Values(), tensor.Zero(t.DType()))
	defer values.Release()
	d.magnitude(values)
	var counted []int
	for k, axis := range format.Order() {
		a := &st.Axes[axis]
		switch a.Extent = float64(dims[axis]); {
		case n == 0:
		case k >= format.SparseRank():
			a.NonEmpty, a.Longest, a.Squares = a.Extent, n/a.Extent, n*n/a.Extent
		case len(dims) == 1 || a.Extent > n*mostCounters+mostSpare && (k > 0 || !t.LevelAt(0).Full()): // nearly every coordinate has one
			a.NonEmpty, a.Longest, a.Squares = n, 1, n
		default:
			d.count(axis, dims)
			counted = append(counted, axis)
		}
	}
	banded := n > 0 && len(dims) == 2 && dims[0] == dims[1] && format.SparseRank() == 2
	if banded {
		d.band(format.Order()[0], 1+t.NNZ()/bandSample)
	}
	found, err := s.evaluateThere(ctx, d)
	if err != nil {
		return nil, err
	}
	for _, axis := range counted {
		st.Axes[axis].NonEmpty, st.Axes[axis].Longest, st.Axes[axis].Squares =
			found[fmt.Sprintf("filled%d", axis)], found[fmt.Sprintf("longest%d", axis)], found[fmt.Sprintf("squares%d", axis)]
	}
	if many := found["sampled"]; banded && many > 0 {
		st.Band = 1 + 2*math.Sqrt(3*found["distances"]/many)
	}
	st.Finite, st.NonNegative = true, t.DType().IsUnsigned() || t.DType() == tensor.Bool
	switch {
	case !isFloat(t.DType()):
		st.Exponent = 8 * t.DType().Size()
	case n > 0:
		st.Finite = found["finite"] != 0
		st.NonNegative = st.Finite && found["positive"] != 0
		if _, e := math.Frexp(found["most"]); st.Finite {
			st.Exponent = max(e, 0)
		}
	default:
		st.NonNegative = !t.DType().IsComplex()
	}
	return st, nil
}

// As package tensor has them.
const (
	mostCounters = 4
	mostSpare    = 1 << 20
	bandSample   = 1 << 16
)

func isFloat(dt tensor.DType) bool { return dt.IsFloat() || dt.IsComplex() }

// magnitude asks for the largest value, whether all are finite, and whether none is negative.
func (d *description) magnitude(values *tensor.Tensor) {
	dt := values.DType()
	if !isFloat(dt) || values.NNZ() == 0 {
		return
	}
	d.args["v"] = values
	if dt.IsComplex() {
		d.add("most", "max_p where(isfinite(v(p)), max(abs(real(v(p))), abs(imag(v(p)))), 0)")
		d.add("finite", "all_p isfinite(v(p))")
		d.add("positive", "false")
		return
	}
	d.add("most", "max_p where(isfinite(v(p)), abs(v(p)), 0)")
	d.add("finite", "all_p isfinite(v(p))")
	d.add("positive", "all_p (copysign(1, v(p)) > 0)")
}

// access is A at an index for each axis.
func access(rank int) string {
	list := make([]string, rank)
	for k := range list {
		list[k] = fmt.Sprintf("i%d", k)
	}
	return "A(" + strings.Join(list, ",") + ")"
}

// count asks how the entries spread over the coordinates of an axis.
func (d *description) count(axis int, dims []int64) {
	var others []string
	for k := range dims {
		if k != axis {
			others = append(others, fmt.Sprintf("i%d", k))
		}
	}
	each := fmt.Sprintf("each%d", axis)
	d.lines = append(d.lines, fmt.Sprintf("%s(i%d) = sum_{%s} where(stored(%s), 1, 0)", each, axis, strings.Join(others, ","), access(len(dims))))
	d.opts = append(d.opts, declare.Result(each, tensor.Dense(1)))
	d.add(fmt.Sprintf("filled%d", axis), fmt.Sprintf("sum_p where(%s(p) > 0, 1, 0)", each))
	d.add(fmt.Sprintf("longest%d", axis), fmt.Sprintf("max_p %s(p)", each))
	d.add(fmt.Sprintf("squares%d", axis), fmt.Sprintf("sum_p f64(%[1]s(p))*f64(%[1]s(p))", each))
}

// band asks how far entries are from the diagonal, of each row or column whose number step divides.
func (d *description) band(outer int, step int64) {
	d.args["step"] = tensor.ScalarTensor(tensor.Int(tensor.Int64, step))
	d.add("sampled", fmt.Sprintf("sum_{i0,i1} where(stored(A(i0,i1)), where(mod(i%d, step) == 0, 1, 0), 0)", outer))
	d.add("distances", fmt.Sprintf("sum_{i0,i1} where(stored(A(i0,i1)), where(mod(i%d, step) == 0, f64(i0-i1)*f64(i0-i1), 0), 0)", outer))
}

// evaluateThere runs a description in the order in which it is written, which needs no statistics.
func (s *Session) evaluateThere(ctx context.Context, d *description) (map[string]float64, error) {
	found := map[string]float64{}
	if len(d.names) == 0 {
		return found, nil
	}
	if !slices.ContainsFunc(d.lines, func(l string) bool { return strings.Contains(l, "stored(A(") }) {
		delete(d.args, "A")
	}
	out, err := s.resident().EvalAll(ctx, strings.Join(d.lines, "\n"), d.args, append(d.opts, declare.AsWritten(), declare.Only(d.names...))...)
	if err != nil {
		return nil, err
	}
	for name, t := range out {
		defer t.Release()
		if err := t.Fetch(); err != nil {
			return nil, err
		}
		found[name] = t.Values().Scalar(0).Float64()
	}
	return found, nil
}
