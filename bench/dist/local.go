//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"slices"
	"syscall"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// alone is one rank's end of a group that goes on without the others: after some calls of Exchange and Vote they all say what this one says, as ranks that agree do, and
// what they send in Start counts as there. So a run takes the processor time of the one rank, neither that of the network, which the model has, nor that of
// waiting.
type alone struct {
	transport.Transport
	calls int // of Exchange and Vote
	stays int // of those, for how many the others are there
}

// Exchange implements transport.Transport.
func (t *alone) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if t.calls++; t.calls <= t.stays {
		return t.Transport.Exchange(ctx, out)
	}
	return slices.Repeat([][]byte{out[t.Rank()]}, t.Size()), nil
}

// Vote implements transport.Transport.
func (t *alone) Vote(ctx context.Context, yes bool) (transport.Voting, error) {
	if t.calls++; t.calls <= t.stays {
		return t.Transport.Vote(ctx, yes)
	}
	return voted(yes), nil
}

type voted bool

func (v voted) Wait(context.Context) (bool, error) { return bool(v), nil }

// Start implements transport.Transport.
func (t *alone) Start(context.Context, [][]byte, [][]byte) (transport.Pending, error) {
	return arrived{}, nil
}

type arrived struct{}

func (arrived) Wait(context.Context) error { return nil }

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
