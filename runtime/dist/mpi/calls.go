package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// kind is which collective call an operation is.
type kind byte

const (
	exchange kind = iota
	start
	barrier
)

const kindBits = 2

var kindNames = [1 << kindBits]string{"Exchange", "Start", "Barrier", "another version"}

// different says that two ranks are not in the same call.
func different(other int, theirs kind, self int, mine kind) *transport.Error {
	return &transport.Error{Rank: other, Reason: fmt.Sprintf("it is in %s, where rank %d is in %s", kindNames[theirs], self, kindNames[mine])}
}

// operation is a collective call under way. All but done is the thread's.
type operation struct {
	kind  kind
	call  int // its number among those of the rank: ranks number them alike
	post  func(s *server, op *operation) error
	left  int    // requests that are not done
	ended func() // frees what only the thread knows of
	done  chan struct{}
}

// begin hands a collective call to the thread.
func (g *Group) begin(k kind, post func(*server, *operation) error) (*operation, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.failure(); err != nil {
		return nil, err
	}
	if g.closed {
		return nil, errors.New("the group of ranks is closed")
	}
	op := &operation{kind: k, call: g.calls, post: post, ended: func() {}, done: make(chan struct{})}
	g.calls++
	g.command(func(s *server) { s.start(op) }) // in the order of the numbers
	return op, nil
}

// count adds what is sent to others.
func (g *Group) count(out [][]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, b := range out {
		if r != g.rank && len(b) > 0 {
			g.sent[r].Messages++
			g.sent[r].Bytes += int64(len(b))
		}
	}
}

// Barrier implements transport.Transport.
func (g *Group) Barrier(ctx context.Context) error {
	_, err := g.lengths(ctx, barrier, make([][]byte, g.size))
	return err
}

// Start implements transport.Transport.
func (g *Group) Start(_ context.Context, out, in [][]byte) (transport.Pending, error) {
	if err := transport.CheckLengths(g.rank, g.size, out, in); err != nil {
		return nil, err
	}
	copy(in[g.rank], out[g.rank])
	op, err := g.begin(start, func(s *server, op *operation) error { return s.swap(op, out, in) })
	if err != nil {
		return nil, err
	}
	g.count(out)
	return &pending{g, op}, nil
}

// pending implements transport.Pending.
type pending struct {
	*Group
	op *operation
}

// Wait implements transport.Pending.
func (p *pending) Wait(ctx context.Context) error { return p.wait(ctx, p.op) }

// Exchange implements transport.Transport: lengths first, of all ranks to all, then the messages that are not empty.
func (g *Group) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if len(out) != g.size {
		return nil, fmt.Errorf("an exchange among %d ranks sends %d messages", g.size, len(out))
	}
	lengths, err := g.lengths(ctx, exchange, out)
	if err != nil {
		return nil, err
	}
	mine := make([]int, g.size)
	for r, b := range out {
		mine[r] = len(b)
	}
	mine[g.rank], lengths[g.rank] = 0, 0
	sends, toSend, err := g.parts(mine)
	if err != nil {
		return nil, err
	}
	for r, b := range sends {
		copy(b, out[r])
	}
	takes, toTake, err := g.parts(lengths)
	if err != nil {
		return nil, err
	}
	op, err := g.begin(exchange, func(s *server, op *operation) error { return s.swap(op, sends, takes) })
	if err != nil {
		return nil, err
	}
	g.count(sends)
	if err := g.wait(ctx, op); err != nil {
		return nil, err
	}
	in := make([][]byte, g.size)
	for r, b := range takes {
		in[r] = slices.Clone(b)
	}
	in[g.rank] = slices.Clone(out[g.rank])
	g.Free(toSend)
	g.Free(toTake)
	return in, nil
}

// lengths tells the other ranks how long the messages to them are, and returns how long theirs are. Each comes with the
// kind of the call: libraries do not notice that ranks are in different ones.
func (g *Group) lengths(ctx context.Context, k kind, out [][]byte) ([]int, error) {
	const word = 8
	if g.both == nil {
		var err error
		if g.both, err = g.Buffer(2 * word * g.size); err != nil {
			return nil, err
		}
	}
	mine, theirs := g.both[:word*g.size], g.both[word*g.size:]
	for r, b := range out {
		binary.NativeEndian.PutUint64(mine[word*r:], uint64(len(b))<<kindBits|uint64(k))
	}
	op, err := g.begin(k, func(s *server, op *operation) error { return s.alltoall(op, mine, theirs, word) })
	if err != nil {
		return nil, err
	}
	if err := g.wait(ctx, op); err != nil {
		return nil, err
	}
	list := make([]int, g.size)
	for r := range list {
		n := binary.NativeEndian.Uint64(theirs[word*r:])
		if is := kind(n & (1<<kindBits - 1)); is != k {
			g.abort(different(r, is, g.rank, k))
			return nil, g.err
		}
		list[r] = int(n >> kindBits)
	}
	return list, nil
}

// parts cuts one buffer into messages of given lengths.
func (g *Group) parts(lengths []int) (list [][]byte, whole []byte, err error) {
	total := 0
	for _, n := range lengths {
		if total += n; total < 0 {
			return nil, nil, errors.New("the messages of one exchange have more bytes than can be addressed")
		}
	}
	if whole, err = g.Buffer(total); err != nil {
		return nil, nil, err
	}
	rest := whole
	for _, n := range lengths {
		list, rest = append(list, rest[:n:n]), rest[n:]
	}
	return list, whole, nil
}
