package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// kind is which collective call an operation is. Those that all tell all have a bit each: a vote, which is a disjunction, finds an exchange by its.
type kind byte

const (
	start kind = iota
	exchange
	vote
)

const kindBits = 2

// wordBytes is how long what all ranks tell all in one call is.
const wordBytes = 8

var kindNames = [1 << kindBits]string{"Start", "Exchange", "Vote", "another call"}

// different says that two ranks are not in the same call.
func different(other int, theirs kind, self int, mine kind) *transport.Error {
	return &transport.Error{Rank: other, Reason: fmt.Sprintf("it is in %s, where rank %d is in %s", kindNames[theirs], self, kindNames[mine])}
}

// operation is a collective call under way. All but done is the server's.
type operation struct {
	kind  kind
	call  int // its number among those of the rank: ranks number them alike
	post  func(s *server, op *operation) error
	left  int    // requests that are not done
	long  bool   // it has long messages
	ended func() // frees what only the server knows of
	done  chan struct{}
}

// begin begins a collective call.
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

// Vote implements transport.Transport. A reduction takes a number of steps that grows with the logarithm of the ranks'. Words are as long as those of
// lengths, so that ranks that are in different calls do no harm before that is noticed.
func (g *Group) Vote(_ context.Context, yes bool) (transport.Voting, error) {
	if g.ballot == nil {
		var err error
		if g.ballot, err = g.Buffer(2 * wordBytes); err != nil {
			return nil, err
		}
	}
	mine, all := g.ballot[:wordBytes], g.ballot[wordBytes:]
	word := uint64(vote)
	if !yes {
		word |= 1 << kindBits
	}
	binary.NativeEndian.PutUint64(mine, word)
	op, err := g.begin(vote, func(s *server, op *operation) error { return s.allreduce(op, mine, all) })
	if err != nil {
		return nil, err
	}
	return &voting{g, op, all}, nil
}

// voting implements transport.Voting.
type voting struct {
	*Group
	op  *operation
	all []byte
}

// Wait implements transport.Voting.
func (v *voting) Wait(ctx context.Context) (bool, error) {
	if err := v.wait(ctx, v.op); err != nil {
		return false, err
	}
	word := binary.NativeEndian.Uint64(v.all)
	if is := kind(word & (1<<kindBits - 1)); is != vote {
		v.abort(&transport.Error{Rank: -1, Reason: fmt.Sprintf("some ranks are in %s, where rank %d is in %s", kindNames[is&^vote], v.rank, kindNames[vote])})
		return false, v.err
	}
	return word>>kindBits == 0, nil
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
	lengths, err := g.lengths(ctx, out)
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
func (g *Group) lengths(ctx context.Context, out [][]byte) ([]int, error) {
	if g.both == nil {
		var err error
		if g.both, err = g.Buffer(2 * wordBytes * g.size); err != nil {
			return nil, err
		}
	}
	mine, theirs := g.both[:wordBytes*g.size], g.both[wordBytes*g.size:]
	for r, b := range out {
		binary.NativeEndian.PutUint64(mine[wordBytes*r:], uint64(len(b))<<kindBits|uint64(exchange))
	}
	op, err := g.begin(exchange, func(s *server, op *operation) error { return s.alltoall(op, mine, theirs, wordBytes) })
	if err != nil {
		return nil, err
	}
	if err := g.wait(ctx, op); err != nil {
		return nil, err
	}
	list := make([]int, g.size)
	for r := range list {
		n := binary.NativeEndian.Uint64(theirs[wordBytes*r:])
		if is := kind(n & (1<<kindBits - 1)); is != exchange {
			g.abort(different(r, is, g.rank, exchange))
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
