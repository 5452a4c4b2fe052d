package file

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// The scanners below read numbers from a byte slice without allocating. They
// rely on one invariant, which the block reader establishes: the text ends in a
// newline, and a newline ends every number, so no scanner runs off the end.

// numStatus is the outcome of scanning a number.
type numStatus uint8

const (
	numOK       numStatus = iota
	numSyntax             // not a number
	numRange              // a number that the wanted type cannot hold
	numFraction           // a number that is not an integer, where one is wanted
)

// blank reports whether c separates fields within a line.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// skipBlanks returns the position of the first byte at or after p that is not blank.
func skipBlanks(d []byte, p int) int {
	for blank(d[p]) {
		p++
	}
	return p
}

// tokenEnd returns the end of the field that starts at p.
func tokenEnd(d []byte, p int) int {
	for d[p] != '\n' && !blank(d[p]) {
		p++
	}
	return p
}

// lineEnd returns the position of the newline at or after p.
func lineEnd(d []byte, p int) int {
	for d[p] != '\n' {
		p++
	}
	return p
}

// scanUint reads decimal digits. A number over 2^64-1 is numRange.
func scanUint(d []byte, p int) (v uint64, end int, st numStatus) {
	for end = p; ; end++ {
		c := d[end] - '0'
		if c > 9 {
			break
		}
		v = v*10 + uint64(c)
	}
	if n := end - p; n == 0 || n > 19 { // 10^19-1 < 2^64: else no overflow can have happened
		return scanLongUint(d, p, end)
	}
	return v, end, numOK
}

// scanLongUint is scanUint for no digits, or so many that 64 bits may not do.
func scanLongUint(d []byte, p, end int) (uint64, int, numStatus) {
	if p == end {
		return 0, end, numSyntax
	}
	v, err := strconv.ParseUint(view(d[p:end]), 10, 64)
	if err != nil {
		return 0, end, numRange
	}
	return v, end, numOK
}

// scanInteger reads an integer as sign and magnitude. A number written as a
// float (2.0, 1e3) is taken when its value is an integer.
func scanInteger(d []byte, p int) (mag uint64, neg bool, end int, st numStatus) {
	start := p
	if d[p] == '-' || d[p] == '+' {
		neg = d[p] == '-'
		p++
	}
	mag, p, st = scanUint(d, p)
	switch d[p] {
	case '.', 'e', 'E', 'd', 'D':
	default:
		return mag, neg, p, st
	}
	f, p, st := scanFloat(d, start)
	switch {
	case st != numOK:
		return 0, neg, p, st
	case f != math.Trunc(f):
		return 0, neg, p, numFraction
	case math.Abs(f) >= 1<<64:
		return 0, neg, p, numRange
	}
	return uint64(math.Abs(f)), neg, p, numOK
}

// scanFloat reads a decimal floating-point number, correctly rounded. The
// exponent may be marked e, E, or Fortran's d, D; inf, infinity and nan are read
// in any case. A finite number beyond the largest float64 is numRange.
//
// Numbers of up to 19 digits, whose digits are an integer of 64 bits, are decided
// here if their exponent is moderate; all others go to strconv.
func scanFloat(d []byte, p int) (f float64, end int, st numStatus) {
	start := p
	neg := false
	if d[p] == '-' || d[p] == '+' {
		neg = d[p] == '-'
		p++
	}
	mant, after := scanDigits(d, p, 0)
	digits, exp := after-p, 0
	p = after
	if d[p] == '.' {
		p++
		mant, after = scanDigits(d, p, mant)
		digits += after - p
		exp = p - after
		p = after
	}
	if digits == 0 {
		return scanSpecial(d, start)
	}
	fortran := false
	if c := d[p] | 0x20; c == 'e' || c == 'd' {
		fortran = c == 'd'
		e, after, ok := scanExponent(d, p+1)
		if !ok {
			return 0, after, numSyntax
		}
		exp, p = exp+e, after
	}
	if digits > 19 {
		return parseFloat(d[start:p], fortran, p)
	}
	switch {
	case mant == 0:
		f = 0
	case exp >= -22 && exp <= 22 && mant <= 1<<53:
		f = scaleExact(mant, exp)
	case exp >= -27 && exp <= 27:
		f = scaleInteger(mant, exp)
	default:
		return parseFloat(d[start:p], fortran, p)
	}
	if neg {
		f = -f
	}
	return f, p, numOK
}

// scanDigits reads digits as the continuation of mant. The result wraps round
// when there are more than 19 in all.
func scanDigits(d []byte, p int, mant uint64) (uint64, int) {
	for p+8 <= len(d) {
		eight, ok := eightDigits(binary.LittleEndian.Uint64(d[p:]))
		if !ok {
			break
		}
		mant = mant*1e8 + eight
		p += 8
	}
	for {
		c := d[p] - '0'
		if c > 9 {
			return mant, p
		}
		mant = mant*10 + uint64(c)
		p++
	}
}

// eightDigits returns the number that eight characters, the first in the lowest
// byte, spell; false if not all of them are digits. It works on all bytes at once:
// neighbours are joined to pairs, pairs to fours, fours to the whole.
func eightDigits(w uint64) (uint64, bool) {
	const high = 0x8080808080808080
	if ((w+0x4646464646464646)|(w-0x3030303030303030))&high != 0 {
		return 0, false
	}
	w -= 0x3030303030303030
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	return ((w&pairs)*(100+1000000<<32) + (w>>16&pairs)*(1+10000<<32)) >> 32, true
}

// pow10 holds the powers of ten that a float64 represents exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// scaleExact returns mant * 10^exp for an exact mant and an exact power: one
// operation, hence one rounding (W. D. Clinger, "How to read floating point
// numbers accurately", PLDI 1990).
func scaleExact(mant uint64, exp int) float64 {
	if exp < 0 {
		return float64(mant) / pow10[-exp]
	}
	return float64(mant) * pow10[exp]
}

// pow5 holds the powers of five that 64 bits hold.
var pow5 = [...]uint64{
	1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125,
	244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
	3814697265625, 19073486328125, 95367431640625, 476837158203125,
	2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125,
	1490116119384765625, 7450580596923828125,
}

// scaleInteger returns mant * 10^exp, correctly rounded, for mant > 0 and
// |exp| <= 27. As 10^k is 5^k * 2^k and 5^27 has 63 bits, product and quotient are
// those of integers: 64 leading bits of them and whether anything follows decide
// the rounding. The result is far from both ends of the range.
func scaleInteger(mant uint64, exp int) float64 {
	var lead, rest uint64 // the number is lead.rest * 2^shift
	shift := exp
	if exp >= 0 {
		hi, lo := bits.Mul64(mant, pow5[exp])
		if hi == 0 {
			hi, lo = lo, 0
			shift -= 64
		}
		zeros := bits.LeadingZeros64(hi)
		lead = hi<<zeros | lo>>(64-zeros)
		rest = lo << zeros
		shift += 64 - zeros
	} else {
		// Both are shifted to their full 64 bits; half the dividend is then less than
		// the divisor, as Div64 wants, and the quotient has 63 or 64 bits.
		div := pow5[-exp]
		zm, zd := bits.LeadingZeros64(mant), bits.LeadingZeros64(div)
		mant <<= zm
		lead, rest = bits.Div64(mant>>1, mant<<63, div<<zd)
		shift += zd - zm - 63
		if lead>>63 == 0 {
			// One more bit of the quotient is not needed: 63 are enough to round to 53.
			lead <<= 1
			shift--
		}
	}
	// Round to 53 bits, ties to even: 11 bits go.
	const half = 1 << 10
	tail := lead & (2*half - 1)
	lead >>= 11
	if tail > half || tail == half && (rest != 0 || lead&1 == 1) {
		lead++ // may become 2^53, which is as exact
	}
	return float64(lead) * math.Float64frombits(uint64(1023+shift+11)<<52)
}

// scanExponent reads a signed exponent; anything too large for a float64 either
// way is held at a bound that stays too large after the digits are counted in.
func scanExponent(d []byte, p int) (e, end int, ok bool) {
	const bound = 1 << 40
	neg := false
	if d[p] == '-' || d[p] == '+' {
		neg = d[p] == '-'
		p++
	}
	start := p
	for {
		c := d[p] - '0'
		if c > 9 {
			break
		}
		if e < bound {
			e = e*10 + int(c)
		}
		p++
	}
	if neg {
		e = -e
	}
	return e, p, p > start
}

// scanSpecial reads inf, infinity or nan, with an optional sign.
func scanSpecial(d []byte, p int) (f float64, end int, st numStatus) {
	sign := 1
	if d[p] == '-' || d[p] == '+' {
		if d[p] == '-' {
			sign = -1
		}
		p++
	}
	end = tokenEnd(d, p)
	switch word := d[p:end]; {
	case foldEqual(word, "inf"), foldEqual(word, "infinity"):
		return math.Inf(sign), end, numOK
	case foldEqual(word, "nan"):
		return math.NaN(), end, numOK
	}
	return 0, end, numSyntax
}

// parseFloat is the slow path: tok is known to be a well-formed decimal number.
func parseFloat(tok []byte, fortran bool, end int) (float64, int, numStatus) {
	if fortran {
		tok = plainExponent(tok)
	}
	f, err := strconv.ParseFloat(view(tok), 64)
	switch {
	case err == nil:
		return f, end, numOK
	case errors.Is(err, strconv.ErrRange):
		return f, end, numRange
	}
	return 0, end, numSyntax
}

// plainExponent returns a copy of tok with Fortran's exponent letter made an e.
func plainExponent(tok []byte) []byte {
	c := make([]byte, len(tok))
	for i, b := range tok {
		if b == 'd' || b == 'D' {
			b = 'e'
		}
		c[i] = b
	}
	return c
}

// foldEqual reports whether b is the lower-case ASCII word, in any case.
func foldEqual(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// view returns b as a string without copying. The string must not outlive the
// call it is made for: the bytes are reused.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
