package loop

import "math"

// The two half-precision storage types: F16 is IEEE 754 binary16 (5 exponent
// and 10 fraction bits), BF16 is the upper half of a binary32.

// F16ToF32 widens the bits of an F16, exactly. A NaN becomes quiet.
func F16ToF32(h uint16) float32 {
	const bias = 127 - 15 // between the two exponents
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 0x1f
	frac := uint32(h & 0x3ff)
	switch {
	case exp == 0: // zero or subnormal: frac units of 2^-24
		return math.Float32frombits(math.Float32bits(float32(frac)*0x1p-24) | sign)
	case exp == 0x1f && frac != 0:
		return math.Float32frombits(sign | 0x7fc00000 | frac<<13)
	case exp == 0x1f:
		return math.Float32frombits(sign | 0x7f800000)
	}
	return math.Float32frombits(sign | (exp+bias)<<23 | frac<<13)
}

// F32ToF16 rounds to the nearest F16, ties to even; from 65520 up (halfway
// past the largest finite F16) to infinity. A NaN stays one, made quiet, with
// the upper bits of its payload.
func F32ToF16(f float32) uint16 {
	const (
		bias      = 127 - 15
		inf       = 0x7f800000
		overflow  = 0x477ff000 // 65520
		minNormal = 0x38800000 // 2^-14
		half      = 0x3f000000 // 0.5
	)
	bits := math.Float32bits(f)
	sign := uint16(bits>>16) & 0x8000
	mag := bits &^ (1 << 31)
	switch {
	case mag > inf:
		return sign | 0x7e00 | uint16(mag>>13)&0x3ff
	case mag >= overflow:
		return sign | 0x7c00
	case mag < minNormal:
		// Next to 0.5 the unit in the last place of an F32 is 2^-24, that
		// of an F16 subnormal: the addition does the rounding.
		return sign | uint16(math.Float32bits(math.Float32frombits(mag)+0.5)-half)
	}
	mag += 0xfff + mag>>13&1 // rounds to even at bit 13; a carry raises the exponent
	return sign | uint16((mag-bias<<23)>>13)
}

// BF16ToF32 widens the bits of a BF16, exactly.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 rounds to the nearest BF16, ties to even; past the largest finite
// BF16 to infinity. A NaN stays one, made quiet, with the upper bits of its
// payload.
func F32ToBF16(f float32) uint16 {
	bits := math.Float32bits(f)
	if f != f {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// RoundToF16 is the F16 value nearest to f, as operator RoundF16 gives it.
func RoundToF16(f float32) float32 { return F16ToF32(F32ToF16(f)) }

// RoundToBF16 is the BF16 value nearest to f, as operator RoundBF16 gives it.
func RoundToBF16(f float32) float32 { return BF16ToF32(F32ToBF16(f)) }
