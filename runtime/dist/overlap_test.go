package dist_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// counting is a context that counts the kernels that run with it: each asks once whether it is watched.
type counting struct {
	context.Context
	kernels *int
}

func (c counting) Value(key any) any {
	if reflect.TypeOf(key).String() == "exec.profiling" {
		*c.kernels++
	}
	return c.Context.Value(key)
}

// watched is a rank's transport that counts the kernels that run between the start of an exchange and the wait for it.
type watched struct {
	transport.Transport
	kernels, early int
}

func (w *watched) Start(ctx context.Context, out, in [][]byte) (transport.Pending, error) {
	p, err := w.Transport.Start(ctx, out, in)
	return &watchedPending{p, w, w.kernels}, err
}

type watchedPending struct {
	transport.Pending
	of     *watched
	before int
}

func (p *watchedPending) Wait(ctx context.Context) error {
	p.of.early += p.of.kernels - p.before
	return p.Pending.Wait(ctx)
}

// Rows that need nothing of other ranks are computed while messages travel, with the bits of one rank.
func TestOverlap(t *testing.T) {
	defer func() { debug.Overlap = 0 }()
	debug.Overlap = 1
	const n = 90
	r := rand.New(rand.NewPCG(31, 32))
	banded := func(format tensor.Format, width int64) *tensor.Tensor {
		var coords [2][]int64
		var values []float64
		for i := range int64(n) {
			for j := max(0, i-width); j < min(n, i+width+1); j++ {
				coords[0], coords[1], values = append(coords[0], i), append(coords[1], j), append(values, r.NormFloat64())
			}
		}
		A, err := tensor.FromCoords([]int64{n, n}, format, coords[:], tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return A
	}
	band := func(format tensor.Format) *tensor.Tensor { return banded(format, 3) }
	A, X, x, b := band(tensor.CSR), random(t, r, tensor.Dense(2), 1, n, 5), random(t, r, tensor.Dense(1), 1, n), random(t, r, tensor.Dense(1), 1, n)
	s := session()
	for _, c := range []struct {
		program string
		args    map[string]*tensor.Tensor
		pieces  bool
	}{
		{"y(i) = A(i,j)*x(j)", map[string]*tensor.Tensor{"A": A, "x": x}, true},
		{"y(i) = A(i,j)*x(j) + 2*b(i)", map[string]*tensor.Tensor{"A": A, "x": x, "b": b}, true},
		{"Y(i,k) = A(i,j)*X(j,k)", map[string]*tensor.Tensor{"A": A, "X": X}, true},
		{"y(i) = A(i,j)*x(j)*b(j)", map[string]*tensor.Tensor{"A": A, "x": x, "b": b}, true},
		{"y(i) = A(i,j)*x(j) + B(i,j)*b(j)", map[string]*tensor.Tensor{"A": A, "B": banded(tensor.CSR, 9), "x": x, "b": b}, false}, // each term has coordinates of its own
		{"y(i) = A(i,j)*B(i,j)*x(j)", map[string]*tensor.Tensor{"A": A, "B": banded(tensor.CSR, 1), "x": x}, true},
		{"y(i) = A(i,j)*B(i,j)*x(j)", map[string]*tensor.Tensor{"A": A, "B": banded(tensor.CSR, 9), "x": x}, false},                  // entries of B touch what comes where those of A do not
		{"y(i) = A(i,j)*B(i,j)*x(j)", map[string]*tensor.Tensor{"A": A, "B": random(t, r, tensor.Dense(2), 1, n, n), "x": x}, false}, // columns of B lie as they are got
		{"y(i) = A(i,j)*x(j)", map[string]*tensor.Tensor{"A": band(tensor.DCSR), "x": x}, false},                                     // the result is sparse
		{"y(i) = A(i,j)*x(j)", map[string]*tensor.Tensor{"A": band(tensor.CSC), "x": x}, false},                                      // rows do not lie side by side
		{"y(i) = A(i,j)*x(j)", map[string]*tensor.Tensor{"A": random(t, r, tensor.CSR, 0.5, n, n), "x": x}, false},
	} {
		whole := exec.Args{}
		for name, a := range c.args {
			whole[name] = a
		}
		wants, err := s.EvalAll(context.Background(), c.program, whole, declare.AsWritten())
		if err != nil {
			t.Fatal(err)
		}
		err = ranks.Run(context.Background(), 3, ranks.Faults{Delay: 2 * time.Millisecond, Seed: 5}, func(ctx context.Context, tr transport.Transport) error {
			w := &watched{Transport: tr}
			ctx = counting{ctx, &w.kernels}
			rank, err := dist.New(ctx, s, w, nil)
			if err != nil {
				return err
			}
			args := map[string]*dist.Tensor{}
			for name, a := range c.args {
				if args[name], err = rank.Cut(a, placement.OneAxis(rank.Grid(), a.Rank(), 0, placement.Blocks(n, 3), 0)); err != nil {
					return err
				}
			}
			k, err := rank.Compile(ctx, c.program, args, dist.Options{})
			if err != nil {
				return err
			}
			defer k.Close()
			var last map[string]*dist.Tensor
			for range 6 {
				w.early = 0
				if last, err = k.Run(ctx, args); err != nil {
					return err
				}
			}
			if got := dist.InPieces(k); got != c.pieces {
				t.Errorf("%s with A in %s: rank %d computes in pieces: %v, want %v", c.program, args["A"].Format, rank.Rank(), got, c.pieces)
			}
			if (w.early > 0) != c.pieces {
				t.Errorf("%s with A in %s: rank %d runs %d kernels while messages travel", c.program, args["A"].Format, rank.Rank(), w.early)
			}
			for name, want := range wants {
				whole, err := rank.Gather(ctx, last[name])
				if err != nil {
					return err
				}
				if d := tensor.Diff(whole, want); d != "" {
					t.Errorf("%s with A in %s: %s: %s", c.program, args["A"].Format, name, d)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.program, err)
		}
	}
}

// That patterns are as they were is agreed on while values travel: where one rank's have changed, what had come already is not used, in pieces or whole.
func TestChangesOnOneRank(t *testing.T) {
	defer func() { debug.Overlap = 0 }()
	const n = 60
	band := func(odd bool) *tensor.Tensor { // in odd ones rows of the last rank have other columns
		var coords [2][]int64
		var values []float64
		for i := range int64(n) {
			for j := max(0, i-2); j < min(n, i+3); j++ {
				if x := j; odd && i >= 2*n/3 && i+j < 2*n-3 {
					coords[0], coords[1], values = append(coords[0], i), append(coords[1], n-1-x), append(values, float64(i+2*j))
				} else {
					coords[0], coords[1], values = append(coords[0], i), append(coords[1], x), append(values, float64(i-j))
				}
			}
		}
		A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, coords[:], tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return A
	}
	r := rand.New(rand.NewPCG(41, 42))
	values, q := make([]float64, n), make([]int64, n)
	for k := range q {
		values[k], q[k] = float64(r.Int64N(9)), r.Int64N(n)
	}
	x, matrices := tensor.Vector(values), []*tensor.Tensor{band(false), band(true)}
	s := session()
	for _, program := range []string{"y(i) = A(i,j)*x(j)", "y(j) = A(i,j)*x(i)", "y(i) = A(i,j)*x(q(j))", "B(i,j) = A(i,j)*x(j)", "m = argmax_i x(i)*A(i,3)", "B(i,j) = A(i,j)+A(i,j)"} {
		for _, debug.Overlap = range []int{-1, 1} {
			err := ranks.Run(context.Background(), 3, ranks.Faults{Delay: time.Millisecond, Seed: 7}, func(ctx context.Context, tr transport.Transport) error {
				rank, err := dist.New(ctx, s, tr, nil)
				if err != nil {
					return err
				}
				given := []map[string]*dist.Tensor{}
				for _, A := range matrices {
					args := map[string]*dist.Tensor{}
					for name, a := range map[string]*tensor.Tensor{"A": A, "x": x, "q": tensor.Vector(q)} {
						if !strings.Contains(program, name+"(") {
							continue
						}
						p := placement.OneAxis(rank.Grid(), a.Rank(), 0, placement.Blocks(n, 3), 0)
						if args[name], err = rank.Cut(a, p); err != nil {
							return err
						}
					}
					given = append(given, args)
				}
				k, err := rank.Compile(ctx, program, given[0], dist.Options{})
				if err != nil {
					return err
				}
				defer k.Close()
				for run, which := range []int{0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0} {
					out, err := k.Run(ctx, given[which])
					if err != nil {
						return fmt.Errorf("run %d: %w", run, err)
					}
					whole := exec.Args{}
					for name := range given[0] {
						whole[name] = map[string]*tensor.Tensor{"A": matrices[which], "x": x, "q": tensor.Vector(q)}[name]
					}
					wants, err := s.EvalAll(ctx, program, whole, declare.AsWritten())
					if err != nil {
						return err
					}
					for name, want := range wants {
						got, err := rank.Gather(ctx, out[name])
						if err != nil {
							return err
						}
						if d := tensor.Diff(got, want); d != "" {
							return fmt.Errorf("run %d: %s", run, d)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s, overlap %d: %v", program, debug.Overlap, err)
			}
		}
	}
}
