package testengine

import "testing"

// One case in n stays, and still every two values of different loops meet.
func TestDiagonalMeetsAllPairs(t *testing.T) {
	const n = 3
	extents := [3]int{3, 4, 6}
	met := map[[4]int]bool{} // a loop, its value, another loop, its value
	stay := 0
	for i := range extents[0] {
		for j := range extents[1] {
			for k := range extents[2] {
				if !onDiagonal(n, i, j, k) {
					continue
				}
				stay++
				met[[4]int{0, i, 1, j}], met[[4]int{0, i, 2, k}], met[[4]int{1, j, 2, k}] = true, true, true
			}
		}
	}
	if want := 3 * 4 * 6 / n; stay != want {
		t.Errorf("%d cases stay, want %d", stay, want)
	}
	if want := 3*4 + 3*6 + 4*6; len(met) != want {
		t.Errorf("%d pairs meet, want %d", len(met), want)
	}
}
