package transport

import (
	"context"
	"runtime"
	"time"
)

// Watch returns a context that ends when the group fails, for work that would go on for nothing.
func Watch(ctx context.Context, t Transport) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		select {
		case <-t.Failed():
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// Spin asks for a tenth of a millisecond whether a channel is closed, and reports whether it is: to be woken from a sleep takes longer than what ranks of one
// process mostly wait for.
func Spin(told <-chan struct{}) bool {
	looks := 1
	if runtime.GOMAXPROCS(0) > 1 { // what is waited for goes on meanwhile, and to let others run costs more than many looks
		looks = 256
	}
	for began := time.Now(); time.Since(began) < 100*time.Microsecond; runtime.Gosched() {
		for range looks {
			select {
			case <-told:
				return true
			default:
			}
		}
	}
	return false
}
