package dist_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares what ranks send with the least that they must.

// product is a product of tensors that is summed over the indices which its result has not.
type product struct {
	program string
	factors []string // each an operand and its indices
	result  string
}

var products = []product{
	{"y(i) = sum_j A(i,j)*x(j)", []string{"A ij", "x j"}, "y i"},
	{"Y(i,k) = A(i,j)*X(j,k)", []string{"A ij", "X jk"}, "Y ik"},
	{"Y(j,k) = A(i,j)*U(i,k)", []string{"A ij", "U ik"}, "Y jk"},
	{"S(i,j) = A(i,j)*sum_k (U(i,k)*X(j,k))", []string{"A ij", "U ik", "X jk"}, "S ij"},
	{"C(i,k) = A(i,j)*B(j,k)", []string{"A ij", "B jk"}, "C ik"},
	{"C(j,k) = A(i,j)*D(i,k)", []string{"A ij", "D ik"}, "C jk"},
	{"M(i,m) = T(i,j,k)*X(j,m)*Z(k,m)", []string{"T ijk", "X jm", "Z km"}, "M im"},
}

// elements are those of an operand that may not be left out, by their numbers in row-major order: all of what is dense, and the entries of others.
func elements(t *tensor.Tensor) map[int64]bool {
	found := map[int64]bool{}
	w := t.Window()
	for at, n := 0, t.Values().Len(); at < n; at++ {
		number := int64(0)
		for k, column := range w.Coords(at, at+1) {
			number = number*t.Shape()[k] + column[0]
		}
		found[number] = true
	}
	return found
}

// has reports whether a rank has an element of what is placed.
func has(p *placement.Placement, rank int, at []int64) bool {
	where := p.Grid.At(rank)
	for k, c := range p.Cuts {
		if c != nil && c.Owner(at[k]) != where[p.Over[k]] {
			return false
		}
	}
	return true
}

// least is how many values ranks must send where the terms of a product are computed as it was cut: each that a rank needs for one of its terms and has not,
// once; and of each sum that is cut over ranks what each has added up, to those that have it in the end.
func (p product) least(args map[string]operand, placed map[string]*placement.Placement, along []dist.Along, result *placement.Placement) (operands, sums int64) {
	extents := map[byte]int64{}
	var names string
	lists := []string{} // of indices: those of the factors, and of the result
	stored := make([]map[int64]bool, len(p.factors))
	for k, f := range p.factors {
		name, indices, _ := strings.Cut(f, " ")
		lists, stored[k] = append(lists, indices), elements(args[name].Tensor)
		for a := range indices {
			if extents[indices[a]] = args[name].Shape()[a]; !strings.Contains(names, indices[a:a+1]) {
				names += indices[a : a+1]
			}
		}
	}
	grid := result.Grid
	_, kept, _ := strings.Cut(p.result, " ")
	lists = append(lists, kept)
	summed := map[int]bool{} // the grid's axes over which sums are cut
	for _, a := range along {
		if !strings.Contains(kept, a.Index) {
			summed[a.Over] = true
		}
	}
	type message struct {
		of, to int // the factor, or at their end the sum; the rank
		number int64
	}
	sent := map[message]bool{}
	at := map[byte]int64{}
	coords, numbers := make([][]int64, len(lists)), make([]int64, len(lists))
	terms(extents, names, at, func() {
		for k, indices := range lists {
			coords[k], numbers[k] = coords[k][:0], 0
			for a := range indices {
				coords[k], numbers[k] = append(coords[k], at[indices[a]]), numbers[k]*extents[indices[a]]+at[indices[a]]
			}
			if k < len(stored) && !stored[k][numbers[k]] {
				return
			}
		}
	ranks:
		for rank := range grid.Ranks() {
			where := grid.At(rank)
			for _, a := range along {
				if a.Cut.Owner(at[a.Index[0]]) != where[a.Over] {
					continue ranks
				}
			}
			for k, f := range p.factors {
				name, _, _ := strings.Cut(f, " ")
				if m := (message{k, rank, numbers[k]}); !sent[m] && !has(placed[name], rank, coords[k]) {
					sent[m] = true
					operands++
				}
			}
			m := message{len(p.factors), rank, numbers[len(p.factors)]}
			if len(summed) == 0 || sent[m] {
				continue
			}
			sent[m] = true
		others:
			for other := range grid.Ranks() {
				if other == rank || !has(result, other, coords[len(p.factors)]) {
					continue
				}
				for axis, x := range grid.At(other) {
					if x != where[axis] && !summed[axis] {
						continue others // which has the same from another rank
					}
				}
				sums++
			}
		}
	})
	return operands, sums
}

// terms calls f for all values of indices.
func terms(extents map[byte]int64, names string, at map[byte]int64, f func()) {
	if names == "" {
		f()
		return
	}
	for x := range extents[names[0]] {
		at[names[0]] = x
		terms(extents, names[1:], at, f)
	}
}

// What ranks send is within a tenth of what they must: of operands what the terms of a rank need and it has not, of sums what a rank's terms touch.
func TestLeastIsSent(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	all := map[string]*tensor.Tensor{
		"A": random(t, r, tensor.CSR, 0.1, 60, 54), "B": random(t, r, tensor.CSR, 0.25, 54, 40), "D": random(t, r, tensor.CSR, 0.25, 60, 40), "T": random(t, r, tensor.CSF(3), 0.01, 30, 54, 24),
		"x": random(t, r, tensor.Dense(1), 1, 54), "X": random(t, r, tensor.Dense(2), 1, 54, 8), "U": random(t, r, tensor.Dense(2), 1, 60, 8), "Z": random(t, r, tensor.Dense(2), 1, 24, 8),
	}
	random := 20
	if testing.Short() {
		random = 4
	}
	cut := 0
	for _, p := range products {
		var placements []string // a grid, and the operands' layouts
		switch len(p.factors[0]) {
		case len("A ij"):
			placements = []string{"r=4: over (r); over (r); over (r)", "r=6: over (r by entries); over (r); over (r)", "r=3,c=2: over (r); over (r, c); over (r, c)", "r=2,c=3: over (r, c); over (c); over (c)"}
		default:
			placements = []string{"r=4: over (r); over (r); over (r)", "r=2,c=3: over (r); over (r, c); over (r, c)", "r=2,c=2,l=2: over (r, c, l); over (c); over (l)"}
		}
		for range random {
			placements = append(placements, randomPlacements(r, p, all))
		}
		for _, text := range placements {
			gridText, layouts, _ := strings.Cut(text, ": ")
			grid, err := placement.ParseGrid(gridText)
			if err != nil {
				t.Fatal(err)
			}
			args, placed := map[string]operand{}, map[string]*placement.Placement{}
			for k, layout := range strings.Split(layouts, "; ")[:len(p.factors)] {
				name, indices, _ := strings.Cut(p.factors[k], " ")
				if len(indices) == 1 {
					layout = strings.Replace(layout, ", c)", ")", 1)
				}
				args[name] = operand{all[name], layout}
				l, err := placement.Parse(layout, len(indices))
				if err != nil {
					t.Fatal(err)
				}
				if placed[name], err = l.On(grid, placement.Tensor{Shape: all[name].Shape(), Weights: func(axis int) ([]int64, error) { return dist.Weights(all[name], axis) }}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := onGrid(grid, grid.Ranks(), ranks.Faults{}, session(), p.program, args, dist.Options{})
			if err != nil {
				t.Errorf("%s, %s: %v", p.program, text, err)
				continue
			}
			name, _, _ := strings.Cut(p.result, " ")
			operands, sums := p.least(args, placed, got.along, got.at[name])
			var sent dist.Sent
			for _, s := range got.again {
				sent.Values += s.Values
				sent.Combination += s.Combination
			}
			if sums > 0 {
				cut++
			}
			for _, x := range []struct {
				what        string
				sent, least int64
			}{{"operands", sent.Values, 8 * operands}, {"sums", sent.Combination, 8 * sums}} {
				if x.sent < x.least || 10*x.sent > 11*x.least {
					t.Errorf("%s, %s, %s: %d bytes of %s are sent, and %d are the least", p.program, text, got.cuts[0], x.sent, x.what, x.least)
				}
			}
		}
	}
	if cut < 3 {
		t.Errorf("sums are cut in %d cases only", cut)
	}
}

// randomPlacements draws a grid and layouts of a product's operands.
func randomPlacements(r *rand.Rand, p product, all map[string]*tensor.Tensor) string {
	grids := []string{"r=5", "r=3,c=2", "r=2,c=4", "r=2,c=2,l=2"}
	grid := grids[r.IntN(len(grids))]
	var layouts []string
	for _, f := range p.factors {
		name, _, _ := strings.Cut(f, " ")
		axes := strings.FieldsFunc(grid, func(c rune) bool { return c == '=' || c == ',' || c >= '0' && c <= '9' })
		var items []string
		for range all[name].Rank() {
			item := "*"
			if len(axes) > 0 && r.IntN(3) > 0 {
				at := r.IntN(len(axes))
				item = axes[at] + []string{"", " by cyclic", " by cyclic(3)", " by entries"}[r.IntN(4)]
				axes = append(axes[:at:at], axes[at+1:]...)
			}
			items = append(items, item)
		}
		layouts = append(layouts, "over ("+strings.Join(items, ", ")+")")
	}
	return grid + ": " + strings.Join(layouts, "; ")
}
