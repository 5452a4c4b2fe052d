package ops_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests where operations leave tensors of a device.

// onDeviceOperand is a tensor with some entries, of which some are zeros.
func onDeviceOperand(t *testing.T, r *rand.Rand, format tensor.Format, dt tensor.DType, entries int, shape ...int64) *tensor.Tensor {
	t.Helper()
	coords := make([][]int64, len(shape))
	values, err := tensor.MakeArray(dt, entries)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		for axis, n := range shape {
			coords[axis] = append(coords[axis], r.Int64N(n))
		}
		x := r.IntN(5) - 1
		if dt == tensor.Bool {
			tensor.View[bool](values)[i] = x > 0
		} else {
			tensor.View[float64](values)[i] = float64(x)
		}
	}
	A, err := tensor.FromCoords(shape, format, coords, values)
	if err != nil {
		t.Fatal(err)
	}
	return A
}

// What moves entries is done where the tensor is: none of these operations brings back an
// array of an operand that only the device has, which would be an error here.
func TestOnDevice(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())), lacuna.WithResidentResults())
	if !runtime.OnGrids(s.Engine()) {
		t.Skipf("engine %s has no memory of its own", s.Engine().Name())
	}
	cases := []struct {
		name string
		do   func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error)
	}{
		{"Reshape", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Reshape(ctx, A, []int64{3, 8, 5}, opts...)
		}},
		{"Reshape to a vector", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Reshape(ctx, A, []int64{120}, opts...)
		}},
		{"Reshape to a dense tensor", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Reshape(ctx, A, []int64{8, 15}, append(opts, ops.StoredAs(tensor.Dense(2)))...)
		}},
		{"Concat along 0", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Concat(ctx, 0, []*tensor.Tensor{A, A, A}, opts...)
		}},
		{"Concat along 1", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Concat(ctx, 1, []*tensor.Tensor{A, A}, opts...)
		}},
		{"Concat dense", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Concat(ctx, 1, []*tensor.Tensor{A, A}, append(opts, ops.StoredAs(tensor.Dense(2)))...)
		}},
		{"Prune", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) { return ops.Prune(ctx, A, opts...) }},
		{"Sum", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Sum(ctx, A, append(opts, ops.Axes(1), ops.KeepDims())...)
		}},
		{"Sum of all", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Sum(ctx, A, append(opts, ops.KeepDims())...)
		}},
		{"MaskedSelect", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.MaskedSelect(ctx, A, A, opts...)
		}},
		{"Unique", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			u, err := ops.Unique(ctx, A, opts...)
			return u.Values, err
		}},
		{"Inverse of Unique", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			u, err := ops.Unique(ctx, A, append(opts, ops.Inverse())...)
			return u.Inverse, err
		}},
		{"UniqueAlong", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			u, err := ops.UniqueAlong(ctx, A, 1, opts...)
			return u.Values, err
		}},
		{"Tril", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Tril(ctx, A, 0, opts...)
		}},
		{"Triu", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Triu(ctx, A, 1, opts...)
		}},
		{"Diagonal", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Diagonal(ctx, A, 0, opts...)
		}},
		{"Slice", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Slice(ctx, A, []ops.Range{ops.Between(1, 9), ops.From(2)}, opts...)
		}},
		{"Permute", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Permute(ctx, A, 0, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, opts...)
		}},
		{"Sort", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) { return ops.Sort(ctx, A, opts...) }},
		{"CumSum", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.CumSum(ctx, A, append(opts, ops.Axes(0))...)
		}},
		{"Median", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Median(ctx, A, append(opts, ops.Axes(1))...)
		}},
		{"Softmax", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Softmax(ctx, A, append(opts, ops.Axes(1))...)
		}},
		{"Einsum", func(A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return ops.Einsum(ctx, "ij,kj->ik", []*tensor.Tensor{A, A}, opts...)
		}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	csc := tensor.CSC
	for f, format := range []tensor.Format{tensor.CSR, csc, tensor.COO, tensor.DCSR, tensor.Dense(2)} {
		for k, entries := range []int{0, 33, 33} {
			dt := []tensor.DType{tensor.Float64, tensor.Float64, tensor.Bool}[k] // what makes a tensor of bools looks at them
			A := onDeviceOperand(t, r, format, dt, entries, 10, 12)
			for i, c := range cases {
				if testengine.Thin(3, f, k, i) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%v/%d", c.name, format, dt, entries), func(t *testing.T) {
					want, wantErr := c.do(A)
					// A result of the device, so that the process does not have it.
					there, err := s.Eval(ctx, "R(i,j) = A(i,j)", lacuna.Args{"A": A}, lacuna.Result("R", format))
					if err != nil {
						t.Fatal(err)
					}
					got, err := c.do(there, ops.In(s))
					if (err == nil) != (wantErr == nil) {
						t.Fatalf("error %v, want %v", err, wantErr)
					}
					if err != nil {
						return
					}
					for _, l := range there.Levels() {
						if l.Pos.Fetched() != l.Pos.Here() || l.Crd.Fetched() != l.Crd.Here() {
							t.Error("index arrays of the operand were brought here")
						}
					}
					if v := there.Values(); entries > 0 && (v.Here() || v.Fetched()) {
						t.Error("the values of the operand were brought here")
					}
					if v := got.Values(); v.Remote() != nil && v.Fetched() {
						t.Error("the values of the result were brought here")
					}
					if c.name == "Softmax" { // sums in another order
						return
					}
					if !tensor.Equal(got, want) {
						t.Errorf("%v\nwant %v", got, want)
					}
				})
			}
		}
	}
}
