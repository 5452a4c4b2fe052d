package transport

import "context"

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
