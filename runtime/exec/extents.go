package exec

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
)

// extentsOf are the extents of some of a statement's index variables.
func extentsOf(vars []*ir.Index, extents []int64) []int64 {
	list := make([]int64, len(vars))
	for i, v := range vars {
		list[i] = extents[v.ID]
	}
	return list
}

// product is how many coordinates extents have together; not ok, and 2^63-1, if there are more.
func product(extents []int64) (n int64, ok bool) {
	if slices.Contains(extents, 0) {
		return 0, true
	}
	n = 1
	for _, e := range extents {
		if n > math.MaxInt64/e {
			return math.MaxInt64, false
		}
		n *= e
	}
	return n, true
}
