package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// withKernels makes an executable of Go kernels, one for each stage that has a
// function.
func withKernels(t testing.TB, p *loop.Program, kernels ...goKernel) *Executable {
	t.Helper()
	pl := newPlan(p)
	if n := len(pl.funcs); n != len(kernels) {
		t.Fatalf("%d kernels for %d functions", len(kernels), n)
	}
	list := make([]kernel, len(kernels))
	for i, k := range kernels {
		list[i] = k
	}
	return newExecutable("go", pl, list, alloc.New())
}

func nothing(*frame, int64, int64, int64) int64 { return 0 }

// oneStage is a program with one stage that allocates buffers of n elements,
// one of each size expression, and calls a function on them.
func oneStage(elem loop.Type, role loop.Role, lens ...loop.SizeExpr) *loop.Program {
	p := &loop.Program{Name: "p", Scalars: []loop.ProgramScalar{{Name: "n", Bound: true}}}
	f := &loop.Func{Name: "f"}
	s := loop.Stage{Name: "s", Partition: -1, Func: f}
	for i, n := range lens {
		name := string(rune('a' + i))
		p.Buffers = append(p.Buffers, loop.Buffer{Name: name, Elem: elem, Role: role})
		f.Bufs = append(f.Bufs, loop.Buf{Name: name, Elem: elem})
		s.Bufs = append(s.Bufs, loop.BufferID(i))
		s.Allocs = append(s.Allocs, loop.Alloc{Buffer: loop.BufferID(i), Len: n, Zero: true})
	}
	p.Stages = []loop.Stage{s}
	return p
}

func TestRunRefusesBindings(t *testing.T) {
	x := withKernels(t, scaleProgram(t), nothing)
	store := make([]float64, 8)
	mem := func(i, n int) Memory { return MemoryOf(store[i : i+n]) }
	for _, tt := range []struct {
		name string
		x, y Memory
		want string
	}{
		{"fine", mem(0, 4), mem(4, 4), ""},
		{"empty", Memory{}, Memory{}, ""},
		{"empty inside the other", mem(0, 4), mem(2, 0), ""},
		{"no memory", Memory{Len: 3}, mem(4, 4), "buffer x has no memory for its 3 elements"},
		{"negative length", mem(0, 4), Memory{Ptr: unsafe.Pointer(&store[0]), Len: -1}, "buffer y has -1 elements"},
		{"absurd length", mem(0, 4), Memory{Ptr: unsafe.Pointer(&store[0]), Len: math.MaxInt64}, "buffer y has 9223372036854775807 elements"},
		{"misaligned", mem(0, 4), Memory{Ptr: unsafe.Add(unsafe.Pointer(&store[4]), 4), Len: 1}, "buffer y is not aligned to 8 bytes"},
		{"the same", mem(0, 4), mem(0, 4), "buffer y overlaps buffer x"},
		{"overlapping", mem(0, 4), mem(3, 4), "buffer y overlaps buffer x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := x.NewBindings()
			b.Buffers[0], b.Buffers[1] = tt.x, tt.y
			_, err := x.Run(context.Background(), b, Options{})
			var be *BindingError
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &be) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	for _, b := range []*Bindings{nil, {}, {Buffers: make([]Memory, 2)}, {Buffers: make([]Memory, 3), Scalars: make([]int64, 1)}} {
		var be *BindingError
		if _, err := x.Run(context.Background(), b, Options{}); !errors.As(err, &be) {
			t.Errorf("bindings %v: %v, want a BindingError", b, err)
		}
	}
}

// Inputs may share memory: nobody writes them.
func TestRunAllowsSharedInputs(t *testing.T) {
	p := &loop.Program{Name: "p", Buffers: []loop.Buffer{{Name: "a", Elem: loop.F64}, {Name: "b", Elem: loop.F64}}}
	x := withKernels(t, p)
	b := x.NewBindings()
	b.Buffers[0] = MemoryOf(make([]float64, 3))
	b.Buffers[1] = b.Buffers[0]
	mustRun(t, x, b, Options{})
}

func TestRunRefusesOptions(t *testing.T) {
	x := withKernels(t, scaleProgram(t), nothing)
	for _, o := range []Options{{Threads: -1}, {MemoryLimit: -1}} {
		var oe *OptionError
		if _, err := x.Run(context.Background(), x.NewBindings(), o); !errors.As(err, &oe) {
			t.Errorf("%+v: %v, want an OptionError", o, err)
		}
	}
}

func TestRunSizeErrors(t *testing.T) {
	n := loop.SizeScalar(0)
	for _, tt := range []struct {
		n    int64
		len  loop.SizeExpr
		want string
	}{
		{-1, n, "length of buffer a = n: the length is negative (-1)"},
		{math.MaxInt64, op(loop.Add, n, loop.SizeConst(1)), "length of buffer a = (n + 1): the value exceeds 64 bits"},
		{0, op(loop.Max, op(loop.Div, loop.SizeConst(1), n), n), "max((1 / n), n): division by zero"},
	} {
		x := withKernels(t, oneStage(loop.F64, loop.Temp, tt.len), nothing)
		b := x.NewBindings()
		b.Scalars[0] = tt.n
		_, err := x.Run(context.Background(), b, Options{})
		var se *SizeError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

func TestRunMemoryLimit(t *testing.T) {
	n := loop.SizeScalar(0)
	for _, role := range []loop.Role{loop.Output, loop.Temp} {
		for _, tt := range []struct {
			n, limit int64
			want     string
		}{
			{1000, 16384, ""},
			{1000, 10000, "buffer b needs 7.8 KiB (1000 × f64) on top of 7.8 KiB in use; the memory limit is 9.8 KiB (option WithMemoryLimit)"},
			{1 << 40, 1 << 30, "buffer a needs 8.0 TiB (1099511627776 × f64); the memory limit is 1.0 GiB (option WithMemoryLimit)"},
			{1 << 45, 0, "three quarters of the memory available"},
			{1 << 62, 0, "needs more than 8 EiB"},
			{1 << 45, math.MaxInt64, "all memory of the machine"},
		} {
			called := false
			x := withKernels(t, oneStage(loop.F64, role, n, n), func(*frame, int64, int64, int64) int64 { called = true; return 0 })
			b := x.NewBindings()
			b.Scalars[0] = tt.n
			_, err := x.Run(context.Background(), b, Options{MemoryLimit: tt.limit})
			var me *MemoryLimitError
			if tt.want == "" {
				if err != nil || !called {
					t.Errorf("%d elements, limit %d: %v", tt.n, tt.limit, err)
				}
			} else if !errors.As(err, &me) || !strings.Contains(err.Error(), tt.want) || called {
				t.Errorf("%d elements, limit %d: error %v, want one with %q", tt.n, tt.limit, err, tt.want)
			}
		}
	}
}

// Temporaries are given back after their last use, so that a chain of them
// fits into the limit for two.
func TestRunReleasesTemporariesEarly(t *testing.T) {
	p := oneStage(loop.F64, loop.Temp, loop.SizeScalar(0), loop.SizeScalar(0), loop.SizeScalar(0), loop.SizeScalar(0))
	first := p.Stages[0]
	p.Stages = nil
	for i := range 3 {
		p.Stages = append(p.Stages, loop.Stage{
			Name: "s", Partition: -1, Func: &loop.Func{Name: []string{"f", "g", "h"}[i], Bufs: first.Func.Bufs[i : i+2]},
			Allocs: first.Allocs[i+1 : i+2], Bufs: first.Bufs[i : i+2],
		})
	}
	p.Stages[0].Allocs = first.Allocs[:2]
	x := withKernels(t, p, nothing, nothing, nothing)
	b := x.NewBindings()
	for _, n := range []int64{8, 1 << 23} { // from a pool, and mapped
		b.Scalars[0] = n
		if _, err := x.Run(context.Background(), b, Options{MemoryLimit: 2 * 8 * n}); err != nil {
			t.Error(err)
		}
	}
}

func TestRunGivesZeroedMemory(t *testing.T) {
	n := loop.SizeScalar(0)
	for _, role := range []loop.Role{loop.Output, loop.Temp} {
		x := withKernels(t, oneStage(loop.I64, role, n, n), func(f *frame, _, _, _ int64) int64 {
			for _, m := range f.bufs {
				s := SliceOf[int64](Memory{Ptr: m.Ptr, Len: m.Len})
				for i := range s {
					if s[i] != 0 {
						return 1
					}
					s[i] = -1
				}
			}
			return 0
		})
		b := x.NewBindings()
		for range 5 {
			b.Scalars[0] = 1000
			r := mustRun(t, x, b, Options{})
			if got := r.Buffers[0].Len; role == loop.Output && got != 1000 || role == loop.Temp && got != 0 {
				t.Errorf("role %d: result of %d elements", role, got)
			}
		}
	}
}

func TestRunCancelledBetweenStages(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := scaleProgram(t)
	second := *p.Stages[0].Func // alike, it would be the same kernel
	second.Name = "second"
	p.Stages = append(p.Stages, p.Stages[0])
	p.Stages[1].Func = &second
	x := withKernels(t, p,
		func(*frame, int64, int64, int64) int64 { cancel(); return 0 },
		func(*frame, int64, int64, int64) int64 { t.Error("the second stage ran"); return 0 })
	for range 2 { // the second time the context is done from the start
		if _, err := x.Run(ctx, x.NewBindings(), Options{}); err != context.Canceled {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
}

// A panicking kernel leaves the executable usable.
func TestRunSurvivesPanic(t *testing.T) {
	fail := true
	x := withKernels(t, oneStage(loop.F64, loop.Temp, loop.SizeScalar(0)), func(f *frame, _, _, _ int64) int64 {
		if fail {
			panic("boom")
		}
		return 0
	})
	b := x.NewBindings()
	b.Scalars[0] = 10
	func() {
		defer func() { recover() }()
		x.Run(context.Background(), b, Options{})
	}()
	fail = false
	mustRun(t, x, b, Options{})
}

// Runs of one executable do not see each other.
func TestRunConcurrently(t *testing.T) {
	x := mustCompile(t, Interp(), filterProgram(t))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			v := make([]float64, 100*(g+1))
			for i := range v {
				v[i] = float64(g + 1)
			}
			b := x.NewBindings()
			b.Buffers[0], b.Scalars[0] = MemoryOf(v), int64(len(v))
			for range 50 {
				r, err := x.Run(context.Background(), b, Options{Threads: 2})
				if err != nil {
					t.Error(err)
					return
				}
				out := SliceOf[float64](r.Buffers[2])
				if len(out) != len(v) || out[0] != v[0] || out[len(out)-1] != v[0] {
					t.Errorf("goroutine %d got %d elements of %v", g, len(out), out[0])
					return
				}
			}
		})
	}
	wg.Wait()
}

// A small program without allocations runs without any, but for the one that
// it costs to call machine code (purego passes the arguments in a slice).
func TestRunIntoAllocatesNothing(t *testing.T) {
	allowed := map[string]float64{InterpName: 0, CPUName: 1}
	eachEngine(t, func(t *testing.T, e Engine) {
		x := mustCompile(t, e, scaleProgram(t))
		b := x.NewBindings()
		b.Buffers[0], b.Buffers[1] = MemoryOf(make([]float64, 8)), MemoryOf(make([]float64, 8))
		b.Scalars[0] = 8
		var r Results
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		run := func() {
			if err := x.RunInto(ctx, b, Options{}, &r); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if raceEnabled {
			t.Skip("the race detector empties pools at random")
		}
		if n := testing.AllocsPerRun(1000, run); n > allowed[e.Name()]+0.1 {
			t.Errorf("%v allocations for each run, want %v", n, allowed[e.Name()])
		}
	})
}

// endless are programs whose one kernel would run for years, in the ways that
// loops can be long.
var endless = map[string]string{
	"innermost":    "  var s: i64 = 0\n  for i = 0 to n {\n    s = (s + i) * 3\n  }\n  y[0] = s",
	"nested":       "  var s: i64 = 0\n  for i = 0 to n {\n    for j = 0 to 1000 {\n      s = (s + j) * 3\n    }\n  }\n  y[0] = s",
	"empty inner":  "  for i = 0 to n {\n    for j = 0 to y[0] {\n      y[j] = 1\n    }\n  }",
	"empty middle": "  for i = 0 to n {\n    for j = 0 to y[0] {\n      for k = 0 to y[1] {\n        for l = 0 to y[2] {\n          y[3] = l\n        }\n      }\n    }\n  }",
	"sweep":        "  for i = 0 to n {\n    for j = 0 to 2 + i % 2 {\n      y[j] = (y[j] + i) * 3\n    }\n  }",
	"few inner":    "  for i = 0 to n {\n    for j = 0 to 3 {\n      y[j] = (y[j] + i) * 3\n    }\n  }",
	"while":        "  var i: i64 = 0\n  while y[0] >= 0 {\n    i = i + 1\n    y[1] = i\n  }",
	"in an if":     "  for i = 0 to n {\n    if y[0] == 1 {\n      for j = 0 to y[1] {\n        for k = 0 to y[2] {\n          y[3] = k\n        }\n      }\n    }\n  }",
	"counted":      "  var i: i64 = 0\n  while i < n {\n    i = i + 1\n    y[1] = (y[1] + i) * 3\n  }",
}

// A run ends soon after its context, wherever its kernel is.
func TestRunStopsKernels(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		for name, body := range endless {
			t.Run(name, func(t *testing.T) {
				p := mustProgram(t, fmt.Sprintf(`program endless {
  scalar n bound
  buffer y: []i64 inout
  stage forever {
    run(y; n)
    func forever(y: []i64; n: i64) chunk c, lo, hi {
%s
    }
  }
}`, body))
				x := mustCompile(t, e, p)
				stopped(t, x)
			})
		}
	})
}

// All threads of a stage stop, not only the first.
func TestRunStopsChunks(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		p := mustProgram(t, `program endless {
  scalar n bound
  scalar chunks
  buffer y: []i64 inout
  partition d of 8 grain 1 chunks chunks
  stage forever over d {
    run(y; n)
    func forever(y: []i64; n: i64) chunk c, lo, hi {
      for i = lo to hi {
        for j = 0 to n {
          y[i] = (y[i] + j) * 3
        }
      }
    }
  }
}`)
		stopped(t, mustCompile(t, e, p))
	})
}

func mustProgram(t *testing.T, src string) *loop.Program {
	t.Helper()
	p, err := loop.ParseProgram(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stopped runs x with a context that ends, and again with one that does not
// until the run is over: the first must not stop the second.
func stopped(t *testing.T, x *Executable) {
	t.Helper()
	y := make([]int64, 8)
	b := x.NewBindings()
	b.Buffers[0], b.Scalars[0] = MemoryOf(y), 1<<60
	const after = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	start := time.Now()
	_, err := x.Run(ctx, b, Options{Threads: 2})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want %v", err, context.DeadlineExceeded)
	}
	// Far more than it takes, but machines that run tests are busy.
	if took := time.Since(start) - after; took > 2*time.Second {
		t.Errorf("stopped %v after its deadline", took)
	}
	y[0] = -1 // ends the loops that ask for it
	b.Scalars[0] = 10
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	if _, err := x.Run(ctx, b, Options{Threads: 2}); err != nil {
		t.Errorf("the run after it: %v", err)
	}
}

// The goroutine that watches contexts is gone soon after the last run.
func TestWatcherEnds(t *testing.T) {
	x := mustCompile(t, Interp(), scaleProgram(t))
	b := x.NewBindings()
	b.Buffers[0], b.Buffers[1] = MemoryOf(make([]float64, 8)), MemoryOf(make([]float64, 8))
	b.Scalars[0] = 8
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := x.Run(ctx, b, Options{}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if !x.watcher.Watching() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the watcher goes on")
}
