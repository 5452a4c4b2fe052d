//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

const spmvProgram = "y(i) = sum_j A(i,j) * x(j)"

// problem is y = A*x: the arrays that all sides share.
type problem struct {
	A, X     *tensor.Tensor
	rows     int
	middle   int // the first row of the second half of the entries
	pos, crd []uint32
	vals, x  []float64
	entries  int
	touched  int64 // bytes that one product must move at least
}

func newProblem(a *tensor.Tensor) (*problem, error) {
	shape := a.Shape()
	rng := rand.New(rand.NewPCG(1, uint64(shape[1])))
	x := make([]float64, shape[1])
	for i := range x {
		x[i] = rng.Float64()
	}
	xt, err := tensor.FromDense(shape[1:], tensor.Dense(1), tensor.ArrayOf(x))
	if err != nil {
		return nil, err
	}
	p := &problem{
		A: a, X: xt, rows: int(shape[0]), x: x,
		pos: tensor.View[uint32](a.LevelAt(1).Pos), crd: tensor.View[uint32](a.LevelAt(1).Crd),
		vals: tensor.View[float64](a.Values()),
	}
	if p.pos == nil || p.crd == nil || p.vals == nil {
		return nil, errors.New("the matrix does not have f64 values and u32 indices")
	}
	p.entries = len(p.vals)
	p.middle = sort.Search(p.rows, func(i int) bool { return int(p.pos[i])+i >= (p.entries+p.rows)/2 })
	p.touched = int64(12*p.entries + 4*len(p.pos) + 8*len(x) + 8*p.rows)
	return p, nil
}

func benchSpMV(_ context.Context, s settings) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := compileC(dir, "plain", "-O3", machine.March())
	if err != nil {
		return err
	}
	fast, err := compileC(dir, "fast", "-O3", machine.March(), "-ffast-math")
	if err != nil {
		return err
	}
	fmt.Print(spmvNotes)
	for _, m := range matrices {
		if !slices.Contains(s.matrices, m.name) {
			continue
		}
		a, err := m.make()
		if err != nil {
			return err
		}
		p, err := newProblem(a)
		if err != nil {
			return err
		}
		fmt.Printf("### SpMV, %s: %s\n\n", m.name, m.what)
		if err := p.compare(s, dir, plain, fast); err != nil {
			return err
		}
	}
	return nil
}

const spmvNotes = `## CSR SpMV

f64 values, u32 indices, all sides on the same arrays but for SciPy, which is a
process of its own with i32 indices. *into* writes to memory that is already
there, as the C loop does; *Run* is the whole public call, which makes a new
result; *loops* is one call of the generated function for all rows, without the
runtime. 1t and 2t are threads; the C loop is split into two halves with equally
many entries. GB/s counts 12 bytes an entry, 4 a row pointer and 8 for each
element of x and y, once each, over the median. *cpu* is the median of the
processor time of all threads, Go's garbage collection included.

`

// compare measures all sides on one matrix and prints a table.
func (p *problem) compare(s settings, dir string, plain, fast cLoop) (err error) {
	engine, err := runtime.CPU()
	if err != nil {
		return err
	}
	args := operands{"A": p.A, "x": p.X}
	y := make([]float64, p.rows)
	into := func(threads int) func() error {
		f, e := intoRun(engine, spmvProgram, args, y, threads)
		err = errors.Join(err, e)
		return f
	}
	whole := func(threads int) func() error {
		k, e := lacuna.NewSession(lacuna.WithEngine(engine), lacuna.WithThreads(threads)).
			Compile(context.Background(), spmvProgram, lacuna.Operand("A", p.A), lacuna.Operand("x", p.X))
		err = errors.Join(err, e)
		operands := args.args()
		return func() error {
			_, err := k.Run(context.Background(), operands)
			return err
		}
	}
	loops, e := loopsRun(spmvProgram, args, y, int64(p.rows))
	err = errors.Join(err, e)
	nothing := func(f func()) func() error { return func() error { f(); return nil } }
	writesY := []side{
		timed("C -O3 "+machine.March()+" 1t", nothing(func() { plain.rows(p, 0, p.rows, y) })),
		timed("C also -ffast-math 1t", nothing(func() { fast.rows(p, 0, p.rows, y) })),
		timed("lacuna loops 1t", loops),
		timed("lacuna into 1t", into(1)),
		timed("C -O3 "+machine.March()+" 2t", nothing(func() { plain.halves(p, y) })),
		timed("lacuna into 2t", into(2)),
	}
	sides := append(slices.Clip(writesY), timed("lacuna Run 1t", whole(1)), timed("lacuna Run 2t", whole(2)))
	if err != nil {
		return err
	}
	want := make([]float64, p.rows)
	plain.rows(p, 0, p.rows, want)
	for _, side := range writesY {
		clear(y)
		if _, err := side.run(); err != nil {
			return err
		}
		if err := agree(side.name, y, want); err != nil {
			return err
		}
	}
	scipy, err := startSciPy(s.python, dir, p)
	if err != nil {
		log.Printf("without SciPy: %v", err)
	} else {
		defer func() { err = errors.Join(err, scipy.close()) }()
		if err := agree("SciPy", scipy.y, want); err != nil {
			return err
		}
		sides = append(sides, side{"SciPy " + scipy.version + " 1t", scipy.run})
	}
	times, err := interleave(s.budget, sides)
	if err != nil {
		return err
	}
	p.print(sides, times)
	return nil
}

// agree compares a result with that of the C loop, up to rounding.
func agree(name string, got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s made %d elements, want %d", name, len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
			return fmt.Errorf("%s: element %d is %g, the C loop has %g", name, i, got[i], want[i])
		}
	}
	return nil
}

func (p *problem) print(sides []side, times []samples) {
	fmt.Printf("%d rows, %d entries, %.1f MB to move, %d rounds.\n\n", p.rows, p.entries, float64(p.touched)/1e6, times[0].rounds())
	var rows [][]string
	for i, s := range sides {
		m := times[i].median()
		over := func(d, c time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(c)) }
		rows = append(rows, slices.Concat([]string{s.name}, times[i].cells(), []string{
			over(time.Duration(p.touched), m), over(m, times[0].median()),
			over(times[i].least(), times[0].least()), over(times[i].cpuTime(), times[0].cpuTime()),
		}))
	}
	table(slices.Concat([]string{"side"}, costHeader, []string{"GB/s", "median / C 1t", "least / C 1t", "cpu / C 1t"}), rows)
}
