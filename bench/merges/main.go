//go:build linux || darwin

// Command merges measures merges of sparse operands by one thread and by two: vectors of two million entries, tensors of
// three slices, and matrices of which one row has half the entries. Both sides take turns. On a machine that others use, look at
// processor time: what two threads share evenly, twice the time of one over theirs is the most that they can gain.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

const (
	repetitions  = 25
	vectorSize   = 8_000_000
	vectorCount  = 2_000_000
	cubeCount    = 1_500_000
	heavyCount   = 2_000_000
	heavyRows    = 100_000
	heavyRow     = heavyRows - 1000
	heavyColumns = 8_000_000
)

// measured are programs on operands of one kind.
type measured struct {
	name, format string
	rank         int
	make         func(r *rand.Rand, f tensor.Format) (*tensor.Tensor, error)
	programs     []program
}

type program struct {
	name, src string
	format    string // of the result, "" for the operands'
}

var all = []measured{
	{"vectors", "S", 1, vector, []program{
		{"add", "C(i) = A(i) + B(i)", ""}, {"multiply", "C(i) = A(i) * B(i)", ""}, {"dot", "C = A(i) * B(i)", ""},
		{"masked sum", "C = sum_i M(i) * A(i) * B(i)", ""}, {"add, dense result", "C(i) = A(i) + B(i)", "D"},
	}},
	{"three slices", "CSF", 3, cube, []program{
		{"add", "C(i,j,k) = A(i,j,k) + B(i,j,k)", ""}, {"multiply", "C(i,j,k) = A(i,j,k) * B(i,j,k)", ""}, {"dot", "C = A(i,j,k) * B(i,j,k)", ""},
	}},
	{"heavy row", "CSR", 2, heavy, matrices}, {"heavy row", "DCSR", 2, heavy, matrices}, {"heavy row", "COO", 2, heavy, matrices},
	{"unif", "CSR", 2, uniform, columns}, {"unif", "COO", 2, uniform, columns}, {"rmat16", "CSR", 2, rmat, columns}, {"rmat16", "COO", 2, rmat, columns},
}

// columns add up floats in an order that is not that of the result.
var columns = []program{
	{"product with the transpose", "y(j) = A(i,j) * x(i)", "D"}, {"sums of columns", "y(j) = sum_i A(i,j)", "D"},
	{"transpose times 8 columns", "Y(j,k) = A(i,j) * X(i,k)", "D"},
}

var matrices = []program{
	{"add", "C(i,j) = A(i,j) + B(i,j)", ""}, {"multiply", "C(i,j) = A(i,j) * B(i,j)", ""}, {"dot", "C = A(i,j) * B(i,j)", ""},
}

// fromCoords is a tensor of random values at coordinates that are added up.
func fromCoords(r *rand.Rand, shape []int64, f tensor.Format, n int, coordinate func(axis, entry int) int64) (*tensor.Tensor, error) {
	coords := make([][]int64, len(shape))
	values := make([]float64, n)
	for i := range n {
		for axis := range coords {
			coords[axis] = append(coords[axis], coordinate(axis, i))
		}
		values[i] = r.Float64()
	}
	return tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
}

func vector(r *rand.Rand, f tensor.Format) (*tensor.Tensor, error) {
	places := r.Perm(vectorSize)[:vectorCount]
	slices.Sort(places)
	return fromCoords(r, []int64{vectorSize}, f, vectorCount, func(_, entry int) int64 { return int64(places[entry]) })
}

func cube(r *rand.Rand, f tensor.Format) (*tensor.Tensor, error) {
	shape := []int64{3, 1000, 4000}
	return fromCoords(r, shape, f, cubeCount, func(axis, _ int) int64 { return r.Int64N(shape[axis]) })
}

func heavy(r *rand.Rand, f tensor.Format) (*tensor.Tensor, error) {
	return fromCoords(r, []int64{heavyRows, heavyColumns}, f, heavyCount, func(axis, entry int) int64 {
		switch {
		case axis == 1:
			return r.Int64N(heavyColumns)
		case entry%2 == 0:
			return heavyRow
		}
		return r.Int64N(heavyRows)
	})
}

const uniformRows, rmatLevels, perRow = 20_000, 16, 16

func uniform(r *rand.Rand, f tensor.Format) (*tensor.Tensor, error) {
	return fromCoords(r, []int64{uniformRows, uniformRows}, f, perRow*uniformRows, func(axis, entry int) int64 {
		if axis == 0 {
			return int64(entry / perRow)
		}
		return r.Int64N(uniformRows)
	})
}

// rmat is a matrix whose rows and columns have very different numbers of entries (Chakrabarti, Zhan, Faloutsos, "R-MAT", 2004).
func rmat(r *rand.Rand, f tensor.Format) (*tensor.Tensor, error) {
	n := perRow << rmatLevels
	var at [2][]int64
	for range n {
		var i, j int64
		for range rmatLevels {
			x := r.Float64()
			i, j = 2*i, 2*j
			if x >= 0.76 {
				i++
			}
			if x >= 0.57 && x < 0.76 || x >= 0.95 {
				j++
			}
		}
		at[0], at[1] = append(at[0], i), append(at[1], j)
	}
	return fromCoords(r, []int64{1 << rmatLevels, 1 << rmatLevels}, f, n, func(axis, entry int) int64 { return at[axis][entry] })
}

// dense are operands of programs that multiply a matrix.
func dense(r *rand.Rand, shape ...int64) (*tensor.Tensor, error) {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = r.Float64()
	}
	return tensor.NewDense(values, shape...)
}

// processorTime is that of the process, in milliseconds.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func main() {
	only := flag.String("operands", "", "measure those alone whose name has this in it")
	flag.Parse()
	fmt.Println("| operands | program | ms 1t | ms 2t | 1t / 2t | cpu ms 1t | cpu ms 2t | 2 · cpu 1t / cpu 2t |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, m := range all {
		if !strings.Contains(m.name, *only) {
			continue
		}
		if err := m.measure(); err != nil {
			fmt.Fprintln(os.Stderr, "merges:", err)
			os.Exit(1)
		}
	}
}

func (m *measured) measure() error {
	r := rand.New(rand.NewPCG(1, 2))
	f, err := tensor.ParseFormat(m.format, m.rank)
	if err != nil {
		return err
	}
	operands := lacuna.Args{}
	for _, name := range []string{"A", "B", "M"} {
		if operands[name], err = m.make(r, f); err != nil {
			return err
		}
	}
	if a, ok := operands["A"].(*tensor.Tensor); ok && m.rank == 2 {
		rows := a.Dims()[0]
		if operands["x"], err = dense(r, rows); err != nil {
			return err
		}
		if operands["X"], err = dense(r, rows, 8); err != nil {
			return err
		}
	}
	for _, p := range m.programs {
		args := lacuna.Args{}
		for name, t := range operands {
			if strings.Contains(p.src, name+"(") {
				args[name] = t
			}
		}
		if err := m.program(p, f, args); err != nil {
			return fmt.Errorf("%s: %w", p.src, err)
		}
	}
	return nil
}

func (m *measured) program(p program, f tensor.Format, args lacuna.Args) error {
	ctx := context.Background()
	var kernels [2]*lacuna.Kernel
	for t := range kernels {
		var options []lacuna.Option
		name, indices, _ := strings.Cut(p.src, "(")
		if rank := 1 + strings.Count(strings.SplitN(indices, ")", 2)[0], ","); p.format != "" {
			options = append(options, lacuna.Result(name, tensor.Dense(rank)))
		} else if name == "C" {
			options = append(options, lacuna.Result(name, f))
		}
		for name, a := range args {
			options = append(options, lacuna.Operand(name, a))
		}
		var err error
		if kernels[t], err = lacuna.NewSession(lacuna.WithThreads(t+1)).Compile(ctx, p.src, options...); err != nil {
			return err
		}
	}
	least := [2]float64{math.Inf(1), math.Inf(1)}
	cpu := least
	for range repetitions {
		for t, k := range kernels {
			start, used := time.Now(), processorTime()
			x, err := k.Run(ctx, args)
			if err != nil {
				return err
			}
			least[t] = min(least[t], float64(time.Since(start).Nanoseconds())/1e6)
			cpu[t] = min(cpu[t], processorTime()-used)
			x.Release()
		}
	}
	fmt.Printf("| %s, %s | %s | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f |\n", m.name, m.format, p.name, least[0], least[1], least[0]/least[1], cpu[0], cpu[1], 2*cpu[0]/cpu[1])
	return nil
}
