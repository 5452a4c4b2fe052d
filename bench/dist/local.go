//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"sync"
	"syscall"

	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// replay is one end of a group which, when it has heard what the others say in a run, can do without them: every run hears the same again. So a run takes the
// processor time of one rank and nothing else, neither that of the network, which the model has, nor that of waiting.
type replay struct {
	transport.Transport
	playing bool
	heard   [][][]byte // by call of Exchange
	next    int
}

// Exchange implements transport.Transport.
func (t *replay) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if t.playing {
		t.next++
		return t.heard[t.next-1], nil
	}
	in, err := t.Transport.Exchange(ctx, out)
	t.heard = append(t.heard, in)
	return in, err
}

// Start implements transport.Transport: what has come in the run before is there still.
func (t *replay) Start(ctx context.Context, out, in [][]byte) (transport.Pending, error) {
	if t.playing {
		return arrived{}, nil
	}
	return t.Transport.Start(ctx, out, in)
}

type arrived struct{}

func (arrived) Wait(context.Context) error { return nil }

// local measures the work of a rank: of a group of two, of which one has these rows, and the other no row of A but what the first one needs, so that
// what it sends takes the time that the first would take to send as much. Each is timed by itself, as if messages were there.
func (s *simulation) local(ctx context.Context, session *exec.Session, x expression, args exec.Args, rows placement.Set, g *placement.Grid) (seconds float64, err error) {
	n := min(2, g.Sizes[0])
	list, err := ranks.New(n, ranks.Faults{})
	if err != nil {
		return 0, err
	}
	lo, hi, _ := rows.Bounds()
	ends, runs := make([]*replay, n), make([]func() error, n)
	for k := range ends {
		ends[k] = &replay{Transport: list[k]}
	}
	both := func(f func(k int) error) error {
		errs := make([]error, n)
		var wg sync.WaitGroup
		for k := range list {
			wg.Go(func() {
				if errs[k] = f(k); errs[k] != nil {
					list[k].Abort(errs[k].Error())
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	if err := both(func(k int) error {
		_, program, placed, err := x.onRank(ctx, session, ends[k], nil, args, func(r *dist.Rank, name string, whole *tensor.Tensor) (*dist.Tensor, error) {
			var err error
			cut := placement.Single(hi-lo, n, 0)
			switch {
			case name == "A" || name == "U": // which have the result's rows
				whole, err = block(whole, lo, hi, 0, whole.Shape()[1])
			default:
				owners := make([]int64, whole.Shape()[0])
				for i := range owners {
					if int64(i) < lo || int64(i) >= hi {
						owners[i] = int64(n - 1)
					}
				}
				if cut, err = placement.Given(owners, n); err == nil && name == x.split {
					whole, err = block(whole, 0, whole.Shape()[0], 0, placement.Blocks(whole.Shape()[1], g.Sizes[1]).Coords(0).Len())
				}
			}
			if err != nil {
				return nil, err
			}
			return r.Cut(whole, placement.OneAxis(r.Grid(), whole.Rank(), 0, cut, 0))
		})
		runs[k] = func() error {
			_, err := program.Run(ctx, placed)
			return err
		}
		return err
	}); err != nil {
		return 0, err
	}
	for range 2 { // the second is the first that finds what it needs inspected
		if err := both(func(k int) error {
			ends[k].heard = nil
			return runs[k]()
		}); err != nil {
			return 0, err
		}
	}
	for k, t := range ends {
		t.playing = true
		took, err := s.timed(func() error {
			t.next = 0
			return runs[k]()
		})
		if err != nil {
			return 0, err
		}
		seconds += took
	}
	return seconds, nil
}

// block are some rows and columns of a matrix, next to each other.
func block(t *tensor.Tensor, lo, hi, left, right int64) (*tensor.Tensor, error) {
	n := t.Shape()[1]
	var coords [2][]int64
	var values []float64
	all := tensor.View[float64](t.Values())
	if t.Format().IsDense() {
		for i := lo; i < hi; i++ {
			values = append(values, all[i*n+left:i*n+right]...)
		}
		return tensor.FromDense([]int64{hi - lo, right - left}, t.Format(), tensor.ArrayOf(values))
	}
	places := t.Window().Coords(0, t.Values().Len())
	for k, i := range places[0] {
		if j := places[1][k]; i >= lo && i < hi && j >= left && j < right {
			coords[0], coords[1] = append(coords[0], i-lo), append(coords[1], j-left)
			values = append(values, all[k])
		}
	}
	return tensor.FromCoords([]int64{hi - lo, right - left}, t.Format(), coords[:], tensor.ArrayOf(values))
}

// timed is the processor time of one call, the least of several: other work does not count, as long as it leaves caches alone.
func (s *simulation) timed(f func() error) (float64, error) {
	for range warm {
		if err := f(); err != nil {
			return 0, err
		}
	}
	least, total := 0.0, 0.0
	for k := 0; k < 10 || total < s.seconds && k < 1000; k++ {
		start := processorTime()
		if err := f(); err != nil {
			return 0, err
		}
		took := processorTime() - start
		if total += took; least == 0 || took < least {
			least = took
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
