package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestMistakesInData looks at what is said of values that only a run can find wrong: what, where in the data, and where
// in the program of the user, also if that is differentiated.
func TestMistakesInData(t *testing.T) {
	ctx := context.Background()
	A, err := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int64{{0, 1, 2}, {0, 1, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	huge, err := tensor.FromCoords([]int64{1 << 40, 1 << 40}, tensor.COO, [][]int64{{1}, {1}}, tensor.ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	q, err := tensor.FromDense([]int64{2, 2}, tensor.Dense(2), tensor.ArrayOf([]int32{0, 1, 2, -5}))
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"A": A, "x": vector(t, 1, 2, 3), "y": vector(t, 1, 2, 3), "p": indices(0, 7, 1), "q": q, "H": huge, "dy": vector(t, 1, 1, 1)}
	for _, test := range []struct{ src, wrt, want string }{
		{"z(i) = x(p(i))", "", "1:10: p(1) is 7, and x has the coordinates 0 to 2 in dimension 0 [E305]"},
		{"z(i) = A(i,0)*A(p(i),1)", "", "1:17: p(1) is 7, and A has the coordinates 0 to 2 in dimension 0 [E305]"},
		{"z(i,j) = x(q(i,j))", "", "1:12: q(1,1) is -5, and x has the coordinates 0 to 2 in dimension 0 [E305]"},
		{"y(p(i)) += x(i)", "", "1:3: p(1) is 7, and y has the coordinates 0 to 2 in dimension 0 [E305]"},
		{"r(i) = p(i)-2; z(i) = x(r(i))", "", "1:25: r(0) is -2, and x has the coordinates"},
		{"y(i) = x(p(i))", "x", "1:10: p(1) is 7, and x has the coordinates 0 to 2"},
		{"z = median_{i,j} H(i,j)", "", "1:5: median runs over 2^63 or more coordinates"},
		{"z = 1 + quantile_{i,j}(H(i,j)*2, 0.3)", "", "1:9: quantile runs over 2^63 or more coordinates"},
		{"z(i,j) = sort_{i,j} H(i,j)", "", "1:10: sort runs over 2^63 or more coordinates"},
		{"z(i,j) = cummax_{i,j} H(i,j)", "", "1:10: cummax runs over 2^63 or more coordinates"},
		{"y(j) = sum_i A(i,j)", "A", "1:1: dy has shape [3], but it is the adjoint of y, which has shape [4] [E303]"},
		{"y(i,j) = 2*A(i,j)", "A", "1:1: dy has 1 dimension, but it is the adjoint of y, which has 2 [E203]"},
		{"y(i) *= sum_j A(i,j)*A(j,i)", "A", "1:24: the index j has extent 3 in A(j,i), but 4 in A(i,j) [E303]"},
		{"y = sum_{i,j} A(i,j)", "A", "1:1: dy has 1 dimension, but it is the adjoint of y, which has 0 [E203]"},
	} {
		s := NewSession(WithEngine(runtime.Interp()))
		mine := Args{}
		for name, v := range args {
			if strings.Contains(test.src, name+"(") || name == "dy" && test.wrt != "" {
				mine[name] = v
			}
		}
		if !strings.Contains(test.src, "y(p") && !strings.Contains(test.src, "y(i) *=") {
			delete(mine, "y")
		}
		var err error
		if test.wrt == "" {
			_, err = s.Eval(ctx, test.src, mine)
		} else {
			_, err = s.EvalGrad(ctx, test.src, test.wrt, mine)
		}
		var e *lang.Error
		if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "derived") {
			t.Errorf("%s: got %v, want %s", test.src, err, test.want)
		}
	}
}

// TestMeansOfNothing takes means over an axis without coordinates: they are NaN, wherever they stand and however
// the result is stored.
func TestMeansOfNothing(t *testing.T) {
	ctx := context.Background()
	for _, engine := range lineSessions(t) {
		for _, f := range matrixFormats() {
			A, err := tensor.FromCoords([]int64{2, 0}, f, [][]int64{{}, {}}, tensor.ArrayOf([]float32{}))
			if err != nil {
				t.Fatal(err)
			}
			b := vector(t, 1, 2)
			for _, test := range []struct {
				src   string
				sizes []int64
				want  string
			}{
				{"y(i) = mean_j A(i,j)", []int64{2}, "nan nan"},
				{"y(i) = var_j A(i,j)", []int64{2}, "nan nan"},
				{"y = 2*mean_{i,j} A(i,j)", nil, "nan"},
				{"y(i) = b(i) + mean_j A(i,j)", []int64{2}, "nan nan"},
				{"y(i) = where(isnan(mean_j A(i,j)), b(i), 0)", []int64{2}, "1 2"},
				{"y(j) = mean_i A(i,j)", []int64{0}, ""},
				{"y(i) = b(i) + sum_j A(i,j)*(mean_k A(i,k))", []int64{2}, "1 2"},
			} {
				args := Args{"A": A}
				if strings.Contains(test.src, "b(") {
					args["b"] = b
				}
				for _, opts := range [][]Option{nil, {Result("y", tensor.CSF(len(test.sizes)))}} {
					if len(test.sizes) == 0 && opts != nil {
						continue
					}
					k, err := engine.kernelFor(ctx, test.src, args, opts)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 {
						got, err := k.Run(ctx, args)
						if err != nil {
							t.Fatalf("%s, A: %s: %v", test.src, f, err)
						}
						dense, err := got.ToDense()
						if err != nil {
							t.Fatal(err)
						}
						var list []string
						for i := range dense.Len() {
							list = append(list, dense.Scalar(i).String())
						}
						if s := strings.Join(list, " "); s != test.want {
							t.Errorf("%s, A: %s, y: %s: got %s, want %s", test.src, f, got.Format(), s, test.want)
						}
					}
				}
			}
			prepared, err := engine.kernelFor(ctx, "y(i) = mean_j A(i,j)", Args{"A": A}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := prepared.Prepare(ctx, Args{"A": A})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, err := p.Run(ctx, Args{"A": A}); err != nil || !got.At(1).IsNaN() {
					t.Errorf("A: %s, prepared: %v, %v", f, got, err)
				}
			}
			// The same kernel goes on to operands that are not empty.
			k, err := engine.kernelFor(ctx, "y(i) = mean_j A(i,j)", Args{"A": A}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.Run(ctx, Args{"A": A}); err != nil {
				t.Fatal(err)
			}
			one, err := tensor.FromCoords([]int64{1, 2}, f, [][]int64{{0, 0}, {0, 1}}, tensor.ArrayOf([]float32{3, 4}))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.Run(ctx, Args{"A": one}); err != nil || got.At(0).Float64() != 3.5 {
				t.Errorf("A: %s: a mean after one of nothing: %v, %v", f, got, err)
			}
		}
	}
}
