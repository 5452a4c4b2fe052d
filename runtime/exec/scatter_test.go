package exec

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests scatters (ir/plan/scatter.go), by whole programs.

// scattering are sessions with small chunks, on one thread and on three.
func scattering(t *testing.T) []*Session {
	defer func(old int64) { debug.ChunkGrain = old }(debug.ChunkGrain)
	debug.ChunkGrain = 2
	return append(both(t, WithThreads(1)), both(t, WithThreads(3))...)
}

func indices(vals ...int64) *tensor.Tensor {
	x, err := tensor.FromDense([]int64{int64(len(vals))}, tensor.Dense(1), tensor.ArrayOf(vals))
	if err != nil {
		panic(err)
	}
	return x
}

// TestScatter folds values into the elements that tensors of indices name.
func TestScatter(t *testing.T) {
	sparse := func(n int64, coords []int64, vals ...float64) *tensor.Tensor {
		x, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{coords}, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a := matrix(t, tensor.CSR, [2]int64{2, 4}, [3]float64{0, 0, 1}, [3]float64{0, 3, 2}, [3]float64{1, 1, 4})
	p := indices(2, 0, 2, 2)
	for _, test := range []struct {
		text string
		args Args
		want []float64
	}{
		// Elements that are named several times get all values, others keep theirs.
		{"y(p(i)) += x(i)", Args{"y": vector(t, 10, 20, 30), "p": p, "x": vector(t, 1, 2, 3, 4)}, []float64{12, 20, 38}},
		{"y(p(i)) += x(i)", Args{"y": sparse(3, []int64{1}, 20), "p": p, "x": vector(t, 1, 2, 3, 4)}, []float64{2, 20, 8}},
		{"y(p(i)) += x(i)", Args{"y": sparse(3, nil), "p": p, "x": sparse(4, []int64{1, 3}, 5, 6)}, []float64{5, 0, 6}},
		{"y(p(i)) *= x(i)", Args{"y": vector(t, 1, 2, 3), "p": p, "x": vector(t, 5, 6, 7, 8)}, []float64{6, 2, 840}},
		{"y(p(i)) max= x(i)", Args{"y": vector(t, 1, 2, 3), "p": p, "x": vector(t, 0, 0, 7, -8)}, []float64{1, 2, 7}},
		{"y(p(i)) min= x(i)", Args{"y": sparse(3, []int64{0, 2}, 4, 9), "p": p, "x": vector(t, 5, 6, 7, 8)}, []float64{4, 0, 5}},
		{"h(p(i)) += 1", Args{"h": vector(t, 0, 0, 0), "p": p}, []float64{1, 0, 3}},
		{"y(p(i)) += p(i)*i", Args{"y": vector(t, 0, 0, 0), "p": p}, []float64{0, 0, 10}},
		// Reductions inside, and what is summed by convention.
		{"y(q(i)) += A(i,j)*x(j)", Args{"y": vector(t, 0, 100), "q": indices(1, 1), "A": a, "x": vector(t, 1, 1, 1, 10)}, []float64{0, 125}},
		// Rows stay, columns move.
		{"B(i,p(j)) += A(i,j)", Args{"B": matrix(t, tensor.CSR, [2]int64{2, 3}, [3]float64{1, 0, 7}), "p": p, "A": a}, []float64{0, 0, 3, 11, 0, 0}},
		{"B(i,p(j)) += A(i,j)", Args{"B": matrix(t, tensor.CSC, [2]int64{2, 3}, [3]float64{1, 0, 7}), "p": p, "A": a}, []float64{0, 0, 3, 11, 0, 0}},
		{"B(p(j),q(i)) += A(i,j)", Args{"B": matrix(t, tensor.COO, [2]int64{3, 2}), "p": p, "q": indices(1, 0), "A": a}, []float64{4, 0, 0, 0, 0, 3}},
		{"B(q(i),q(i)) += 3", Args{"B": matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{0, 1, 1}), "q": indices(1, 1)}, []float64{0, 1, 0, 6}},
		// Through two tensors, and through one that stores little.
		{"y(p(q(i))) += x(i)", Args{"y": vector(t, 0, 0, 0), "p": p, "q": indices(1, 3), "x": vector(t, 1, 2)}, []float64{1, 0, 2}},
		// What is not stored is scattered, too: it is no identity.
		{"B(i,p(j)) *= v(i)", Args{"B": matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{0, 0, 2}, [3]float64{0, 1, 3}, [3]float64{1, 0, 4}, [3]float64{1, 1, 5}),
			"p": indices(1), "v": sparseVector(t, 2, 0, 7)}, []float64{2, 21, 4, 0}},
		// Nothing to scatter.
		{"y(p(i)) += x(i)", Args{"y": vector(t, 1, 2), "p": indices(), "x": vector(t)}, []float64{1, 2}},
	} {
		for _, s := range scattering(t) {
			got, err := s.Eval(context.Background(), test.text, test.args)
			if err != nil {
				t.Errorf("%s: %v", test.text, err)
				continue
			}
			if have := floats(t, got); !equal(have, test.want) {
				t.Errorf("%s on %s: got %v, want %v", test.text, s.Engine().Name(), have, test.want)
			}
		}
	}
}

// sparseVector is a vector of n elements with one that is stored.
func sparseVector(t *testing.T, n, at int64, value float64) *tensor.Tensor {
	t.Helper()
	v, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{{at}}, tensor.ArrayOf([]float64{value}))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestScatterRoundsOnce adds what a narrow type loses one by one, into dense and
// sparse results alike.
func TestScatterRoundsOnce(t *testing.T) {
	values := tensor.ArrayOf(slices.Repeat([]float64{1}, 4096))
	ones, err := tensor.FromDense([]int64{4096}, tensor.Dense(1), values)
	if err != nil {
		t.Fatal(err)
	}
	p := indices(make([]int64, 4096)...)
	for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
		for _, s := range scattering(t) {
			got, err := s.Eval(context.Background(), "y(i) = f16(z(i)); y(p(i)) += f16(x(i))",
				Args{"z": vector(t, 0, 2), "p": p, "x": ones}, Result("y", f))
			if err != nil {
				t.Fatal(err)
			}
			if got.At(0).Float64() != 4096 || got.At(1).Float64() != 2 || got.Format() != f {
				t.Errorf("into %s on %s: %v and %v", f, s.Engine().Name(), got.At(0), got.At(1))
			}
		}
	}
}

// TestScatterOutside names elements that are not there.
func TestScatterOutside(t *testing.T) {
	for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
		for _, bad := range []int64{-1, 3, 1 << 62, -1 << 63} {
			y, err := vector(t, 1, 2, 3).Convert(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scattering(t) {
				_, err := s.Eval(context.Background(), "y(p(i)) += 1", Args{"y": y, "p": indices(0, bad)})
				var failed *runtime.KernelError
				if !errors.As(err, &failed) || !strings.Contains(failed.Message, "the value of p(i)") {
					t.Errorf("index %d into %s: %v", bad, f, err)
				}
			}
		}
	}
}

// TestScatterRefused asks for what has no meaning.
func TestScatterRefused(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	for _, test := range []struct {
		text string
		y    *tensor.Tensor
		code lang.Code
	}{
		{"y(p(i)) = x(i)", vector(t, 1, 2), lang.ErrLeftSide},
		{"y(x(i)) += x(i)", vector(t, 1, 2), lang.ErrGather},
		{"y(p(i)) += x(i)", nil, lang.ErrNoValue},
		{"y(p(i)) += x(i)", indices(1, 2), lang.ErrLossy},
	} {
		args := Args{"x": vector(t, 1, 2), "p": indices(0, 1)}
		opts := []Option{}
		if test.y != nil {
			args["y"] = test.y
		} else {
			opts = append(opts, Shape("y", 2))
		}
		if !strings.Contains(test.text, "p") {
			delete(args, "p")
		}
		_, err := s.Eval(context.Background(), test.text, args, opts...)
		var refused *lang.Error
		if !errors.As(err, &refused) || refused.Code != test.code {
			t.Errorf("%s: %v, want %s", test.text, err, test.code)
		}
	}
}

// TestScatterPrepared changes the indices, on which the pattern depends.
func TestScatterPrepared(t *testing.T) {
	y := matrix(t, tensor.CSR, [2]int64{2, 3}, [3]float64{0, 0, 1})
	args := func(p ...int64) Args {
		return Args{"y": y, "p": indices(p...), "A": matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{1, 1, 5})}
	}
	s := NewSession(WithEngine(runtime.Interp()))
	k, err := s.Compile(t.Context(), "y(i,p(j)) += A(i,j)", Format("y", tensor.CSR, tensor.Float64), Format("A", tensor.CSR, tensor.Float64), Format("p", tensor.Dense(1), tensor.Int64))
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := k.Prepare(context.Background(), args(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	got, err := prepared.Run(context.Background(), args(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	if have := floats(t, got); !equal(have, []float64{1, 0, 0, 0, 0, 5}) {
		t.Errorf("got %v", have)
	}
	if _, err := prepared.Run(context.Background(), args(0, 1)); !errors.Is(err, runtime.ErrPattern) {
		t.Errorf("other indices: %v", err)
	}
}

// TestScatterManyKeys scatters into dimensions that no workspace holds at once.
func TestScatterManyKeys(t *testing.T) {
	const n = 1 << 40
	y, err := tensor.FromCoords([]int64{n, n}, tensor.DCSR, [][]int64{{1}, {n - 1}}, tensor.ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(WithEngine(runtime.Interp()))
	_, err = s.Eval(context.Background(), "y(p(i),p(i)) += 1", Args{"y": y, "p": indices(3, n-1)})
	var refused *lang.Error
	if !errors.As(err, &refused) || refused.Code != lang.ErrUnsupported || !refused.Pos.IsKnown() || refused.Hint == "" {
		t.Errorf("the error is %v", err)
	}
	got, err := s.Eval(context.Background(), "y(i,p(i)) += x(i)", Args{"y": y, "p": single[int64](t, n, 1, 5), "x": single[float64](t, n, 1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if got.NNZ() != 2 {
		t.Errorf("%d entries, want 2", got.NNZ())
	}
}

// single is a vector of n elements of which one is stored.
func single[T int64 | float64](t *testing.T, n, at int64, v T) *tensor.Tensor {
	t.Helper()
	x, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{{at}}, tensor.ArrayOf([]T{v}))
	if err != nil {
		t.Fatal(err)
	}
	return x
}
