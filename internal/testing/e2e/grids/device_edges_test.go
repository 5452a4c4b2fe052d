package grids_test

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Operands without elements, and with extents far beyond memory, give on a device what
// they give on the interpreter, errors included.
func TestEdgesOnDevice(t *testing.T) {
	ctx := context.Background()
	device := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	host := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	const huge = int64(1) << 40
	empty := func(rows, cols int64) *tensor.Tensor {
		return matrixOf(t, tensor.CSR, rows, cols, [][]int64{{}, {}})
	}
	corners := func(f tensor.Format) *tensor.Tensor {
		return matrixOf(t, f, huge, huge, [][]int64{{5, huge - 1}, {huge - 1, 0}}, 2, 3)
	}
	for _, c := range []struct {
		text string
		A, B *tensor.Tensor
	}{
		{"C(i,k) = A(i,j)*B(j,k)", empty(3, 0), empty(0, 4)},
		{"s = sum_{i,j} A(i,j)", empty(0, 0), nil},
		{"y(i,j) = sort_j A(i,j)", empty(3, 0), nil},
		{"y(i) = median_j A(i,j)", empty(3, 0), nil},
		{"y(i) = max_j A(i,j)", empty(3, 0), nil},
		{"y(i,j) = cumsum_j A(i,j)", empty(0, 4), nil},
		{"s = sum_{i,j} A(i,j)", corners(tensor.COO), nil},
		{"C(i,j) = A(i,j)+A(j,i)", corners(tensor.COO), nil},
		{"y(j) = sum_i A(i,j)", corners(tensor.COO), nil},
		{"y(i) = max_j A(i,j)", corners(tensor.DCSR), nil},
		{"m = median_{i,j} A(i,j)", matrixOf(t, tensor.COO, 1<<20, 1<<20, [][]int64{{5, 7}, {1, 0}}, 2, 3), nil},
	} {
		args := lacuna.Args{"A": c.A}
		if c.B != nil {
			args["B"] = c.B
		}
		want, wantErr := host.Eval(ctx, c.text, args)
		got, err := device.Eval(ctx, c.text, args)
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s: %v, on the interpreter %v", c.text, err, wantErr)
		case err == nil:
			if d := tensor.Diff(got, want); d != "" {
				t.Errorf("%s: %s", c.text, d)
			}
		}
	}
}

func matrixOf(t *testing.T, f tensor.Format, rows, cols int64, coords [][]int64, values ...float64) *tensor.Tensor {
	t.Helper()
	A, err := tensor.FromCoords([]int64{rows, cols}, f, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return A
}
