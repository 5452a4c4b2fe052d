package runtime

import (
	"context"
	"sync"
)

// Underway is work on an accelerator that nobody has waited for yet: runs that name it in their options put what they do
// into one queue, one after the other, and leave results on the device before these are computed, if they can tell
// without waiting that the run will end well. Wait ends it. The zero value is ready, and is used once. Runs that it is given to come one
// after the other; other ones, and copies, that read what is not computed yet wait for all of it.
type Underway struct {
	// Recording, if not nil, is what records the runs.
	Recording *Recording

	mu   sync.Mutex // held by a run, and while what it left is waited for
	q    queue      // nil before the first run, and at the end
	of   accelerator
	idle bool // nothing is in the queue
	held []*residentBlock
	err  error // of waiting

	late sync.Mutex // guards what follows; held for a moment
	done bool
	old  []*residentBlock // to be given back at the end
}

// begin takes the queue for a run on a device, which calls leave at its end. It is not ok once Wait was called.
func (u *Underway) begin(ctx context.Context, device accelerator) (q queue, ok bool, err error) {
	u.mu.Lock()
	if u.q == nil && !u.ended() {
		u.q, err = device.queue(ctx)
		u.of = device
		if u.Recording != nil && err == nil {
			u.Recording.device, u.q = device, recorder{u.q, u.Recording}
		}
	}
	if u.q == nil || u.of != device {
		u.mu.Unlock()
		return nil, false, err
	}
	return u.q, true, nil
}

// leave ends a run, of which the queue still has work unless it is idle: what it uses is held to the end.
func (u *Underway) leave(held []*residentBlock, idle bool) {
	u.q.rewind()
	u.held, u.idle = append(u.held, held...), idle
	u.mu.Unlock()
}

// Wait waits until what the runs have left is computed, and fit for everybody who uses the device. If ctx ends before, it returns
// its error; what the work uses is held until it is done all the same. Waiting for nothing costs nothing, and with a context that has ended
// never takes long.
func (u *Underway) Wait(ctx context.Context) error {
	if !u.mu.TryLock() { // the work of somebody whose context has ended may be waited for behind his back
		if err := ctx.Err(); err != nil {
			return err
		}
		u.mu.Lock()
	}
	if u.q != nil && !u.idle {
		if err := u.q.publish(ctx); err != nil {
			go func() {
				u.err = u.q.wait(context.Background())
				u.end()
				u.mu.Unlock()
			}()
			return err
		}
	}
	u.end()
	err := u.err
	u.mu.Unlock()
	return err
}

func (u *Underway) ended() bool {
	u.late.Lock()
	defer u.late.Unlock()
	return u.done
}

// end gives back what was held.
func (u *Underway) end() {
	u.late.Lock()
	u.done = true
	old := u.old
	u.old = nil
	u.late.Unlock()
	if u.q != nil {
		u.q.close()
		u.q = nil
	}
	doneAll(u.held)
	u.held = nil
	for _, b := range old {
		b.giveBack()
	}
}

// keep takes a block that is to be given back while work that writes it is under way. It is false if none is.
func (u *Underway) keep(b *residentBlock) bool {
	u.late.Lock()
	defer u.late.Unlock()
	if u.done {
		return false
	}
	u.old = append(u.old, b)
	return true
}
