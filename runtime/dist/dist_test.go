package dist_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// placedProgram is a program, and how its operands are placed.
type placedProgram struct {
	program string
	args    map[string]operand
	placed  string // of the last result
}

// alongResult are programs that are cut along an index of their result.
func alongResult(t *testing.T) []placedProgram {
	r := rand.New(rand.NewPCG(5, 6))
	A, B := random(t, r, tensor.CSR, 0.2, 23, 17), random(t, r, tensor.CSR, 0.2, 23, 17)
	csc, err := A.Convert(tensor.CSC)
	if err != nil {
		t.Fatal(err)
	}
	C, x := random(t, r, tensor.CSR, 0.2, 17, 9), random(t, r, tensor.Dense(1), 1, 17)
	X, Y := random(t, r, tensor.Dense(2), 1, 17, 5), random(t, r, tensor.Dense(2), 1, 23, 5)
	T := random(t, r, tensor.CSF(3), 0.05, 12, 17, 9)
	Z, u := random(t, r, tensor.Dense(2), 1, 9, 5), random(t, r, tensor.Dense(1), 1, 23)
	halfEmpty, err := tensor.FromCoords([]int64{23, 17}, tensor.CSR, [][]int64{{20, 20, 22}, {1, 3, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	p := tensor.Vector([]int32{3, 1, 0, 2, 1, 1, 0, 2, 3, 3, 1, 1, 0, 0, 0, 2, 2, 2, 3, 1, 1, 2, 0})
	return []placedProgram{
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
		{"M(i,r) = T(i,j,k)*X(j,r)*Z(k,r)", map[string]operand{"T": {T, "over (r)"}, "X": {X, "over (r)"}, "Z": {Z, "over (r by cyclic)"}}, "over (r)"},
		{"m(i) = max_j A(i,j)", map[string]operand{"A": {A, "over (r)"}}, "over (r)"},
		{"y(i) = A(i,j)*x(j)\nz(i) = y(i)*2 + sum_j B(i,j)", map[string]operand{"A": {A, "over (r)"}, "B": {B, "over (r)"}, "x": {x, "over (r)"}}, "over (r)"},
		{"y(i) = A(i,j)*x(j)\ny(i) += B(i,j)*x(j)", map[string]operand{"A": {A, "over (r)"}, "B": {B, "over (r)"}, "x": {x, "over (r)"}}, "over (r)"},
		{"y(i) = (sum_{j in A} (A(i,j)*x(j))) / (count_{k in A} A(i,k))", map[string]operand{"A": {A, "over (r)"}, "x": {x, "over (r)"}}, ""},
		{"m(i) = max_{j in H} (H(i,j)*x(j))", map[string]operand{"H": {halfEmpty, "over (r)"}, "x": {x, "over (r)"}}, "over (r)"},
		{"C(k,j) = H(i,j)*Y(i,k)", map[string]operand{"H": {halfEmpty, "over (*, r)"}, "Y": {Y, "over (r)"}}, "over (*, r)"},
		{"S(i,j) = H(i,j)*u(i)*(sum_l u(l))", map[string]operand{"H": {halfEmpty, "over (*, r)"}, "u": {u, "over (r)"}}, "over (*, r)"},
		{"y(i) = A(i,j)*C(j,k)*z(k)\n", map[string]operand{"A": {A, "over (r)"}, "C": {C, "over (r)"}, "z": {random(t, r, tensor.Dense(1), 1, 9), "over (r)"}}, "over (r)"},
	}
}

// Programs that are cut along an index of their result have the bits that one rank has, however operands are placed.
func TestCutAlongResult(t *testing.T) {
	s := session()
	for _, c := range alongResult(t) {
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

// A rank that has two rows of a matrix with three diagonals lacks an element of x on either side.
func TestForecast(t *testing.T) {
	var coords [2][]int64
	for i := range int64(8) {
		for j := max(0, i-1); j < min(8, i+2); j++ {
			coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
		}
	}
	A, err := tensor.FromCoords([]int64{8, 8}, tensor.CSR, coords[:], tensor.ArrayOf(make([]float64, len(coords[0]))))
	if err != nil {
		t.Fatal(err)
	}
	s := session()
	err = ranks.Run(context.Background(), 4, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
		r, err := dist.New(ctx, s, tr, nil)
		if err != nil {
			return err
		}
		rows := placement.OneAxis(r.Grid(), 2, 0, placement.Blocks(8, 4), 0)
		a, err := r.Cut(A, rows)
		if err != nil {
			return err
		}
		X := &dist.Tensor{
			Shape: []int64{8, 128}, Format: tensor.Dense(2), DType: tensor.Float64, Fill: tensor.Zero(tensor.Float64),
			Placement: rows, Entries: 8 * 128, Sets: rows.Part(r.Rank(), []int64{8, 128}),
		}
		args := map[string]*dist.Tensor{"A": a, "X": X}
		k, err := r.Compile(ctx, "Y(i,k) = A(i,j)*X(j,k)", args, dist.Options{})
		if err != nil {
			return err
		}
		to, err := k.Forecast(ctx, args)
		if err != nil {
			return err
		}
		for q, got := range to {
			want := transport.Traffic{}
			if q == r.Rank()-1 || q == r.Rank()+1 {
				want = transport.Traffic{Messages: 1, Bytes: 128 * 8}
			}
			if got != want {
				t.Errorf("rank %d sends %+v to rank %d, want %+v", r.Rank(), got, q, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Where a reduction is cut, its parts are added in a tree that depends on the number of ranks alone.
func TestCutReduction(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := random(t, r, tensor.Dense(1), 1, 10)
	v, err := tensor.Elements[float64](x)
	if err != nil {
		t.Fatal(err)
	}
	s, sum := session(), func(lo, hi int) (s float64) {
		for _, x := range v[lo:hi] {
			s += x
		}
		return s
	}
	for n, want := range map[int]float64{
		1: sum(0, 10),
		2: sum(0, 5) + sum(5, 10),
		3: sum(0, 4) + sum(4, 7) + sum(7, 10),
		5: ((sum(0, 2) + sum(2, 4)) + (sum(4, 6) + sum(6, 8))) + sum(8, 10),
	} {
		got, err := onRanks(n, ranks.Faults{Delay: time.Millisecond}, s, "s = sum_i x(i)", map[string]operand{"x": {x, "over (r)"}}, dist.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := got.out["s"].At().Float64(); got != want {
			t.Errorf("%d ranks: %v, want %v", n, got, want)
		}
	}
	A := random(t, r, tensor.CSR, 0.3, 8, 12)
	layout, err := placement.Parse("over (*, r by cyclic)", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program, layout string
		want            string // of the placement
	}{
		{"y(j) = sum_i A(i,j)", "over (r)", "over (r)"},
		{"y(j) = max_i A(i,j)", "over (r by cyclic)", "over (r)"},
		{"y(j) = any_i (A(i,j) != 0)", "over (r by entries)", "over (r)"},
		{"n = count_{i,j} A(i,j)", "over (*, r)", "replicated"},
		{"C(k,j) = sum_i (A(i,k)*A(i,j))", "over (r)", "over (*, r by cyclic)"},
	} {
		args := map[string]operand{"A": {A, c.layout}}
		o := dist.Options{Results: map[string]dist.Result{}}
		if strings.HasPrefix(c.program, "C") {
			o.Results["C"] = dist.Result{Layout: &layout}
		}
		want, err := one(s, c.program, args)
		if err != nil {
			t.Fatal(err)
		}
		got, err := onRanks(4, ranks.Faults{}, s, c.program, args, o)
		if err != nil {
			t.Errorf("%s: %v", c.program, err)
			continue
		}
		for name := range want {
			if !near(got.out[name], want[name]) || got.placed[name] != c.want {
				t.Errorf("%s: %s is %s: %v, want %v", c.program, name, got.placed[name], got.out[name], want[name])
			}
		}
	}
}

// near reports whether two tensors hold the same but for rounding, at the same places.
func near(a, b *tensor.Tensor) bool {
	if !tensor.SameStructure(a, b) {
		return false
	}
	for i := range a.Values().Len() {
		x, y := a.Values().Scalar(i).Float64(), b.Values().Scalar(i).Float64()
		if d := x - y; d > 1e-12 || d < -1e-12 {
			return false
		}
	}
	return true
}

// What cannot be cut is computed on one rank, and the notes say why.
func TestNotCut(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	A, x := random(t, r, tensor.CSR, 0.3, 6, 6), random(t, r, tensor.Dense(1), 1, 6)
	s := session()
	for program, why := range map[string]string{
		"y(i) = cumsum_i x(i)":               "cumsum goes along i",
		"m = argmax_i x(i)":                  "argmax of parts does not give that of all",
		"m = mean_i x(i)":                    "mean of parts does not give that of all",
		"d(i) = A(i,i)":                      "i stands twice in A",
		"y(i) = x(i+1)":                      "i is shifted in x",
		"y(:) = x(1:3)":                      "a slice",
		"s = 1 + sum_i x(i)":                 "part of a larger expression",
		"y(i) = x(i)*i":                      "i is computed with",
		"y(i) = sum_j like(2.0, A(i,j))":     "like(…) gives extents of whole tensors",
		"y(i) = x(i) with parallel(i: 4096)": "its schedule is for one rank",
	} {
		args := map[string]operand{"x": {x, "over (r)"}}
		if strings.Contains(program, "A") {
			args = map[string]operand{"A": {A, "over (r)"}}
		}
		want, err := one(s, program, args)
		if err != nil {
			t.Fatal(err)
		}
		got, err := onRanks(3, ranks.Faults{}, s, program, args, dist.Options{})
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		for name := range want {
			if d := tensor.Diff(got.out[name], want[name]); d != "" {
				t.Errorf("%s: %s: %s", program, name, d)
			}
		}
		if len(got.cuts) != 1 || !strings.Contains(got.cuts[0], why) {
			t.Errorf("%s: the notes are %q, want %q", program, got.cuts, why)
		}
	}
}

// Only the rows that are touched travel, once each.
func TestOnlyTouchedRowsTravel(t *testing.T) {
	// Rank 0 has rows 0 to 3 of A, with columns 0, 1, 6, 6; rank 1 rows 4 to 7, with columns 7, 2, 2, 0.
	A, err := tensor.FromCoords([]int64{8, 8}, tensor.CSR, [][]int64{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 6, 6, 7, 2, 2, 0}}, tensor.ArrayOf(make([]float64, 8)))
	if err != nil {
		t.Fatal(err)
	}
	X, err := tensor.FromDense([]int64{8, 16}, tensor.Dense(2), tensor.ArrayOf(make([]float64, 128)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := onRanks(2, ranks.Faults{}, session(), "Y(i,k) = A(i,j)*X(j,k)", map[string]operand{"A": {A, "over (r)"}, "X": {X, "over (r)"}}, dist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const row = 16 * 8
	if a, b := got.again[0].Values, got.again[1].Values; a != 2*row || b != row { // rows 0 and 2; row 6
		t.Errorf("the ranks have sent %d and %d bytes of values, want %d and %d", a, b, 2*row, row)
	}
}

// What is cut and gathered again is what it was, however it is stored and placed.
func TestCutAndGather(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	s := session()
	for _, text := range []string{"S", "D", "CSR", "CSC", "DCSR", "COO", "D-D", "CSF", "S-S-D", "S-C-S", "C-S-D"} {
		rank := 2
		switch {
		case len(text) == 1:
			rank = 1
		case text == "CSF" || len(text) == 5:
			rank = 3
		}
		format, err := tensor.ParseFormat(text, rank)
		if err != nil {
			t.Fatal(err)
		}
		whole := random(t, r, format, 0.3, []int64{11, 9, 3}[:rank]...)
		for _, layout := range []string{"over (r)", "over (r by entries)", "over (r by cyclic(2))", "over (*, r)", "over (*, *, r)"} {
			if 1+strings.Count(layout, "*") > rank {
				continue
			}
			got, err := onRanks(3, ranks.Faults{}, s, "y"+access(rank)+" = 2*A"+access(rank), map[string]operand{"A": {whole, layout}}, dist.Options{})
			if err != nil {
				t.Errorf("%s %s: %v", text, layout, err)
				continue
			}
			want, err := one(s, "y"+access(rank)+" = 2*A"+access(rank), map[string]operand{"A": {whole, layout}})
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(got.out["y"], want["y"]); d != "" {
				t.Errorf("%s %s: %s", text, layout, d)
			}
		}
	}
}

// access is that of a tensor by its own indices.
func access(rank int) string { return "(" + "i,j,k"[:2*rank-1] + ")" }

// Of a part that is nearly all needed all is sent, as it lies.
func TestNearlyAllTravels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var coords [2][]int64
	for i := range int64(80) {
		for j := range int64(80) {
			if j != 47 && (i+j)%7 == 0 && (i < 40 || j < 40 || j > 50) { // nobody needs column 47, and rank 1 none of its own from 40 to 50
				coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
			}
		}
	}
	values := make([]float64, len(coords[0]))
	for k := range values {
		values[k] = r.NormFloat64()
	}
	A, err := tensor.FromCoords([]int64{80, 80}, tensor.CSR, coords[:], tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]operand{"A": {A, "over (r)"}, "x": {random(t, r, tensor.Dense(1), 1, 80), "over (r)"}}
	want, err := one(session(), "y(i) = A(i,j)*x(j)", args)
	if err != nil {
		t.Fatal(err)
	}
	got, err := onRanks(2, ranks.Faults{}, session(), "y(i) = A(i,j)*x(j)", args, dist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(got.out["y"], want["y"]); d != "" {
		t.Error(d)
	}
	if a, b := got.again[0].Values, got.again[1].Values; a != 40*8 || b != 40*8 {
		t.Errorf("the ranks have sent %d and %d bytes of values, want %d each", a, b, 40*8)
	}
}

// A rank that dies, or that runs something else, ends all ranks soon.
func TestLostRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	A, x := random(t, r, tensor.CSR, 0.3, 12, 12), random(t, r, tensor.Dense(1), 1, 12)
	args := map[string]operand{"A": {A, "over (r)"}, "x": {x, "over (r)"}}
	for calls := range 12 {
		began := time.Now()
		_, err := onRanks(3, ranks.Faults{Lose: map[int]int{1: calls}}, session(), "y(i) = A(i,j)*x(j)", args, dist.Options{})
		if err == nil || !strings.Contains(err.Error(), "rank 1: it has died") {
			t.Errorf("after %d calls: %v", calls, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("after %d calls: %v", calls, took)
		}
	}
	s := session()
	for _, c := range []struct {
		program func(rank int) string
		length  func(rank int) int64
		want    string
	}{
		{func(rank int) string { return []string{"y(i) = x(i)", "y(i) = x(i)", "y(i) = -x(i)"}[rank] }, func(int) int64 { return 12 }, "rank 2: its program is y(i) = -x(i), and that of rank 0 y(i) = x(i)"},
		{func(int) string { return "y(i) = x(i)" }, func(rank int) int64 { return int64(12 - rank%2) }, "rank 1: its operand x is D[f64] of shape [11]"},
		{func(int) string { return "y(i) = z(i)" }, func(int) int64 { return 12 }, "z"},
	} {
		err := ranks.Run(context.Background(), 3, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
			r, err := dist.New(ctx, s, tr, nil)
			if err != nil {
				return err
			}
			n := c.length(r.Rank())
			x, err := r.Cut(tensor.Vector(make([]float64, n)), placement.OneAxis(r.Grid(), 1, 0, placement.Blocks(n, 3), 0))
			if err != nil {
				return err
			}
			_, err = r.Eval(ctx, c.program(r.Rank()), map[string]*dist.Tensor{"x": x}, dist.Options{})
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Where a result has entries may follow from values: those of other runs, of which the part of one rank may know nothing.
func TestOtherEntriesOnOneRank(t *testing.T) {
	A, err := tensor.FromDense([]int64{4, 4}, tensor.CSR, tensor.ArrayOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0, 0, 0, 0, 10, 0}))
	if err != nil {
		t.Fatal(err)
	}
	lists := []*tensor.Tensor{tensor.Vector([]int64{0, 1, 2, 3}), tensor.Vector([]int64{2, 3, 0, 0}), tensor.Vector([]int64{1, 1, 3, 0})}
	const program = "C(i,j) = A(i,q(j))"
	layout, err := placement.Parse("over (*, r)", 2)
	if err != nil {
		t.Fatal(err)
	}
	s := session()
	err = ranks.Run(t.Context(), 2, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
		r, err := dist.New(ctx, s, tr, nil)
		if err != nil {
			return err
		}
		matrix, err := r.Cut(A, placement.OneAxis(r.Grid(), 2, 0, placement.Blocks(4, 2), 0))
		if err != nil {
			return err
		}
		var k *dist.Program
		for n, list := range lists {
			q, err := r.Cut(list, placement.Replicated(r.Grid(), 1))
			if err != nil {
				return err
			}
			args := map[string]*dist.Tensor{"A": matrix, "q": q}
			if k == nil {
				if k, err = r.Compile(ctx, program, args, dist.Options{Results: map[string]dist.Result{"C": {Format: tensor.CSR, HasFormat: true, Layout: &layout}}}); err != nil {
					return err
				}
				defer k.Close()
			}
			out, err := k.Run(ctx, args)
			if err != nil {
				return fmt.Errorf("run %d: %w", n, err)
			}
			got, err := r.Gather(ctx, out["C"])
			if err != nil {
				return err
			}
			want, err := s.EvalAll(ctx, program, exec.Args{"A": A, "q": list}, declare.AsWritten(), declare.Result("C", tensor.CSR))
			if err != nil {
				return err
			}
			if d := tensor.Diff(got, want["C"]); d != "" {
				return fmt.Errorf("run %d: %s", n, d)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
