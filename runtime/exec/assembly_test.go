package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests the ways in which several threads make a sparse result (lower/onepass.go, appendjoin.go, maskjoin.go).

// TestAssembly shows which way of assembly a product takes that several threads run,
// and that each gives the arrays that one thread does.
func TestAssembly(t *testing.T) {
	const n = 40
	ctx := context.Background()
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	for _, test := range []struct {
		src          string
		mask, result tensor.Format
		want         string // by several threads
		entries      int    // of the mask
	}{
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.CSR, result: tensor.CSR, want: inSlots, entries: 300},
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.CSR, result: tensor.CSR, want: inSlots, entries: 0},
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.CSR, result: tensor.COO, want: inSlots, entries: 300},
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.DCSR, result: tensor.DCSR, want: inSlots, entries: 300},
		{src: "C(i,j) = where(M(i,j) != 0, sum_k A(i,k) * A(k,j), 0)", mask: tensor.CSR, result: tensor.CSR, want: inSlots, entries: 300},
		// Where a chunk ends is not known beforehand: rows of lists are not split.
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.COO, result: tensor.CSR, want: inRooms, entries: 300},
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.COO, result: tensor.CSR, want: inRooms, entries: 0},
		// Rows are entries of their own, which nobody has counted.
		{src: "C(i,j) = M(i,j) * sum_k A(i,k) * A(k,j)", mask: tensor.COO, result: tensor.DCSR, want: counted, entries: 300},
		{src: "C(i,j) = M(i,j) + sum_k A(i,k) * A(k,j)", mask: tensor.CSR, result: tensor.CSR, want: inSlots, entries: 300},
		{src: "C(i,j) = sum_k A(i,k) * A(k,j)", mask: tensor.CSR, result: tensor.CSR, want: inSlots, entries: 300},
		{src: "C(i,j) = 2 * M(i,j)", mask: tensor.COO, result: tensor.CSR, want: counted, entries: 300},
	} {
		for _, e := range engines {
			name := fmt.Sprintf("%s %s of %d, %s", test.src, test.result, test.entries, e.Name())
			t.Run(name, func(t *testing.T) {
				a := scattered(t, 1, n, 200, tensor.CSR)
				args := Args{}
				operands := []Option{Result("C", test.result)}
				if strings.Contains(test.src, "A(") {
					args["A"] = a
					operands = append(operands, Operand("A", a))
				}
				if strings.Contains(test.src, "M(") {
					m := scattered(t, 2, n, test.entries, test.mask)
					args["M"] = m
					operands = append(operands, Operand("M", m))
				}
				var want *tensor.Tensor
				for _, threads := range []int{1, 3} {
					s := NewSession(WithEngine(e), WithThreads(threads))
					s.env.Grain = 1
					k, err := s.Compile(t.Context(), test.src, append(operands, AsWritten())...) // with a workspace, however small the mask is
					if err != nil {
						t.Fatal(err)
					}
					for range 2 { // the second run finds used memory
						got, err := k.Run(ctx, args)
						if err != nil {
							t.Fatal(err)
						}
						if want == nil {
							want = got
						}
						if err := sameArrays(got, want); err != nil {
							t.Errorf("%d threads: %v", threads, err)
						}
					}
					stages := k.steps[len(k.steps)-1].latest.Load().Lower.Program.Stages
					if got := assemblyOf(stages); threads > 1 && got != test.want {
						t.Errorf("%d threads: entries are %s, want %s", threads, got, test.want)
					}
				}
			})
		}
	}
}

// Ways in which several threads assemble a result.
const (
	counted = "counted"
	inRooms = "written into rooms and moved together"
	inSlots = "appended and moved behind those before"
)

// assemblyOf says how the stages of a program assemble a result.
func assemblyOf(stages []loop.Stage) string {
	switch {
	case slices.ContainsFunc(stages, func(s loop.Stage) bool { return s.Name == "join" }):
		return inRooms
	case slices.ContainsFunc(stages, func(s loop.Stage) bool { return s.Join != nil }):
		return inSlots
	}
	return counted
}

// TestAssemblyOfSmallSums shows that a kernel that is often run for few entries is
// compiled for one thread, whatever threads there are; and not one whose work the
// entries do not tell.
func TestAssemblyOfSmallSums(t *testing.T) {
	const n, few, many = 2000, 100, 400_000
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(2)) // no more threads are used
	ctx := context.Background()
	for _, test := range []struct {
		src     string
		format  tensor.Format // of A
		entries int
		want    lower.Assembly
	}{
		{"C(i,j) = 2 * A(i,j)", tensor.COO, few, lower.Appended},
		{"C(i,j) = 2 * A(i,j)", tensor.COO, many, lower.Joined},
		// One program for any number of threads.
		{"C(i,j) = A(i,j) + B(i,j)", tensor.CSR, few, lower.Joined},
		{"C(i,j) = sum_k A(i,k) * B(k,j)", tensor.CSR, few, lower.Joined},
	} {
		t.Run(fmt.Sprintf("%s of %d", test.src, test.entries), func(t *testing.T) {
			s := NewSession(WithEngine(runtime.Interp()), WithThreads(2))
			a, b := scattered(t, 1, n, test.entries, test.format), scattered(t, 2, n, few, tensor.CSR)
			args, operands := Args{"A": a}, []Option{Operand("A", a), Result("C", tensor.CSR)}
			if strings.Contains(test.src, "B(") {
				args["B"] = b
				operands = append(operands, Operand("B", b))
			}
			k, err := s.Compile(t.Context(), test.src, operands...)
			if err != nil {
				t.Fatal(err)
			}
			st := k.steps[len(k.steps)-1]
			first, err := k.Run(ctx, args)
			if err != nil {
				t.Fatal(err)
			}
			if got := st.latest.Load().assembly; got != lower.Joined {
				t.Errorf("the first run is %v, want %v", got, lower.Joined)
			}
			st.smallRuns.Add(cost.SmallRuns)
			for range 2 {
				c, err := k.Run(ctx, args)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(c, first); err != nil {
					t.Error(err)
				}
			}
			if got := st.latest.Load().assembly; got != test.want {
				t.Errorf("after many runs it is %v, want %v", got, test.want)
			}
		})
	}
}

// scattered is a square matrix with small whole numbers at random coordinates.
func scattered(t *testing.T, seed uint64, size, entries int, f tensor.Format) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	rows, columns, values := []int64{}, []int64{}, []float64{}
	seen := map[int]bool{}
	for len(rows) < entries {
		c := r.IntN(size * size)
		if seen[c] {
			continue
		}
		seen[c] = true
		rows, columns = append(rows, int64(c/size)), append(columns, int64(c%size))
		values = append(values, float64(1+r.IntN(9)))
	}
	a, err := tensor.FromCoords([]int64{int64(size), int64(size)}, f, [][]int64{rows, columns}, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAssemblyBesideUnknownFills multiplies with a matrix whose fill only a run can tell: the result has an entry wherever the other factor has, however few the matrix
// stores, and there must be room for them.
func TestAssemblyBesideUnknownFills(t *testing.T) {
	const n = 40
	a, b := scattered(t, 1, n, 3, tensor.CSR), scattered(t, 2, n, 300, tensor.CSR)
	dense := func(m *tensor.Tensor) []float64 {
		d, err := m.Convert(tensor.Dense(2))
		if err != nil {
			t.Fatal(err)
		}
		return tensor.View[float64](d.Values())
	}
	for _, threads := range []int{1, 3} {
		s := NewSession(WithEngine(runtime.Interp()), WithThreads(threads))
		s.env.Grain = 1
		args := Args{"A": a, "B": b, "s": tensor.ScalarTensor(tensor.Float(tensor.Float64, 5))}
		k, err := s.Compile(t.Context(), "C(i,j) = A(i,j) + s; E(i,j) = C(i,j) * B(i,j)",
			Operand("A", a), Operand("B", b), Operand("s", args["s"]), Result("C", tensor.CSR), Result("E", tensor.CSR), AsWritten())
		if err != nil {
			t.Fatal(err)
		}
		all, err := k.RunAll(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		if c := all["C"]; c.NNZ() != a.NNZ() || c.Fill().Float64() != 5 {
			t.Fatalf("C stores %d elements, and the others are %v", c.NNZ(), c.Fill())
		}
		got, x, y := dense(all["E"]), dense(a), dense(b)
		for p := range got {
			if want := (x[p] + 5) * y[p]; got[p] != want {
				t.Errorf("%d threads: element %d is %g, want %g", threads, p, got[p], want)
			}
		}
		if all["E"].NNZ() != b.NNZ() {
			t.Errorf("%d threads: %d entries, want %d", threads, all["E"].NNZ(), b.NNZ())
		}
	}
}
