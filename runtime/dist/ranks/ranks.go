// Package ranks is a group of ranks that are goroutines of one process, for tests, for programs that cut their work on one
// machine, and for who has no MPI. On request messages take their time and come in any order, and ranks die.
package ranks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Faults are what may go wrong between ranks. The zero Faults is a network without any.
type Faults struct {
	// Delay is how long a message may take: each takes a random part of it, so messages overtake each other.
	Delay time.Duration
	Seed  uint64
	// Lose says by rank after how many collective calls it dies. The next one never returns: its goroutine ends.
	Lose map[int]int
}

// closing is how long Close waits for the other ranks.
const closing = 10 * time.Second

// Run calls f on n ranks, each on a goroutine of its own, and returns when all have ended. Where f returns an error, panics
// or does not return, the group is aborted with that. The error is that of the rank that failed first.
func Run(ctx context.Context, n int, faults Faults, f func(context.Context, transport.Transport) error) error {
	list, err := New(n, faults)
	if err != nil {
		return err
	}
	return Each(ctx, list, f)
}

// Each is Run for ranks that there are: the ends of one group.
func Each[T transport.Transport](ctx context.Context, list []T, f func(context.Context, T) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for r, t := range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ended := false
			defer func() {
				if p := recover(); p != nil {
					errs[r] = fmt.Errorf("BUG: %v", p)
					t.Abort(errs[r].Error())
				} else if !ended {
					t.Abort("it has died")
				}
			}()
			err := f(ctx, t)
			if ended, errs[r] = true, err; err != nil {
				t.Abort(err.Error())
				return
			}
			errs[r] = t.Close()
		}()
	}
	wg.Wait()
	// Errors that only tell of another rank's say less than that one's own.
	var of *transport.Error
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil && !errors.As(err, &of) }); i >= 0 {
		return errs[i]
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// New returns the transports of n ranks.
func New(n int, faults Faults) ([]transport.Transport, error) {
	if n < 1 || n > 1<<16 {
		return nil, fmt.Errorf("a group of %d ranks: there may be 1 to %d", n, 1<<16)
	}
	g := &group{
		size: n, faults: faults, failed: make(chan struct{}), slots: map[key]*slot{}, left: slices.Repeat([]int{-1}, n),
		allLeft: make(chan struct{}), random: rand.New(rand.NewPCG(faults.Seed, 1)),
	}
	list := make([]transport.Transport, n)
	for r := range list {
		list[r] = &rank{group: g, rank: r, sent: make([]transport.Traffic, n)}
	}
	return list, nil
}

// group is what ranks have in common.
type group struct {
	size   int
	faults Faults

	mu      sync.Mutex
	slots   map[key]*slot
	left    []int // after how many collective calls a rank has left; -1: it has not
	allLeft chan struct{}
	random  *rand.Rand

	failing sync.Once
	failed  chan struct{} // closed when err is set
	err     *transport.Error
}

// fail ends the group, the first time.
func (g *group) fail(rank int, reason string) {
	g.failing.Do(func() {
		g.err = &transport.Error{Rank: rank, Reason: reason}
		close(g.failed)
	})
}

func (g *group) failure() error {
	select {
	case <-g.failed:
		return g.err
	default:
		return nil
	}
}

// key is one message: of the calls of its two ranks with a number.
type key struct{ call, from, to int }

// kind is the collective call that a message is of.
type kind uint8

const (
	exchange kind = iota
	start
	vote
)

var kindNames = [...]string{"Exchange", "Start", "Vote"}

// slot is where a message is handed over: when both sides are there, it is copied from one's memory to the other's, which is
// what real networks may do at any time between Start and Wait.
type slot struct {
	out, in      []byte
	sends, takes bool
	sent, taken  kind
	done         chan struct{}
}

// slot is that of a key. The lock is held.
func (g *group) slot(k key) *slot {
	s := g.slots[k]
	if s == nil {
		s = &slot{done: make(chan struct{})}
		g.slots[k] = s
	}
	return s
}

// send puts a message where its receiver finds it.
func (g *group) send(k key, what kind, out []byte) *slot {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.slot(k)
	s.out, s.sent, s.sends = out, what, true
	g.match(k, s)
	return s
}

// take asks for a message: into in, unless that is nil.
func (g *group) take(k key, what kind, in []byte) *slot {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.slot(k)
	s.in, s.taken, s.takes = in, what, true
	if n := g.left[k.from]; n >= 0 && k.call >= n {
		g.fail(k.from, gone)
	}
	g.match(k, s)
	return s
}

const gone = "it has left the group, and others wait for it"

// match hands a message over if both sides are there. The lock is held.
func (g *group) match(k key, s *slot) {
	if !s.sends || !s.takes {
		return
	}
	delete(g.slots, k)
	switch {
	case s.sent != s.taken:
		g.fail(k.from, fmt.Sprintf("it is in %s, where rank %d is in %s", kindNames[s.sent], k.to, kindNames[s.taken]))
		return
	case s.taken == start && len(s.in) != len(s.out):
		g.fail(k.from, fmt.Sprintf("it sends %d bytes to rank %d, which expects %d", len(s.out), k.to, len(s.in)))
		return
	}
	if g.faults.Delay <= 0 {
		s.copy()
		return
	}
	time.AfterFunc(time.Duration(g.random.Int64N(int64(g.faults.Delay))), s.copy)
}

func (s *slot) copy() {
	if s.taken != start {
		s.in = slices.Clone(s.out)
	}
	copy(s.in, s.out)
	close(s.done)
}

// leave notes that a rank has left after a number of calls.
func (g *group) leave(rank, calls int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left[rank] >= 0 {
		return
	}
	g.left[rank] = calls
	for k, s := range g.slots {
		if k.from == rank && s.takes && k.call >= calls {
			g.fail(rank, gone)
		}
	}
	if !slices.Contains(g.left, -1) {
		close(g.allLeft)
	}
}

// rank is one rank's end; it implements transport.Transport.
type rank struct {
	*group
	rank  int
	calls int
	sent  []transport.Traffic
}

func (t *rank) Rank() int { return t.rank }
func (t *rank) Size() int { return t.size }

// call begins a collective call, and returns its number.
func (t *rank) call(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, t.stopped(err)
	}
	if n, dies := t.faults.Lose[t.rank]; dies && t.calls >= n {
		goruntime.Goexit()
	}
	t.calls++
	return t.calls - 1, t.failure()
}

// begin posts both sides of messages to and of all ranks; those that a filter does not want, of lengths that both know, are left out.
func (t *rank) begin(ctx context.Context, what kind, out, in [][]byte) (*pending, error) {
	call, err := t.call(ctx)
	if err != nil {
		return nil, err
	}
	p := &pending{rank: t}
	for r := range t.size {
		if r == t.rank {
			continue
		}
		if what != start || len(in[r]) > 0 {
			p.taken = append(p.taken, from{r, t.take(key{call, r, t.rank}, what, element(in, r))})
		}
		if what != start || len(out[r]) > 0 {
			p.slots = append(p.slots, t.send(key{call, t.rank, r}, what, element(out, r)))
		}
		if n := len(element(out, r)); n > 0 && what != vote {
			t.sent[r].Messages++
			t.sent[r].Bytes += int64(n)
		}
	}
	return p, nil
}

func element(list [][]byte, r int) []byte {
	if list == nil {
		return nil
	}
	return list[r]
}

// Exchange implements transport.Transport.
func (t *rank) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if len(out) != t.size {
		return nil, fmt.Errorf("an exchange among %d ranks sends %d messages", t.size, len(out))
	}
	p, err := t.begin(ctx, exchange, out, nil)
	if err != nil {
		return nil, err
	}
	if err := p.Wait(ctx); err != nil {
		return nil, err
	}
	in := make([][]byte, t.size)
	in[t.rank] = slices.Clone(out[t.rank])
	for _, f := range p.taken {
		in[f.rank] = f.in
	}
	return in, nil
}

// Start implements transport.Transport.
func (t *rank) Start(ctx context.Context, out, in [][]byte) (transport.Pending, error) {
	if err := transport.CheckLengths(t.rank, t.size, out, in); err != nil {
		return nil, err
	}
	copy(in[t.rank], out[t.rank])
	return t.begin(ctx, start, out, in)
}

// Vote implements transport.Transport.
func (t *rank) Vote(ctx context.Context, yes bool) (transport.Voting, error) {
	v := &voting{no: !yes}
	var out [][]byte
	if v.no {
		out = slices.Repeat([][]byte{{1}}, t.size)
	}
	var err error
	v.pending, err = t.begin(ctx, vote, out, nil)
	return v, err
}

// voting is a vote under way.
type voting struct {
	*pending
	no bool
}

// Wait implements transport.Voting.
func (v *voting) Wait(ctx context.Context) (bool, error) {
	if err := v.pending.Wait(ctx); err != nil {
		return false, err
	}
	return !v.no && !slices.ContainsFunc(v.taken, func(f from) bool { return len(f.in) > 0 }), nil
}

// Buffer implements transport.Transport. Nobody works on it but goroutines.
func (t *rank) Buffer(n int) ([]byte, error) { return transport.Aligned(n), nil }

// Free implements transport.Transport.
func (t *rank) Free([]byte) {}

// Sent implements transport.Transport.
func (t *rank) Sent() []transport.Traffic { return slices.Clone(t.sent) }

// Abort implements transport.Transport.
func (t *rank) Abort(reason string) { t.fail(t.rank, reason) }

// Failed implements transport.Transport.
func (t *rank) Failed() <-chan struct{} { return t.failed }

// Close implements transport.Transport.
func (t *rank) Close() error {
	t.leave(t.rank, t.calls)
	timeout := time.NewTimer(closing)
	defer timeout.Stop()
	select {
	case <-t.allLeft:
	case <-t.failed:
	case <-timeout.C:
		t.fail(t.rank, fmt.Sprintf("it has left, and others have not within %v", closing))
	}
	select {
	case <-t.allLeft: // whatever else
		return nil
	default:
		return t.failure()
	}
}

// pending is a call under way.
type pending struct {
	*rank
	slots []*slot // of what is sent
	taken []from
}

type from struct {
	rank int
	*slot
}

// Wait implements transport.Pending.
func (p *pending) Wait(ctx context.Context) error {
	for _, f := range p.taken {
		if err := p.wait(ctx, f.slot); err != nil {
			return err
		}
	}
	for _, s := range p.slots {
		if err := p.wait(ctx, s); err != nil {
			return err
		}
	}
	return p.failure()
}

func (p *pending) wait(ctx context.Context, s *slot) error {
	if transport.Spin(s.done) {
		return nil
	}
	select {
	case <-s.done:
		return nil
	case <-p.failed:
		return p.err
	case <-ctx.Done():
		return p.stopped(ctx.Err())
	}
}

// stopped ends the group because a call's context has ended.
func (t *rank) stopped(err error) error {
	t.Abort("it was stopped: " + err.Error())
	return err
}
