// Package overflow does arithmetic on sizes and coordinates that says where 64 bits are too few.
package overflow

import "math/bits"

// Add returns x+y, and whether it fits.
func Add(x, y int64) (int64, bool) {
	z := x + y
	return z, (x^z)&(y^z) >= 0
}

// Sub returns x-y, and whether it fits.
func Sub(x, y int64) (int64, bool) {
	z := x - y
	return z, (x^y)&(x^z) >= 0
}

// Mul returns x*y, and whether it fits.
func Mul(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	negative := (x < 0) != (y < 0)
	switch {
	case hi != 0:
		return 0, false
	case negative:
		return -int64(lo), lo <= 1<<63
	}
	return int64(lo), lo < 1<<63
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
