package dist_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Grids and copies are chosen by what has to be held and sent: a vector is cut as rows are; for a matrix with many columns A is there for each part of them.
func TestPropose(t *testing.T) {
	sparse := func(entries int64, shape ...int64) *dist.Tensor {
		return &dist.Tensor{Shape: shape, Format: tensor.CSR, DType: tensor.Float64, Fill: tensor.Zero(tensor.Float64), Entries: entries}
	}
	dense := func(shape ...int64) *dist.Tensor {
		d := sparse(1, shape...)
		d.Format = tensor.Dense(len(shape))
		for _, n := range shape {
			d.Entries *= n
		}
		return d
	}
	rows := placement.OneAxis(placement.Line("p", 8), 2, 0, placement.Blocks(1000, 8), 0)
	placed := sparse(8000, 1000, 1000)
	placed.Placement = rows
	uneven := make([]int64, 1000)
	for i := range uneven {
		uneven[i] = int64(i * 16 / 1000)
	}
	slightly := make([]int64, 1<<14)
	for i := range slightly {
		slightly[i] = 4
	}
	slightly[0] = 1 << 10
	anywhere := func(n int64) []int64 { // at distances less than d of n are 2d/n - (d/n)² of all
		counts, before := make([]int64, 64), 0.0
		for k := range counts {
			x := min(1, math.Exp2(float64(k))/float64(n))
			counts[k] = int64(1e9 * (2*x - x*x - before))
			before = 2*x - x*x
		}
		return counts
	}
	banded := make([]int64, 64)
	banded[3] = 1 // all at distances 4 to 7
	for _, c := range []struct {
		program string
		args    map[string]*dist.Tensor
		ranks   int
		weights []int64 // nil: even
		spread  []int64 // nil: entries are anywhere
		want    []string
	}{
		{"y(i) = sum_j A(i,j)*x(j)", map[string]*dist.Tensor{"A": sparse(8000, 1000, 1000), "x": dense(1000)}, 4, nil, nil, []string{"grid r=4; A over (r); x over (r)"}},
		{"y(i) = sum_j A(i,j)*x(j)", map[string]*dist.Tensor{"A": sparse(8000, 1000, 1000), "x": dense(1000)}, 4, uneven, nil, []string{"grid r=4; A over (r by entries); x over (r)"}},
		{"y(i) = sum_j A(i,j)*x(j)", map[string]*dist.Tensor{"A": sparse(8000, 1000, 1000), "x": dense(1000)}, 1, nil, nil, []string{"grid r=1;"}},
		{"Y(i,k) = sum_j A(i,j)*X(j,k)", map[string]*dist.Tensor{"A": sparse(1<<20, 1<<16, 1<<16), "X": dense(1<<16, 128)}, 64, nil, nil, []string{"16 copies", "over grid"}},
		{"Y(i,k) = sum_j A(i,j)*X(j,k)", map[string]*dist.Tensor{"A": sparse(1<<20, 1<<16, 1<<16), "X": dense(1<<16, 128)}, 64, nil, banded, []string{"grid r=64; A over (r); X over (r)"}},
		{"Y(i,k) = sum_j A(i,j)*X(j,k)", map[string]*dist.Tensor{"A": sparse(1000, 1<<16, 1<<16), "X": dense(1<<16, 64)}, 64, nil, nil, []string{"grid r=64; A over (r); X over (r)"}},
		{"S(i,j) = A(i,j)*sum_k (U(i,k)*V(j,k))", map[string]*dist.Tensor{"A": sparse(1<<20, 1<<14, 1<<14), "U": dense(1<<14, 64), "V": dense(1<<14, 64)}, 16, nil, nil, []string{"A over (r, c)", "U over (r", "V over (c"}},
		// Along columns, of which each has as many entries, parts would have numbers for all rows.
		{"S(i,j) = A(i,j)*sum_k (U(i,k)*V(j,k))", map[string]*dist.Tensor{"A": sparse(1<<16, 1<<14, 1<<14), "U": dense(1<<14, 4), "V": dense(1<<14, 4)}, 251, slightly, nil, []string{"A over (r by entries)"}},
		// Of blocks of a banded product those on the diagonal have all terms.
		{"C(i,k) = sum_j A(i,j)*B(j,k)", map[string]*dist.Tensor{"A": sparse(1<<17, 1<<14, 1<<14), "B": sparse(1<<17, 1<<14, 1<<14)}, 16, nil, banded, []string{"grid r=16; A over (r); B over (r)"}},
		{"y(i) = sum_j A(i,j)*x(j)", map[string]*dist.Tensor{"A": placed, "x": dense(1000)}, 8, nil, nil, []string{"grid p=8; x over (p)"}},
		{"y(i) = sum_j A(i,j)*x(j)\nz(i) = y(i) + b(i)", map[string]*dist.Tensor{"A": sparse(8000, 1000, 1000), "x": dense(1000), "b": dense(1000)}, 4, nil, nil, []string{"b over (r)"}},
		{"m = argmax_i x(i)", map[string]*dist.Tensor{"x": dense(1000)}, 4, nil, nil, []string{"x over (r)"}},
	} {
		got, err := dist.Propose(context.Background(), c.program, c.args, c.ranks, nil, dist.Options{}, func(name string, axes ...int) ([]int64, error) {
			switch {
			case len(axes) == 2 && c.spread != nil:
				return c.spread, nil
			case len(axes) == 2:
				return anywhere(c.args[name].Shape[axes[1]]), nil
			case c.weights != nil && axes[0] == 0:
				return c.weights, nil
			}
			even := make([]int64, c.args[name].Shape[axes[0]])
			for k := range even {
				even[k] = 8
			}
			return even, nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.program, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%s on %d ranks: %s, want %s", c.program, c.ranks, got, want)
			}
		}
		for name, a := range c.args {
			if a.Placement != nil && got.Placements[name] != a.Placement {
				t.Errorf("%s: %s, which was placed, is %s", c.program, name, got.Placements[name])
			}
		}
	}
}

// What is chosen sends what was estimated, of matrices without structure, and no other grid with A cut along rows and X along columns needs a tenth less, of these or of
// one whose entries are near the diagonal.
func TestProposalIsCheap(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	X := random(t, r, tensor.Dense(2), 1, 240, 48)
	var rows, columns []int64
	for i := range int64(240) {
		for j := max(0, i-2); j <= min(239, i+2); j++ {
			rows, columns = append(rows, i), append(columns, j)
		}
	}
	band, err := tensor.FromColumns([]int64{240, 240}, tensor.CSR, []tensor.Array{tensor.ArrayOf(rows), tensor.ArrayOf(columns)}, tensor.ArrayOf(make([]float64, len(rows))))
	if err != nil {
		t.Fatal(err)
	}
	const program, n = "Y(i,k) = sum_j A(i,j)*X(j,k)", 12
	for kind, A := range map[string]*tensor.Tensor{"anywhere": random(t, r, tensor.CSR, 0.02, 240, 240), "near the diagonal": band} {
		described, args := map[string]*dist.Tensor{}, map[string]operand{}
		for name, x := range map[string]*tensor.Tensor{"A": A, "X": X} {
			if described[name], err = dist.Whole(x); err != nil {
				t.Fatal(err)
			}
		}
		chosen, err := dist.Propose(t.Context(), program, described, n, nil, dist.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		cost := func(grid *placement.Grid, a, x string) float64 {
			args["A"], args["X"] = operand{A, a}, operand{X, x}
			got, err := onGrid(grid, n, ranks.Faults{}, session(), program, args, dist.Options{})
			if err != nil {
				t.Fatal(err)
			}
			sent := int64(0)
			for _, s := range got.again {
				sent += s.Values + s.Combination
			}
			return float64(sent)
		}
		sent := cost(chosen.Grid, chosen.Placements["A"].String(), chosen.Placements["X"].String())
		if A != band && (sent > 1.1*chosen.Sent+1 || chosen.Sent > 1.1*sent+1) {
			t.Errorf("%s: %s: %v bytes are sent", kind, chosen, sent)
		}
		for c := 1; c <= n; c++ {
			if n%c > 0 {
				continue
			}
			grid := &placement.Grid{Names: []string{"r", "c"}, Sizes: []int{n / c, c}}
			held := float64(c)*float64(A.NNZ())*16 + float64(X.Values().Bytes())
			if other := cost(grid, "over (r)", "over (r, c)") + held; other < 0.9*(sent+chosen.Held) {
				t.Errorf("%s: over grid %s ranks have and send %v bytes, and %v as was chosen: %s", kind, grid, other, sent+chosen.Held, chosen)
			}
		}
	}
}

// A run estimates what was meant where it was chosen, also of a band that is far from square.
func TestRunsEstimateAsChosen(t *testing.T) {
	const n, program = 6, "Y(i,k) = sum_j A(i,j)*X(j,k)"
	for _, shape := range [][2]int64{{720, 60}, {60, 720}} {
		var rows, columns []int64
		for i := range shape[0] {
			for k := range max(1, shape[1]/shape[0]) {
				rows, columns = append(rows, i), append(columns, i*shape[1]/shape[0]+k)
			}
		}
		A, err := tensor.FromColumns(shape[:], tensor.CSR, []tensor.Array{tensor.ArrayOf(rows), tensor.ArrayOf(columns)}, tensor.ArrayOf(make([]float64, len(rows))))
		if err != nil {
			t.Fatal(err)
		}
		whole, described := map[string]*tensor.Tensor{"A": A, "X": random(t, rand.New(rand.NewPCG(61, 62)), tensor.Dense(2), 1, shape[1], 8)}, map[string]*dist.Tensor{}
		for name, x := range whole {
			if described[name], err = dist.Whole(x); err != nil {
				t.Fatal(err)
			}
		}
		chosen, err := dist.Propose(t.Context(), program, described, n, nil, dist.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = ranks.Run(t.Context(), n, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
			r, err := dist.New(ctx, session(), tr, chosen.Grid)
			if err != nil {
				return err
			}
			args := map[string]*dist.Tensor{}
			for name, x := range whole {
				if args[name], err = r.Cut(x, chosen.Placements[name]); err != nil {
					return err
				}
			}
			k, err := r.Compile(ctx, program, args, dist.Options{Chosen: chosen})
			if err != nil {
				return err
			}
			defer k.Close()
			if _, err := k.Run(ctx, args); err != nil {
				return err
			}
			_, meant, _ := strings.Cut(chosen.String(), "send about ")
			meant, _, _ = strings.Cut(meant, " in a run")
			if note := k.Notes()[0]; !strings.Contains(note, "all ranks send about "+meant+",") {
				t.Errorf("of shape %v: %s; %s", shape, chosen, note)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
