package loop

import (
	"math"
	"testing"
)

// Every half-precision number survives widening and rounding, and between each
// two neighbours the rounding goes to the nearer one, or the even one.
func TestHalfRounding(t *testing.T) {
	for _, format := range []struct {
		name     string
		widen    func(uint16) float32
		round    func(float32) uint16
		infinity uint16
	}{
		{"f16", F16ToF32, F32ToF16, 0x7c00},
		{"bf16", BF16ToF32, F32ToBF16, 0x7f80},
	} {
		// Infinity stands where the next larger number would be.
		next := func(h uint16) float64 {
			if h == format.infinity {
				return 2*float64(format.widen(h-1)) - float64(format.widen(h-2))
			}
			return float64(format.widen(h))
		}
		for h := range format.infinity {
			lo, hi := next(h), next(h+1)
			middle := float32((lo + hi) / 2) // exact
			even := h + h&1
			for _, test := range []struct {
				x    float32
				want uint16
			}{
				{float32(lo), h},
				{math.Nextafter32(middle, float32(-inf)), h},
				{middle, even},
				{math.Nextafter32(middle, float32(inf)), h + 1},
			} {
				if got := format.round(test.x); got != test.want {
					t.Fatalf("%s: %x rounds to %#x, want %#x", format.name, test.x, got, test.want)
				}
				if got := format.round(-test.x); got != test.want|0x8000 {
					t.Fatalf("%s: -%x rounds to %#x, want %#x", format.name, test.x, got, test.want|0x8000)
				}
			}
		}
	}
}

func TestHalfSpecials(t *testing.T) {
	for _, test := range []struct {
		got, want float32
	}{
		{F16ToF32(0x3c00), 1},
		{F16ToF32(0x0001), 0x1p-24},
		{F16ToF32(0x03ff), 1023 * 0x1p-24},
		{F16ToF32(0x0400), 0x1p-14},
		{F16ToF32(0x7bff), 65504},
		{F16ToF32(0xfc00), float32(-inf)},
		{RoundToF16(65519.996), 65504},
		{RoundToF16(65520), float32(inf)},
		{RoundToF16(float32(-inf)), float32(-inf)},
		{RoundToF16(0x1p-25), 0},
		{RoundToF16(0x1.8p-25), 0x1p-24},
		{BF16ToF32(0x3f80), 1},
		{RoundToBF16(1 + 0x1p-8), 1},
		{RoundToBF16(1 + 0x1.8p-8), 1 + 0x1p-7},
		{RoundToBF16(math.MaxFloat32), float32(inf)},
	} {
		if test.got != test.want {
			t.Errorf("got %x, want %x", test.got, test.want)
		}
	}
	for h := range uint16(0x8000) {
		if f := F16ToF32(h); f != f && F32ToF16(f) != h|0x200 {
			t.Errorf("NaN %#x comes back as %#x", h, F32ToF16(f))
		}
	}
	for _, bits := range []uint32{0x7f800001, 0x7fffffff, 0xff800001} {
		f := math.Float32frombits(bits)
		if x := RoundToF16(f); x == x {
			t.Errorf("f16 of NaN %#x is %v", bits, x)
		}
		if x := RoundToBF16(f); x == x {
			t.Errorf("bf16 of NaN %#x is %v", bits, x)
		}
	}
}
