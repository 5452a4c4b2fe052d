package tensor

import (
	"strings"
	"testing"
)

func TestDTypeFacts(t *testing.T) {
	for dt := Bool; dt < numDTypes; dt++ {
		for _, name := range append(strings.Fields(dtypes[dt].aliases), dt.String(), strings.ToUpper(dt.String())) {
			if got, err := ParseDType(name); err != nil || got != dt {
				t.Errorf("ParseDType(%q) = %v, %v, want %v", name, got, err, dt)
			}
		}
		if !dt.Valid() || dt.Size() < 1 || !dt.Compute().Valid() || !dt.Real().Valid() {
			t.Errorf("%v: incomplete facts", dt)
		}
	}
	if Invalid.Valid() || DType(200).Valid() || DType(200).String() != "invalid" {
		t.Error("an unknown type passes for a valid one")
	}
	if Complex64.Real() != Float32 || Float16.Compute() != Float32 || Int8.Compute() != Int8 {
		t.Error("wrong part or compute types")
	}
}

func TestParseDTypeErrors(t *testing.T) {
	for _, c := range []struct{ text, hint string }{
		{"flaot64", `did you mean "float64"`},
		{"f128", "the types are bool"},
		{"", "the types are bool"},
		{"quaternion", "the types are bool"},
	} {
		_, err := ParseDType(c.text)
		if err == nil || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("ParseDType(%q): error %v, want it to say %s", c.text, err, c.hint)
		}
	}
}

// TestPromote checks facts that numpy.result_type states, and the laws that
// every pair obeys.
func TestPromote(t *testing.T) {
	for _, c := range []struct{ a, b, want DType }{
		{Bool, Int8, Int8}, {Bool, Bool, Bool}, {Bool, Complex64, Complex64},
		{Int8, Uint8, Int16}, {Int16, Uint16, Int32}, {Int32, Uint32, Int64}, {Int64, Uint64, Float64},
		{Uint64, Int8, Float64}, {Uint8, Int64, Int64}, {Uint16, Int8, Int32},
		{Float16, Int8, Float16}, {Float16, Uint8, Float16}, {Float16, Int16, Float32}, {Float16, Uint16, Float32},
		{Float16, Int32, Float64}, {Float32, Int16, Float32}, {Float32, Int32, Float64}, {Float32, Uint64, Float64},
		{Float16, BFloat16, Float32}, {BFloat16, Int8, BFloat16}, {BFloat16, Int16, Float32}, {BFloat16, Float32, Float32},
		{Complex64, Float64, Complex128}, {Complex64, Int32, Complex128}, {Complex64, Int16, Complex64},
		{Complex64, Float32, Complex64}, {Complex128, Bool, Complex128}, {Invalid, Bool, Invalid}, {Float64, DType(99), Invalid},
	} {
		if got := Promote(c.a, c.b); got != c.want {
			t.Errorf("Promote(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	for a := Bool; a < numDTypes; a++ {
		if Promote(a, a) != a || Promote(a, Bool) != a {
			t.Errorf("%v does not keep itself", a)
		}
		for b := Bool; b < numDTypes; b++ {
			p := Promote(a, b)
			if !p.Valid() || p != Promote(b, a) {
				t.Errorf("Promote(%v, %v) = %v, Promote(%v, %v) = %v", a, b, p, b, a, Promote(b, a))
			}
			if Promote(p, a) != p {
				t.Errorf("Promote(%v, %v) = %v does not absorb %v", a, b, p, a)
			}
		}
	}
}

func TestMaxIndex(t *testing.T) {
	for dt, want := range map[DType]uint64{
		Int8: 127, Uint8: 255, Int16: 1<<15 - 1, Uint16: 1<<16 - 1,
		Int32: 1<<31 - 1, Uint32: 1<<32 - 1, Int64: 1<<63 - 1, Uint64: 1<<64 - 1,
	} {
		if got := dt.maxIndex(); got != want {
			t.Errorf("%v: largest index %d, want %d", dt, got, want)
		}
	}
}
