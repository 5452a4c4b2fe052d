package dist_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests statements that are cut along several axes of a grid.

// Over grids of several axes, statements are cut along an index for each: what is known as 1.5-D, 2-D and 2.5-D follows from placements. Where no
// sum is cut, results have the bits of one rank.
func TestGrids(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	A, B := random(t, r, tensor.CSR, 0.1, 40, 36), random(t, r, tensor.CSR, 0.2, 36, 14)
	X, U, V := random(t, r, tensor.Dense(2), 1, 36, 12), random(t, r, tensor.Dense(2), 1, 40, 12), random(t, r, tensor.Dense(2), 1, 36, 12)
	x, T := random(t, r, tensor.Dense(1), 1, 36), random(t, r, tensor.CSF(3), 0.05, 16, 36, 14)
	Z := random(t, r, tensor.Dense(2), 1, 14, 12)
	F := random(t, r, tensor.CSR, 0.7, 40, 36) // of which to send the entries costs more than to send sums
	all := map[string]*tensor.Tensor{"F": F, "A": A, "B": B, "X": X, "U": U, "V": V, "x": x, "T": T, "Z": Z}
	const spmm, sddmm, spgemm, mttkrp = "Y(i,k) = A(i,j)*X(j,k)", "S(i,j) = A(i,j)*sum_k (U(i,k)*V(j,k))", "C(i,k) = A(i,j)*B(j,k)", "M(i,m) = T(i,j,k)*X(j,m)*Z(k,m)"
	for _, c := range []struct {
		program, grid, layouts string
		cut                    string // where the notes say so
		placed                 string // of the result
	}{
		// C stays: A is there for each part of the columns, and rows of X come.
		{spmm, "r=3,c=2", "A over (r); X over (r, c)", "along i over r and k over c", "over (r, c)"},
		{spmm, "r=3,c=2", "A over (r by entries); X over (r by cyclic, c by cyclic)", "along i over r and k over c", ""},
		{spmm, "r=2,c=3", "A over (r); X over (r)", "along i over r and k over c", "over (r, c)"},
		// A stays: X is there where A's columns are, and sums are cut.
		{spmm, "r=2,c=2", "A over (r, c); X over (c)", "along i over r and j over c, and", "over (r, c)"},
		{spmm, "r=2,c=4", "A over (r, c); X over (c)", "along i over r and j over c, and", "over (r, c)"},
		// 2.5-D.
		{"Y(i,k) = F(i,j)*X(j,k)", "r=2,c=2,l=2", "F over (r, l); X over (l, c)", "along i over r and k over c and j over l, and", "over (r, c)"},
		{"y(i) = F(i,j)*x(j)", "r=2,c=3", "F over (r, c); x over (c)", "along i over r and j over c, and", "over (r)"},
		{"y(i) = F(i,j)*x(j)", "r=2,c=3", "F over (r, c); x over (r)", "along i over r and j over c, and", "over (r)"},
		{sddmm, "r=2,c=3", "A over (r, c); U over (r); V over (c)", "along i over r and j over c;", "over (r, c)"},
		{sddmm, "r=2,c=3", "A over (r, c); U over (r); V over (r)", "along i over r and j over c;", "over (r, c)"},
		{sddmm, "r=2,c=2,l=2", "A over (r, c); U over (r, l); V over (c, l)", "along i over r and j over c", ""},
		{spgemm, "r=3,c=2", "A over (r); B over (r, c)", "along i over r and k over c", "over (r, c)"},
		{spgemm, "r=2,c=2", "A over (r, c); B over (c)", "along i over r", ""},
		{"C(i,k) = F(i,j)*B(j,k)", "r=2,c=2", "F over (r, c); B over (c)", "along i over r and j over c, and", "over (r, c)"},
		{mttkrp, "r=2,c=3", "T over (r); X over (r, c); Z over (r, c)", "along i over r and m over c", "over (r, c)"},
		{mttkrp, "r=2,c=2,l=2", "T over (r, c, l); X over (c); Z over (l)", "along i over r and j over c and k over l, and", "over (r, c)"},
	} {
		grid, err := placement.ParseGrid(c.grid)
		if err != nil {
			t.Fatal(err)
		}
		args := map[string]operand{}
		for text := range strings.SplitSeq(c.layouts, "; ") {
			name, layout, _ := strings.Cut(text, " ")
			args[name] = operand{all[name], layout}
		}
		want, err := one(session(), c.program, args)
		if err != nil {
			t.Fatal(err)
		}
		got, err := onGrid(grid, grid.Ranks(), ranks.Faults{Delay: time.Millisecond}, session(), c.program, args, dist.Options{})
		if err != nil {
			t.Errorf("%s on %s, %s: %v", c.program, c.grid, c.layouts, err)
			continue
		}
		note := got.cuts[0]
		if !strings.Contains(note, c.cut) {
			t.Errorf("%s on %s, %s: %q, want %q", c.program, c.grid, c.layouts, note, c.cut)
		}
		for name := range want {
			if c.placed != "" && got.placed[name] != c.placed {
				t.Errorf("%s on %s, %s: %s is %s, want %s", c.program, c.grid, c.layouts, name, got.placed[name], c.placed)
			}
			if strings.Contains(note, "are combined") {
				if !near(got.out[name], want[name]) {
					t.Errorf("%s on %s, %s: %s is %v, want %v", c.program, c.grid, c.layouts, name, got.out[name], want[name])
				}
			} else if d := tensor.Diff(got.out[name], want[name]); d != "" {
				t.Errorf("%s on %s, %s: %s: %s", c.program, c.grid, c.layouts, name, d)
			}
		}
	}
}

// What no entry touches is left out only where it is the fill of the result, and products of parts are not taken for sparse results.
func TestStoredOnRanks(t *testing.T) {
	A, err := tensor.FromCoords([]int64{4, 6}, tensor.DCSR, [][]int64{{1, 3}, {2, 5}}, tensor.ArrayOf([]float64{2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	B, err := tensor.FromCoords([]int64{6, 8}, tensor.DCSR, [][]int64{{2, 3}, {1, 7}}, tensor.ArrayOf([]float64{5, 7}))
	if err != nil {
		t.Fatal(err)
	}
	rows := placement.Layout{Items: []placement.Item{{Over: "r"}}}
	two := tensor.Float(tensor.Float64, 2)
	for _, c := range []struct {
		program, a, b string
		result        dist.Result
	}{
		{"C(i,k) = F(i,j)*(B(j,k)*w(k))", "over (r)", "over (r)", dist.Result{Format: tensor.DCSR, HasFormat: true, Fill: &two, Layout: &rows}},
		{"C(i,k) = A(i,j)*B(j,k)", "over (r)", "over (r)", dist.Result{Format: tensor.DCSR, HasFormat: true, Fill: &two}},
		{"C(j) = prod_i A(i,j)", "over (r)", "", dist.Result{Format: sparseVector(t), HasFormat: true}},
	} {
		args := map[string]operand{"A": {A, c.a}}
		if c.b != "" {
			args["B"] = operand{B, c.b}
		}
		if strings.Contains(c.program, "w") {
			delete(args, "A")
			args["F"] = operand{random(t, rand.New(rand.NewPCG(1, 1)), tensor.CSR, 1, 40, 6), c.a}
			args["w"] = operand{tensor.Vector([]float64{1, 2, 3, 4, 5, 6, 7, 8}), "over (r)"}
		}
		o := dist.Options{Results: map[string]dist.Result{"C": c.result}}
		var results [2]*tensor.Tensor
		for k, n := range []int{1, 3} {
			got, err := onRanks(n, ranks.Faults{}, session(), c.program, args, o)
			if err != nil {
				t.Fatalf("%s, %s, %s on %d ranks: %v", c.program, c.a, c.b, n, err)
			}
			results[k] = got.out["C"]
		}
		if d := tensor.Diff(results[1], results[0]); d != "" {
			t.Errorf("%s, %s, %s: %s", c.program, c.a, c.b, d)
		}
	}
}

func sparseVector(t *testing.T) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat("S", 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Ranks whose parts are of few rows do what the others do, on devices too.
func TestUnevenGrids(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	A, X := random(t, r, tensor.CSR, 0.7, 3, 36), random(t, r, tensor.Dense(2), 1, 36, 12)
	B, C, x := random(t, r, tensor.CSR, 0.5, 8, 20), random(t, r, tensor.CSR, 0.5, 8, 20), random(t, r, tensor.Dense(1), 1, 20)
	for _, c := range []struct {
		program, grid string
		args          map[string]operand
		o             dist.Options
	}{
		{"Y(i,k) = A(i,j)*X(j,k)", "r=2,c=2", map[string]operand{"A": {A, "over (r, c)"}, "X": {X, "over (c)"}}, dist.Options{}},
		{"y(i) = sum_{j in C} (B(i,j)*C(i,j)*x(j))", "r=4", map[string]operand{"B": {B, "over (r)"}, "C": {C, "over (r by cyclic)"}, "x": {x, "over (r)"}},
			dist.Options{Results: map[string]dist.Result{"y": {Format: sparseVector(t), HasFormat: true}}}},
	} {
		grid, err := placement.ParseGrid(c.grid)
		if err != nil {
			t.Fatal(err)
		}
		want, err := one(session(), c.program, c.args)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*exec.Session{session(), onDevice()} {
			got, err := onGrid(grid, grid.Ranks(), ranks.Faults{}, s, c.program, c.args, c.o)
			if err != nil {
				t.Errorf("%s: %v", c.program, err)
				continue
			}
			for name, w := range want {
				if w, err = w.Convert(got.out[name].Format()); err != nil {
					t.Fatal(err)
				}
				if !near(got.out[name], w) {
					t.Errorf("%s: %s is %v, want %v", c.program, name, got.out[name], w)
				}
			}
		}
	}
}
