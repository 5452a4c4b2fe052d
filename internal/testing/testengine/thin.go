package testengine

import "testing"

// Thin reports, under -short, whether to leave out the case of a test whose loops stand at these numbers. One in n
// stays, those on a diagonal through the product. Without -short nothing is left out.
func Thin(n int, at ...int) bool { return testing.Short() && !onDiagonal(n, at...) }

// onDiagonal reports whether numbers add up to a multiple of n. Of three loops, every two values of different ones
// meet on that diagonal if each loop has n values at least: the third has one that completes the sum.
func onDiagonal(n int, at ...int) bool {
	sum := 0
	for _, k := range at {
		sum += k
	}
	return sum%n == 0
}
