package exec

import (
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
)

// This file tests workspaces of as many keys as there are numbers.

// A workspace of 2^63-1 keys is too large already: one more key is written for the end.
func TestWorkspaceKeys(t *testing.T) {
	i, j := &ir.Index{ID: 0}, &ir.Index{ID: 1}
	plain := func(v *ir.Index) ir.IndexExpr { return ir.IndexExpr{Terms: []ir.Term{{Var: v, Coef: 1}}} }
	step := &ir.Compute{Workspaces: []*ir.Access{{Indices: []ir.IndexExpr{plain(i), plain(j)}}}}
	for _, c := range []struct {
		extents []int64
		keys    int64
		ok      bool
	}{
		{[]int64{3, 4}, 12, true},
		{[]int64{0, math.MaxInt64}, 0, true},
		{[]int64{1, math.MaxInt64 - 1}, math.MaxInt64 - 1, true},
		{[]int64{1, math.MaxInt64}, 0, false},
		{[]int64{1 << 32, 1 << 32}, 0, false},
	} {
		if keys, ok := workspaceKeys(step, c.extents); keys != c.keys || ok != c.ok {
			t.Errorf("extents %v: %d keys, %v; want %d, %v", c.extents, keys, ok, c.keys, c.ok)
		}
	}
}
