package testengine

import (
	"os"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Compiling for an engine that the environment names, such as a GPU, takes most of the time
// of a test. So such tests compile many programs at once, as many as there are processors.

// Asked reports whether the environment names an engine.
func Asked() bool { return os.Getenv(Env) != "" }

// Parallel lets a test run beside others where the environment names an engine.
func Parallel(t *testing.T) {
	if Asked() {
		t.Parallel()
	}
}

// AgainEnv names the environment variable that is set where all tests have run and some run
// again, only for another version of LLVM.
const AgainEnv = "LACUNA_TEST_AGAIN"

// Interpreted says that a test runs programs on interpreters, unless the environment names
// an engine. So it is skipped where tests run again for another version of LLVM. As
// interpreters of grids take long, such tests run beside others.
func Interpreted(t *testing.T) {
	if os.Getenv(AgainEnv) != "" && !Asked() {
		t.Skip(AgainEnv + " is set, and no version of LLVM makes a difference here")
	}
	t.Parallel()
}

// Each calls f with 0, 1, … n-1, begun in that order, until f returns false: one after the
// other or, where the environment names an engine, several at once. After
// the first false none is begun, but those that were are done before Each returns.
func Each(n int, f func(i int) bool) {
	workers := 1
	if Asked() {
		workers = goruntime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var stopped atomic.Bool
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for !stopped.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if !f(i) {
					stopped.Store(true)
				}
			}
		})
	}
	all.Wait()
}
