package tensor

import (
	"math"
	"strconv"
	"strings"
)

// Scalar is one value of a dynamic type. Two scalars are == when type and bits
// are the same; [Scalar.Same] also takes NaN for NaN. The zero Scalar has the
// type Invalid and stands for no value.
type Scalar struct {
	dt     DType
	lo, hi uint64 // as Bits describes
}

// The NaN that constructors store, so that equal scalars have equal bits.
const (
	canonicalNaN64 = 0x7ff8000000000000
	canonicalNaN32 = 0x7fc00000
)

// Truth is b as a scalar of type Bool, whose name is taken by the type.
func Truth(b bool) Scalar {
	if b {
		return Scalar{dt: Bool, lo: 1}
	}
	return Scalar{dt: Bool}
}

// Int is v as a scalar of type dt, wrapped to its width or rounded to nearest.
func Int(dt DType, v int64) Scalar { return Scalar{Int64, uint64(v), 0}.Convert(dt) }

// Uint is v as a scalar of type dt, wrapped to its width or rounded to nearest.
func Uint(dt DType, v uint64) Scalar { return Scalar{Uint64, v, 0}.Convert(dt) }

// Float is v as a scalar of type dt: rounded once, to nearest even, for a
// floating-point type; as Convert does it for any other.
func Float(dt DType, v float64) Scalar {
	if dt == Float16 || dt == BFloat16 {
		return Scalar{Float32, float32Bits(roundToOdd(v)), 0}.Convert(dt)
	}
	return Scalar{Float64, float64Bits(v), 0}.Convert(dt)
}

// Complex is v as a scalar of type dt; a real type keeps the real part.
func Complex(dt DType, v complex128) Scalar {
	if !dt.IsComplex() {
		return Float(dt, real(v))
	}
	return Scalar{Complex128, float64Bits(real(v)), float64Bits(imag(v))}.Convert(dt)
}

// Zero is 0 (false for Bool) of type dt.
func Zero(dt DType) Scalar { return Scalar{dt: dt} }

// One is 1 (true for Bool) of type dt.
func One(dt DType) Scalar { return Int(dt, 1) }

// float64Bits is math.Float64bits with every NaN made the canonical one.
func float64Bits(v float64) uint64 {
	if v != v {
		return canonicalNaN64
	}
	return math.Float64bits(v)
}

// float32Bits is math.Float32bits with every NaN made the canonical one.
func float32Bits(v float32) uint64 {
	if v != v {
		return canonicalNaN32
	}
	return uint64(math.Float32bits(v))
}

// DType is the scalar's type.
func (x Scalar) DType() DType { return x.dt }

// Bits returns the value as raw bits: lo is an integer extended to 64 bits by
// its own signedness, or the bits of the value in the compute type (Float16
// and BFloat16 as Float32, Float32 in the low 32 bits). A complex number has
// its real part in lo and its imaginary part in hi.
func (x Scalar) Bits() (lo, hi uint64) { return x.lo, x.hi }

// parts returns the value as one or two float64s; integers are rounded.
func (x Scalar) parts() (re, im float64) {
	switch x.dt {
	case Float16, BFloat16, Float32:
		return float64(math.Float32frombits(uint32(x.lo))), 0
	case Float64:
		return math.Float64frombits(x.lo), 0
	case Complex64:
		return float64(math.Float32frombits(uint32(x.lo))), float64(math.Float32frombits(uint32(x.hi)))
	case Complex128:
		return math.Float64frombits(x.lo), math.Float64frombits(x.hi)
	}
	if x.dt.IsSigned() {
		return float64(int64(x.lo)), 0
	}
	return float64(x.lo), 0
}

// Float64 is the value (the real part of a complex one) converted to float64.
func (x Scalar) Float64() float64 { re, _ := x.parts(); return re }

// Complex128 is the value converted to complex128.
func (x Scalar) Complex128() complex128 { return complex(x.parts()) }

// Int64 is the value converted to Int64, by the rules of Convert.
func (x Scalar) Int64() int64 { return int64(x.Convert(Int64).lo) }

// Uint64 is the value converted to Uint64, by the rules of Convert.
func (x Scalar) Uint64() uint64 { return x.Convert(Uint64).lo }

// Bool reports whether the value is not 0; NaN is not 0.
func (x Scalar) Bool() bool { return !x.IsZero() }

// IsZero reports whether the value is 0, of either sign, or false.
func (x Scalar) IsZero() bool {
	re, im := x.parts()
	return re == 0 && im == 0
}

// IsNaN reports whether the value, or a part of it, is NaN.
func (x Scalar) IsNaN() bool {
	re, im := x.parts()
	return re != re || im != im
}

// Same reports whether x and y have one type and the same bits, where any NaN
// is the same as any other.
func (x Scalar) Same(y Scalar) bool { return x.canonical() == y.canonical() }

// canonical is x with every NaN made the canonical one.
func (x Scalar) canonical() Scalar {
	if x.IsNaN() {
		return x.convertFloat(x.dt)
	}
	return x
}

// Convert converts the value to type dt. Integer to integer wraps; integer to
// float rounds to nearest even; float to integer truncates toward zero,
// saturates, and makes NaN 0; anything to Bool is x != 0 (NaN is true); Bool to
// a number is 0 or 1; real to complex has imaginary part 0; complex to real
// drops it. Float16 and BFloat16 are reached by way of Float32, as kernels do.
func (x Scalar) Convert(dt DType) Scalar {
	if x.dt == dt {
		return x
	}
	if !x.dt.Valid() || !dt.Valid() {
		return Scalar{}
	}
	if dt == Bool {
		return Truth(x.Bool())
	}
	if x.dt == Bool || x.dt.IsInteger() {
		return x.convertInteger(dt)
	}
	if dt.IsInteger() {
		return Scalar{dt, truncate(x.Float64(), dt), 0}
	}
	return x.convertFloat(dt)
}

// convertInteger converts an integer or a Bool to any type but Bool.
func (x Scalar) convertInteger(dt DType) Scalar {
	if dt.IsInteger() {
		shift := uint(64 - 8*dt.Size())
		if dt.IsSigned() {
			return Scalar{dt, uint64(int64(x.lo<<shift) >> shift), 0}
		}
		return Scalar{dt, x.lo << shift >> shift, 0}
	}
	switch dt.Compute() {
	case Float32, Complex64: // directly: by way of float64 it would round twice
		f := float32(x.lo)
		if x.dt.IsSigned() {
			f = float32(int64(x.lo))
		}
		return Scalar{dt, float32Bits(roundHalf(f, dt)), 0}
	}
	return Scalar{dt, float64Bits(x.Float64()), 0}
}

// convertFloat converts a real or complex number to a real or complex type.
func (x Scalar) convertFloat(dt DType) Scalar {
	re, im := x.parts()
	if !dt.IsComplex() {
		im = 0
	}
	switch dt.Compute() {
	case Float32, Complex64:
		return Scalar{dt, float32Bits(roundHalf(float32(re), dt)), float32Bits(float32(im))}
	}
	return Scalar{dt, float64Bits(re), float64Bits(im)}
}

// roundHalf rounds f to the half-precision type dt; other types keep it.
func roundHalf(f float32, dt DType) float32 {
	switch dt {
	case Float16:
		return Float16FromBits(Float16Bits(f))
	case BFloat16:
		return BFloat16FromBits(BFloat16Bits(f))
	}
	return f
}

// truncate converts v to the integer type dt, saturating, and extends the
// result to 64 bits. NaN becomes 0.
func truncate(v float64, dt DType) uint64 {
	if v != v {
		return 0
	}
	top := dt.maxIndex()
	limit := math.Ldexp(1, 8*dt.Size()) // the first number too large
	if dt.IsSigned() {
		limit /= 2
		if v <= -limit {
			return ^top
		}
	} else if v <= 0 {
		return 0
	}
	if v >= limit {
		return top
	}
	if dt.IsSigned() {
		return uint64(int64(v))
	}
	return uint64(v)
}

// String returns the value as ParseScalar reads it back: the shortest decimal
// that gives the same bits, "inf", "-inf", "nan", "true", "1+2i".
func (x Scalar) String() string {
	re, im := x.parts()
	switch x.dt.facts().class {
	case boolClass:
		return strconv.FormatBool(x.lo != 0)
	case signedClass:
		return strconv.FormatInt(int64(x.lo), 10)
	case unsignedClass:
		return strconv.FormatUint(x.lo, 10)
	case floatClass:
		return formatFloat(re, x.dt)
	case complexClass:
		imaginary := formatFloat(im, x.dt.Real())
		if imaginary[0] != '-' {
			imaginary = "+" + imaginary
		}
		return formatFloat(re, x.dt.Real()) + imaginary + "i"
	}
	return "invalid"
}

// formatFloat writes v, a value of the floating-point type dt, in the fewest
// digits that give it back.
func formatFloat(v float64, dt DType) string {
	switch {
	case v != v:
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case dt == Float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case dt == Float32:
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	want := Float(dt, v)
	for digits := 1; digits < 9; digits++ {
		s := strconv.FormatFloat(v, 'g', digits, 64)
		back, err := strconv.ParseFloat(s, 64)
		if err == nil && Float(dt, back) == want {
			return s
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 32)
}

// ParseScalar reads a value of type dt: "1.5", "-3", "inf", "nan", "true",
// "1+2i". An integer may be written with an exponent or a decimal point if it
// is whole. What does not fit the type is an error.
func ParseScalar(s string, dt DType) (Scalar, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	var x Scalar
	var ok bool
	switch dt.facts().class {
	case boolClass:
		x, ok = parseBool(text)
	case signedClass, unsignedClass:
		x, ok = parseInteger(text, dt)
	case floatClass:
		x, ok = parseFloat(text, dt)
	case complexClass:
		x, ok = parseComplex(text, dt)
	}
	if !ok {
		return Scalar{}, &ParseError{Text: s, Msg: "not a value of type " + dt.String(), Hint: scalarHints[dt.facts().class]}
	}
	return x, nil
}

// scalarHints says, for each class of types, what their values look like.
var scalarHints = [...]string{
	noClass:       "there are no values of an invalid type",
	boolClass:     "write true, false, 1 or 0",
	signedClass:   "write a whole number within the type's range, such as -3",
	unsignedClass: "write a whole number from 0 to the type's largest, such as 3",
	floatClass:    "write a number within the type's range, such as 1.5, -2e-3, inf or nan",
	complexClass:  "write a number such as 1+2i, -0.5i or 3",
}

func parseBool(s string) (Scalar, bool) {
	switch s {
	case "true", "1":
		return Truth(true), true
	case "false", "0":
		return Truth(false), true
	}
	return Scalar{}, false
}

func parseInteger(s string, dt DType) (Scalar, bool) {
	width := 8 * dt.Size()
	if dt.IsSigned() {
		if v, err := strconv.ParseInt(s, 10, width); err == nil {
			return Int(dt, v), true
		}
	} else if v, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, width); err == nil {
		return Uint(dt, v), true
	}
	// A whole number in floating-point notation, such as 1e3. Beyond 2^53 the
	// notation may have lost digits.
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return Scalar{}, false
	}
	x := Float(dt, v)
	return x, x.Float64() == v
}

func parseFloat(s string, dt DType) (Scalar, bool) {
	width := 64
	if dt == Float32 {
		width = 32
	}
	v, err := strconv.ParseFloat(s, width)
	if err != nil {
		return Scalar{}, false
	}
	x := Float(dt, v)
	return x, math.IsInf(v, 0) || !math.IsInf(x.Float64(), 0)
}

func parseComplex(s string, dt DType) (Scalar, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "("), ")")
	if t, ok := strings.CutSuffix(s, "j"); ok { // Python's spelling
		s = t + "i"
	}
	v, err := strconv.ParseComplex(s, 8*dt.Size())
	if err != nil {
		return Scalar{}, false
	}
	return Complex(dt, v), true
}
