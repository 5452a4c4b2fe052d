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

// checked returns op(a, b), clearing ok if it does not fit.
func checked(op func(a, b int64) (int64, bool), a, b int64, ok *bool) int64 {
	v, fits := op(a, b)
	*ok = *ok && fits
	return v
}

// ceilDiv returns a/b rounded up, for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 {
		q++
	}
	return q
}
