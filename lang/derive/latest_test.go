package derive_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// entry is a stored element of a tensor of rank 3.
type entry struct {
	at       [3]int64
	value, g float64
	result   float64 // the gradient
}

// TestLatestStored compares gradients of running extremes of stored elements over one to three axes, in any order, of
// tensors with ties, NaNs and explicit zeros, with a loop over the entries.
func TestLatestStored(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(2))
	var formats []tensor.Format
	for _, name := range []string{"COO", "CSF", "C-C-S", "S-S-D", "D", "DC-S-S[2,0,1]", "CSF[1,2,0]"} {
		f, err := tensor.ParseFormat(name, 3)
		must(err)
		formats = append(formats, f)
	}
	const indices = "ijk"
	for n := range 100 {
		if testengine.Thin(2, n) {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(n), 5))
		shape := []int64{r.Int64N(4), 1 + r.Int64N(4), 1 + r.Int64N(4)}
		entries := fewEntries(r, shape)
		a := ofEntries(shape, formats[r.IntN(len(formats))], entries, func(e entry) float64 { return e.value })
		if a.Format().IsDense() || a.Format().Levels()[2] == tensor.D {
			entries = allEntries(a, entries)
		}
		up := ofEntries(shape, tensor.Dense(3), entries, func(e entry) float64 { return e.g })
		axes := r.Perm(3)[:1+r.IntN(3)]
		word, options := []string{"cummax", "cummin"}[r.IntN(2)], []string(nil)
		for _, o := range []string{"exclusive", "reverse"} {
			if r.IntN(2) == 0 {
				options = append(options, o)
			}
		}
		var over []string
		for _, axis := range axes {
			over = append(over, indices[axis:axis+1]+" in A")
		}
		brackets := ""
		if len(options) > 0 {
			brackets = "[" + strings.Join(options, ", ") + "]"
		}
		src := fmt.Sprintf("y(i,j,k) = %s_{%s}%s A(i,j,k)", word, strings.Join(over, ","), brackets)
		got, err := s.EvalGrad(context.Background(), src, "A", lacuna.Args{"A": a, "dy": up})
		if err != nil {
			t.Fatalf("%s, %v: %v", src, a, err)
		}
		if got.Format() != a.Format() || got.NNZ() != a.NNZ() {
			t.Errorf("%s: the gradient is %v, the operand %v", src, got, a)
		}
		sendToLatest(entries, axes, word == "cummax", slices.Contains(options, "exclusive"), slices.Contains(options, "reverse"))
		for _, e := range entries {
			if x := got.At(e.at[:]...).Float64(); x != e.result {
				t.Fatalf("%d: %s: the gradient at %v is %v, want %v\n%v\n%v", n, src, e.at, x, e.result, a, entries)
			}
		}
	}
}

// TestLatestStoredOfHugeTensors: positions over several axes do not fit 64 bits.
func TestLatestStoredOfHugeTensors(t *testing.T) {
	const n = int64(1) << 40
	entries := []entry{
		{at: [3]int64{1, n - 1, 5}, value: 1, g: 1}, {at: [3]int64{1, n - 1, n - 2}, value: 0, g: 2},
		{at: [3]int64{n - 3, 0, 7}, value: 0.5, g: 4}, {at: [3]int64{n - 3, 9, 8}, value: 1, g: 8}, {at: [3]int64{n - 1, 3, n - 1}, value: -1, g: 16},
	}
	for _, name := range []string{"CSF", "COO"} {
		f, err := tensor.ParseFormat(name, 3)
		must(err)
		a := ofEntries([]int64{n, n, n}, f, entries, func(e entry) float64 { return e.value })
		up := ofEntries([]int64{n, n, n}, f, entries, func(e entry) float64 { return e.g })
		s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(16<<20))
		for _, src := range []string{"y(i,j,k) = cummax_{i,j,k in A} A(i,j,k)", "y(i,j,k) = cummax_{i in A,j in A,k in A} A(i,j,k)"} {
			got, err := s.EvalGrad(context.Background(), src, "A", lacuna.Args{"A": a, "dy": up})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, src, err)
			}
			want := []float64{1 + 2 + 4, 0, 0, 8 + 16, 0}
			if values := tensor.View[float64](got.Values()); !slices.Equal(values, want) {
				t.Errorf("%s, %s: the gradient is %v, want %v", name, src, values, want)
			}
		}
	}
}

// fewEntries are entries of few different values, in row-major order.
func fewEntries(r *rand.Rand, shape []int64) []entry {
	var list []entry
	for i := range shape[0] {
		for j := range shape[1] {
			for k := range shape[2] {
				if r.IntN(2) == 0 {
					value := []float64{0, 1, -1, 2, 0, 1, math.NaN()}[r.IntN(7)]
					list = append(list, entry{at: [3]int64{i, j, k}, value: value, g: float64(1 + r.IntN(9))})
				}
			}
		}
	}
	return list
}

func ofEntries(shape []int64, f tensor.Format, entries []entry, value func(entry) float64) *tensor.Tensor {
	coords, values := make([][]int64, 3), []float64{}
	for k := range coords {
		coords[k] = []int64{}
	}
	for _, e := range entries {
		for k, c := range e.at {
			coords[k] = append(coords[k], c)
		}
		values = append(values, value(e))
	}
	t, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
	must(err)
	return t
}

// allEntries are the elements that a stores, with what entries say of them.
func allEntries(a *tensor.Tensor, entries []entry) []entry {
	known := map[[3]int64]entry{}
	for _, e := range entries {
		known[e.at] = e
	}
	coords, _, err := a.ToCoords()
	must(err)
	var list []entry
	for p := range a.NNZ() {
		at := [3]int64{coords[0][p], coords[1][p], coords[2][p]}
		e := known[at]
		e.at = at
		list = append(list, e)
	}
	return list
}

// sendToLatest sets the gradients of entries: along axes, in row-major order over these, the last element so far that is
// the extreme has the adjoint.
func sendToLatest(entries []entry, axes []int, largest, exclusive, reverse bool) {
	lines := map[[3]int64][]*entry{}
	for i := range entries {
		line := entries[i].at
		for _, axis := range axes {
			line[axis] = -1
		}
		lines[line] = append(lines[line], &entries[i])
	}
	for _, line := range lines {
		slices.SortFunc(line, func(p, q *entry) int {
			for _, axis := range axes {
				if d := p.at[axis] - q.at[axis]; d != 0 {
					return int(d)
				}
			}
			return 0
		})
		if reverse {
			slices.Reverse(line)
		}
		var best *entry
		for _, e := range line {
			to := best
			if best == nil || math.IsNaN(e.value) || largest && e.value >= best.value || !largest && e.value <= best.value {
				best = e
			}
			if !exclusive {
				to = best
			}
			if to != nil {
				to.result += e.g
			}
		}
	}
}
