package dist_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
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

// onDevice is a session whose results stay on a device that is simulated.
func onDevice() *exec.Session {
	return exec.NewSession(exec.WithEngine(runtime.Simulated()), exec.WithThreads(1), exec.WithResidentResults())
}

// Values go from device to device, however operands are placed, and the results are those of one rank, as near as sums in another order are.
func TestDirect(t *testing.T) {
	testengine.Starts.Store(0)
	r := rand.New(rand.NewPCG(7, 8))
	x, A := random(t, r, tensor.Dense(1), 1, 10), random(t, r, tensor.CSR, 0.3, 8, 12)
	blocks, err := tensor.ParseFormat("C-S-D", 3)
	if err != nil {
		t.Fatal(err)
	}
	full := random(t, r, blocks, 0.2, 9, 8, 3)
	full = tensor.NewTrusted(full.Shape(), full.Format(), full.Levels(), full.Values(), tensor.Float(tensor.Float64, 2))
	s := session()
	for _, c := range append(alongResult(t), []placedProgram{
		{"s = sum_i x(i)", map[string]operand{"x": {x, "over (r)"}}, ""},
		{"y(j) = sum_i A(i,j)", map[string]operand{"A": {A, "over (r)"}}, ""},
		{"y(j) = max_i A(i,j)", map[string]operand{"A": {A, "over (r by cyclic)"}}, ""},
		{"C(k,j) = sum_i (A(i,k)*A(i,j))", map[string]operand{"A": {A, "over (r)"}}, ""},
		{"C(j,k) = sum_i B(i,j,k)", map[string]operand{"B": {full, "over (r by cyclic)"}}, ""},
		{"C(i,k) = sum_j B(i,j,k)", map[string]operand{"B": {full, "over (*, r by cyclic)"}}, ""},
		{"y(i) = x(i)\nz(i) = 2*y(i)", map[string]operand{"x": {x, "over (r by cyclic)"}}, ""},
		{"m = mean_i x(i)", map[string]operand{"x": {x, "over (r by cyclic)"}}, ""},
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {random(t, r, tensor.CSR, 0, 0, 10), "over (r)"}, "x": {x, "over (r)"}}, ""},
		{"y(j) = sum_i A(i,j)", map[string]operand{"A": {random(t, r, tensor.CSR, 0, 0, 10), "over (r)"}}, ""},
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {random(t, r, tensor.CSR, 1, 3, 10), "over (r)"}, "x": {x, "over (r by cyclic)"}}, ""},
	}...) {
		if c.args["p"].Tensor != nil {
			continue
		}
		want, err := one(s, c.program, c.args)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 5} {
			got, err := onRanks(n, ranks.Faults{}, onDevice(), c.program, c.args, dist.Options{})
			if err != nil {
				t.Errorf("%s on %d ranks: %v", c.program, n, err)
				continue
			}
			for name := range want {
				if !near(got.out[name], want[name]) {
					t.Errorf("%s on %d ranks: %s is %v, want %v", c.program, n, name, got.out[name], want[name])
				}
			}
		}
	}
	// Ranks whose blocks have nothing in common get the fill where others have no block.
	T := random(t, r, tensor.CSF(3), 0.1, 9, 8, 4)
	rows, err := placement.Parse("over (r)", 3)
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]operand{"T": {T, "over (*, *, r)"}}
	o := dist.Options{Results: map[string]dist.Result{"B": {Format: blocks, HasFormat: true}, "C": {Layout: &rows}}}
	const program = "B(i,j,k) = T(i,j,k)\nC(i,j,k) = 2*B(i,j,k)"
	want, err := onRanks(2, ranks.Faults{}, s, program, args, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := onRanks(2, ranks.Faults{}, onDevice(), program, args, o)
	if err != nil {
		t.Fatal(err)
	}
	for name := range want.out {
		if d := tensor.Diff(got.out[name], want.out[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if n := testengine.Starts.Load(); n > 0 {
		t.Errorf("%d exchanges of values went through the host's memory", n)
	}
}

// What a rank's device has of an operand or a result goes when that is released, also of results whose coordinates got other numbers: nothing of a run
// holds it.
func TestDirectReleases(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	A := random(t, r, tensor.CSR, 0.05, 12, 40) // of whose columns a rank touches some
	X, Y := random(t, r, tensor.Dense(2), 1, 40, 3), random(t, r, tensor.Dense(2), 1, 12, 3)
	s := onDevice()
	err := ranks.Run(context.Background(), 2, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
		g, err := dist.New(ctx, s, testengine.OnDevice(tr, s.Engine(), 1<<40), nil)
		if err != nil {
			return err
		}
		args := map[string]*dist.Tensor{}
		for name, whole := range map[string]*tensor.Tensor{"A": A, "X": X, "Y": Y} {
			if args[name], err = g.Cut(whole, placement.OneAxis(g.Grid(), 2, 0, placement.Blocks(whole.Shape()[0], 2), 0)); err != nil {
				return err
			}
		}
		k, err := g.Compile(ctx, "S(i,j) = A(i,j)*sum_k (Y(i,k)*X(j,k)); y(j) = sum_i A(i,j)", args, dist.Options{Results: map[string]dist.Result{
			"S": {Format: tensor.CSR, HasFormat: true}, "y": {Format: tensor.Dense(1), HasFormat: true}}})
		if err != nil {
			return err
		}
		defer k.Close()
		for range 2 {
			out, err := k.Run(ctx, args)
			if err != nil {
				return err
			}
			for name, d := range out {
				if err := released(d.Part); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return released(args["X"].Part)
	})
	if err != nil {
		t.Error(err)
	}
}

// released releases a tensor, and reports an array that the device still has.
func released(t *tensor.Tensor) error {
	var arrays []tensor.Array
	if _, err := t.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		arrays = append(arrays, a)
		return tensor.MakeArray(a.DType(), a.Len())
	}); err != nil {
		return err
	}
	t.Release()
	for k, a := range arrays {
		if at, ok := a.Remote().(*runtime.Resident); ok {
			if _, err := at.Fetch(); err == nil {
				return fmt.Errorf("array %d of %d of what was released is still there", k, len(arrays))
			}
		}
	}
	return nil
}

// An operand may be another one in each run, or that of an earlier run again: values are what its own are, whatever memory they come to.
func TestDirectOtherValues(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	A := random(t, r, tensor.CSR, 0.2, 12, 12)
	xs := []*tensor.Tensor{random(t, r, tensor.Dense(1), 1, 12), random(t, r, tensor.Dense(1), 1, 12), random(t, r, tensor.Dense(1), 1, 12)}
	const program = "y(i) = A(i,j)*x(j)"
	s := onDevice()
	for _, layout := range []string{"over (r)", "over (r by cyclic)"} {
		for _, unused := range []int64{0, 1 << 40} { // memory for one room, and for two
			err := ranks.Run(context.Background(), 3, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
				g, err := dist.New(ctx, s, testengine.OnDevice(tr, s.Engine(), unused), nil)
				if err != nil {
					return err
				}
				cut := func(whole *tensor.Tensor) (*dist.Tensor, error) {
					l, err := placement.Parse(layout, whole.Rank())
					if err != nil {
						return nil, err
					}
					p, err := l.On(g.Grid(), placement.Tensor{Shape: whole.Shape()})
					if err != nil {
						return nil, err
					}
					return g.Cut(whole, p)
				}
				matrix, err := cut(A)
				if err != nil {
					return err
				}
				placed := make([]*dist.Tensor, len(xs))
				for k, x := range xs {
					if placed[k], err = cut(x); err != nil {
						return err
					}
				}
				k, err := g.Compile(ctx, program, map[string]*dist.Tensor{"A": matrix, "x": placed[0]}, dist.Options{})
				if err != nil {
					return err
				}
				defer k.Close()
				for n, which := range []int{0, 0, 0, 1, 1, 0, 2, 1, 2, 2, 0} {
					out, err := k.Run(ctx, map[string]*dist.Tensor{"A": matrix, "x": placed[which]})
					if err != nil {
						return err
					}
					got, err := g.Gather(ctx, out["y"])
					if err != nil {
						return err
					}
					want, err := session().EvalAll(ctx, program, exec.Args{"A": A, "x": xs[which]}, declare.AsWritten())
					if err != nil {
						return err
					}
					if !near(got, want["y"]) {
						return fmt.Errorf("run %d, of vector %d, gives %v, want %v", n, which, got, want["y"])
					}
				}
				placed[0].Part.Release()
				if _, err := k.Run(ctx, map[string]*dist.Tensor{"A": matrix, "x": placed[0]}); err == nil || !strings.Contains(err.Error(), "released") {
					return fmt.Errorf("an operand that was released: error %v", err)
				}
				return nil
			})
			if err != nil && !strings.Contains(err.Error(), "was released") { // which ended the group
				t.Errorf("%s, %d bytes unused: %v", layout, unused, err)
			}
		}
	}
}
