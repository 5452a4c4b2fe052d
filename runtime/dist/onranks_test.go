package dist_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file runs programs on ranks in one process, for the tests of this package.

// session is the interpreter's, which all ranks of a test share, as do the ranks of one process.
func session() *exec.Session {
	return exec.NewSession(exec.WithEngine(runtime.Interp()), exec.WithThreads(1))
}

// random is a tensor with some entries, whose values add up to other bits in another order.
func random(t testing.TB, r *rand.Rand, format tensor.Format, density float64, shape ...int64) *tensor.Tensor {
	t.Helper()
	coords := make([][]int64, len(shape))
	var values []float64
	at := make([]int64, len(shape))
	for {
		if r.Float64() < density {
			for k, x := range at {
				coords[k] = append(coords[k], x)
			}
			values = append(values, r.NormFloat64())
		}
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < shape[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			break
		}
	}
	x, err := tensor.FromCoords(shape, format, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// operand is a tensor, and how it is placed.
type operand struct {
	*tensor.Tensor
	layout string
}

// outcome is what a run on ranks has given.
type outcome struct {
	out    map[string]*tensor.Tensor
	placed map[string]string
	again  []dist.Sent // by rank, of a second run
	wire   []int64     // bytes of the second run, as the transport counts them
	cuts   []string
	along  []dist.Along // of the first statement
	at     map[string]*placement.Placement
}

// onRanks runs a program twice on n ranks, gathers the results, and wants the second run to have the same bits and to inspect nothing.
func onRanks(n int, faults ranks.Faults, s *exec.Session, program string, args map[string]operand, o dist.Options) (*outcome, error) {
	return onGrid(nil, n, faults, s, program, args, o)
}

// onGrid is onRanks on a grid; nil: the one that placements speak of.
func onGrid(grid *placement.Grid, n int, faults ranks.Faults, s *exec.Session, program string, args map[string]operand, o dist.Options) (*outcome, error) {
	var layouts []placement.Layout
	parsed := map[string]placement.Layout{}
	for name, a := range args {
		l, err := placement.Parse(a.layout, a.Rank())
		if err != nil {
			return nil, err
		}
		parsed[name], layouts = l, append(layouts, l)
	}
	if grid == nil {
		var err error
		if grid, err = placement.GridFor(layouts, n); err != nil {
			return nil, err
		}
	}
	result := &outcome{out: map[string]*tensor.Tensor{}, placed: map[string]string{}, at: map[string]*placement.Placement{}, again: make([]dist.Sent, n), wire: make([]int64, n)}
	var mu sync.Mutex
	err := ranks.Run(context.Background(), n, faults, func(ctx context.Context, t transport.Transport) error {
		if runtime.OnGrids(s.Engine()) {
			t = testengine.OnDevice(t, s.Engine(), 1<<40)
		}
		r, err := dist.New(ctx, s, t, grid)
		if err != nil {
			return err
		}
		placed := map[string]*dist.Tensor{}
		for name, a := range args {
			p, err := parsed[name].On(grid, placement.Tensor{
				Shape: a.Shape(), Weights: func(axis int) ([]int64, error) { return dist.Weights(a.Tensor, axis) },
				List: func(name string) ([]int64, error) { return dist.Integers(name, args[name].Tensor) },
			})
			if err != nil {
				return err
			}
			if placed[name], err = r.Cut(a.Tensor, p); err != nil {
				return err
			}
		}
		k, err := r.Compile(ctx, program, placed, o)
		if err != nil {
			return err
		}
		defer k.Close()
		first, err := k.Run(ctx, placed)
		if err != nil {
			return err
		}
		before, wire := r.Sent(), bytes(t)
		second, err := k.Run(ctx, placed)
		if err != nil {
			return err
		}
		after := r.Sent()
		after.Agreement -= before.Agreement
		after.Inspection -= before.Inspection
		after.Values -= before.Values
		after.Combination -= before.Combination
		result.again[r.Rank()], result.wire[r.Rank()] = after, bytes(t)-wire
		notes, along := k.Notes(), dist.Cutting(k) // which Forecast forgets
		if err := foretold(ctx, k, placed, after); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(first)) {
			a, err := r.Gather(ctx, first[name])
			if err != nil {
				return err
			}
			b, err := r.Gather(ctx, second[name])
			if err != nil {
				return err
			}
			if d := tensor.Diff(a, b); d != "" {
				return fmt.Errorf("%s of the second run: %s", name, d)
			}
			mu.Lock()
			if c := result.out[name]; c != nil {
				if d := tensor.Diff(c, a); d != "" {
					err = fmt.Errorf("%s of rank %d: %s", name, r.Rank(), d)
				}
			}
			result.out[name], result.placed[name] = a, first[name].Placement.String()
			result.cuts, result.along, result.at[name] = notes, along, first[name].Placement
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for r, s := range result.again {
		if s.Inspection != 0 {
			return nil, fmt.Errorf("rank %d inspects again", r)
		}
		if s.Total() != result.wire[r] {
			return nil, fmt.Errorf("rank %d has sent %d bytes, and expected %+v", r, result.wire[r], s)
		}
	}
	return result, nil
}

// foretold compares what a rank has sent in a run with what Forecast says of operands whose dense parts it does not see.
func foretold(ctx context.Context, k *dist.Program, args map[string]*dist.Tensor, sent dist.Sent) error {
	bare := map[string]*dist.Tensor{}
	for name, a := range args {
		d := *a
		if d.Format.IsDense() {
			d.Part = nil
		}
		bare[name] = &d
	}
	to, err := k.Forecast(ctx, bare)
	if err != nil {
		if len(k.Notes()) == 1 && !strings.Contains(err.Error(), "rank 0") && !strings.Contains(err.Error(), "combined") && !strings.Contains(err.Error(), "placed elsewhere") {
			return fmt.Errorf("nothing is foretold: %w", err)
		}
		return nil
	}
	var n int64
	for _, x := range to {
		n += x.Bytes
	}
	if n != sent.Values {
		return fmt.Errorf("%d bytes are sent, and %d foretold", sent.Values, n)
	}
	return nil
}

func bytes(t transport.Transport) (n int64) {
	for _, s := range t.Sent() {
		n += s.Bytes
	}
	return n
}

// one runs the program on one rank, as it is written.
func one(s *exec.Session, program string, args map[string]operand) (map[string]*tensor.Tensor, error) {
	whole := exec.Args{}
	for name, a := range args {
		if name != "p" { // which says how another is cut
			whole[name] = a.Tensor
		}
	}
	return s.EvalAll(context.Background(), program, whole, declare.AsWritten())
}
