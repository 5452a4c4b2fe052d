package lang

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
