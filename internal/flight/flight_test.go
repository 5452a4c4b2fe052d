package flight

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// held is work for one key that counts how often it runs, and waits until it is let go.
type held struct {
	group   Group[string, int]
	runs    atomic.Int64
	started chan context.Context
	letGo   chan error
}

func newHeld() *held {
	return &held{started: make(chan context.Context, 10), letGo: make(chan error)}
}

func nothing() (int, bool) { return 0, false }

func (h *held) do(ctx context.Context) (int, error) {
	return h.group.Do(ctx, "key", nothing, func(ctx context.Context) (int, error) {
		n := h.runs.Add(1)
		h.started <- ctx
		select {
		case err := <-h.letGo:
			return int(n), err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

// waiters is how many wait for the key.
func (h *held) waiters() int {
	h.group.mu.Lock()
	defer h.group.mu.Unlock()
	if c := h.group.calls["key"]; c != nil {
		return c.waiting
	}
	return 0
}

// ask starts callers that wait, and returns what they will get.
func (h *held) ask(n int, ctx context.Context) (errs chan error) {
	errs = make(chan error, n)
	want := h.waiters() + n
	for range n {
		go func() { _, err := h.do(ctx); errs <- err }()
	}
	for h.waiters() < want {
		runtime.Gosched()
	}
	return errs
}

func TestOnceForAll(t *testing.T) {
	for _, want := range []error{nil, errors.New("it failed")} {
		h := newHeld()
		errs := h.ask(16, context.Background())
		h.letGo <- want
		for range 16 {
			if err := <-errs; err != want {
				t.Errorf("one who waited got %v, want %v", err, want)
			}
		}
		if n := h.runs.Load(); n != 1 {
			t.Errorf("the work ran %d times, want 1", n)
		}
	}
}

func TestFirstLeaves(t *testing.T) {
	h := newHeld()
	ctx, cancel := context.WithCancel(context.Background())
	first := h.ask(1, ctx)
	others := h.ask(3, context.Background())
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first got %v, want %v", err, context.Canceled)
	}
	if work := <-h.started; work.Err() != nil {
		t.Errorf("the work was stopped although others wait")
	}
	h.letGo <- nil
	for range 3 {
		if err := <-others; err != nil {
			t.Errorf("one who stayed got %v", err)
		}
	}
	if n := h.runs.Load(); n != 1 {
		t.Errorf("the work ran %d times, want 1", n)
	}
}

func TestAllLeave(t *testing.T) {
	h := newHeld()
	ctx, cancel := context.WithCancel(context.Background())
	all := h.ask(4, ctx)
	cancel()
	for range 4 {
		if err := <-all; !errors.Is(err, context.Canceled) {
			t.Errorf("one who left got %v, want %v", err, context.Canceled)
		}
	}
	<-(<-h.started).Done() // or the test hangs
	// Who comes now does not get the error of what was stopped.
	later := h.ask(1, context.Background())
	h.letGo <- nil
	if err := <-later; err != nil {
		t.Errorf("one who came later got %v", err)
	}
}

func TestHaveComesFirst(t *testing.T) {
	var g Group[string, int]
	got, err := g.Do(context.Background(), "key", func() (int, bool) { return 7, true }, func(context.Context) (int, error) {
		t.Error("work was done for what is there")
		return 0, nil
	})
	if got != 7 || err != nil {
		t.Errorf("got %d, %v, want 7", got, err)
	}
}

func TestPanicReachesAll(t *testing.T) {
	var g Group[string, int]
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			defer func() {
				if p, ok := recover().(*Panic); !ok || p.Value != "broken" || len(p.Stack) == 0 {
					t.Errorf("one who waited recovered %v", p)
				}
			}()
			g.Do(context.Background(), "key", nothing, func(context.Context) (int, error) {
				<-begin
				panic("broken")
			})
		})
	}
	close(begin)
	wg.Wait()
	if _, err := g.Do(context.Background(), "key", nothing, func(context.Context) (int, error) { return 1, nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}
