package runtime

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Programs that do not hang together are refused, by every engine alike. What
// the verifier finds is tested where it is; here it must be asked.
func TestCompileRefuses(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		for want, spoil := range map[string]func(p *loop.Program){
			"before it is defined":   func(p *loop.Program) { p.Scalars[0].Bound = false },
			"before it is allocated": func(p *loop.Program) { p.Stages[2].Allocs = nil },
			"never allocated":        func(p *loop.Program) { p.Stages = p.Stages[:2] },
			"f32":                    func(p *loop.Program) { p.Buffers[0].Elem = loop.F32 },
			"grain":                  func(p *loop.Program) { p.Partitions[0].Grain = 0 },
			"missing":                func(p *loop.Program) { p.Partitions[0].N = nil },
			"there are":              func(p *loop.Program) { p.Stages[0].Bufs = []loop.BufferID{0, 77} },
			"read-only":              func(p *loop.Program) { p.Stages[0].Func.Bufs[1].ReadOnly = true },
		} {
			p := filterProgram(t)
			spoil(p)
			_, err := e.Compile(context.Background(), p)
			var pe *ProgramError
			if !errors.As(err, &pe) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want a ProgramError with %q", err, want)
			}
		}
	})
}

// An empty program runs: there is nothing to refuse.
func TestRunOfNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		r := mustRun(t, mustCompile(t, e, &loop.Program{Name: "empty"}), &Bindings{}, Options{})
		if len(r.Buffers)+len(r.Scalars) != 0 {
			t.Errorf("results %+v of an empty program", r)
		}
	})
}

func TestPlanLastUses(t *testing.T) {
	p := newPlan(filterProgram(t))
	for i, want := range []int{0, 0, 1} {
		if got := len(p.stages[i].lastUses); got != want {
			t.Errorf("stage %d frees %d buffers, want %d", i, got, want)
		}
	}
}

// Whatever the verifier accepts can be planned.
func FuzzPlan(f *testing.F) {
	for _, program := range []func(testing.TB) *loop.Program{scaleProgram, spmvProgram, filterProgram, sumProgram} {
		f.Add(program(f).String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := loop.ParseProgram(text)
		if err != nil || p.Verify(lib.Lookup) != nil {
			return
		}
		newState(newPlan(p))
	})
}

// Functions that differ in the names of buffers and variables only are one kernel; others, and those
// with other quick functions, are not.
func TestAlikeFunctionsAreOneKernel(t *testing.T) {
	text := `func store(readonly x: []f64, y: []f64) grid threads 32 { let v: f64 = x[thread()] y[thread()] = v }`
	renamed := strings.NewReplacer(" x:", " in:", "x[", "in[", " y:", " out:", "y[", "out[", "v:", "w:", "= v", "= w")
	with := func(f, quick *loop.Func) *loop.Func { f.Quick = quick; return f }
	first := mustFunc(t, text)
	for _, c := range []struct {
		other *loop.Func
		same  bool
	}{
		{mustFunc(t, text), true},
		{mustFunc(t, renamed.Replace(text)), true},
		{mustFunc(t, strings.Replace(text, "store", "put", 1)), false},
		{mustFunc(t, strings.Replace(text, "threads 32", "threads 64", 1)), false},
		{mustFunc(t, strings.ReplaceAll(text, "f64", "f32")), false},
		{with(mustFunc(t, text), first), false},
	} {
		p := &plan{}
		if same := p.kernelOf(first) == p.kernelOf(c.other); same != c.same {
			t.Errorf("one kernel: %v, want %v, for\n%s", same, c.same, c.other)
		}
	}
	p := &plan{}
	if p.kernelOf(with(mustFunc(t, text), first)) != p.kernelOf(with(mustFunc(t, text), mustFunc(t, renamed.Replace(text)))) {
		t.Error("functions whose quick ones differ in names only are two kernels")
	}
}
