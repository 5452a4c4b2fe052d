package oracle

import (
	"math"
	"math/cmplx"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Value is a number of any type. Only the field that fits the type is used:
// B for bool, I for integers (two's complement), C for floats and complex
// numbers (a float is a complex number without an imaginary part).
type Value struct {
	B bool
	I int64
	C complex128
	// Err bounds how far a right answer may be from this one, because it added
	// in another order or uses another math library. 0: there is one right
	// answer. +Inf: rounding decides (a comparison of values within each
	// other's bounds, say), so that any answer must be taken.
	Err   float64
	State State
	// Varies says that the value is not known from the program and the fills alone. Of such a gap
	// the compiler does not know that it annihilates before it runs, and stores what it makes of it.
	Varies bool
	// Omissible says that nothing but a condition that is stored everywhere makes the value a stored one: a sparse
	// result may leave it out.
	Omissible bool
	// Disputed says that the value depends on whether the program's own tensor stores an
	// element, which is for the compiler to choose: it is right in strict IEEE arithmetic only.
	Disputed bool
}

// State tells where a value comes from, which decides what an operation makes of it: see
// docs/language.md.
type State uint8

const (
	Uniform State = iota // literals, scalars, indices
	Gap                  // a coordinate that a tensor does not store, or outside it
	Unknown              // of a tensor that the program makes: Gap or Stored
	Stored               // an entry
)

// Arithmetic says what a gap does to infinities and NaN.
type Arithmetic uint8

const (
	Gaps       Arithmetic = iota // 0 annihilates them in a product, an infinity in a sum
	StrictIEEE                   // nothing: see StrictIEEE in the root package
)

// number is a float or complex value that is known exactly.
func number(c complex128) Value { return Value{C: c} }

// FromScalar is a tensor scalar as a Value.
func FromScalar(s tensor.Scalar) Value {
	switch dt := s.DType(); {
	case dt == tensor.Bool:
		return Value{B: s.Bool()}
	case inexact(dt):
		return number(s.Complex128())
	case dt == tensor.Uint64:
		return Value{I: int64(s.Uint64())}
	}
	return Value{I: s.Int64()}
}

// Scalar is a Value of the given type as a tensor scalar.
func (v Value) Scalar(dt tensor.DType) tensor.Scalar {
	switch {
	case dt == tensor.Bool:
		return tensor.Truth(v.B)
	case dt.IsComplex():
		return tensor.Complex(dt, v.C)
	case dt.IsFloat():
		return tensor.Float(dt, real(v.C))
	case dt == tensor.Uint64:
		return tensor.Uint(dt, uint64(v.I))
	}
	return tensor.Int(dt, v.I)
}

// Open reports whether every answer must be taken.
func (v Value) Open() bool { return math.IsInf(v.Err, 1) || math.IsNaN(v.Err) }

// Accepts reports whether got is a right answer where v is the oracle's. Zeros
// of both signs are one number, and so are all NaNs.
func (v Value) Accepts(dt tensor.DType, got Value) bool {
	d := distance(dt, v, got)
	return d == 0 || d <= slack*v.Err
}

// slack multiplies error bounds when they are compared: they are first-order.
const slack = 4

// distance is how far two values are apart: 0 or +Inf where there is no middle.
func distance(dt tensor.DType, x, y Value) float64 {
	if !inexact(dt) {
		if x.B == y.B && x.I == y.I {
			return 0
		}
		return math.Inf(1)
	}
	xNaN, yNaN := isNaN(x.C), isNaN(y.C)
	switch {
	case x.C == y.C, xNaN && yNaN:
		return 0
	case xNaN, yNaN:
		return math.Inf(1)
	}
	return math.Hypot(apart(real(x.C), real(y.C)), apart(imag(x.C), imag(y.C))) // +Inf if one is infinite
}

// apart is how far two numbers are apart: equal infinities are not.
func apart(x, y float64) float64 {
	if x == y {
		return 0
	}
	return math.Abs(x - y)
}

// isNaN is true also for inf + i nan, which package cmplx counts as infinite.
func isNaN(c complex128) bool { return math.IsNaN(real(c)) || math.IsNaN(imag(c)) }

func finite(c complex128) bool { return !isNaN(c) && !cmplx.IsInf(c) }

func inexact(dt tensor.DType) bool { return dt.IsFloat() || dt.IsComplex() }

// unit is the largest relative error of one rounding in the type in which dt is
// computed.
func unit(dt tensor.DType) float64 {
	switch compute(dt) {
	case tensor.Float32, tensor.Complex64:
		return 0x1p-24
	}
	return 0x1p-53
}

// compute is the type in which a type is computed.
func compute(dt tensor.DType) tensor.DType {
	if dt == tensor.Float16 || dt == tensor.BFloat16 {
		return tensor.Float32
	}
	return dt
}

// exactIn reports whether the float is a whole number that dt holds, so that
// sums and products of such are exact in every order while they stay below.
func exactIn(dt tensor.DType, magnitude float64) bool { return magnitude <= 1/unit(dt)/2 }

func whole(c complex128) bool {
	return real(c) == math.Trunc(real(c)) && imag(c) == math.Trunc(imag(c)) && finite(c)
}
