package difftest

import (
	"context"
	"flag"
	"math/rand"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
)

var (
	programs = flag.Int("programs", 400, "number of random programs in TestSeeded")
	seed     = flag.Int64("seed", 1, "seed of TestSeeded")
	failures = flag.Int("failures", 5, "mismatches after which TestSeeded stops")
)

// sessions are the engines under test: the interpreter with one thread and the
// compiler, where there is one, with several.
func sessions(t testing.TB) []*lacuna.Session {
	list := []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(1))}
	cpu, err := runtime.CPU()
	if err != nil {
		t.Logf("interpreter only: %v", err)
		return list
	}
	return append(list, lacuna.NewSession(lacuna.WithEngine(cpu), lacuna.WithThreads(3)))
}

// TestSeeded compares a run of random programs. The same seed gives the same
// programs: go test ./internal/difftest -run Seeded -programs 20000 -seed 1 -timeout 0
func TestSeeded(t *testing.T) {
	s := sessions(t)
	bad := 0
	for n := 0; n < *programs; n++ {
		c := New(rand.New(rand.NewSource(*seed<<32 + int64(n))))
		if err := c.Compare(context.Background(), s...); err != nil {
			t.Errorf("program %d of seed %d: %v", n, *seed, err)
			if bad++; bad >= *failures {
				t.Fatalf("stopping after %d mismatches in %d programs", bad, n+1)
			}
		}
	}
}

// drawn makes random choices through rapid, which then shrinks failures.
type drawn struct{ t *rapid.T }

func (d drawn) Intn(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// TestRandom is the same comparison with rapid's search and shrinking.
func TestRandom(t *testing.T) {
	s := sessions(t)[:1]
	rapid.Check(t, func(r *rapid.T) {
		if err := New(drawn{r}).Compare(context.Background(), s...); err != nil {
			r.Fatal(err)
		}
	})
}
