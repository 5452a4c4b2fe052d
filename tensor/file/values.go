package file

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// valueClass is how the number of an entry is read and kept in a word.
type valueClass uint8

const (
	floatClass   valueClass = iota // float64 bits, already rounded to the narrow type if it is one
	intClass                       // two's complement
	uintClass                      // the number itself
	boolClass                      // 0 or 1: whether the number differs from 0
	complexClass                   // two words: real part, imaginary part, as floatClass
)

// valueSpec says how the values of a text file are written and what they become.
type valueSpec struct {
	dtype  tensor.DType
	class  valueClass
	tokens int         // numbers per entry in the text: 0 (all ones), 1, or 2 (complex)
	words  int         // words per value in memory: 2 for complexClass, else 1
	shape  *floatShape // of floats (and parts of complex) narrower than float64; nil otherwise
	lo     int64       // bounds of intClass and uintClass
	hi     uint64
	one    uint64 // the word for 1
}

// newValueSpec returns the spec for text with the given count of numbers per entry,
// read as dt. Two numbers can only be read as a complex type.
func newValueSpec(tokens int, dt tensor.DType) (valueSpec, error) {
	s := valueSpec{dtype: dt, tokens: tokens, words: 1, one: 1}
	switch {
	case dt == tensor.Bool:
		s.class = boolClass
	case dt.IsComplex():
		s.class, s.words = complexClass, 2
	case dt.IsFloat():
		s.class = floatClass
	case dt.IsUnsigned():
		s.class, s.hi = uintClass, math.MaxUint64>>(64-8*dt.Size())
	case dt.IsInteger():
		s.class, s.hi = intClass, math.MaxInt64>>(64-8*dt.Size())
		s.lo = -int64(s.hi) - 1
	default:
		return s, fmt.Errorf("values cannot be read as %v", dt)
	}
	if s.class == floatClass || s.class == complexClass {
		s.one = math.Float64bits(1)
		switch dt {
		case tensor.Float32, tensor.Complex64:
			s.shape = &shape32
		case tensor.Float16:
			s.shape = &shape16
		case tensor.BFloat16:
			s.shape = &shapeBF16
		}
	}
	if tokens == 2 && s.class != complexClass {
		return s, fmt.Errorf("values are complex; reading them as %v would lose their imaginary parts (ask for c64 or c128)", dt)
	}
	return s, nil
}

// scan reads the value at d[p:] into w, of which it sets s.words words.
func (s *valueSpec) scan(d []byte, p int, w *[2]uint64) (end int, st numStatus) {
	if s.tokens == 0 {
		w[0], w[1] = s.one, 0
		return p, numOK
	}
	switch s.class {
	case floatClass:
		w[0], end, st = s.scanFloat(d, p)
		return end, st
	case complexClass:
		w[0], end, st = s.scanFloat(d, p)
		w[1] = 0
		if s.tokens == 1 || st != numOK {
			return end, st
		}
		end = skipBlanks(d, end)
		w[1], end, st = s.scanFloat(d, end)
		return end, st
	case boolClass:
		f, end, st := scanFloat(d, p)
		w[0] = 0
		if f != 0 {
			w[0] = 1
		}
		if st == numRange { // too large to hold, certainly not zero
			st = numOK
		}
		return end, st
	}
	mag, neg, end, st := scanInteger(d, p)
	if st != numOK {
		return end, st
	}
	if neg {
		if mag > 1<<63 || int64(-mag) < s.lo {
			return end, numRange
		}
		w[0] = -mag
		return end, numOK
	}
	if mag > s.hi {
		return end, numRange
	}
	w[0] = mag
	return end, numOK
}

func (s *valueSpec) scanFloat(d []byte, p int) (w uint64, end int, st numStatus) {
	f, end, st := scanFloat(d, p)
	if s.shape != nil && st == numOK {
		f, st = s.shape.narrow(f, d[p:end])
	}
	return math.Float64bits(f), end, st
}

// explain says what is wrong with the field at d[p:] that scan refused.
func (s *valueSpec) explain(d []byte, p int, st numStatus) string {
	field := d[p:tokenEnd(d, p)]
	switch {
	case len(field) == 0:
		return fmt.Sprintf("a value is missing: expected %s", s.expected())
	case st == numRange && (s.class == intClass || s.class == uintClass):
		return fmt.Sprintf("%s is out of range of %v (%d to %d)", quote(field), s.dtype, s.lo, s.hi)
	case st == numRange:
		return fmt.Sprintf("%s is out of range of %v (write inf if infinity is meant)", quote(field), s.dtype)
	case st == numFraction:
		return fmt.Sprintf("%s is not an integer, but the values are %v", quote(field), s.dtype)
	}
	return fmt.Sprintf("%s is not %s", quote(field), s.expected())
}

// expected describes one number of an entry.
func (s *valueSpec) expected() string {
	if s.class == intClass || s.class == uintClass {
		return "an integer"
	}
	return "a number"
}

// negate changes the sign of the value in w. Integers must not be at their lower
// bound and unsigned ones must be 0: symmetry.restrict sees to both.
func (s *valueSpec) negate(w *[2]uint64) {
	const sign = 1 << 63
	switch s.class {
	case floatClass:
		w[0] ^= sign
	case complexClass:
		w[0] ^= sign
		w[1] ^= sign
	case intClass, uintClass:
		w[0] = -w[0]
	case boolClass: // minus true is still not zero
	}
}

// conjugate changes the sign of the imaginary part of the complex value in w.
func (s *valueSpec) conjugate(w *[2]uint64) { w[1] ^= 1 << 63 }

// zero reports whether the value in w is zero.
func (s *valueSpec) zero(w *[2]uint64) bool {
	const sign = 1 << 63
	switch s.class {
	case floatClass:
		return w[0]&^sign == 0
	case complexClass:
		return w[0]&^sign == 0 && w[1]&^sign == 0
	}
	return w[0] == 0
}
