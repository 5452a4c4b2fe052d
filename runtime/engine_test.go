package runtime

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

// eachEngine runs a test on every engine that is there.
func eachEngine(t *testing.T, test func(t *testing.T, e Engine)) {
	for _, name := range []string{InterpName, CPUName} {
		t.Run(name, func(t *testing.T) {
			e, err := EngineByName(name, nil)
			if err != nil {
				t.Skip(err)
			}
			test(t, e)
		})
	}
}

func mustCompile(t testing.TB, e Engine, p *loop.Program) *Executable {
	t.Helper()
	x, err := e.Compile(context.Background(), forEngine(e, p))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// forEngine is a program as an engine takes it: mapped to the threads of a GPU for one of those.
func forEngine(e Engine, p *loop.Program) *loop.Program {
	switch {
	case e.Name() == SimulatedName:
		return gpu.Map(p, gpu.Simulated)
	case OnGrids(e):
		return gpu.Map(p, gpu.Options{})
	}
	return p
}

// Engines for GPUs map nothing: they refuse what is not mapped.
func TestGPURefusesChunks(t *testing.T) {
	p := scaleProgram(t)
	_, err := Simulated().Compile(t.Context(), p)
	_, printed := Inspect(p, PTXText)
	for _, err := range []error{err, printed} {
		var refused *ProgramError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "has a function of chunks") {
			t.Errorf("got %v, want a refusal", err)
		}
	}
}

func mustRun(t testing.TB, x *Executable, b *Bindings, o Options) *Results {
	t.Helper()
	r, err := x.Run(context.Background(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// useProcessors lets tests run on more threads than the machine may have.
func useProcessors(t testing.TB, n int) {
	old := goruntime.GOMAXPROCS(n)
	t.Cleanup(func() { goruntime.GOMAXPROCS(old) })
}

// randomCSR is an m×n matrix, some rows of which are empty and some heavy.
func randomCSR(r *rand.Rand, m, n int) (pos, crd []uint32, vals []float64) {
	pos = []uint32{0}
	for range m {
		k := r.IntN(8)
		if r.IntN(20) == 0 {
			k = r.IntN(200)
		}
		for range min(k, n) {
			crd = append(crd, uint32(r.IntN(n)))
			vals = append(vals, r.NormFloat64())
		}
		pos = append(pos, uint32(len(crd)))
	}
	return pos, crd, vals
}

func randomVector(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64() * math.Pow(2, float64(r.IntN(40)))
	}
	return v
}

func TestEnginesScale(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		x := mustCompile(t, e, scaleProgram(t))
		y := make([]float64, 3)
		b := x.NewBindings()
		b.Buffers[0], b.Buffers[1] = MemoryOf([]float64{1, -2.5, math.Inf(1)}), MemoryOf(y)
		b.Scalars[0] = 3
		mustRun(t, x, b, Options{})
		if want := []float64{2, -5, math.Inf(1)}; !slices.Equal(y, want) {
			t.Errorf("got %v, want %v", y, want)
		}
	})
}

// Every engine gives the same bits with any number of threads, and these are
// the right ones.
func TestEnginesDoNotDependOnThreads(t *testing.T) {
	useProcessors(t, 8)
	eachEngine(t, func(t *testing.T, e Engine) {
		spmv := mustCompile(t, e, spmvProgram(t))
		filter := mustCompile(t, e, filterProgram(t))
		sum := mustCompile(t, e, sumProgram(t))
		for _, size := range []int{0, 1, 36, 37, 38, 1000, 5000} {
			r := rand.New(rand.NewPCG(1, uint64(size)))
			const n = 300
			pos, crd, vals := randomCSR(r, size, n)
			v, w := randomVector(r, n), randomVector(r, size)
			bs := spmv.NewBindings()
			bs.Buffers[0], bs.Buffers[1], bs.Buffers[2], bs.Buffers[3] = MemoryOf(pos), MemoryOf(crd), MemoryOf(vals), MemoryOf(v)
			bs.Scalars[0], bs.Scalars[1] = int64(size), n
			bf, bt := filter.NewBindings(), sum.NewBindings()
			bf.Buffers[0], bf.Scalars[0] = MemoryOf(w), int64(size)
			bt.Buffers[0], bt.Scalars[0] = MemoryOf(w), int64(size)

			for _, threads := range []int{1, 2, 7} {
				o := Options{Threads: threads}
				if got, want := SliceOf[float64](mustRun(t, spmv, bs, o).Buffers[4]), goSpMV(pos, crd, vals, v); !slices.Equal(got, want) {
					t.Errorf("spmv of %d rows on %d threads is wrong", size, threads)
				}
				res := mustRun(t, filter, bf, o)
				got, want := SliceOf[float64](res.Buffers[2]), slices.DeleteFunc(slices.Clone(w), func(x float64) bool { return x <= 0 })
				if !slices.Equal(got, want) || res.Scalars[2] != int64(len(want)) {
					t.Errorf("filter of %d elements on %d threads found %d, want %d", size, threads, len(got), len(want))
				}
				if got, want := SliceOf[float64](mustRun(t, sum, bt, o).Buffers[2])[0], goSum(w, 100); got != want {
					t.Errorf("sum of %d elements on %d threads is %v, want %v", size, threads, got, want)
				}
			}
		}
	})
}

func goSpMV(pos, crd []uint32, vals, x []float64) []float64 {
	y := make([]float64, len(pos)-1)
	for i := range y {
		for p := pos[i]; p < pos[i+1]; p++ {
			y[i] += float64(vals[p] * x[crd[p]]) // not fused
		}
	}
	return y
}

func goSum(x []float64, grain int) (total float64) {
	for part := range slices.Chunk(x, grain) {
		s := 0.0
		for _, v := range part {
			s += v
		}
		total += s
	}
	return total
}

// The engines agree bit for bit.
func TestEnginesAgree(t *testing.T) {
	cpu, err := CPU()
	if err != nil {
		t.Skip(err)
	}
	a, b := mustCompile(t, Interp(), sumProgram(t)), mustCompile(t, cpu, sumProgram(t))
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64(), 0, 500).Draw(rt, "x")
		bind := a.NewBindings()
		bind.Buffers[0], bind.Scalars[0] = MemoryOf(v), int64(len(v))
		x := SliceOf[uint64](mustRun(t, a, bind, Options{}).Buffers[2])[0]
		y := SliceOf[uint64](mustRun(t, b, bind, Options{}).Buffers[2])[0]
		if nan := math.IsNaN(math.Float64frombits(x)) && math.IsNaN(math.Float64frombits(y)); x != y && !nan {
			rt.Fatalf("interp %#x, cpu %#x", x, y)
		}
	})
}

func TestKernelErrors(t *testing.T) {
	useProcessors(t, 8)
	eachEngine(t, func(t *testing.T, e Engine) {
		x := mustCompile(t, e, spmvProgram(t))
		// Each row holds ten entries in column 0, but rows 77 and 500 one in
		// column 9 of 5.
		pos, crd := []uint32{0}, []uint32(nil)
		for i := range 1000 {
			crd = append(crd, make([]uint32, 10)...)
			if i == 77 || i == 500 {
				crd[i*10] = 9
			}
			pos = append(pos, uint32(len(crd)))
		}
		b := x.NewBindings()
		b.Buffers[0], b.Buffers[1] = MemoryOf(pos), MemoryOf(crd)
		b.Buffers[2], b.Buffers[3] = MemoryOf(make([]float64, len(crd))), MemoryOf(make([]float64, 5))
		b.Scalars[0], b.Scalars[1] = 1000, 5
		var first *KernelError
		for _, threads := range []int{1, 2, 7} {
			_, err := x.Run(context.Background(), b, Options{Threads: threads})
			var k *KernelError
			if !errors.As(err, &k) || k.Code != 0 || k.Message != "column index out of range" || k.Stage != "multiply" {
				t.Fatalf("%d threads: %v, want a KernelError", threads, err)
			}
			if first == nil {
				first = k
			}
			if *k != *first {
				t.Errorf("%d threads: %v, want %v as with one", threads, k, first)
			}
		}
	})
}

// The interpreter checks accesses; the run reports what it finds.
func TestInterpFindsBadAccess(t *testing.T) {
	x := mustCompile(t, Interp(), scaleProgram(t))
	b := x.NewBindings()
	b.Buffers[0], b.Buffers[1] = MemoryOf(make([]float64, 3)), MemoryOf(make([]float64, 3))
	b.Scalars[0] = 4
	_, err := x.Run(context.Background(), b, Options{})
	var k *KernelError
	if !errors.As(err, &k) || k.Err == nil || k.Code != -1 {
		t.Errorf("got %v, want a KernelError that wraps the interpreter's", err)
	}
}

func TestEngineByName(t *testing.T) {
	for name, check := range map[string]func(Engine, error) bool{
		"auto":   func(e Engine, err error) bool { return err == nil && (e.Name() == "cpu" || e.Name() == "interp") },
		"interp": func(e Engine, err error) bool { return err == nil && e.Name() == "interp" },
		"cpu": func(e Engine, err error) bool {
			var u *UnavailableError
			return err == nil && e.Name() == "cpu" || errors.As(err, &u) && strings.Contains(err.Error(), "install")
		},
		"cuda": func(e Engine, err error) bool {
			var u *UnavailableError
			return err == nil && e.Name() == "cuda" || errors.As(err, &u) && strings.Contains(err.Error(), "install")
		},
		"simulated": func(e Engine, err error) bool { return err == nil && e.Name() == "simulated" },
		"gpu":       func(e Engine, err error) bool { return errors.Is(err, ErrUnknownEngine) },
		"":          func(e Engine, err error) bool { return errors.Is(err, ErrUnknownEngine) },
	} {
		if e, err := EngineByName(name, nil); !check(e, err) {
			t.Errorf("EngineByName(%q) = %v, %v", name, e, err)
		}
	}
}

func TestAutoSaysWhatIsMissing(t *testing.T) {
	t.Setenv("LACUNA_LLVM", "/nowhere/libLLVM.so")
	var notices []string
	e := Auto(func(s string) { notices = append(notices, s) })
	if e.Name() != InterpName || len(notices) != 1 || !strings.Contains(notices[0], "interpreter") {
		t.Errorf("engine %s, notices %q, want the interpreter and one notice", e.Name(), notices)
	}
	if e := Auto(nil); e.Name() != InterpName {
		t.Errorf("engine %s without a notice function", e.Name())
	}
}

// What cannot be printed without LLVM names the engine that would run it.
func TestInspectWithoutLLVM(t *testing.T) {
	t.Setenv("LACUNA_LLVM", "/nowhere/libLLVM.so")
	for form, engine := range map[Text]string{OptimisedText: CPUName, AssemblyText: CPUName, PTXText: CUDAName} {
		p := scaleProgram(t)
		if form == PTXText {
			p = gpu.Map(p, gpu.Options{})
		}
		_, err := Inspect(p, form)
		var missing *UnavailableError
		if !errors.As(err, &missing) || missing.Engine != engine {
			t.Errorf("form %d: error %v, want one of the engine %s", form, err, engine)
		}
	}
	if _, err := Inspect(scaleProgram(t), LLVMText); err != nil {
		t.Errorf("form %d needs no LLVM: %v", LLVMText, err)
	}
}

func TestCompileHonoursContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	eachEngine(t, func(t *testing.T, e Engine) {
		if _, err := e.Compile(ctx, scaleProgram(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

// Code stays as long as its executable does, and goes with it.
func TestCodeLivesAsLongAsItIsUsed(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		kept := mustCompile(t, e, sumProgram(t))
		b := kept.NewBindings()
		b.Buffers[0], b.Scalars[0] = MemoryOf([]float64{1, 2, 3}), 3
		for range 3 {
			mustRun(t, mustCompile(t, e, sumProgram(t)), b, Options{})
			goruntime.GC()
			if got := SliceOf[float64](mustRun(t, kept, b, Options{}).Buffers[2])[0]; got != 6 {
				t.Fatalf("got %v, want 6", got)
			}
		}
	})
}

// Stages may have functions of one name, or one function.
func TestStagesWithOneFunction(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		p := scaleProgram(t)
		p.Stages = append(p.Stages, p.Stages[0], scaleProgram(t).Stages[0])
		x := mustCompile(t, e, p)
		y := make([]float64, 1)
		b := x.NewBindings()
		b.Buffers[0], b.Buffers[1], b.Scalars[0] = MemoryOf([]float64{4}), MemoryOf(y), 1
		if mustRun(t, x, b, Options{}); y[0] != 8 {
			t.Errorf("got %v, want 8", y[0])
		}
	})
}
