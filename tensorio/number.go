package tensorio

import (
	"errors"
	"math"
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
	start := p
	for {
		c := d[p] - '0'
		if c > 9 {
			break
		}
		v = v*10 + uint64(c)
		p++
	}
	switch n := p - start; {
	case n == 0:
		return 0, p, numSyntax
	case n <= 19: // 10^19-1 < 2^64: no overflow can have happened
		return v, p, numOK
	}
	v, err := strconv.ParseUint(view(d[start:p]), 10, 64)
	if err != nil {
		return 0, p, numRange
	}
	return v, p, numOK
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

// pow10 holds the powers of ten that a float64 represents exactly.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// scanFloat reads a decimal floating-point number, correctly rounded. The
// exponent may be marked e, E, or Fortran's d, D; inf, infinity and nan are read
// in any case. A finite number beyond the largest float64 is numRange.
//
// Short numbers take Clinger's fast path (W. D. Clinger, "How to read floating
// point numbers accurately", PLDI 1990): a mantissa below 2^53 times or over an
// exact power of ten rounds once, hence correctly. All others go to strconv.
func scanFloat(d []byte, p int) (f float64, end int, st numStatus) {
	start := p
	neg := false
	if d[p] == '-' || d[p] == '+' {
		neg = d[p] == '-'
		p++
	}
	var mant uint64
	first := p
	for {
		c := d[p] - '0'
		if c > 9 {
			break
		}
		mant = mant*10 + uint64(c)
		p++
	}
	digits, exp := p-first, 0
	if d[p] == '.' {
		p++
		first = p
		for {
			c := d[p] - '0'
			if c > 9 {
				break
			}
			mant = mant*10 + uint64(c)
			p++
		}
		digits += p - first
		exp = first - p
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
	if digits <= 19 && mant <= 1<<53 {
		f = float64(mant)
		switch {
		case exp == 0 || mant == 0:
		case exp < 0 && exp >= -22:
			f /= pow10[-exp]
		case exp > 0 && exp <= 22:
			f *= pow10[exp]
		default:
			return parseFloat(d[start:p], fortran, p)
		}
		if neg {
			f = -f
		}
		return f, p, numOK
	}
	return parseFloat(d[start:p], fortran, p)
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
