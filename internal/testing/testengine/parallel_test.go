package testengine

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Each does all, and after a false whatever was begun before.
func TestEach(t *testing.T) {
	for _, name := range []string{"", "simulated"} {
		t.Setenv(Env, name)
		var done [100]atomic.Bool
		Each(len(done), func(i int) bool { done[i].Store(true); return true })
		for i := range done {
			if !done[i].Load() {
				t.Errorf("%q: %d was left out", name, i)
			}
		}
		var mu sync.Mutex
		last := 0
		ran := map[int]bool{}
		Each(1000, func(i int) bool {
			mu.Lock()
			defer mu.Unlock()
			ran[i], last = true, max(last, i)
			return i != 7
		})
		if !ran[7] || len(ran) != last+1 || last == 999 {
			t.Errorf("%q: stopped after %d of %d", name, last, len(ran))
		}
	}
}

// Where tests run again for another LLVM, those on interpreters are skipped.
func TestInterpreted(t *testing.T) {
	ran := false
	t.Run("again", func(t *testing.T) {
		t.Setenv(Env, "")
		t.Setenv(AgainEnv, "1")
		Interpreted(t)
		ran = true
	})
	if ran {
		t.Error("a test on interpreters runs again")
	}
}
