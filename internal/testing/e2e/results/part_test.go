package results_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestAssignPart assigns part of a tensor that has a value: elements that the left
// side does not reach keep it, in every format.
func TestAssignPart(t *testing.T) {
	const rows, cols = 5, 4
	old := make([]float64, rows*cols)
	for p := range old {
		if p%3 != 1 {
			old[p] = float64(p + 1)
		}
	}
	x := []float64{10, 0, 30, 40, 50}
	at := func(i, j int) int { return i*cols + j }
	for _, test := range []struct {
		text  string
		reads bool // x
		set   func(r []float64)
	}{
		{"R(2,j) = 7", false, func(r []float64) {
			for j := range cols {
				r[at(2, j)] = 7
			}
		}},
		{"R(i,1) = x(i)", true, func(r []float64) {
			for i := range rows {
				r[at(i, 1)] = x[i]
			}
		}},
		{"R(i+1,0) += x(i+1)", true, func(r []float64) {
			for i := range rows - 1 {
				r[at(i+1, 0)] += x[i+1]
			}
		}},
		{"R(1:3,2:4) = 0", false, func(r []float64) {
			for i := 1; i < 3; i++ {
				for j := 2; j < 4; j++ {
					r[at(i, j)] = 0
				}
			}
		}},
		{"R(0:5:2,3) *= 2", false, func(r []float64) {
			for i := 0; i < rows; i += 2 {
				r[at(i, 3)] *= 2
			}
		}},
		{"R(0,0) = sum_i x(i); R(1,j) max= R(0,j)", true, func(r []float64) {
			r[0] = 130
			for j := range cols {
				r[at(1, j)] = max(r[at(1, j)], r[at(0, j)])
			}
		}},
		{"T(i,j) = R(i,j); T(3,j) = 1; R(i,j) = T(i,j)", false, func(r []float64) {
			for j := range cols {
				r[at(3, j)] = 1
			}
		}},
	} {
		for _, f := range []tensor.Format{tensor.Dense(2), tensor.CSR, tensor.CSC, tensor.COO, tensor.DCSR} {
			for _, e := range engines(t) {
				t.Run(fmt.Sprintf("%s/%s/%s", test.text, f, e.Name()), func(t *testing.T) {
					R, err := tensor.FromDense([]int64{rows, cols}, f, tensor.ArrayOf(old))
					if err != nil {
						t.Fatal(err)
					}
					X, err := tensor.FromDense([]int64{rows}, tensor.Dense(1), tensor.ArrayOf(x))
					if err != nil {
						t.Fatal(err)
					}
					args := lacuna.Args{"R": R}
					if test.reads {
						args["x"] = X
					}
					out, err := lacuna.NewSession(lacuna.WithEngine(e)).EvalAll(context.Background(), test.text, args)
					if err != nil {
						t.Fatal(err)
					}
					if out["R"].Format() != f && test.text[0] == 'R' {
						t.Errorf("the format became %s", out["R"].Format())
					}
					got, err := out["R"].ToDense()
					if err != nil {
						t.Fatal(err)
					}
					want := append([]float64(nil), old...)
					test.set(want)
					if fmt.Sprint(tensor.View[float64](got)) != fmt.Sprint(want) {
						t.Errorf("got  %v\nwant %v", tensor.View[float64](got), want)
					}
				})
			}
		}
	}
}

func engines(t *testing.T) []runtime.Engine {
	list := []runtime.Engine{runtime.Interp()}
	cpu, err := runtime.CPU()
	if err != nil {
		t.Logf("cpu engine left out: %v", err)
		return list
	}
	return append(list, cpu)
}

// TestAssignPartWithinLimits lays a small part over a large tensor: the memory limit
// holds for that too, and the number of threads does not show.
func TestAssignPartWithinLimits(t *testing.T) {
	const n = 1 << 16
	coords, vals := make([]int64, n), make([]float64, n)
	for p := range coords {
		coords[p], vals[p] = int64(3*p), float64(p)
	}
	large, err := tensor.FromCoords([]int64{4 * n}, tensor.CSF(1), [][]int64{coords}, tensor.ArrayOf(vals))
	if err != nil {
		t.Fatal(err)
	}
	args := lacuna.Args{"R": large}
	tight := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(n))
	var limit *runtime.MemoryLimitError
	if _, err := tight.Eval(context.Background(), "R(6) = 1", args); !errors.As(err, &limit) {
		t.Errorf("under a limit of %d bytes: %v", n, err)
	}
	for _, threads := range []int{1, 3} {
		s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(threads))
		got, err := s.Eval(context.Background(), "R(7) = 1; R(6) = 0", args)
		if err != nil {
			t.Fatal(err)
		}
		at, _, err := got.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		// 7 is stored, and 6 is not any more.
		if got.NNZ() != n || at[0][2] != 7 || at[0][3] != 9 {
			t.Errorf("%d threads: %d entries, the first at %v", threads, got.NNZ(), at[0][:4])
		}
	}
}
