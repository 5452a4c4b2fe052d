//go:build linux && (amd64 || arm64)

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// overlap measures what it gains to compute rows that need nothing of other ranks while messages travel: products with a banded matrix on ranks of this process, whose
// messages are made to take their time, with both ways in turns.
type overlap struct {
	scale, degree, times, turns int
}

// delays are those of the messages: each takes a random part of one.
var delays = []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond}

func (o overlap) run(ctx context.Context, w io.Writer, n int) error {
	A, err := kinds[1].matrix(o.scale, o.degree)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "## Messages beside kernels\n\nA banded matrix of 2^%d rows with %d entries in each, on %d ranks of one process with a thread each; medians of %d turns of %d products.\n\n", o.scale, o.degree, n, o.turns, o.times)
	fmt.Fprintln(w, "| product | a message takes up to | one after the other | overlapped | gain |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|")
	for _, x := range expressions[:2] {
		args, err := x.operands(A)
		if err != nil {
			return err
		}
		for _, delay := range delays {
			seconds, err := o.measure(ctx, x, args, n, ranks.Faults{Delay: delay, Seed: 1})
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %.2f |\n", x.name, delay, duration(seconds[0]), duration(seconds[1]), seconds[0]/seconds[1])
		}
	}
	return nil
}

// measure is the time of a product, one after the other and overlapped.
func (o overlap) measure(ctx context.Context, x expression, args exec.Args, n int, network ranks.Faults) (medians [2]float64, err error) {
	session := exec.NewSession(exec.WithEngine(runtime.Auto(nil)), exec.WithThreads(1))
	defer func(was int) { debug.Overlap = was }(debug.Overlap)
	var seconds [2][]float64
	err = ranks.Run(ctx, n, network, func(ctx context.Context, t transport.Transport) error {
		var programs [2]*dist.Program
		var placed map[string]*dist.Tensor
		products := func(k, times int) error {
			for range times {
				out, err := programs[k].Run(ctx, placed)
				if err != nil {
					return err
				}
				for _, y := range out {
					y.Part.Release()
				}
			}
			return transport.Barrier(ctx, t)
		}
		for k, way := range []int{-1, 1} {
			if err := transport.Barrier(ctx, t); err != nil {
				return err
			}
			if t.Rank() == 0 {
				debug.Overlap = way
			}
			if err := transport.Barrier(ctx, t); err != nil {
				return err
			}
			_, p, to, err := x.onRank(ctx, session, t, &placement.Grid{Names: []string{"r"}, Sizes: []int{n}}, args, func(r *dist.Rank, _ string, whole *tensor.Tensor) (*dist.Tensor, error) {
				return r.Cut(whole, placement.OneAxis(r.Grid(), whole.Rank(), 0, placement.Blocks(whole.Shape()[0], n), 0))
			})
			if err != nil {
				return err
			}
			defer p.Close()
			programs[k], placed = p, to
			if err := products(k, warm); err != nil {
				return err
			}
		}
		for range o.turns {
			for k := range programs {
				start := time.Now()
				if err := products(k, o.times); err != nil {
					return err
				}
				if t.Rank() == 0 {
					seconds[k] = append(seconds[k], time.Since(start).Seconds()/float64(o.times))
				}
			}
		}
		return nil
	})
	for k, list := range seconds {
		slices.SortFunc(list, cmp.Compare)
		if len(list) > 0 {
			medians[k] = list[len(list)/2]
		}
	}
	return medians, err
}
