package exec

import (
	"context"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file measures the times of package cost on this machine: each by a kernel that does little else.

// measured is how many entries operands have, so that a run takes about a millisecond.
const measured = 1 << 19

// Measure measures what steps take on this machine, in a few seconds, and keeps it beside kernels on disk: sessions of processes to come choose
// by it what leaves the bits of results as they are. Progress, when not nil, is told what is measured next.
func Measure(ctx context.Context, progress func(what string)) error {
	t, err := measureTimes(ctx, measured, progress)
	if err != nil {
		return err
	}
	return ondisk.KeepTimes(t)
}

// measureTimes measures with operands of about n entries.
func measureTimes(ctx context.Context, n int64, progress func(what string)) (cost.Times, error) {
	engine, err := runtime.CPU()
	if err != nil {
		return cost.Times{}, err
	}
	if progress == nil {
		progress = func(string) {}
	}
	m := &measurement{ctx: ctx, n: n, random: rand.New(rand.NewPCG(1, 2)), times: cost.Builtin(),
		session: NewSession(WithEngine(engine), WithThreads(1), WithConversionKernels())}
	for _, part := range []struct {
		what    string
		measure func() error
	}{
		{"loops", m.loops}, {"merging", m.merging}, {"caches", m.caches}, {"workspaces", m.workspaces},
		{"conversions", m.conversions}, {"compiling", m.compiling}, {"threads", m.threads},
	} {
		progress(part.what)
		if err := ctx.Err(); err != nil {
			return m.times, err
		}
		if err := part.measure(); err != nil {
			return m.times, err
		}
	}
	return m.times, nil
}

// measurement is one on its way.
type measurement struct {
	ctx     context.Context
	session *Session
	n       int64
	random  *rand.Rand
	times   cost.Times
}

// matrix has about n entries at random, so many in each row.
func (m *measurement) matrix(columns, each, n int64) (*tensor.Tensor, error) {
	rows := max(n/each, 1)
	var coords [2][]int64
	row := make([]int64, each)
	for i := range rows {
		for k := range row {
			row[k] = m.random.Int64N(columns)
		}
		slices.Sort(row)
		for _, j := range slices.Compact(slices.Clone(row)) {
			coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
		}
	}
	values := make([]float64, len(coords[0]))
	for p := range values {
		values[p] = 1
	}
	return tensor.FromCoords([]int64{rows, columns}, tensor.CSR, coords[:], tensor.ArrayOf(values))
}

// full is a dense tensor of ones.
func full(shape ...int64) (*tensor.Tensor, error) {
	n := int64(1)
	for _, x := range shape {
		n *= x
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = 1
	}
	return tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values))
}

// run is the time of a program in nanoseconds: the least of several runs.
func (m *measurement) run(program string, args Args, opts ...declare.Option) (float64, error) {
	k, err := m.session.kernelFor(m.ctx, program, args, opts)
	if err != nil {
		return 0, err
	}
	return least(func() error {
		out, err := k.Run(m.ctx, args)
		if err == nil {
			out.Release()
		}
		return err
	})
}

// least is the least time of several calls, the first of which does not count.
func least(call func() error) (float64, error) {
	if err := call(); err != nil {
		return 0, err
	}
	ondisk.Wait() // the first code may be replaced
	best := time.Duration(0)
	for begin, runs := time.Now(), 0; runs < 3 || runs < 20 && time.Since(begin) < 50*time.Millisecond; runs++ {
		start := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		if took := time.Since(start); best == 0 || took < best {
			best = took
		}
	}
	return float64(best), nil
}

// loops measures iterations over entries and over consecutive elements.
func (m *measurement) loops() error {
	const columns = 512
	a, err := m.matrix(columns, 32, m.n)
	if err != nil {
		return err
	}
	x, err := full(columns)
	if err != nil {
		return err
	}
	p, err := full(max(m.n/columns, 1), columns)
	if err != nil {
		return err
	}
	took, err := m.run("y(i) = A(i,j)*x(j)", Args{"A": a, "x": x})
	if err != nil {
		return err
	}
	m.times.Step = took / float64(a.NNZ())
	took, err = m.run("y(i) = P(i,j)*x(j)", Args{"P": p, "x": x})
	m.times.Vector = took / float64(p.NNZ())
	return err
}

// merging measures iterations that merge two operands, and finding the entries of a short one in a long one.
func (m *measurement) merging() error {
	var list [3]*tensor.Tensor
	for i, size := range [][2]int64{{1 << 14, 64}, {1 << 14, 64}, {1 << 18, 1 << 13}} {
		a, err := m.matrix(size[0], size[1], m.n)
		if err != nil {
			return err
		}
		list[i] = a
	}
	took, err := m.run("y(i) = A(i,j)*B(i,j)", Args{"A": list[0], "B": list[1]})
	if err != nil {
		return err
	}
	m.times.Merge = took / float64(list[0].NNZ()+list[1].NNZ())
	const few = 64
	var at []int64
	for k := range int64(few) {
		at = append(at, k*(1<<18)/few+m.random.Int64N((1<<18)/few))
	}
	x, err := tensor.FromCoords([]int64{1 << 18}, tensor.CSF(1), [][]int64{at}, tensor.ArrayOf(make([]float64, few)))
	if err != nil {
		return err
	}
	took, err = m.run("y(i) = A(i,j)*x(j)", Args{"A": list[2], "x": x}, declare.Schedule("intersect(merge)"))
	m.times.Seek = took / float64(list[2].Dims()[0]*few)
	return err
}

// caches measures loops whose accesses go to random places of more and more memory.
func (m *measurement) caches() error {
	before := m.times.Step
	for k, bytes := range cost.Sets {
		columns := int64(bytes) / 8
		a, err := m.matrix(columns, 32, m.n)
		if err != nil {
			return err
		}
		x, err := full(columns)
		if err != nil {
			return err
		}
		took, err := m.run("y(i) = A(i,j)*x(j)", Args{"A": a, "x": x})
		if err != nil {
			return err
		}
		before = max(before, took/float64(a.NNZ())) // more memory is not faster
		m.times.Random[k] = before
	}
	return nil
}

// workspaces measures insertions into hash tables, and the clearing of places.
func (m *measurement) workspaces() error {
	const each = 16
	a, err := m.matrix(1<<12, each, m.n/each)
	if err != nil {
		return err
	}
	b, err := m.matrix(1<<16, each, each<<12)
	if err != nil {
		return err
	}
	took := map[string]float64{}
	for _, kind := range []string{"hash", "dense"} {
		took[kind], err = m.run("C(i,k) = A(i,j)*B(j,k)", Args{"A": a, "B": b}, declare.Schedule("workspace(k: "+kind+")"), declare.Result("C", tensor.CSR))
		if err != nil {
			return err
		}
	}
	// Both assemble the same result; with places for all keys, an access is one within 512 KiB.
	insertions := float64(a.NNZ() * each)
	m.times.Insert = insertion(m.times.Random[1], took["hash"]/insertions, took["dense"]/insertions)
	places := make([]float64, 1<<17)
	cleared, err := least(func() error { clear(places); return nil })
	m.times.Clear = cleared / float64(len(places))
	return err
}

// insertion is the time of an insertion into a hash table: that of an access, and what such a table takes more than one with a place for each key,
// or nothing if a measurement says less.
func insertion(access, hash, dense float64) float64 { return access + max(hash-dense, 0) }

// conversions measures entries that are stored in another order, by a kernel and without.
func (m *measurement) conversions() error {
	a, err := m.matrix(1<<14, 16, m.n)
	if err != nil {
		return err
	}
	service, err := m.session.Converter(m.ctx)
	if err != nil {
		return err
	}
	took, err := least(func() error {
		_, err := service.Convert(m.ctx, a.Share(), tensor.CSC)
		return err
	})
	if err != nil {
		return err
	}
	m.times.Move = took / float64(a.NNZ())
	took, err = least(func() error {
		_, err := a.Share().Convert(tensor.CSC)
		return err
	})
	m.times.Restore = took / float64(a.NNZ())
	return err
}

// compiling measures what LLVM takes for the kernel of a product, which is about as long as that of a conversion.
func (m *measurement) compiling() error {
	a, err := m.matrix(16, 4, 16)
	if err != nil {
		return err
	}
	k, err := m.session.kernelFor(m.ctx, "C(i,k) = A(i,j)*A(j,k)", Args{"A": a}, nil)
	if err != nil {
		return err
	}
	program := k.steps[0].latest.Load().Lower.Program
	m.times.Compile, err = least(func() error {
		_, err := runtime.Inspect(program, runtime.AssemblyText)
		return err
	})
	return err
}

// threads measures how long it takes until a goroutine that waits goes on, where another thread has it.
func (m *measurement) threads() error {
	if goruntime.GOMAXPROCS(0) < 2 {
		return nil
	}
	const rounds = 50
	call, answer := make(chan time.Time), make(chan time.Duration)
	go func() {
		for start := range call {
			answer <- time.Since(start)
		}
	}()
	defer close(call)
	var all []time.Duration
	for range rounds {
		time.Sleep(200 * time.Microsecond) // until its thread sleeps
		call <- time.Now()
		all = append(all, <-answer)
	}
	slices.Sort(all)
	m.times.Wake = float64(max(all[rounds/2], time.Microsecond))
	return nil
}
