package loop

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Int is the I64 constant n.
func Int(n int64) *Const { return &Const{Typ: I64, Bits: uint64(n)} }

// Truth is the Bool constant v.
func Truth(v bool) *Const {
	if v {
		return &Const{Typ: Bool, Bits: 1}
	}
	return &Const{Typ: Bool}
}

// Number is the constant of type t nearest to x. Integers wrap around; Bool is
// x != 0; complex constants get imaginary part 0. t must be a compute type.
func Number(t Type, x int64) *Const {
	switch {
	case t == Bool:
		return Truth(x != 0)
	case t.IsInt():
		return &Const{Typ: t, Bits: wrapBits(t, uint64(x))}
	case t.Real() == F32:
		return &Const{Typ: t, Bits: uint64(math.Float32bits(float32(x)))}
	case t.Real() == F64:
		return &Const{Typ: t, Bits: math.Float64bits(float64(x))}
	}
	panic("BUG: loop.Number of type " + t.String())
}

// Float is the constant x, rounded to nearest, of t: F32, F64, C64 or C128 (the
// last two with imaginary part 0). A NaN becomes the plain one.
func Float(t Type, x float64) *Const {
	switch {
	case t.Real() == F32 && x != x:
		return &Const{Typ: t, Bits: plainNaN32}
	case t.Real() == F32:
		return &Const{Typ: t, Bits: uint64(math.Float32bits(float32(x)))}
	case t.Real() == F64 && x != x:
		return &Const{Typ: t, Bits: plainNaN64}
	case t.Real() == F64:
		return &Const{Typ: t, Bits: math.Float64bits(x)}
	}
	panic("BUG: loop.Float of type " + t.String())
}

// wrapBits reduces the integer x to the width of t and extends it to 64 bits as
// Const wants it.
func wrapBits(t Type, x uint64) uint64 {
	shift := 64 - 8*uint(t.Size())
	if t.IsSigned() {
		return uint64(int64(x<<shift) >> shift)
	}
	return x << shift >> shift
}

// isCanonical reports whether c has the one bit pattern its value is given by.
func (c *Const) isCanonical() bool {
	fits := func(bits uint64) bool { return c.Typ.Real() != F32 || bits>>32 == 0 }
	switch {
	case c.Typ.IsComplex():
		return fits(c.Bits) && fits(c.Imag)
	case c.Imag != 0:
		return false
	case c.Typ == Bool:
		return c.Bits <= 1
	case c.Typ.IsInt():
		return c.Bits == wrapBits(c.Typ, c.Bits)
	}
	return isReal(c.Typ) && fits(c.Bits)
}

// String returns the literal for c, with its type where the text alone does not
// tell: 1 is i64, 1.0 is f64.
func (c *Const) String() string {
	switch {
	case c.Typ == Bool:
		return strconv.FormatBool(c.Bits != 0)
	case c.Typ == I64:
		return strconv.FormatInt(int64(c.Bits), 10)
	case c.Typ.IsSigned():
		return strconv.FormatInt(int64(c.Bits), 10) + ":" + c.Typ.String()
	case c.Typ.IsInt():
		return strconv.FormatUint(c.Bits, 10) + ":" + c.Typ.String()
	case c.Typ.IsComplex():
		return "complex(" + floatLiteral(c.Typ.Real(), c.Bits) + ", " + floatLiteral(c.Typ.Real(), c.Imag) + ")"
	}
	return floatLiteral(c.Typ, c.Bits)
}

// floatLiteral writes an F32 or F64 so that reading it gives the same bits.
func floatLiteral(t Type, bits uint64) string {
	x, size, suffix := math.Float64frombits(bits), 64, ""
	if t == F32 {
		x, size, suffix = float64(math.Float32frombits(uint32(bits))), 32, ":f32"
	}
	switch {
	case math.IsInf(x, 1):
		return "inf" + suffix
	case math.IsInf(x, -1):
		return "-inf" + suffix
	case t == F32 && bits == plainNaN32 || t != F32 && bits == plainNaN64:
		return "nan" + suffix
	case math.IsNaN(x):
		return fmt.Sprintf("%s#%0*x", t, size/4, bits)
	}
	s := strconv.FormatFloat(x, 'g', -1, size)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + suffix
}

// Bit patterns written as plain "nan"; every other NaN is written by its bits.
const (
	plainNaN32 = 0x7fc00000
	plainNaN64 = 0x7ff8000000000000
)

// parseLiteral reads the digits of a number token as a constant of type t, with
// the sign before it. The error says what is wrong, without a position.
func parseLiteral(digits string, negative bool, t Type) (*Const, error) {
	isFloat := digits == "nan" || digits == "inf" || isFloatText(digits)
	switch {
	case t.IsInt() && isFloat:
		return nil, fmt.Errorf("%s is not a whole number, as %s wants", digits, t)
	case t.IsInt():
		return parseInt(digits, negative, t)
	case isReal(t) && !isFloat:
		return nil, fmt.Errorf("%s is a whole number; write %s.0:%s", digits, digits, t)
	case isReal(t):
		return parseFloat(digits, negative, t)
	}
	return nil, fmt.Errorf("a number cannot have type %s; write complex(re, im) or a cast", t)
}

// isFloatText reports whether a number token is a floating-point literal.
func isFloatText(digits string) bool {
	if strings.HasPrefix(digits, "0x") {
		return strings.ContainsAny(digits, ".p")
	}
	return strings.ContainsAny(digits, ".e")
}

func parseInt(digits string, negative bool, t Type) (*Const, error) {
	text, base := digits, 10
	if hex, ok := strings.CutPrefix(digits, "0x"); ok {
		text, base = hex, 16
	}
	x, err := strconv.ParseUint(text, base, 64)
	sign := ""
	if negative {
		x, sign = -x, "-"
	}
	bits := wrapBits(t, x)
	// The value fits when wrapping changed nothing and the sign came out right.
	if err != nil || bits != x || x != 0 && negative != (t.IsSigned() && int64(x) < 0) {
		return nil, fmt.Errorf("%s%s does not fit in %s", sign, digits, t)
	}
	return &Const{Typ: t, Bits: bits}, nil
}

func parseFloat(digits string, negative bool, t Type) (*Const, error) {
	x, err := strconv.ParseFloat(digits, 8*t.Size())
	if err != nil {
		return nil, fmt.Errorf("%s is not a number that fits in %s", digits, t)
	}
	c := Float(t, x)
	if digits == "nan" {
		c.Bits = plainNaN64
		if t == F32 {
			c.Bits = plainNaN32
		}
	}
	if negative {
		c.Bits ^= 1 << (8*t.Size() - 1)
	}
	return c, nil
}
