package nccl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// comm is a rank's communicator of NCCL. It does not block: its calls return at once, and what they have begun is asked
// after, so that it can be ended.
type comm struct {
	*lanes
	lib  *library
	rank int

	mu     sync.Mutex // NCCL wants one call to a communicator at a time
	handle uintptr    // 0: aborted or closed
}

// patience is how long what others need not be waited for may take.
const patience = 10 * time.Second

// newComm makes the communicator of a rank; all ranks of t call it. A rank that cannot join aborts the group.
func newComm(ctx context.Context, t transport.Transport, l *lanes) (*comm, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	if err := transport.Agree(ctx, t, []transport.Fact{{Name: "version of NCCL", Value: lib.versionText()}}); err != nil {
		return nil, err
	}
	out := make([][]byte, t.Size())
	if t.Rank() == 0 {
		id, err := lib.uniqueID()
		if err != nil {
			return nil, err
		}
		for r := range out {
			out[r] = id
		}
	}
	in, err := t.Exchange(ctx, out)
	if err != nil {
		return nil, err
	}
	if len(in[0]) != idBytes {
		return nil, fmt.Errorf("rank 0 tells an id of %d bytes, not %d", len(in[0]), idBytes)
	}
	c := &comm{lib: lib, lanes: l, rank: t.Rank()}
	err = l.device.Do(func() error {
		c.handle, err = lib.initRank(t.Size(), t.Rank(), in[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	watched, stop := transport.Watch(ctx, t)
	defer stop()
	if err := c.settle(watched); err != nil {
		c.abort()
		return nil, err
	}
	return c, nil
}

func (c *comm) name() string { return "NCCL " + c.lib.versionText() }

// errAborted is the error of calls that come after the end.
var errAborted = errors.New("the communicator of NCCL was aborted")

// do makes calls on a thread that has the device.
func (c *comm) do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle == 0 {
		return errAborted
	}
	return c.device.Do(f)
}

// settle waits until what was begun is begun, for which NCCL may need the other ranks.
func (c *comm) settle(ctx context.Context) error {
	state := new(result)
	return cuda.Await(ctx, func() (done bool, err error) {
		err = c.do(func() error {
			if err := c.lib.call(c.handle, &c.lib.commGetAsyncError, c.handle, uintptr(unsafe.Pointer(state))); err != nil {
				return err
			}
			if *state != success && *state != inProgress {
				return c.lib.fault(c.handle, &c.lib.commGetAsyncError, *state)
			}
			return nil
		})
		return *state == success, err
	})
}

// swap implements carrier. What is sent has gone when what comes is there.
func (c *comm) swap(out, in []transport.Span, made, idle *mark) (arrived, sent func(context.Context) error, err error) {
	own, wire := c.rank, c.wires[0]
	if err := errors.Join(wire.Wait(made.event), wire.Wait(idle.event),
		wire.CopyOnDevice(cuda.Ptr(in[own].Address), cuda.Ptr(out[own].Address), uint64(in[own].Bytes))); err != nil {
		return nil, nil, err
	}
	if err := c.do(func() error { return c.post(out, in) }); err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) error {
		if err := c.settle(ctx); err != nil {
			return err
		}
		done, err := c.mark(nil, wire)
		if err != nil {
			return err
		}
		defer c.keep(done)
		return c.work.Wait(done.event)
	}, func(context.Context) error { return nil }, nil
}

// post calls sends and receives as one group, in which their order does not matter.
func (c *comm) post(out, in []transport.Span) error {
	l := c.lib
	if err := l.call(0, &l.groupStart); err != nil {
		return err
	}
	var err error
	for r := range out {
		if r == c.rank {
			continue
		}
		if n := in[r].Bytes; n > 0 && err == nil {
			err = l.call(c.handle, &l.recv, uintptr(in[r].Address), uintptr(n), int8Type, uintptr(r), c.handle, c.wires[0].Handle())
		}
		if n := out[r].Bytes; n > 0 && err == nil {
			err = l.call(c.handle, &l.send, uintptr(out[r].Address), uintptr(n), int8Type, uintptr(r), c.handle, c.wires[0].Handle())
		}
	}
	return errors.Join(err, l.call(c.handle, &l.groupEnd))
}

// abort implements carrier.
func (c *comm) abort() {
	_ = c.do(func() error {
		defer func() { c.handle = 0 }()
		return c.lib.call(0, &c.lib.commAbort, c.handle)
	})
}

func (c *comm) aborted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handle == 0
}

// close implements carrier.
func (c *comm) close(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if c.aborted() {
		return nil
	}
	if err := c.do(func() error { return c.lib.call(c.handle, &c.lib.commFinalize, c.handle) }); err != nil {
		c.abort()
		return err
	}
	if err := c.settle(ctx); err != nil {
		c.abort()
		return fmt.Errorf("NCCL does not come to an end: %w", err)
	}
	return c.do(func() error {
		defer func() { c.handle = 0 }()
		return c.lib.call(0, &c.lib.commDestroy, c.handle)
	})
}
