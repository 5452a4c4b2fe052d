// Package flight has work done once for all who ask for it at the same time.
//
// It is what is in front of everything that is made once and kept: kernels, their
// variants, conversions of operands. golang.org/x/sync/singleflight does the same
// without contexts; here the work has one, which ends when nobody waits any more.
package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group runs work by key. The zero Group is ready; it is safe for concurrent use.
type Group[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*call[V]
}

// call is work under way.
type call[V any] struct {
	waiting  int                // guarded by Group.mu
	stop     context.CancelFunc // of the work
	done     chan struct{}      // closed when what follows is there
	value    V
	err      error
	panicked *Panic
}

// Panic is what Do panics with if the work did.
type Panic struct {
	Value any
	Stack []byte // of the work
}

// String is what Go prints if nobody recovers.
func (p *Panic) String() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Do returns what have has for the key or, if that is not ok, what work returns: those
// who ask for a key while work for it is under way wait for that. Whoever's ctx
// ends leaves at once with its error. The context of the work has the values of the first
// caller's, and ends when all have left; who comes then begins anew.
//
// have is called with the group locked, so it must not wait. Work must itself store what have
// finds, and keep what it reads: those who asked for it may have left. If it panics, all who wait do, with a *Panic.
func (g *Group[K, V]) Do(ctx context.Context, key K, have func() (V, bool), work func(context.Context) (V, error)) (V, error) {
	c, v := g.join(ctx, key, have, work)
	if c == nil {
		return v, nil
	}
	select {
	case <-c.done:
	default: // what is done is returned whether or not ctx has ended
		select {
		case <-c.done:
		case <-ctx.Done():
			g.leave(key, c)
			return v, ctx.Err()
		}
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.value, c.err
}

// join begins work, or takes part in what is under way; there is no call if have has the value.
func (g *Group[K, V]) join(ctx context.Context, key K, have func() (V, bool), work func(context.Context) (V, error)) (*call[V], V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := have()
	if ok {
		return nil, v
	}
	c := g.calls[key]
	if c == nil {
		c = &call[V]{done: make(chan struct{})}
		ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
		if g.calls == nil {
			g.calls = map[K]*call[V]{}
		}
		g.calls[key] = c
		go g.run(ctx, key, c, work)
	}
	c.waiting++
	return c, v
}

// run does the work of a call.
func (g *Group[K, V]) run(ctx context.Context, key K, c *call[V], work func(context.Context) (V, error)) {
	c.err = errors.New("BUG: the work ended its goroutine")
	defer func() {
		if r := recover(); r != nil {
			var of bool
			if c.panicked, of = r.(*Panic); !of { // or of work that this work waited for
				c.panicked = &Panic{r, debug.Stack()}
			}
		}
		g.mu.Lock()
		g.forget(key, c)
		g.mu.Unlock()
		c.stop()
		close(c.done)
	}()
	c.value, c.err = work(ctx)
}

// leave is for one who does not wait any more.
func (g *Group[K, V]) leave(key K, c *call[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		g.forget(key, c)
		c.stop()
	}
}

// forget ends a call, unless another has begun since.
func (g *Group[K, V]) forget(key K, c *call[V]) {
	if g.calls[key] == c {
		delete(g.calls, key)
	}
}
