package invoke

import (
	"context"
	"errors"
	"testing"
)

// Who waits for a compilation does not wait longer than for its context.
func TestWaitForCompilation(t *testing.T) {
	c := &Compilation{done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	c.err = errors.New("refused")
	close(c.done)
	for _, ctx := range []context.Context{ctx, t.Context()} {
		if err := c.Wait(ctx); err != c.err {
			t.Errorf("got %v, want %v", err, c.err)
		}
	}
}
