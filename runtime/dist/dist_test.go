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
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

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
}

// onRanks runs a program twice on n ranks, gathers the results, and wants the second run to have the same bits and to inspect nothing.
func onRanks(n int, faults ranks.Faults, s *exec.Session, program string, args map[string]operand, o dist.Options) (*outcome, error) {
	var layouts []placement.Layout
	parsed := map[string]placement.Layout{}
	for name, a := range args {
		l, err := placement.Parse(a.layout, a.Rank())
		if err != nil {
			return nil, err
		}
		parsed[name], layouts = l, append(layouts, l)
	}
	grid, err := placement.GridFor(layouts, n)
	if err != nil {
		return nil, err
	}
	result := &outcome{out: map[string]*tensor.Tensor{}, placed: map[string]string{}, again: make([]dist.Sent, n), wire: make([]int64, n)}
	var mu sync.Mutex
	err = ranks.Run(context.Background(), n, faults, func(ctx context.Context, t transport.Transport) error {
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
			result.cuts = k.Notes()
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

// Programs that are cut along an index of their result have the bits that one rank has, however operands are placed.
func TestCutAlongResult(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	A, B := random(t, r, tensor.CSR, 0.2, 23, 17), random(t, r, tensor.CSR, 0.2, 23, 17)
	csc, err := A.Convert(tensor.CSC)
	if err != nil {
		t.Fatal(err)
	}
	C, x := random(t, r, tensor.CSR, 0.2, 17, 9), random(t, r, tensor.Dense(1), 1, 17)
	X, Y := random(t, r, tensor.Dense(2), 1, 17, 5), random(t, r, tensor.Dense(2), 1, 23, 5)
	T := random(t, r, tensor.CSF(3), 0.05, 12, 17, 9)
	Z := random(t, r, tensor.Dense(2), 1, 9, 5)
	p := tensor.Vector([]int32{3, 1, 0, 2, 1, 1, 0, 2, 3, 3, 1, 1, 0, 0, 0, 2, 2, 2, 3, 1, 1, 2, 0})
	s := session()
	for _, c := range []struct {
		program string
		args    map[string]operand
		placed  string // of the last result
	}{
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {A, "over (r)"}, "x": {x, "over (r)"}}, "over (r)"},
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {A, "over (r by entries)"}, "x": {x, "over (r by cyclic)"}}, "over (r by entries)"},
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {csc, "over (r by cyclic(2))"}, "x": {x, "over (r)"}}, "over (r by cyclic(2))"},
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {A, "over (r by p)"}, "x": {x, "replicated"}, "p": {p, "replicated"}}, "over (r by a list)"},
		{"y(i) = A(i,j)*x(j)", map[string]operand{"A": {A, "replicated"}, "x": {x, "replicated"}}, "over (r)"},
		{"Y(i,k) = A(i,j)*X(j,k)", map[string]operand{"A": {A, "over (r)"}, "X": {X, "over (r)"}}, "over (r)"},
		{"Y(i,k) = A(i,j)*X(j,k)", map[string]operand{"A": {A, "replicated"}, "X": {X, "over (*, r)"}}, "over (*, r)"},
		{"S(i,j) = A(i,j)*sum_k (Y(i,k)*X(j,k))", map[string]operand{"A": {A, "over (r)"}, "X": {X, "over (r)"}, "Y": {Y, "over (r by cyclic)"}}, ""},
		{"C(i,j) = A(i,j) + B(i,j)", map[string]operand{"A": {A, "over (r)"}, "B": {B, "over (r by cyclic(3))"}}, ""},
		{"D(i,k) = A(i,j)*C(j,k)", map[string]operand{"A": {A, "over (r)"}, "C": {C, "over (r)"}}, "over (r)"},
		{"M(i,r) = T(i,j,k)*X(j,r)*Z(k,r)", map[string]operand{"T": {T, "over (r)"}, "X": {X, "over (r)"}, "Z": {Z, "over (r by cyclic)"}}, ""},
		{"m(i) = max_j A(i,j)", map[string]operand{"A": {A, "over (r)"}}, "over (r)"},
		{"y(i) = A(i,j)*x(j)\nz(i) = y(i)*2 + sum_j B(i,j)", map[string]operand{"A": {A, "over (r)"}, "B": {B, "over (r)"}, "x": {x, "over (r)"}}, "over (r)"},
		{"y(i) = A(i,j)*x(j)\ny(i) += B(i,j)*x(j)", map[string]operand{"A": {A, "over (r)"}, "B": {B, "over (r)"}, "x": {x, "over (r)"}}, "over (r)"},
		{"y(i) = (sum_{j in A} (A(i,j)*x(j))) / (count_{k in A} A(i,k))", map[string]operand{"A": {A, "over (r)"}, "x": {x, "over (r)"}}, ""},
		{"y(i) = A(i,j)*C(j,k)*z(k)\n", map[string]operand{"A": {A, "over (r)"}, "C": {C, "over (r)"}, "z": {random(t, r, tensor.Dense(1), 1, 9), "over (r)"}}, "over (r)"},
	} {
		want, err := one(s, c.program, c.args)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 4, 7} {
			if c.args["p"].Tensor != nil && n < 4 {
				continue
			}
			got, err := onRanks(n, ranks.Faults{Delay: time.Millisecond}, s, c.program, c.args, dist.Options{})
			if err != nil {
				t.Errorf("%s on %d ranks: %v", c.program, n, err)
				continue
			}
			for name := range want {
				if d := tensor.Diff(got.out[name], want[name]); d != "" {
					t.Errorf("%s on %d ranks: %s: %s", c.program, n, name, d)
				}
				if n == 4 && c.placed != "" && !strings.HasPrefix(got.placed[name], c.placed) {
					t.Errorf("%s: %s is %s, want %s", c.program, name, got.placed[name], c.placed)
				}
			}
			if note := strings.Join(got.cuts, "; "); strings.Contains(note, "rank 0") {
				t.Errorf("%s is not cut: %s", c.program, note)
			}
		}
	}
}
