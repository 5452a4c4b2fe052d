package tensor

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestMakeArray(t *testing.T) {
	for dt := Bool; dt < numDTypes; dt++ {
		for _, n := range []int{0, 1, 3, 1000} {
			a, err := MakeArray(dt, n)
			if err != nil {
				t.Fatal(err)
			}
			if a.Len() != n || a.DType() != dt || a.Bytes() != int64(n*dt.Size()) || len(a.Raw()) != n*dt.Size() {
				t.Errorf("array of %d %v: %d elements of %v, %d bytes", n, dt, a.Len(), a.DType(), a.Bytes())
			}
			if p := uintptr(a.Pointer()); p == 0 || p%16 != 0 {
				t.Errorf("array of %d %v starts at %#x", n, dt, p)
			}
		}
	}
}

func TestMakeArrayRefuses(t *testing.T) {
	for _, c := range []struct {
		dt   DType
		n    int
		want string
	}{
		{Float64, -1, "overflows"},
		{Float64, math.MaxInt, "overflows"},
		{Complex128, math.MaxInt / 16, "overflows"},
		{Uint8, math.MaxInt - 1000, "available"},
		{Float64, math.MaxInt / 32, "available"},
		{Invalid, 1, "invalid"},
	} {
		if _, err := MakeArray(c.dt, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("MakeArray(%v, %d): error %v, want it to say %q", c.dt, c.n, err, c.want)
		}
	}
}

func TestArrayViews(t *testing.T) {
	s := []int32{1, -2, 3}
	a := ArrayOf(s)
	if v := View[int32](a); &v[0] != &s[0] || len(v) != 3 {
		t.Error("View does not share the slice's memory")
	}
	if v := View[uint32](a); v[1] != 0xfffffffe {
		t.Errorf("bits of -2 are %#x", v[1])
	}
	if View[int64](a) != nil || View[int32](Array{}) != nil {
		t.Error("a View of the wrong width must be nil")
	}
	if a.At64(1) != -2 || a.Scalar(2) != Int(Int32, 3) {
		t.Error("elements are wrong")
	}
	if got := View[int32](a.Slice(1, 3)); !slices.Equal(got, []int32{-2, 3}) {
		t.Errorf("slice [1:3] is %v", got)
	}
	if a.Slice(3, 3).Len() != 0 || (Array{}).Pointer() == nil || ArrayOf([]bool{}).Pointer() == nil {
		t.Error("empty arrays must have an address and no elements")
	}
	half, err := ArrayOfHalf(BFloat16, []uint16{0x3f80})
	if err != nil || half.Scalar(0) != Float(BFloat16, 1) {
		t.Errorf("bf16 array: %v, %v", half.Scalar(0), err)
	}
	if _, err := ArrayOfHalf(Float32, nil); err == nil {
		t.Error("f32 accepted as a half-precision type")
	}
	c := ArrayOf([]complex64{complex(1, 2)})
	if c.Scalar(0) != Complex(Complex64, 1+2i) {
		t.Errorf("c64 element reads as %v", c.Scalar(0))
	}
}

func TestArrayConvert(t *testing.T) {
	got, err := ArrayOf([]float64{1.5, -2, math.NaN(), 300}).Convert(Int8)
	if err != nil || !slices.Equal(View[int8](got), []int8{1, -2, 0, 127}) {
		t.Errorf("converted to %v, %v", View[int8](got), err)
	}
}
