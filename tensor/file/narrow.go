package file

import (
	"math"
	"math/big"
	"strconv"
)

// floatShape describes a binary floating-point type narrower than float64.
type floatShape struct {
	precision int     // bits of significand, the hidden one included
	minExp    int     // exponent of the smallest normal number 1.xxx * 2^minExp
	max       float64 // the largest finite value
}

// The narrow types that tensors hold.
var (
	shape32   = floatShape{precision: 24, minExp: -126, max: math.MaxFloat32}
	shape16   = floatShape{precision: 11, minExp: -14, max: 65504}
	shapeBF16 = floatShape{precision: 8, minExp: -126, max: 0x1.fep127}
)

// round rounds f to the nearest number of shape s, ties to even, and reports
// whether f lies exactly half-way between two of them.
func (s floatShape) round(f float64) (r float64, tie bool) {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f, false
	}
	_, e := math.Frexp(f) // f = 0.1xxx * 2^e
	ulp := max(e-1, s.minExp) - (s.precision - 1)
	x := math.Ldexp(f, -ulp) // exact: at most 53 bits, far from both ends of the range
	n := math.RoundToEven(x)
	r = math.Ldexp(n, ulp)
	if math.Abs(r) > s.max {
		r = math.Inf(int(math.Copysign(1, f)))
	}
	return r, math.Abs(x-math.Trunc(x)) == 0.5
}

// longestExact bounds the work of comparing a decimal exactly. A longer one (no
// program writes them) is rounded twice, which is off by at most one unit.
const longestExact = 4096

// narrow rounds the decimal number tok, whose value as a float64 is f, to
// shape s: correctly, that is, once. Rounding to float64 first can only go wrong
// where it lands half-way between two narrow numbers; there the decimal itself
// is asked on which side it lies.
func (s floatShape) narrow(f float64, tok []byte) (float64, numStatus) {
	r, tie := s.round(f)
	if tie && len(tok) <= longestExact {
		switch side := compareDecimal(tok, f); {
		case side < 0:
			r, _ = s.round(math.Nextafter(f, math.Inf(-1)))
		case side > 0:
			r, _ = s.round(math.Nextafter(f, math.Inf(1)))
		}
	}
	if math.IsInf(r, 0) && !math.IsInf(f, 0) {
		return r, numRange
	}
	return r, numOK
}

// compareDecimal compares the decimal number tok with f exactly: -1, 0 or 1.
// f is finite and not zero and tok is within half an ulp of it, which bounds the
// size of the rational by the length of tok.
func compareDecimal(tok []byte, f float64) int {
	exact, ok := new(big.Rat).SetString(string(plainExponent(tok)))
	if !ok {
		return 0
	}
	return exact.Cmp(new(big.Rat).SetFloat64(f))
}

// appendShortest appends the shortest decimal that reads back as f, a number of
// shape s.
func (s floatShape) appendShortest(dst []byte, f float64) []byte {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return appendFloat64(dst, f)
	}
	for digits := 1; digits < 17; digits++ {
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'g', digits, 64)
		tok := dst[start:]
		wide, err := strconv.ParseFloat(string(tok), 64)
		if r, st := s.narrow(wide, tok); err == nil && st == numOK && r == f {
			return dst
		}
		dst = dst[:start]
	}
	return appendFloat64(dst, f)
}

// appendFloat64 appends the shortest decimal that reads back as f.
func appendFloat64(dst []byte, f float64) []byte { return appendFloat(dst, f, 64) }

// appendFloat32 appends the shortest decimal that reads back as the float32 f.
func appendFloat32(dst []byte, f float32) []byte { return appendFloat(dst, float64(f), 32) }

func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}
