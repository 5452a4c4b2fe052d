package tensor

import "math"

// Float16Bits returns the IEEE 754 half-precision number nearest to f, ties to
// even. Values beyond the range become infinite, NaN stays NaN.
func Float16Bits(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000: // NaN: keep the upper payload, and it quiet
		return sign | 0x7e00 | uint16(abs>>13&0x1ff)
	case abs >= 0x47800000: // 65536 and more, or infinite
		return sign | 0x7c00
	case abs >= 0x38800000: // normal: rebias, round; a carry may reach infinity, rightly
		return sign | uint16((abs-0x38000000+0xfff+(abs>>13&1))>>13)
	case abs < 0x33000000: // less than half the smallest subnormal
		return sign
	}
	// Subnormal: the value is mantissa * 2^(e-150), counted in units of 2^-24.
	shift := 126 - abs>>23
	mantissa := abs&0x7fffff | 0x800000
	half := uint32(1) << (shift - 1)
	return sign | uint16((mantissa+half-1+(mantissa>>shift&1))>>shift)
}

// Float16FromBits returns the value of a half-precision number, exactly.
func Float16FromBits(b uint16) float32 {
	sign := uint32(b&0x8000) << 16
	exponent := uint32(b >> 10 & 0x1f)
	mantissa := uint32(b & 0x3ff)
	switch exponent {
	case 0: // zero or subnormal: mantissa * 2^-24, exact in float32
		return math.Float32frombits(sign | math.Float32bits(float32(mantissa)*0x1p-24))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}

// BFloat16Bits returns the bfloat16 number nearest to f, ties to even. Values
// beyond the range become infinite, NaN stays NaN.
func BFloat16Bits(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + (b >> 16 & 1)) >> 16)
}

// BFloat16FromBits returns the value of a bfloat16 number, exactly.
func BFloat16FromBits(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// roundToOdd converts v to float32 so that rounding the result once more, to a
// type at least two bits narrower, gives what rounding v directly would:
// inexact results are truncated and their last bit is set (Boldo and
// Melquiond, "When double rounding is odd", 2005).
func roundToOdd(v float64) float32 {
	f := float32(v)
	if float64(f) == v || v != v {
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) {
		b--
	}
	return math.Float32frombits(b | 1)
}
