//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file times operands that are stored in parts: one triangle of a matrix, and trees of a tensor in several orders.

// BenchmarkTriangle multiplies symmetric matrices with vectors: stored as one triangle,
// and whole.
func BenchmarkTriangle(b *testing.B) {
	for _, in := range []struct {
		name  string
		n     int
		lower func(i int, r *rand.Rand) []int // columns below the diagonal
	}{
		{"banded 1000000 rows, 31 wide", 1_000_000, func(i int, _ *rand.Rand) []int { return span(max(0, i-15), i) }},
		{"random 1000000 rows, 17 wide", 1_000_000, func(i int, r *rand.Rand) []int {
			var list []int
			for range min(i, 8) {
				list = append(list, r.IntN(i))
			}
			return list
		}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var coords [2][]int64
		var values []float64
		for i := range in.n {
			for _, j := range append(in.lower(i, r), i) {
				coords[0], coords[1], values = append(coords[0], int64(i)), append(coords[1], int64(j)), append(values, r.Float64())
			}
		}
		shape := []int64{int64(in.n), int64(in.n)}
		half, err := tensor.FromCoords(shape, tensor.CSR, coords[:], tensor.ArrayOf(values))
		if err == nil {
			half, err = half.WithStructure(tensor.SymmetricLower)
		}
		if err != nil {
			b.Fatal(err)
		}
		whole, err := half.Expand()
		if err != nil {
			b.Fatal(err)
		}
		x, err := tensor.FromDense(shape[:1], tensor.Dense(1), tensor.ArrayOf(make([]float64, in.n)))
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range []struct {
			name string
			A    *tensor.Tensor
		}{{"triangle", half}, {"whole", whole}} {
			for _, threads := range []int{1} {
				b.Run(fmt.Sprintf("%s/%s, %d MB/%d threads", in.name, a.name, a.A.Bytes()>>20, threads), func(b *testing.B) {
					runPieces(b, spmvProgram, lacuna.Args{"A": a.A, "x": x}, threads)
				})
			}
		}
	}
}

func span(lo, hi int) []int {
	var list []int
	for i := lo; i < hi; i++ {
		list = append(list, i)
	}
	return list
}

// BenchmarkMixedModes computes the MTTKRP of every mode of a tensor of rank 3: stored as
// MM-CSF, as HB-CSF, as one CSF, and as a CSF for each mode.
func BenchmarkMixedModes(b *testing.B) {
	const rank = 16
	r := rand.New(rand.NewPCG(3, 4))
	shape := []int64{400_000, 300_000, 500_000}
	var coords [3][]int64
	var values []float64
	add := func(c ...int64) {
		for axis := range coords {
			coords[axis] = append(coords[axis], c[axis])
		}
		values = append(values, r.Float64())
	}
	for axis := range shape {
		// Long fibres along each axis in turn.
		for range 10_000 {
			c := []int64{r.Int64N(shape[0]), r.Int64N(shape[1]), r.Int64N(shape[2])}
			for range 50 {
				c[axis] = r.Int64N(shape[axis])
				add(c...)
			}
		}
	}
	for range 500_000 {
		add(r.Int64N(shape[0]), r.Int64N(shape[1]), r.Int64N(shape[2]))
	}
	T, err := tensor.FromCoords(shape, tensor.CSF(3), coords[:], tensor.ArrayOf(values))
	if err != nil {
		b.Fatal(err)
	}
	mixed, err := tensor.MMCSF(T)
	if err != nil {
		b.Fatal(err)
	}
	hybrid, err := tensor.HBCSF(T, nil)
	if err != nil {
		b.Fatal(err)
	}
	args := lacuna.Args{}
	for axis, name := range []string{"U", "V", "W"} {
		list := make([]float64, shape[axis]*rank)
		if args[name], err = tensor.FromDense([]int64{shape[axis], rank}, tensor.Dense(2), tensor.ArrayOf(list)); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%v; %v; %v", mixed, hybrid, T)
	for mode, program := range []string{
		"Y(i,r) = sum_{j,k} T(i,j,k)*V(j,r)*W(k,r)",
		"Y(j,r) = sum_{i,k} T(i,j,k)*U(i,r)*W(k,r)",
		"Y(k,r) = sum_{i,j} T(i,j,k)*U(i,r)*V(j,r)",
	} {
		order := append([]int{mode}, append([]int{0, 1, 2}[:mode:mode], []int{0, 1, 2}[mode+1:]...)...)
		format, err := tensor.CSF(3).WithOrder(order)
		if err != nil {
			b.Fatal(err)
		}
		own, err := T.Convert(format)
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range []struct {
			name string
			T    tensor.Operand
		}{{"MM-CSF", mixed}, {"HB-CSF", hybrid}, {"one CSF", T}, {"CSF of the mode", own}} {
			b.Run(fmt.Sprintf("mode %d/%s", mode, t.name), func(b *testing.B) {
				now := lacuna.Args{"T": t.T}
				for name, factor := range args {
					if axis := int(name[0] - 'U'); axis != mode {
						now[name] = factor
					}
				}
				runPieces(b, program, now, 1, lacuna.Result("Y", tensor.Dense(2)))
			})
		}
	}
}

func runPieces(b *testing.B, program string, args lacuna.Args, threads int, opts ...lacuna.Option) {
	cpu, err := runtime.CPU()
	if err != nil {
		b.Skip(err)
	}
	for name, t := range args {
		opts = append(opts, lacuna.Operand(name, t))
	}
	k, err := lacuna.NewSession(lacuna.WithEngine(cpu), lacuna.WithThreads(threads)).Compile(b.Context(), program, opts...)
	if err != nil {
		b.Fatal(err)
	}
	if c := k.Conversions(); len(c) > 0 {
		b.Log(c)
	}
	if _, err := k.Run(context.Background(), args); err != nil {
		b.Fatal(err)
	}
	best := math.Inf(1)
	for b.Loop() {
		before := processTime()
		if _, err := k.Run(context.Background(), args); err != nil {
			b.Fatal(err)
		}
		best = min(best, float64(processTime()-before))
	}
	// Elsewhere the machine may be busy: the time that processors spent is steadier.
	b.ReportMetric(best, "min-cpu-ns")
}

// processTime is what processors have spent on this process, in nanoseconds.
func processTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
