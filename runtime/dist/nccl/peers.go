package nccl

import (
	"context"
	"fmt"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// peers are ranks of one process that copy from each other's GPUs: who receives copies, when the sender's data is there.
type peers struct {
	mu    sync.Mutex
	calls map[hop]*handover
}

// hop is a message: of the swap with a number, from one rank to another.
type hop struct{ call, from, to int }

// handover is what sender and receiver tell each other of a message.
type handover struct {
	posted, taken chan struct{}
	from, to      *peer
	span          transport.Span
	ready, done   *cuda.Event // what is sent is there; it has been copied
}

// handover is that of a message; who comes second takes it off the list.
func (p *peers) handover(h hop) *handover {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.calls[h]; x != nil {
		delete(p.calls, h)
		return x
	}
	x := &handover{posted: make(chan struct{}), taken: make(chan struct{})}
	p.calls[h] = x
	return x
}

// peer is one rank's end.
type peer struct {
	*peers
	rank   int
	size   int
	device *cuda.Device
	stream *cuda.Stream
	call   int
	dead   context.Context
	die    context.CancelFunc

	mu     sync.Mutex
	events []*cuda.Event // spare ones
}

func (p *peers) join(rank, size int, device *cuda.Device, stream *cuda.Stream) *peer {
	q := &peer{peers: p, rank: rank, size: size, device: device, stream: stream}
	q.dead, q.die = context.WithCancel(context.Background())
	return q
}

func (p *peer) name() string { return "peer copies" }

// swap implements carrier. It tells the others what there is to be had. What it returns puts the copies into the rank's stream, each behind what
// makes what it copies, and makes that stream wait for the copies of the others.
func (p *peer) swap(out, in []transport.Span) (func(context.Context) error, error) {
	ready, err := p.mark()
	if err != nil {
		return nil, err
	}
	call := p.call
	p.call++
	var sends, takes []*handover
	var into []transport.Span
	for k := 1; k < p.size; k++ { // so that not all copy from the same one at the same time
		r := (p.rank + k) % p.size
		if out[r].Bytes > 0 {
			x := p.handover(hop{call, p.rank, r})
			x.from, x.ready, x.span = p, ready, out[r]
			close(x.posted)
			sends = append(sends, x)
		}
		if in[r].Bytes > 0 {
			takes = append(takes, p.handover(hop{call, r, p.rank}))
			into = append(into, in[r])
		}
	}
	return func(ctx context.Context) error {
		for i, x := range takes {
			if err := p.take(ctx, x, into[i]); err != nil {
				return err
			}
		}
		for _, x := range sends {
			if err := p.until(ctx, x.taken); err != nil {
				return err
			}
			if err := p.stream.Wait(x.done); err != nil {
				return err
			}
			x.to.spare(x.done)
		}
		p.spare(ready) // nobody waits for it any more
		return nil
	}, nil
}

// mark is an event after what stands in the rank's stream: a spare one, if there is one.
func (p *peer) mark() (e *cuda.Event, err error) {
	p.mu.Lock()
	if n := len(p.events); n > 0 {
		e, p.events = p.events[n-1], p.events[:n-1]
	}
	p.mu.Unlock()
	if e == nil {
		if e, err = p.device.NewEvent(); err != nil {
			return nil, err
		}
	}
	return e, e.Record(p.stream)
}

// spare takes back an event of mark.
func (p *peer) spare(e *cuda.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

// take copies a message, when its sender has told where it is.
func (p *peer) take(ctx context.Context, x *handover, into transport.Span) error {
	if err := p.until(ctx, x.posted); err != nil {
		return err
	}
	if x.span.Bytes != into.Bytes {
		return fmt.Errorf("%d bytes come where %d are expected", x.span.Bytes, into.Bytes)
	}
	if err := p.stream.Wait(x.ready); err != nil {
		return err
	}
	if err := p.stream.CopyFrom(cuda.Ptr(into.Address), x.from.device, cuda.Ptr(x.span.Address), uint64(into.Bytes)); err != nil {
		return err
	}
	done, err := p.mark()
	if err != nil {
		return err
	}
	x.to, x.done = p, done
	close(x.taken)
	return nil
}

// until waits for another rank.
func (p *peer) until(ctx context.Context, told chan struct{}) error {
	if transport.Spin(told) {
		return nil
	}
	select {
	case <-told:
		return nil
	case <-p.dead.Done():
		return errAborted
	case <-ctx.Done():
		return ctx.Err()
	}
}

// abort implements carrier.
func (p *peer) abort() { p.die() }

// close implements carrier.
func (p *peer) close(context.Context) error {
	p.die()
	return nil
}
