//go:build linux && (amd64 || arm64)

package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"syscall"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// board is where ranks that are goroutines tell each other what they do: each writes what it sends, and reads when all have. It is for a thousand ranks, which package ranks would
// have exchange a million messages each time.
type board struct {
	size    int
	mu      sync.Mutex
	all     *sync.Cond
	written int
	call    int
	out     [2][][][]byte // of this call, and of the one before, which some may read still
	failed  chan struct{}
	err     error
}

func newBoard(n int) *board {
	b := &board{size: n, failed: make(chan struct{}), out: [2][][][]byte{make([][][]byte, n), make([][][]byte, n)}}
	b.all = sync.NewCond(&b.mu)
	return b
}

// alone is one rank's end of a group that goes on without the others: after some calls of Exchange and Vote they all say what this one says, as ranks that agree do, and
// what they send in Start counts as there. So a run takes the processor time of the one rank, neither that of the network, which the model has, nor that of
// waiting. It implements transport.Transport.
type alone struct {
	*board
	rank  int
	calls int // of Exchange and Vote
	stays int // of those, for how many the others are there
}

func (t *alone) Rank() int { return t.rank }
func (t *alone) Size() int { return t.size }

func (t *alone) Exchange(_ context.Context, out [][]byte) ([][]byte, error) {
	if t.calls++; t.calls > t.stays {
		return slices.Repeat([][]byte{out[t.rank]}, t.size), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	call, board := t.call, t.out[t.call%2]
	board[t.rank] = out
	if t.written++; t.written == t.size {
		t.written, t.call = 0, t.call+1
		t.all.Broadcast()
	}
	for t.call == call && t.err == nil {
		t.all.Wait()
	}
	if t.err != nil {
		return nil, t.err
	}
	in := make([][]byte, t.size)
	for r := range in {
		in[r] = board[r][t.rank]
	}
	return in, nil
}

func (t *alone) Vote(ctx context.Context, yes bool) (transport.Voting, error) {
	in, err := t.Exchange(ctx, slices.Repeat([][]byte{make([]byte, map[bool]int{false: 1}[yes])}, t.size))
	return voted(!slices.ContainsFunc(in, func(b []byte) bool { return len(b) > 0 })), err
}

type voted bool

func (v voted) Wait(context.Context) (bool, error) { return bool(v), nil }

func (t *alone) Start(context.Context, [][]byte, [][]byte) (transport.Pending, error) {
	return arrived{}, nil
}

type arrived struct{}

func (arrived) Wait(context.Context) error { return nil }

func (t *alone) Buffer(n int) ([]byte, error) { return transport.Aligned(n), nil }
func (t *alone) Free([]byte)                  {}
func (t *alone) Sent() []transport.Traffic    { return make([]transport.Traffic, t.size) }
func (t *alone) Failed() <-chan struct{}      { return t.failed }
func (t *alone) Close() error                 { return nil }

func (t *alone) Abort(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = &transport.Error{Rank: t.rank, Reason: reason}
		close(t.failed)
		t.all.Broadcast()
	}
}

// together has n ranks do something.
func together(n int, f func(*alone) error) error {
	b, errs := newBoard(n), make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			t := &alone{board: b, rank: r, stays: math.MaxInt}
			if errs[r] = f(t); errs[r] != nil {
				t.Abort(errs[r].Error())
			}
		})
	}
	wg.Wait()
	return cmp.Or(b.err, errors.Join(errs...))
}

// timed is the processor time of one call of each of two functions, which take turns: the least of several, so that other work does not count, as long as it
// leaves caches and memory alone, and where it does not, it slows both.
func (s *simulation) timed(one, part func() error) (least [2]float64, err error) {
	const turns = 4
	for turn := range turns + 1 {
		for k, f := range []func() error{one, part} {
			total, warm := 0.0, turn == 0
			for n := 0; n < 3*k || n == 0 || k == 1 && total < s.seconds/turns && n < 1000; n++ {
				start := processorTime()
				if err := f(); err != nil {
					return least, err
				}
				took := processorTime() - start
				if total += took; !warm && (least[k] == 0 || took < least[k]) {
					least[k] = took
				}
			}
		}
	}
	return least, nil
}

func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
