package tensor

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestScalarConvert(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ from, want Scalar }{
		{Int(Int64, 300), Uint(Uint8, 44)},
		{Int(Int64, -1), Uint(Uint32, math.MaxUint32)},
		{Int(Int8, -1), Uint(Uint64, math.MaxUint64)},
		{Int(Int16, 200), Int(Int8, -56)},
		{Uint(Uint64, 1<<63), Int(Int64, math.MinInt64)},
		{Float(Float64, 2.9), Int(Int32, 2)},
		{Float(Float64, -2.9), Int(Int32, -2)},
		{Float(Float64, 1e20), Int(Int32, math.MaxInt32)},
		{Float(Float64, -1e20), Int(Int64, math.MinInt64)},
		{Float(Float64, 1e20), Uint(Uint64, math.MaxUint64)},
		{Float(Float64, 0x1p63), Uint(Uint64, 1<<63)},
		{Float(Float64, 0x1p63), Int(Int64, math.MaxInt64)},
		{Float(Float64, -5), Uint(Uint16, 0)},
		{Float(Float64, 200), Int(Int8, 127)},
		{Float(Float64, -200), Int(Int8, -128)},
		{Float(Float64, nan), Int(Int64, 0)},
		{Float(Float64, inf), Uint(Uint8, 255)},
		{Float(Float64, nan), Truth(true)},
		{Float(Float64, math.Copysign(0, -1)), Truth(false)},
		{Complex(Complex64, 2i), Truth(true)},
		{Truth(true), Float(Float16, 1)},
		{Truth(true), Int(Int8, 1)},
		{Complex(Complex128, 3+4i), Float(Float64, 3)},
		{Complex(Complex128, 3+4i), Int(Int32, 3)},
		{Float(Float32, 1.5), Complex(Complex128, 1.5)},
		{Int(Int64, 1<<24+1), Float(Float32, 1<<24)},
		{Int(Int64, 1<<53+1<<29+1), Float(Float32, 1<<53+1<<30)}, // once, not by way of f64
		{Int(Int64, 65520), Float(Float16, inf)},
		{Float(Float64, 1e300), Float(Float32, inf)},
		{Uint(Uint64, math.MaxUint64), Float(Float64, 0x1p64)},
	} {
		if got := c.from.Convert(c.want.DType()); got != c.want {
			t.Errorf("%v %v to %v = %v, want %v", c.from.DType(), c.from, c.want.DType(), got, c.want)
		}
	}
	if got := (Scalar{}).Convert(Float64); got != (Scalar{}) {
		t.Errorf("no value converted to %v", got)
	}
}

func TestScalarBits(t *testing.T) {
	for _, c := range []struct {
		x      Scalar
		lo, hi uint64
	}{
		{Int(Int8, -1), math.MaxUint64, 0},
		{Uint(Uint8, 255), 255, 0},
		{Float(Float16, 1), uint64(math.Float32bits(1)), 0},
		{Float(Float32, 1), uint64(math.Float32bits(1)), 0},
		{Float(Float64, 1), math.Float64bits(1), 0},
		{Float(Float64, math.NaN()), 0x7ff8000000000000, 0},
		{Complex(Complex64, 1+2i), uint64(math.Float32bits(1)), uint64(math.Float32bits(2))},
		{Complex(Complex128, 1+2i), math.Float64bits(1), math.Float64bits(2)},
		{Truth(true), 1, 0},
		{Zero(Complex128), 0, 0},
	} {
		if lo, hi := c.x.Bits(); lo != c.lo || hi != c.hi {
			t.Errorf("%v %v has bits %#x, %#x, want %#x, %#x", c.x.DType(), c.x, lo, hi, c.lo, c.hi)
		}
	}
	odd := ArrayOf([]float64{math.Float64frombits(0x7ff8000000000001)}).Scalar(0)
	if odd == Float(Float64, math.NaN()) || !odd.Same(Float(Float64, math.NaN())) {
		t.Error("NaNs of other bits must differ by == and be the same by Same")
	}
}

func TestParseScalar(t *testing.T) {
	for _, c := range []struct {
		text string
		want Scalar
	}{
		{"1.5", Float(Float64, 1.5)}, {" -inf ", Float(Float32, math.Inf(-1))}, {"Infinity", Float(Float16, math.Inf(1))},
		{"NaN", Float(Float64, math.NaN())}, {"true", Truth(true)}, {"0", Truth(false)},
		{"1+2i", Complex(Complex64, 1+2i)}, {"(1-2j)", Complex(Complex128, 1-2i)}, {"3", Complex(Complex128, 3)}, {"-0.5i", Complex(Complex64, -0.5i)},
		{"inf+nani", Complex(Complex128, complex(math.Inf(1), math.NaN()))},
		{"-128", Int(Int8, -128)}, {"1e3", Int(Int16, 1000)}, {"4.0", Uint(Uint8, 4)}, {"+7", Uint(Uint8, 7)},
		{"18446744073709551615", Uint(Uint64, math.MaxUint64)}, {"0.1", Float(Float32, 0.1)},
	} {
		got, err := ParseScalar(c.text, c.want.DType())
		if err != nil || got != c.want {
			t.Errorf("ParseScalar(%q, %v) = %v, %v, want %v", c.text, c.want.DType(), got, err, c.want)
		}
	}
	for _, c := range []struct {
		text string
		dt   DType
	}{
		{"128", Int8}, {"-1", Uint8}, {"1.5", Int32}, {"1e30", Int64}, {"inf", Int32}, {"nan", Uint8}, {"", Float64}, {"x", Float64},
		{"1e400", Float64}, {"1e39", Float32}, {"70000", Float16}, {"2", Bool}, {"yes", Bool}, {"1+2", Complex64}, {"1", Invalid}, {"300", Uint8}, {"1e3", Int8},
	} {
		if got, err := ParseScalar(c.text, c.dt); err == nil {
			t.Errorf("ParseScalar(%q, %v) = %v, want an error", c.text, c.dt, got)
		} else if !strings.Contains(err.Error(), c.dt.String()) {
			t.Errorf("ParseScalar(%q, %v): the error %v does not name the type", c.text, c.dt, err)
		}
	}
}

// drawScalar draws any value of the type, special ones often.
func drawScalar(t *rapid.T, dt DType) Scalar {
	part := func(label string) float64 {
		if rapid.Bool().Draw(t, "special "+label) {
			return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 2, math.Inf(1), math.Inf(-1), math.NaN(), 0.1}).Draw(t, label)
		}
		return rapid.Float64().Draw(t, label)
	}
	switch {
	case dt == Bool:
		return Truth(rapid.Bool().Draw(t, "bool"))
	case dt.IsInteger():
		return Int(dt, rapid.Int64().Draw(t, "int"))
	case dt.IsComplex():
		return Complex(dt, complex(part("real"), part("imag")))
	}
	return Float(dt, part("float"))
}

func drawDType(t *rapid.T) DType {
	return DType(rapid.IntRange(int(Bool), int(Complex128)).Draw(t, "dtype"))
}

func TestScalarTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawScalar(t, drawDType(t))
		back, err := ParseScalar(x.String(), x.DType())
		if err != nil || back != x {
			t.Fatalf("%v %s reads back as %v, %v", x.DType(), x, back, err)
		}
	})
}

func TestScalarArrayRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawScalar(t, drawDType(t))
		a, err := MakeArray(x.DType(), 3)
		if err != nil {
			t.Fatal(err)
		}
		a.SetScalar(1, x)
		if got := a.Scalar(1); got != x {
			t.Fatalf("stored %v %v, read %v", x.DType(), x, got)
		}
		if a.Scalar(0) != Zero(x.DType()) || a.Scalar(2) != Zero(x.DType()) {
			t.Fatal("a neighbour was overwritten")
		}
	})
}

func TestScalarAccessors(t *testing.T) {
	x := Float(Float64, -2.5)
	if x.Int64() != -2 || x.Uint64() != 0 || x.Float64() != -2.5 || x.Complex128() != -2.5 || !x.Bool() || x.IsZero() {
		t.Errorf("accessors of %v disagree", x)
	}
	if One(Complex64) != Complex(Complex64, 1) || One(Bool) != Truth(true) || !Zero(Float16).IsZero() {
		t.Error("One or Zero is wrong")
	}
	if s := (Scalar{}).String(); s != "invalid" {
		t.Errorf("the zero Scalar prints as %q", s)
	}
	if s := Float(Float16, 0.1).String(); s != "0.1" {
		t.Errorf("f16 0.1 prints as %q", s)
	}
}
