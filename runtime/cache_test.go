package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// countingEngine counts compilations. hold, if set, is called during each.
type countingEngine struct {
	Engine
	print string // fingerprint, if not that of the engine
	count atomic.Int64
	hold  func(context.Context) error
}

func (e *countingEngine) Fingerprint() string { return e.Engine.Fingerprint() + e.print }

func (e *countingEngine) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	e.count.Add(1)
	if e.hold != nil {
		if err := e.hold(ctx); err != nil {
			return nil, err
		}
	}
	return e.Engine.Compile(ctx, p)
}

// grainProgram is a program that differs from others by its grain only.
func grainProgram(t testing.TB, grain int64) *loop.Program {
	p := sumProgram(t)
	p.Partitions[0].Grain = grain
	return p
}

func TestKeyIsStructure(t *testing.T) {
	e := Interp()
	if a, b := KeyOf(e, sumProgram(t)), KeyOf(Interp(), sumProgram(t)); a != b {
		t.Errorf("equal programs have the keys %s and %s", a, b)
	}
	seen := map[Key]string{}
	add := func(what string, k Key) {
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", what, other)
		}
		seen[k] = what
	}
	add("sum", KeyOf(e, sumProgram(t)))
	add("sum with another grain", KeyOf(e, grainProgram(t, 7)))
	add("sum on another engine", KeyOf(&countingEngine{Engine: e, print: "+avx"}, sumProgram(t)))
	add("filter", KeyOf(e, filterProgram(t)))
	p := sumProgram(t)
	p.Buffers[1].Role = loop.Output
	add("sum with another role", KeyOf(e, p))
	p = sumProgram(t)
	p.Stages[1].Ordered = false
	add("sum out of order", KeyOf(e, p))
	p = sumProgram(t)
	p.Stages[1].Allocs[0].Zero = false
	add("sum without zeroing", KeyOf(e, p))
	p = sumProgram(t)
	p.Stages[0].Func.Bufs[0].ReadOnly = false
	add("sum with a writable parameter", KeyOf(e, p))
}

func TestCacheDropsLeastRecentlyUsed(t *testing.T) {
	e := &countingEngine{Engine: Interp()}
	c := NewCache(2)
	get := func(grain int64) {
		t.Helper()
		if _, err := c.Compile(context.Background(), e, grainProgram(t, grain)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct{ grain, compilations int64 }{
		{1, 1}, {1, 1}, {2, 2}, {1, 2}, {3, 3} /* drops 2 */, {1, 3}, {2, 4} /* drops 3 */, {1, 4}, {3, 5},
	} {
		if get(step.grain); e.count.Load() != step.compilations {
			t.Errorf("after asking for %d: %d compilations, want %d", step.grain, e.count.Load(), step.compilations)
		}
	}
	if got, want := c.Stats(), (CacheStats{Hits: 4, Misses: 5, Evictions: 3, Entries: 2}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestCacheCompilesOnce(t *testing.T) {
	release := make(chan struct{})
	e := &countingEngine{Engine: Interp(), hold: func(context.Context) error { <-release; return nil }}
	c := NewCache(10)
	var wg sync.WaitGroup
	results := make([]*Executable, 20)
	p := sumProgram(t)
	for i := range results {
		wg.Go(func() {
			x, err := c.Compile(context.Background(), e, p)
			if err != nil {
				t.Error(err)
			}
			results[i] = x
		})
	}
	close(release)
	wg.Wait()
	for _, x := range results {
		if x != results[0] {
			t.Fatal("goroutines got different executables")
		}
	}
	if n := e.count.Load(); n != 1 {
		t.Errorf("%d compilations, want 1", n)
	}
}

// One who waits may leave; when all have left, compilation stops, and who comes next begins anew. That it goes on for those
// who stay is tested in package flight.
func TestCacheContexts(t *testing.T) {
	started := make(chan struct{}, 2)
	var first atomic.Bool
	first.Store(true)
	e := &countingEngine{Engine: Interp(), hold: func(ctx context.Context) error {
		started <- struct{}{}
		if first.Swap(false) {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}}
	c := NewCache(10)
	p := sumProgram(t)
	leading, cancelLeader := context.WithCancel(context.Background())
	leader := make(chan error, 1)
	go func() { _, err := c.Compile(leading, e, p); leader <- err }()
	<-started

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Compile(gone, e, p); !errors.Is(err, context.Canceled) {
		t.Errorf("one who waits and leaves got %v, want %v", err, context.Canceled)
	}
	cancelLeader()
	if err := <-leader; !errors.Is(err, context.Canceled) {
		t.Errorf("the leader got %v, want %v", err, context.Canceled)
	}
	if _, err := c.Compile(context.Background(), e, p); err != nil {
		t.Errorf("one who came later got %v", err)
	}
	if n := e.count.Load(); n != 2 {
		t.Errorf("%d compilations, want 2", n)
	}
}

func TestCacheDoesNotKeepFailures(t *testing.T) {
	broken := errors.New("broken")
	e := &countingEngine{Engine: Interp()}
	e.hold = func(context.Context) error {
		switch e.count.Load() {
		case 1:
			return broken
		case 2:
			panic("broken badly")
		}
		return nil
	}
	c := NewCache(0) // holds one
	compile := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
			}
		}()
		_, err = c.Compile(context.Background(), e, sumProgram(t))
		return err
	}
	if err := compile(); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if err := compile(); err == nil || !strings.HasPrefix(err.Error(), "panic: broken badly\n") {
		t.Errorf("got %v, want a panic", err)
	}
	if err := compile(); err != nil {
		t.Error(err)
	}
	if n := c.Stats().Entries; n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

// TestCacheSharesCode compiles programs that differ in names alone once, and each keeps its names.
func TestCacheSharesCode(t *testing.T) {
	e := &countingEngine{Engine: Interp()}
	c := NewCache(10)
	renamed := func(name string) *loop.Program {
		p := sumProgram(t)
		p.Name = name
		p.Buffers[0].Name = name + "_vals"
		return p
	}
	var list []*Executable
	for _, name := range []string{"a", "b", "b", "a"} {
		x, err := c.Compile(t.Context(), e, renamed(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Program(); got.Name != name || got.Buffers[0].Name != name+"_vals" {
			t.Errorf("%s became %s with %s", name, got.Name, got.Buffers[0].Name)
		}
		list = append(list, x)
	}
	if n := e.count.Load(); n != 1 {
		t.Errorf("%d compilations, want 1", n)
	}
	if list[1] != list[2] || list[0] != list[3] || list[0] == list[1] {
		t.Error("programs of one text have several executables, or of several texts one")
	}
	other := renamed("c")
	other.Partitions[0].Grain++
	if _, err := c.Compile(t.Context(), e, other); err != nil || e.count.Load() != 2 {
		t.Errorf("another program: %d compilations (%v)", e.count.Load(), err)
	}
}
