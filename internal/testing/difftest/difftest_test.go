package difftest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
)

var (
	programs = flag.Int("programs", 360, "number of random programs in TestSeeded")
	seed     = flag.Int64("seed", 1, "seed of TestSeeded")
	only     = flag.Int("only", -1, "the one program of TestSeeded to run")
	failures = flag.Int("failures", 5, "mismatches after which TestSeeded stops")
	sparse   = flag.Bool("sparse", false, "leave out the programs in which no result is declared sparse")
	onGrids  = flag.Int("grids", 60, "number of random programs in TestSeededOnGrids")
	native   = flag.Int("native", 15, "percentage of the programs that are compiled to machine code too")
)

// setting is how small data is made to take the ways of large data.
type setting struct {
	grain     int64  // work of a chunk; 0: the usual one
	workspace string // kind of every workspace; "": by the rule
	eager     bool   // the optimiser takes every chance to reorder
}

var settings = []setting{{0, "", false}, {1, "", true}, {0, "hash", true}, {2, "hash", false}, {0, "sort", false}, {3, "sort", true}}

// session makes a session.
func session(e runtime.Engine, threads int, how setting, more ...lacuna.SessionOption) *lacuna.Session {
	defer func(grain int64, work string, eager bool) {
		debug.ChunkGrain, debug.Workspace, debug.EagerOptimiser = grain, work, eager
	}(debug.ChunkGrain, debug.Workspace, debug.EagerOptimiser)
	debug.ChunkGrain, debug.Workspace, debug.EagerOptimiser = how.grain, how.workspace, how.eager
	return lacuna.NewSession(append(more, lacuna.WithEngine(e), lacuna.WithThreads(threads))...)
}

// sessions are the engines under test with one setting: the interpreter with one
// thread and with several, and the compiler, where there is one, with several.
// All must give the same bits.
// Another engine that the environment names is compared with the oracle alone: it
// may add in another order.
func sessions(t testing.TB, how setting) []*lacuna.Session {
	if e := testengine.Named(t); e != nil {
		return []*lacuna.Session{session(e, 1, how)}
	}
	list := []*lacuna.Session{session(runtime.Interp(), 1, how), session(runtime.Interp(), 3, how)}
	cpu, err := runtime.CPU()
	if err != nil {
		t.Logf("interpreter only: %v", err)
		return list
	}
	return append(list, session(cpu, 3, how))
}

// seeded is a generator of random numbers as a source.
type seeded struct{ *rand.Rand }

func (s seeded) Intn(n int) int { return s.IntN(n) }

// program is the source of a program of a seed.
func program(seed int64, n int) Source {
	return seeded{rand.New(rand.NewPCG(uint64(seed), uint64(n)))}
}

// TestSeeded compares a run of random programs, half of them cut into chunks of
// one to three items, and half of each in memory that is poisoned first. The
// same seed gives the same programs:
//
//	go test ./internal/testing/difftest -run Seeded -programs 20000 -seed 1 -timeout 0
func TestSeeded(t *testing.T) { seededPrograms(t, sessions, New, *programs, inTurns) }

// TestSeededStored is the same with programs whose operands are mostly in parts or
// triangles.
func TestSeededStored(t *testing.T) {
	seededPrograms(t, sessions, NewStored, oneIn(2, *programs/3), inTurns)
}

// TestSeededAssociations is the same with products of many factors, which the optimiser computes in other orders.
func TestSeededAssociations(t *testing.T) {
	seededPrograms(t, func(t testing.TB, how setting) []*lacuna.Session {
		how.eager = true
		return sessions(t, how)
	}, NewAssociation, oneIn(3, *programs), inTurns)
}

// TestSeededInfinite is the same with complex operands whose fills are infinite: what is not
// stored is folded in closed form, which must not make NaN of a part.
func TestSeededInfinite(t *testing.T) { seededPrograms(t, sessions, NewInfinite, *programs/3, inTurns) }

// TestSeededOnGrids runs programs as a GPU does, on the interpreter, which finds races
// and reads of memory that nobody wrote; and, where there is LLVM, makes PTX of a part.
func TestSeededOnGrids(t *testing.T) {
	seededPrograms(t, func(t testing.TB, how setting) []*lacuna.Session {
		return []*lacuna.Session{session(runtime.Interp(), 1, how), session(runtime.Simulated(), 1, how)}
	}, New, oneIn(2, *onGrids), inTurns)
	t.Run("ptx", func(t *testing.T) {
		e, err := testengine.PTX()
		if err != nil {
			t.Skip(err)
		}
		seededPrograms(t, func(t testing.TB, how setting) []*lacuna.Session {
			return []*lacuna.Session{session(e, 1, how)}
		}, New, oneIn(2, *onGrids/4), inTurns)
	})
}

// TestSeededRepeated runs programs on a device with operands and results there again and again: from some run on, the device is told what it was told before.
func TestSeededRepeated(t *testing.T) {
	resident := func(t testing.TB, how setting) []*lacuna.Session {
		return []*lacuna.Session{session(testengine.Or(t, runtime.Simulated()), 1, how, lacuna.WithResidentResults(), lacuna.WithConversionKernels())}
	}
	seededPrograms(t, resident, New, oneIn(2, *onGrids), func(c *Case, s []*lacuna.Session, _ int) (int, error) {
		return 0, c.CompareRepeated(context.Background(), s[0])
	})
}

// oneIn is one in n of so many random programs under -short, unless a certain one is asked for.
func oneIn(n, programs int) int {
	if testing.Short() && *only < 0 {
		return programs / n
	}
	return programs
}

// inTurns compares a program in one more way, by its number, and returns how often it ran with other schedules.
func inTurns(c *Case, s []*lacuna.Session, n int) (int, error) {
	switch {
	case n%4 == 0:
		return 0, c.ComparePrepared(context.Background(), s[0])
	case n%4 == 1:
		return 0, c.CompareFormats(context.Background(), s[0])
	case n%4 == 2 || c.inTwo():
		return 0, c.CompareLast(context.Background(), s[0])
	}
	return c.CompareScheduled(context.Background(), s[min(1, len(s)-1)], program(*seed+1, n))
}

// TestSeededOrders runs each program, half of them products of many factors, in the order that the optimiser chooses where it
// takes every chance, in the order as written, and with random schedules:
//
//	go test ./internal/testing/difftest -run SeededOrders -programs 20000 -seed 1 -timeout 0
func TestSeededOrders(t *testing.T) {
	eager := func(t testing.TB, how setting) []*lacuna.Session {
		how.eager = true
		return sessions(t, how)
	}
	either := func(src Source) *Case {
		if src.Intn(2) == 0 {
			return NewAssociation(src)
		}
		return New(src)
	}
	seededPrograms(t, eager, either, oneIn(4, *programs), func(c *Case, s []*lacuna.Session, n int) (int, error) {
		written := *c
		written.AsWritten = true
		if _, err := written.Compare(context.Background(), s[0]); err != nil {
			return 0, err
		}
		return c.CompareScheduled(context.Background(), s[min(1, len(s)-1)], program(*seed+1, n))
	})
}

func seededPrograms(t *testing.T, sessions func(testing.TB, setting) []*lacuna.Session, makeCase func(Source) *Case, programs int,
	also func(*Case, []*lacuna.Session, int) (int, error),
) {
	var all [][]*lacuna.Session
	for _, how := range settings {
		all = append(all, sessions(t, how))
	}
	defer func(old bool) { debug.PoisonMemory = old }(debug.PoisonMemory)
	var mu sync.Mutex
	var scheduled atomic.Int64
	defer func() { t.Logf("%d runs with other schedules", scheduled.Load()) }()
	mismatches, refused, ran, total := map[int]error{}, 0, 0, Outcome{}
	testengine.Each(programs, func(n int) bool {
		if *only >= 0 && n != *only {
			return true
		}
		s := all[n%len(all)]
		if !testengine.Asked() { // other engines have memory of their own
			debug.PoisonMemory = n/len(all)%2 == 1
		}
		choose := program(*seed, n)
		if choose.Intn(100) >= *native {
			s = s[:min(2, len(s))]
		}
		record := &recorder{Source: choose}
		c := makeCase(record)
		if *sparse && !c.sparseResult() {
			return true
		}
		compare := func(c *Case) (out Outcome, err error) {
			out, err = c.Compare(context.Background(), s...)
			if err == nil {
				var ran int
				ran, err = also(c, s, n)
				scheduled.Add(int64(ran))
			}
			return out, err
		}
		out, err := compare(c)
		if err != nil {
			err = smallest(makeCase, record.choices, compare, err)
		}
		mu.Lock()
		defer mu.Unlock()
		ran++
		if out.Refused {
			refused++
		}
		total.Elements += out.Elements
		total.Open += out.Open
		if err != nil {
			mismatches[n] = err
		}
		return len(mismatches) < *failures
	})
	// Programs are begun in order, so that the first of them that fail are always the same.
	for k, n := range slices.Sorted(maps.Keys(mismatches)) {
		t.Errorf("program %d of seed %d: %v", n, *seed, mismatches[n])
		if k+1 >= *failures {
			t.Fatalf("stopping after %d mismatches", *failures)
		}
	}
	t.Logf("%d programs, %d refused as they should; %d elements compared, %d left open", ran, refused, total.Elements, total.Open)
	if *only < 0 && total.Open > total.Elements/5 {
		t.Errorf("%d of %d elements were not compared with the oracle", total.Open, total.Open+total.Elements)
	}
}

// sparseResult reports whether some result is declared sparse, or updated and so.
func (c *Case) sparseResult() bool {
	file, err := lang.Parse(c.Text)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(file.Names(), func(n lang.Name) bool {
		if !n.Assigned {
			return false
		}
		r := c.Results[n.Name]
		old := c.Operands[n.Name]
		return r.HasFormat && !r.Format.IsDense() || old != nil && !old.Format().IsDense()
	})
}

// smallest is the failure of the smallest program found that fails like err.
func smallest(makeCase func(Source) *Case, choices []int, compare func(*Case) (Outcome, error), err error) error {
	like := symptom(err)
	shrink(choices, func(c []int) bool {
		_, e := compare(makeCase(&replay{choices: c}))
		if e == nil || symptom(e) != like {
			return false
		}
		err = e
		return true
	})
	return err
}

// symptom tells kinds of failures apart.
func symptom(err error) string {
	text := err.Error()
	for _, s := range []string{"oracle:", "internal error", "not supported yet", "is not a tensor", "not as interp", "want the error", "element ", "prepare"} {
		if strings.Contains(text, s) {
			return s
		}
	}
	return "other"
}

// drawn makes random choices through rapid, which then shrinks failures.
type drawn struct{ t *rapid.T }

func (d drawn) Intn(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// TestRandom is the same comparison with rapid's search and shrinking.
func TestRandom(t *testing.T) {
	s := sessions(t, setting{2, "hash", false})[:1]
	rapid.Check(t, func(r *rapid.T) {
		if _, err := New(drawn{r}).Compare(context.Background(), s...); err != nil {
			r.Fatal(err)
		}
	})
}

// TestSameSeedSameProgram keeps failures repeatable.
func TestSameSeedSameProgram(t *testing.T) {
	for n := range 50 {
		a, b := New(program(1, n)), New(program(1, n))
		if a.String() != b.String() {
			t.Fatalf("seed %d gives\n%s\nand\n%s", n, a, b)
		}
	}
}

// TestShrink finds the smallest list with a property.
func TestShrink(t *testing.T) {
	got := shrink([]int{5, 1, 9, 4, 7, 7, 2}, func(c []int) bool {
		sum := 0
		for _, v := range c {
			sum += v
		}
		return sum >= 9
	})
	if len(got) == 0 || len(got) > 2 {
		t.Errorf("got %s", fmt.Sprint(got))
	}
}
