package lang

import "math"

// addInt64 returns a+b and whether it fits.
func addInt64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// mulInt64 returns a*b and whether it fits.
func mulInt64(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p := a * b
	if p/b != a || a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return 0, false
	}
	return p, true
}

// clampAdd returns a+b, saturated. Extents and coordinates saturate: a saturated
// coordinate lies outside every dimension.
func clampAdd(a, b int64) int64 {
	s, ok := addInt64(a, b)
	switch {
	case ok:
		return s
	case b > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// clampMul returns a*b, saturated.
func clampMul(a, b int64) int64 {
	p, ok := mulInt64(a, b)
	switch {
	case ok:
		return p
	case (a > 0) == (b > 0):
		return math.MaxInt64
	}
	return math.MinInt64
}

// ceilDiv returns a/b rounded up, for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 {
		q++
	}
	return q
}
