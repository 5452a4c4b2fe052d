package nccl

import (
	"context"
	"fmt"
	"slices"
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
	linked     bool // devices reach each other's memory
	call       int
	seen       []place // by rank, the latest mark of it for which messages from there wait
	cleared    []place // by stream, the latest mark of this rank for which what comes there waits
	dead       context.Context
	die        context.CancelFunc
}

// place is a mark as it was set at some time, and the stream that waits for it.
type place struct {
	*mark
	set  int
	wire *cuda.Stream
}

// alongside is the length of a message that is worth a stream of its own: where several copy from the same rank one after the other, all of them wait.
const alongside = 1 << 20

func (p *peers) join(rank, size int, l *lanes, linked bool) *peer {
	q := &peer{peers: p, lanes: l, rank: rank, size: size, linked: linked, seen: make([]place, size), cleared: make([]place, size)}
	q.dead, q.die = context.WithCancel(context.Background())
	return q
}

func (p *peer) name() string { return "peer copies" }

// exchange is what a rank does in one swap.
type exchange struct {
	*peer
	sends, takes []*handover
	into         []transport.Span // by takes
	idle         *mark
	began        []*cuda.Stream // the streams whose messages wait for idle
	last         []*mark        // by those, the latest message
	own          *mark          // that from the rank to itself
}

// swap implements carrier. It tells the others what there is to be had. arrived copies what comes, each message behind what makes it, and sent waits for
// the others' copies.
func (p *peer) swap(out, in []transport.Span, made, idle *mark) (arrived, sent func(context.Context) error, err error) {
	call := p.call
	p.call++
	e := &exchange{peer: p, idle: idle}
	for k := 1; k < p.size; k++ { // so that not all copy from the same one at the same time
		r := (p.rank + k) % p.size
		if out[r].Bytes > 0 {
			x := p.handover(hop{call, p.rank, r})
			x.from, x.made, x.set, x.span = p, made, made.set, out[r]
			close(x.posted)
			e.sends = append(e.sends, x)
		}
		if in[r].Bytes > 0 {
			e.takes = append(e.takes, p.handover(hop{call, r, p.rank}))
			e.into = append(e.into, in[r])
		}
	}
	if in[p.rank].Bytes > 0 {
		x := &handover{from: p, made: made, set: made.set, span: out[p.rank]}
		if err := e.copy(x, in[p.rank]); err != nil {
			return nil, nil, err
		}
		e.own = x.done
	}
	return e.arrived, e.sent, nil
}

func (e *exchange) arrived(ctx context.Context) error {
	for i, x := range e.takes {
		if err := e.until(ctx, x.posted); err != nil {
			return err
		}
		if x.span.Bytes != e.into[i].Bytes {
			return fmt.Errorf("%d bytes come where %d are expected", x.span.Bytes, e.into[i].Bytes)
		}
		if err := e.copy(x, e.into[i]); err != nil {
			return err
		}
	}
	for _, m := range e.last {
		if err := e.work.Wait(m.event); err != nil {
			return err
		}
	}
	for _, x := range e.takes { // whose senders make the marks spare ones
		close(x.taken)
	}
	if e.own != nil {
		e.keep(e.own)
	}
	return nil
}

func (e *exchange) sent(ctx context.Context) error {
	for _, x := range e.sends {
		if err := e.until(ctx, x.taken); err != nil {
			return err
		}
		if err := e.work.Wait(x.done.event); err != nil {
			return err
		}
		x.to.keep(x.done)
	}
	return nil
}

// copy copies a message.
func (e *exchange) copy(x *handover, into transport.Span) error {
	n := 0
	if into.Bytes >= alongside {
		n = (x.from.rank - e.rank + e.size) % e.size
	}
	wire, err := e.wire(n)
	if err != nil {
		return err
	}
	k := slices.Index(e.began, wire)
	if k < 0 {
		if at := (place{e.idle, e.idle.set, wire}); e.cleared[n] != at {
			e.cleared[n] = at
			if err := wire.Wait(e.idle.event); err != nil {
				return err
			}
		}
		k = len(e.began)
		e.began, e.last = append(e.began, wire), append(e.last, nil)
	}
	if at := (place{x.made, x.set, wire}); e.seen[x.from.rank] != at {
		e.seen[x.from.rank] = at
		if err := wire.Wait(x.made.event); err != nil {
			return err
		}
	}
	to, from := cuda.Ptr(into.Address), cuda.Ptr(x.span.Address)
	if e.linked {
		err = wire.CopyOnDevice(to, from, uint64(into.Bytes))
	} else {
		err = wire.CopyFrom(to, x.from.device, from, uint64(into.Bytes))
	}
	if err != nil {
		return err
	}
	if x.done, err = e.mark(nil, wire); err != nil {
		return err
	}
	e.last[k] = x.done
	x.to = e.peer
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
