package testengine

import "testing"

// Thin reports, under -short, whether to leave out the case of a test whose loops stand at these numbers. One in n
// stays, where the numbers add up to a multiple of n: a diagonal through the product, on which every two values of
// different loops meet if a third loop has n values at least. Without -short nothing is left out.
func Thin(n int, at ...int) bool {
	if !testing.Short() {
		return false
	}
	sum := 0
	for _, k := range at {
		sum += k
	}
	return sum%n != 0
}
