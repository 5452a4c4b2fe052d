package nccl

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
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
	device        *cuda.Device
	ready         *cuda.Event // what is sent is there
	span          Span
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
	device *cuda.Device
	stream *cuda.Stream
	call   int
	dead   context.Context
	die    context.CancelFunc
}

func (p *peers) join(rank int, device *cuda.Device, stream *cuda.Stream) *peer {
	q := &peer{peers: p, rank: rank, device: device, stream: stream}
	q.dead, q.die = context.WithCancel(context.Background())
	return q
}

func (p *peer) name() string { return "peer copies" }

// swap implements carrier. It tells the others what there is to be had; the copies are made in the background.
func (p *peer) swap(_ context.Context, out, in []Span) (func(context.Context) error, error) {
	ready, err := p.device.NewEvent()
	if err != nil {
		return nil, err
	}
	if err := ready.Record(p.stream); err != nil {
		return nil, err
	}
	call := p.call
	p.call++
	var sends, takes []*handover
	var into []Span
	for r := range out {
		if out[r].Bytes > 0 {
			x := p.handover(hop{call, p.rank, r})
			x.device, x.ready, x.span = p.device, ready, out[r]
			close(x.posted)
			sends = append(sends, x)
		}
		if in[r].Bytes > 0 {
			takes = append(takes, p.handover(hop{call, r, p.rank}))
			into = append(into, in[r])
		}
	}
	done := make(chan error, 1)
	go func() { done <- p.run(sends, takes, into, ready) }()
	return func(ctx context.Context) error {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

// run makes the copies, and waits until others have made theirs. Copies are on a stream of their own: they wait for no work but that
// which makes what is sent.
func (p *peer) run(sends, takes []*handover, into []Span, ready *cuda.Event) error {
	defer ready.Close()
	stream, err := p.device.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close()
	// What is received must not be in use any more: that stands before it in the rank's own stream.
	if err := ready.Synchronize(p.dead); err != nil {
		return err
	}
	for i, x := range takes {
		select {
		case <-x.posted:
		case <-p.dead.Done():
			return errAborted
		}
		if x.span.Bytes != into[i].Bytes {
			return fmt.Errorf("%d bytes come where %d are expected", x.span.Bytes, into[i].Bytes)
		}
		err := x.ready.Synchronize(p.dead)
		if err == nil {
			err = stream.CopyFrom(into[i].Ptr, x.device, x.span.Ptr, x.span.Bytes)
		}
		if err != nil {
			return errors.Join(err, stream.Synchronize(context.Background()))
		}
	}
	if err := stream.Synchronize(context.Background()); err != nil {
		return err
	}
	for _, x := range takes {
		close(x.taken)
	}
	for _, x := range sends {
		select {
		case <-x.taken:
		case <-p.dead.Done():
			return errAborted
		}
	}
	return nil
}

// abort implements carrier.
func (p *peer) abort() { p.die() }

// close implements carrier.
func (p *peer) close(context.Context) error {
	p.die()
	return nil
}
