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
	made, done    *mark // what is sent is there; it has been copied
	set           int   // of made
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
	*lanes
	rank, size int
	call       int
	seen       []place // by rank, the latest mark of it that wire waits for
	dead       context.Context
	die        context.CancelFunc
}

// place is a mark as it was set at some time.
type place struct {
	*mark
	set int
}

func (p *peers) join(rank, size int, l *lanes) *peer {
	q := &peer{peers: p, lanes: l, rank: rank, size: size, seen: make([]place, size)}
	q.dead, q.die = context.WithCancel(context.Background())
	return q
}

func (p *peer) name() string { return "peer copies" }

// swap implements carrier. It tells the others what there is to be had. arrived copies what comes, each message behind what makes it, and sent waits for
// the others' copies.
func (p *peer) swap(out, in []transport.Span, made, idle *mark) (arrived, sent func(context.Context) error, err error) {
	call := p.call
	p.call++
	var sends, takes []*handover
	var into []transport.Span
	for k := 1; k < p.size; k++ { // so that not all copy from the same one at the same time
		r := (p.rank + k) % p.size
		if out[r].Bytes > 0 {
			x := p.handover(hop{call, p.rank, r})
			x.from, x.made, x.set, x.span = p, made, made.set, out[r]
			close(x.posted)
			sends = append(sends, x)
		}
		if in[r].Bytes > 0 {
			takes = append(takes, p.handover(hop{call, r, p.rank}))
			into = append(into, in[r])
		}
	}
	own := in[p.rank].Bytes > 0
	if own || len(takes) > 0 {
		if err := p.wire.Wait(idle.event); err != nil {
			return nil, nil, err
		}
	}
	if own {
		if err := p.after(p.rank, made, made.set); err != nil {
			return nil, nil, err
		}
		if err := p.wire.CopyOnDevice(cuda.Ptr(in[p.rank].Address), cuda.Ptr(out[p.rank].Address), uint64(in[p.rank].Bytes)); err != nil {
			return nil, nil, err
		}
	}
	return func(ctx context.Context) error {
			for i, x := range takes {
				if err := p.take(ctx, x, into[i]); err != nil {
					return err
				}
			}
			if n := len(takes); n > 0 {
				return p.work.Wait(takes[n-1].done.event)
			}
			if !own {
				return nil
			}
			done, err := p.mark(nil, p.wire)
			if err != nil {
				return err
			}
			defer p.keep(done)
			return p.work.Wait(done.event)
		}, func(ctx context.Context) error {
			for _, x := range sends {
				if err := p.until(ctx, x.taken); err != nil {
					return err
				}
				if err := p.work.Wait(x.done.event); err != nil {
					return err
				}
				x.to.keep(x.done)
			}
			return nil
		}, nil
}

// after makes the messages to come wait for a mark of a rank, unless they do already.
func (p *peer) after(rank int, m *mark, set int) error {
	at := place{m, set}
	if p.seen[rank] == at {
		return nil
	}
	p.seen[rank] = at
	return p.wire.Wait(m.event)
}

// take copies a message, when its sender has told where it is.
func (p *peer) take(ctx context.Context, x *handover, into transport.Span) error {
	if err := p.until(ctx, x.posted); err != nil {
		return err
	}
	if x.span.Bytes != into.Bytes {
		return fmt.Errorf("%d bytes come where %d are expected", x.span.Bytes, into.Bytes)
	}
	if err := p.after(x.from.rank, x.made, x.set); err != nil {
		return err
	}
	if err := p.wire.CopyFrom(cuda.Ptr(into.Address), x.from.device, cuda.Ptr(x.span.Address), uint64(into.Bytes)); err != nil {
		return err
	}
	done, err := p.mark(nil, p.wire)
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
