package tensor

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// nearest16 rounds v to the nearest of the 65536 values of a half-precision
// type by looking at the neighbours of a candidate: slow and evidently right.
func nearest16(v float64, value func(uint16) float32, infinity uint16) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	lo, hi := uint16(0), infinity // value(lo) <= v, in order of bits
	for hi-lo > 1 {
		middle := lo + (hi-lo)/2
		if float64(value(middle)) <= v {
			lo = middle
		} else {
			hi = middle
		}
	}
	if v >= float64(value(infinity)) { // infinite
		return sign | infinity
	}
	above := float64(value(hi))
	if hi == infinity { // the next value, were the range larger
		above = 2*float64(value(lo)) - float64(value(lo-1))
	}
	below := v - float64(value(lo))
	switch rest := above - v; {
	case below > rest, below == rest && lo&1 == 1:
		return sign | hi
	}
	return sign | lo
}

func TestHalfExhaustive(t *testing.T) {
	for i := range 1 << 16 {
		b := uint16(i)
		if v := Float16FromBits(b); v == v && Float16Bits(v) != b {
			t.Fatalf("f16 %#04x -> %v -> %#04x", b, v, Float16Bits(v))
		} else if v != v && Float16Bits(v)&0x7c00 != 0x7c00 {
			t.Fatalf("f16 NaN %#04x lost", b)
		}
		if v := BFloat16FromBits(b); v == v && BFloat16Bits(v) != b {
			t.Fatalf("bf16 %#04x -> %v -> %#04x", b, v, BFloat16Bits(v))
		} else if v != v && (BFloat16Bits(v)&0x7f80 != 0x7f80 || BFloat16Bits(v)&0x7f == 0) {
			t.Fatalf("bf16 NaN %#04x lost", b)
		}
	}
}

func TestHalfValues(t *testing.T) {
	for _, c := range []struct {
		v    float32
		f16  uint16
		bf16 uint16
	}{
		{0, 0, 0}, {float32(math.Copysign(0, -1)), 0x8000, 0x8000}, {1, 0x3c00, 0x3f80}, {-2, 0xc000, 0xc000},
		{65504, 0x7bff, 0x4780}, {65519.996, 0x7bff, 0x4780}, {65520, 0x7c00, 0x4780},
		{float32(math.Inf(1)), 0x7c00, 0x7f80}, {float32(math.Inf(-1)), 0xfc00, 0xff80},
		{0x1p-24, 0x0001, 0x3380}, {0x1p-25, 0x0000, 0x3300}, {0x1.8p-25, 0x0001, 0x3340}, {0x1p-14, 0x0400, 0x3880},
		{math.MaxFloat32, 0x7c00, 0x7f80}, {1 + 0x1p-11, 0x3c00, 0x3f80}, {1 + 3*0x1p-11, 0x3c02, 0x3f80}, {1 + 0x1p-8, 0x3c04, 0x3f80}, {1 + 3*0x1p-8, 0x3c0c, 0x3f82},
	} {
		if got := Float16Bits(c.v); got != c.f16 {
			t.Errorf("Float16Bits(%v) = %#04x, want %#04x", c.v, got, c.f16)
		}
		if got := BFloat16Bits(c.v); got != c.bf16 {
			t.Errorf("BFloat16Bits(%v) = %#04x, want %#04x", c.v, got, c.bf16)
		}
	}
}

func TestHalfRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near") { // near a tie or an end of the range
			v = Float16FromBits(rapid.Uint16Range(0, 0x7bff).Draw(t, "half"))
			v = math.Float32frombits(math.Float32bits(v) + rapid.SampledFrom([]uint32{0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001}).Draw(t, "step"))
		}
		if v != v {
			return
		}
		if got, want := Float16Bits(v), nearest16(float64(v), Float16FromBits, 0x7c00); got != want {
			t.Fatalf("Float16Bits(%v) = %#04x, want %#04x", v, got, want)
		}
		if got, want := BFloat16Bits(v), nearest16(float64(v), BFloat16FromBits, 0x7f80); got != want {
			t.Fatalf("BFloat16Bits(%v) = %#04x, want %#04x", v, got, want)
		}
	})
}

// TestFloatRoundsOnce checks that Float does not round to float32 on the way to
// half precision.
func TestFloatRoundsOnce(t *testing.T) {
	if got := Float(Float16, 1+0x1p-11+0x1p-40).Float64(); got != 1+0x1p-10 {
		t.Errorf("Float(f16, just above a tie) = %v, want %v", got, 1+0x1p-10)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e6, 1e6).Draw(t, "v")
		if rapid.Bool().Draw(t, "near") {
			tie := float64(Float16FromBits(rapid.Uint16Range(1, 0x7bfe).Draw(t, "half")))
			v = tie * (1 + 0x1p-11) * (1 + rapid.SampledFrom([]float64{0, 0x1p-40, -0x1p-40, 0x1p-52}).Draw(t, "off"))
		}
		if got, want := Float16Bits(float32(Float(Float16, v).Float64())), nearest16(v, Float16FromBits, 0x7c00); got != want {
			t.Fatalf("Float(f16, %v) = %#04x, want %#04x", v, got, want)
		}
		if got, want := BFloat16Bits(float32(Float(BFloat16, v).Float64())), nearest16(v, BFloat16FromBits, 0x7f80); got != want {
			t.Fatalf("Float(bf16, %v) = %#04x, want %#04x", v, got, want)
		}
	})
}
