package exec

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests merges that are cut between any two entries (lower/mergepath.go, package pieces).

// TestPieces runs nests that merge operands at their root, cut into pieces of a few entries which begin and end
// anywhere, also inside a fibre, by several numbers of threads, and compares each array with that of one piece. Sums of
// small whole numbers have the same bits in any order.
func TestPieces(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(8))
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	vector, matrix, cube := []int64{90}, []int64{20, 300}, []int64{7, 9, 80}
	for _, test := range []struct {
		src             string
		shape           []int64
		operand, result string // the result is of rank 0 if that is empty
		depth           int    // in how many loops pieces begin
	}{
		{"C = A(i) * B(i)", vector, "S", "", 1},
		{"C = sum_i M(i) * (A(i) + B(i))", vector, "S", "", 2},
		{"C = max_i (A(i) + B(i))", vector, "S", "", 1},
		{"C = argmax_i (A(i) + B(i))", vector, "S", "", 0},
		{"C = prod_i (A(i) + B(i) + 1)", vector, "S", "", 1},
		{"C(i) = A(i) + B(i)", vector, "S", "D", 1},
		{"C(i) = M(i) * (A(i) + B(i))", vector, "S", "S", 1},
		{"C(i) = A(i) * B(i) + 1", vector, "S", "D", 1},
		{"C(i) = sum_j A(i,j) * B(i,j)", matrix, "DCSR", "D", 1},
		{"C(i) = sum_j A(i,j) * B(i,j)", matrix, "DCSR", "S", 1},
		{"C = A(i,j) * B(i,j)", matrix, "DCSR", "", 2},
		{"C = A(i,j) * B(i,j)", matrix, "COO", "", 2},
		{"C = max_{i,j} (A(i,j) + B(i,j))", matrix, "DCSR", "", 1},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "DCSR", "D", 2},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "COO", "D", 2},
		{"C(i,j) = A(i,j) + B(i,j) + M(i,j)", matrix, "DCSR", "DCSR", 2},
		{"C(i,j) = M(i,j) * (A(i,j) + B(i,j))", matrix, "DCSR", "COO", 2},
		{"C(i,j) = M(i,j) * (A(i,j) + B(i,j))", matrix, "COO", "CSR", 1},
		{"C = A(i,j,k) * B(i,j,k)", cube, "CSF", "", 3},
		{"C = sum_{i,j,k} M(i,j,k) * (A(i,j,k) + B(i,j,k))", cube, "COO", "", 3},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "CSF", "CSF", 3},
		{"C(i,j,k) = A(i,j,k) * B(i,j,k)", cube, "CSF", "CSF", 3},
		{"C(i,j,k) = A(i,j,k) * B(i,j,k)", cube, "CSF", "COO", 3},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "DC-S-D", "DC-S-D", 1},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "S-D-D", "S-D-D", 1},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "DC-S-D", "D", 3},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "CSF", "C-DC-S", 1},
	} {
		t.Run(fmt.Sprintf("%s %s to %s", test.src, test.operand, test.result), func(t *testing.T) {
			for _, e := range engines {
				k := joinedKernels{src: test.src, operands: map[string]tensor.Format{}, engine: e}
				for _, name := range []string{"A", "B", "M"} {
					if strings.Contains(test.src, name+"(") {
						k.operands[name] = mustParse(t, test.operand, len(test.shape))
					}
				}
				if test.result != "" {
					k.result = mustParse(t, test.result, strings.Count(strings.SplitN(test.src, "=", 2)[0], ",")+1)
				}
				k.checkPieces(t, test.shape, test.depth)
			}
		})
	}
}

// checkPieces compares results, also of prepared runs, which count entries first, for all patterns.
func (j *joinedKernels) checkPieces(t *testing.T, shape []int64, depth int) {
	t.Helper()
	ctx := t.Context()
	compiled := runtime.NewCache(cachedPrograms)
	kernels := map[int]*Kernel{}
	for _, threads := range []int{0, 1, 2, 3, 7} { // 0 stands for one piece
		s := NewSession(WithEngine(j.engine), WithThreads(max(1, threads)), sharing(compiled))
		if s.env.Grain = 3; threads == 0 {
			s.env.Grain = 1 << 20
		}
		var options []Option
		if j.result != (tensor.Format{}) {
			options = append(options, Result("C", j.result))
		}
		for name, a := range j.args(t, 0, shape, tensor.Float64) {
			options = append(options, Operand(name, a))
		}
		k, err := s.Compile(ctx, j.src, options...)
		if err != nil {
			t.Fatal(err)
		}
		kernels[threads] = k
	}
	found := 0
	for n, pattern := range joinPatterns {
		args := j.args(t, n, shape, tensor.Float64)
		want, err := kernels[0].Run(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2, 3, 7} {
			got, err := kernels[threads].Run(ctx, args)
			if err != nil {
				t.Fatal(err)
			}
			if err := sameArrays(got, want); err != nil {
				t.Errorf("%s, %d threads, entries %s: %v", j.engine.Name(), threads, pattern.name, err)
			}
			if n == 0 && threads == 3 {
				last := kernels[threads].steps[len(kernels[threads].steps)-1].latest.Load()
				for _, b := range last.Lower.Program.Buffers {
					if strings.Contains(b.Name, "_start_") {
						found++
					}
				}
			}
			p, err := kernels[threads].Prepare(ctx, args)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time takes over what was counted
				if got, err = p.Run(ctx, args); err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(got, want); err != nil {
					t.Errorf("%s, prepared, %d threads, entries %s: %v", j.engine.Name(), threads, pattern.name, err)
				}
			}
		}
	}
	if found != depth {
		t.Errorf("%s: pieces begin in %d loops, want %d", j.engine.Name(), found, depth)
	}
}

// TestPiecesOfVectors merges operands of which one has fewer coordinates than there are loops: its entries are in several pieces.
func TestPiecesOfVectors(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(8))
	args := Args{
		"A": patterned(t, 1, []int64{9, 70}, mustParse(t, "COO", 2), tensor.Float64, joinPatterns[0].has),
		"D": patterned(t, 2, []int64{9, 70}, mustParse(t, "DCSR", 2), tensor.Float64, joinPatterns[0].has),
		"x": patterned(t, 3, []int64{9}, mustParse(t, "S", 1), tensor.Float64, joinPatterns[0].has),
		"y": patterned(t, 4, []int64{9}, mustParse(t, "S", 1), tensor.Float64, joinPatterns[0].has),
	}
	for _, test := range []struct{ src, result string }{
		{"C(i,j) = A(i,j) + x(i)", "D"},
		{"C(i,j) = A(i,j) * x(i)", "COO"},
		{"C(i,j) = D(i,j) * (x(i) + y(i))", "DCSR"},
		{"C(i,j) = (x(i) + y(i)) * z(j)", "C-S"},
		{"C(i,j) = A(i,j) + D(i,j) * x(i)", "DCSR"},
	} {
		in := Args{}
		for name, a := range args {
			if strings.Contains(test.src, name+"(i") {
				in[name] = a
			}
		}
		if strings.Contains(test.src, "z(") {
			z, err := tensor.FromDense([]int64{5}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3, 4, 5}))
			if err != nil {
				t.Fatal(err)
			}
			in["z"] = z
		}
		var want *tensor.Tensor
		for _, threads := range []int{0, 1, 2, 3, 7} { // 0 stands for one piece
			s := NewSession(WithEngine(runtime.Interp()), WithThreads(max(1, threads)))
			if s.env.Grain = 1; threads == 0 {
				s.env.Grain = 1 << 20
			}
			got, err := s.Eval(t.Context(), test.src, in, Result("C", mustParse(t, test.result, 2)))
			if err != nil {
				t.Fatalf("%s: %v", test.src, err)
			}
			if threads == 0 {
				want = got
			} else if err := sameArrays(got, want); err != nil {
				t.Errorf("%s, %d threads: %v", test.src, threads, err)
			}
		}
	}
}
