package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests results that several threads append to (lower/appendjoin.go, runtime/join.go).

// joinPatterns place the entries of an operand: which outermost coordinates have any.
var joinPatterns = []struct {
	name string
	has  func(r *rand.Rand, i, rows int64) bool
}{
	{"random", func(r *rand.Rand, _, _ int64) bool { return r.IntN(3) > 0 }},
	{"all in one row", func(_ *rand.Rand, i, rows int64) bool { return i == rows/2 }},
	{"ends empty", func(_ *rand.Rand, i, rows int64) bool { return i > rows/4 && i < rows/2 }},
	{"first and last", func(_ *rand.Rand, i, rows int64) bool { return i == 0 || i == rows-1 }},
	{"none", func(*rand.Rand, int64, int64) bool { return false }},
}

// patterned is a tensor of small numbers, some of them zero, with about 6 entries for each
// outermost coordinate that has any.
func patterned(t *testing.T, seed uint64, shape []int64, f tensor.Format, dt tensor.DType, has func(*rand.Rand, int64, int64) bool) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	coords := make([][]int64, len(shape))
	values := []float64{}
	add := func(i int64) {
		coords[0] = append(coords[0], i)
		for axis := 1; axis < len(shape); axis++ {
			coords[axis] = append(coords[axis], r.Int64N(shape[axis]))
		}
		values = append(values, float64(r.IntN(7)-2))
	}
	for i := range shape[0] {
		if !has(r, i, shape[0]) {
			continue
		}
		for n := min(6, 1+r.IntN(8)); n > 0; n-- {
			add(i)
			if len(shape) == 1 {
				break
			}
		}
	}
	a, err := tensor.FromCoords(shape, f, coords, valuesOf(dt, values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// valuesOf stores whole numbers as one of some types.
func valuesOf(dt tensor.DType, values []float64) tensor.Array {
	switch dt {
	case tensor.Float32:
		return arrayFrom(values, func(v float64) float32 { return float32(v) })
	case tensor.Int8:
		return arrayFrom(values, func(v float64) int8 { return int8(v) })
	case tensor.Complex128:
		return arrayFrom(values, func(v float64) complex128 { return complex(v, 1) })
	}
	return tensor.ArrayOf(values)
}

func arrayFrom[T float32 | int8 | complex128](values []float64, as func(float64) T) tensor.Array {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = as(v)
	}
	return tensor.ArrayOf(out)
}

// TestJoinedResults compares what 2, 3 and 7 threads store with what one thread does,
// array by array.
func TestJoinedResults(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(8))
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	vector, matrix, square, cube, four := []int64{90}, []int64{90, 30}, []int64{50, 50}, []int64{60, 9, 8}, []int64{60, 5, 4, 6}
	for _, test := range []struct {
		src             string
		shape           []int64
		operand, result string
		dt              tensor.DType
		want            string
	}{
		{"C(i) = A(i) + B(i)", vector, "S", "S", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "CSR", tensor.Complex128, inSlots},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "DCSR", tensor.Float32, inSlots},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "CSR", "COO", tensor.Int8, inSlots},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "DCSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) + B(i,j)", matrix, "COO", "COO", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) * B(i,j)", matrix, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) * B(i,j)", matrix, "DCSR", "DCSR", tensor.Float64, inSlots},
		{"C(i,j) = 2 * A(i,j)", matrix, "CSR", "CSR", tensor.Float32, inSlots},
		{"C(i,j) = A(i,j) * A(i,i)", square, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = where(i < j, A(i,j), 0)", matrix, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) * sum_k sum_l B(k,l)", matrix, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = 2 * A(i,j)", matrix, "CSR", "DCSR", tensor.Float32, inSlots},
		{"C(i,j) = 2 * A(i,j)", matrix, "DCSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = 2 * A(i,j)", matrix, "COO", "COO", tensor.Float64, counted},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j) + E(i,j) + F(i,j) + G(i,j)", matrix, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j) + E(i,j) + F(i,j) + G(i,j)", matrix, "CSR", "DCSR", tensor.Int8, inSlots},
		{"C(i,k) = sum_j A(i,j) * T(j,k)", matrix, "CSR", "CSR", tensor.Float64, inSlots},
		{"C(i,k) = sum_j A(i,j) * T(j,k)", matrix, "CSR", "DCSR", tensor.Complex128, inSlots},
		{"C(i,k) = sum_j A(i,j) * T(j,k)", matrix, "CSR", "COO", tensor.Float32, inSlots},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "C-DC-S", "C-DC-S", tensor.Float64, inSlots},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "C-DC-S", "CSF", tensor.Float64, inSlots},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "C-C-S", "C-C-S", tensor.Float32, inSlots},
		{"C(i,j,k) = A(i,j,k) + B(i,j,k)", cube, "CSF", "CSF", tensor.Float64, inSlots},
		{"C(i,j,k,l) = A(i,j,k,l) + B(i,j,k,l)", four, "C-DC-DC-S", "C-DC-DC-S", tensor.Int8, inSlots},
		{"C(i,j,k,l) = A(i,j,k,l) + B(i,j,k,l)", four, "C-DC-DC-S", "CSF", tensor.Float64, inSlots},
	} {
		t.Run(fmt.Sprintf("%s %s to %s %v", test.src, test.operand, test.result, test.dt), func(t *testing.T) {
			for _, e := range engines {
				k := joinedKernels{src: test.src, operands: map[string]tensor.Format{}, engine: e}
				for _, name := range []string{"A", "B", "D", "E", "F", "G"} {
					if strings.Contains(test.src, name+"(") {
						k.operands[name] = mustParse(t, test.operand, len(test.shape))
					}
				}
				if strings.Contains(test.src, "T(") {
					k.operands["T"] = mustParse(t, test.operand, 2)
				}
				k.result = mustParse(t, test.result, len(test.shape))
				k.check(t, test.shape, test.dt, test.want)
			}
		})
	}
}

// alone is the assembly by one thread, where nothing can be cut into chunks.
const alone = "appended by one thread"

func mustParse(t *testing.T, text string, rank int) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat(text, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// joinedKernels are the kernels of one program for different numbers of threads.
type joinedKernels struct {
	src      string
	operands map[string]tensor.Format
	result   tensor.Format
	engine   runtime.Engine
}

// args are operands with one of the patterns.
func (j *joinedKernels) args(t *testing.T, pattern int, shape []int64, dt tensor.DType) Args {
	t.Helper()
	args := Args{}
	for name, f := range j.operands {
		dims := shape
		if name == "T" {
			dims = []int64{shape[1], shape[0]}
		}
		args[name] = patterned(t, uint64(pattern)<<8+uint64(name[0]), dims, f, dt, joinPatterns[pattern].has)
	}
	return args
}

// check compares the results of all kernels for all patterns.
func (j *joinedKernels) check(t *testing.T, shape []int64, dt tensor.DType, want string) {
	t.Helper()
	ctx := context.Background()
	kernels := map[int]*Kernel{}
	compiled := runtime.NewCache(cachedPrograms)
	for _, threads := range []int{1, 2, 3, 7} {
		s := NewSession(WithEngine(j.engine), WithThreads(threads), sharing(compiled))
		s.env.Grain = 3
		options := []Option{Result("C", j.result)}
		for name, a := range j.args(t, 0, shape, dt) {
			options = append(options, Operand(name, a))
		}
		k, err := s.Compile(t.Context(), j.src, options...)
		if err != nil {
			t.Fatal(err)
		}
		kernels[threads] = k
	}
	for n, pattern := range joinPatterns {
		args := j.args(t, n, shape, dt)
		first, err := kernels[1].Run(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{2, 3, 7} {
			for range 2 { // the second time finds used memory
				got, err := kernels[threads].Run(ctx, args)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(got, first); err != nil {
					t.Errorf("%s, %d threads, entries %s: %v", j.engine.Name(), threads, pattern.name, err)
				}
			}
		}
	}
	for _, threads := range []int{2, 3, 7} {
		v := kernels[threads].steps[len(kernels[threads].steps)-1].latest.Load()
		got := assemblyOf(v.Lower.Program.Stages)
		if got == counted && v.Lower.OnePass {
			got = alone
		}
		if got != want {
			t.Errorf("%d threads: entries are %s, want %s", threads, got, want)
		}
	}
}
