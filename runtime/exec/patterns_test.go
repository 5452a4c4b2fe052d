package exec

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests which entries results of + and * store, by whole programs.

// TestPatternsFollowSets checks the iteration sets against plain sets: the
// stored coordinates of a result are the union of its summands' and the
// intersection of its factors', each coordinate once and in order, for any
// expression of + and * over one to seven sparse vectors.
func TestPatternsFollowSets(t *testing.T) {
	session := NewSession(WithEngine(runtime.Interp()))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		count := rapid.IntRange(1, 7).Draw(t, "operands")
		args := Args{}
		sets := make([]map[int64]bool, count)
		for k := range sets {
			sets[k] = map[int64]bool{}
			var coords []int64
			for i := int64(0); i < int64(n); i++ {
				if rapid.Bool().Draw(t, "stored") {
					sets[k][i] = true
					coords = append(coords, i)
				}
			}
			ones := make([]float64, len(coords))
			for i := range ones {
				ones[i] = 1
			}
			v, err := tensor.FromCoords([]int64{int64(n)}, tensor.CSF(1), [][]int64{coords}, tensor.ArrayOf(ones))
			if err != nil {
				t.Fatal(err)
			}
			args[fmt.Sprintf("v%d", k)] = v
		}
		used := Args{}
		text, set := drawSet(t, sets, used, args, 3)
		got, err := session.Eval(context.Background(), "r(i) = "+text, used, Result("r", tensor.CSF(1)))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var want []int64
		for i := int64(0); i < int64(n); i++ {
			if set[i] {
				want = append(want, i)
			}
		}
		coords, _, err := got.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(coords[0], want) {
			t.Fatalf("%s stores %v, want %v", text, coords[0], want)
		}
	})
}

// drawSet draws an expression and the set of coordinates that it stores.
func drawSet(t *rapid.T, sets []map[int64]bool, used, args Args, depth int) (string, map[int64]bool) {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		k := rapid.IntRange(0, len(sets)-1).Draw(t, "operand")
		name := fmt.Sprintf("v%d", k)
		used[name] = args[name]
		return name + "(i)", sets[k]
	}
	x, xs := drawSet(t, sets, used, args, depth-1)
	y, ys := drawSet(t, sets, used, args, depth-1)
	set := map[int64]bool{}
	if rapid.Bool().Draw(t, "union") {
		for i := range xs {
			set[i] = true
		}
		for i := range ys {
			set[i] = true
		}
		return "(" + x + " + " + y + ")", set
	}
	for i := range xs {
		if ys[i] {
			set[i] = true
		}
	}
	return x + " * " + y, set
}
