package generate

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestPick checks that pick gives n different numbers in range, in order.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 1<<62-1).Draw(t, "total")
		if rapid.Bool().Draw(t, "small") {
			total %= 200
		}
		n := rapid.IntRange(0, int(min(total, 100))).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		list := pick(rng, nil, n, total)
		if len(list) != n {
			t.Fatalf("%d numbers, want %d", len(list), n)
		}
		for i, k := range list {
			if k < 0 || k >= total || i > 0 && k <= list[i-1] {
				t.Fatalf("number %d is %d, after %v", i, k, list[:i])
			}
		}
	})
}
