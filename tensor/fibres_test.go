package tensor

import "testing"

// Levels that are not there, or have too many positions, are not drawn.
func TestNodesAreRefused(t *testing.T) {
	a, err := FromCoords([]int64{3, 4}, CSR, [][]int64{{0, 2}, {1, 3}}, ArrayOf([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		level int
		most  int64
		want  bool
	}{{0, 3, true}, {0, 2, false}, {1, 2, true}, {1, 1, false}, {-1, 9, false}, {2, 9, false}} {
		if _, _, ok := a.Nodes(test.level, test.most); ok != test.want {
			t.Errorf("level %d, at most %d: %v", test.level, test.most, ok)
		}
	}
}
