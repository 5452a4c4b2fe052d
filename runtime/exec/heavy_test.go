package exec

import (
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// withHeavyRow is a tensor with a few entries under each outermost coordinate and many under one.
func withHeavyRow(t *testing.T, seed uint64, shape []int64, f tensor.Format) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	coords := make([][]int64, len(shape))
	var values []float64
	for i := range shape[0] {
		n := r.IntN(3)
		if i == shape[0]-3 {
			n = 80
		}
		for range n {
			coords[0] = append(coords[0], i)
			for axis := 1; axis < len(shape); axis++ {
				coords[axis] = append(coords[axis], r.Int64N(shape[axis]))
			}
			values = append(values, float64(r.IntN(7)-2))
		}
	}
	a, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestHeavyRows compares what several threads, whose chunks begin and end inside a row that has most of the entries, make
// with what one thread does.
func TestHeavyRows(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(8))
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	matrix, cube := []int64{30, 120}, []int64{30, 8, 40}
	for _, test := range []struct {
		src             string
		shape           []int64
		operand, result string
		depth           int
	}{
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "CSR", 2},
		{"C(i,j) = A(i,j) * B(i,j)", matrix, "CSR", "CSR", 2},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "COO", 2},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "DCSR", 2},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "D", 2},
		{"C(i,j) = 2 * A(i,j)", matrix, "CSR", "CSR", 2},
		{"C(i,j) = 2 * A(i,j)", matrix, "DCSR", "DCSR", 2},
		{"C(i,j) = 2 * A(i,j)", matrix, "DCSR", "CSR", 0},
		{"C(i,j) = where(i < j, A(i,j), 0)", matrix, "CSR", "CSR", 2},
		{"C(i,j) = exp(A(i,j))", matrix, "CSR", "D", 2},
		{"C(i) = sum_j A(i,j) * B(i,j)", matrix, "CSR", "D", 0},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "C-C-S", "C-C-S", 2},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "C-DC-S", "C-DC-S", 2},
		{"C(i,j,k) = A(i,j,k) * B(i,j,k)", cube, "C-DC-S", "CSF", 3},
	} {
		t.Run(fmt.Sprintf("%s %s to %s", test.src, test.operand, test.result), func(t *testing.T) {
			for _, e := range engines {
				args := Args{}
				for n, name := range []string{"A", "B"} {
					if strings.Contains(test.src, name+"(") {
						args[name] = withHeavyRow(t, uint64(n), test.shape, mustParse(t, test.operand, len(test.shape)))
					}
				}
				result := mustParse(t, test.result, strings.Count(strings.SplitN(test.src, "=", 2)[0], ",")+1)
				var want *tensor.Tensor
				for _, threads := range []int{1, 2, 3, 7} {
					s := NewSession(WithEngine(e), WithThreads(threads))
					s.env.Grain = 3
					options := []Option{Result("C", result)}
					for name, a := range args {
						options = append(options, Operand(name, a))
					}
					k, err := s.Compile(t.Context(), test.src, options...)
					if err != nil {
						t.Fatal(err)
					}
					got, err := k.Run(t.Context(), args)
					if err != nil {
						t.Fatal(err)
					}
					if threads == 1 {
						want = got
						continue
					}
					if err := sameArrays(got, want); err != nil {
						t.Errorf("%s, %d threads: %v", e.Name(), threads, err)
					}
					found := 0
					for _, b := range k.steps[len(k.steps)-1].latest.Load().Lower.Program.Buffers {
						if strings.Contains(b.Name, "_start_") {
							found++
						}
					}
					if found != test.depth {
						t.Errorf("%s: pieces begin in %d loops, want %d", e.Name(), found, test.depth)
					}
				}
			}
		})
	}
}

// TestHeavy finds the outermost coordinate that has most entries, wherever it is.
func TestHeavy(t *testing.T) {
	for _, f := range []string{"CSR", "DCSR"} {
		a := withHeavyRow(t, 1, []int64{30, 1000}, mustParse(t, f, 2))
		if !heavy(a, 30) {
			t.Errorf("%s: a row of 80 entries is not found", f)
		}
		if heavy(a, 80) {
			t.Errorf("%s: a row of 80 entries has more than 80", f)
		}
	}
}
