package lib_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

// This file tests what is for grids in exp.loop and log.loop.

// forGrids are functions that package lower calls for results that are rounded to 32 bits.
var forGrids = []string{
	"_expnarrow_f64", "_expscaled_f64", "_expsingle_f32", "_expcount_f32", "_exprest_f32", "_expslot_u64", "_expjoin_f64",
	"_logslot_u32", "_logpart_f32", "_loginverse_u64", "_lognarrow_f32",
}

// TestNarrowExp checks the relative error of 2^-33, and where the result is exact.
func TestNarrowExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := []float64{0, math.Copysign(0, -1), -700, -700.0000001, -1e300, math.Inf(-1), math.NaN(), -0x1p-1074}
	for range samples() {
		x = append(x, -math.Ldexp(1+rng.Float64(), rng.IntN(40)-30))
	}
	worst := 0.0
	for i, y := range apply1(t, "_expnarrow_f64", x) {
		switch d := x[i]; {
		case math.IsNaN(d):
			if !math.IsNaN(y) {
				t.Errorf("of NaN: %v", y)
			}
		case d < -700 && y != 0, d == 0 && y != 1:
			t.Errorf("e^%v = %v", d, y)
		case d >= -700:
			worst = max(worst, math.Abs(y/math.Exp(d)-1))
		}
	}
	if worst > 0x1p-33 {
		t.Errorf("relative error %g = 2^%.2f", worst, math.Log2(worst))
	}
}

// TestScaledExp checks the relative error of 2^-33, also of what is added to 1, and the bounds.
func TestScaledExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := []float32{0, float32(math.Copysign(0, -1)), 512, 513, float32(math.Inf(1)), -600, -601, float32(math.Inf(-1)), float32(math.NaN()), 0x1p-149}
	for range 10 * samples() {
		x = append(x, float32(math.Copysign(math.Ldexp(1+rng.Float64(), rng.IntN(38)-30), rng.Float64()-0.5)))
	}
	worst := 0.0
	for i, y := range run[float32, float64](t, "_expscaled_f64(x[i])", "f32", "f64", x, nil) {
		d := float64(x[i])
		if !(d < 512) {
			d = 512
		}
		d = max(d, -600)
		if d == 0 && y != 1 {
			t.Errorf("e^%v = %v", d, y)
		}
		worst = max(worst, math.Abs(y/math.Exp(d)-1))
		if e := math.Expm1(d); math.Abs((y-1)-e) > 0x1p-30*math.Abs(e)+0x1p-53 {
			t.Errorf("e^%v - 1 = %v, want %v", d, y-1, e)
		}
	}
	if worst > 0x1p-33 {
		t.Errorf("relative error %g = 2^%.2f", worst, math.Log2(worst))
	}
}

// TestSingleExp checks that results are those of exp_f64, rounded, but for very few, and
// those are the other neighbour.
func TestSingleExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 88.72283, 88.72284, 89, 90, 1e30, -1e30,
		-87.33654, -103.97, -103.972084, -104, -105, 0x1p-149, -0x1p-149, 0x1p-24, -0x1p-25}
	for range 50 * samples() {
		x = append(x, float32(math.Copysign(math.Ldexp(1+rng.Float64(), rng.IntN(37)-30), rng.Float64()-0.5)))
	}
	got := run[float32, float32](t, "_expsingle_f32(x[i])", "f32", "f32", x, nil)
	others := 0
	for i, want := range run[float32, float32](t, "f32(exp_f64(f64(x[i])))", "f32", "f32", x, nil) {
		y := got[i]
		if y == want || y != y && want != want {
			continue
		}
		if others++; y != math.Nextafter32(want, y) {
			t.Errorf("of %v: %v, want %v", x[i], y, want)
		}
	}
	if others > 1 {
		t.Errorf("%d of %d results are not those of exp_f64", others, len(x))
	}
}

// TestExpInSteps checks the relative error of 2^-29 of the exponential in steps, over all
// counts and slots.
func TestExpInSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	x := []float64{0, math.Copysign(0, -1), -600, 512, 0x1p-149, -0x1p-149}
	for k := range 2 * 27_000 {
		// Halfway between counts, too.
		x = append(x, float64(float32((float64(k-27_000)+0.5)*math.Ln2/32)))
	}
	for range samples() {
		x = append(x, float64(float32(math.Copysign(math.Ldexp(1+rng.Float64(), rng.IntN(38)-30), rng.Float64()-0.5))))
	}
	slot := "_expslot_u64(i64(bits(_expcount_f32(f32(x[i])))) & 31)"
	text := "_expjoin_f64(_exprest_f32(f32(x[i]), _expcount_f32(f32(x[i]))), _expcount_f32(f32(x[i])), u32(shr(" + slot + ", 32:u64)), u32(" + slot + "))"
	worst := 0.0
	for i, y := range run[float64, float64](t, text, "f64", "f64", x, nil) {
		if x[i] == 0 && y != 1 {
			t.Errorf("of %v: %v", x[i], y)
		}
		worst = max(worst, math.Abs(y/math.Exp(x[i])-1))
	}
	t.Logf("relative error 2^%.2f", math.Log2(worst))
	if worst > 0x1p-29 {
		t.Errorf("relative error %g = 2^%.2f", worst, math.Log2(worst))
	}
}

// TestNarrowLog checks the absolute error of 2^-28 besides that of rounding the result.
func TestNarrowLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := []float64{1, math.Nextafter(1, 0), math.Nextafter(1, 2), 0x1p-1000, 0x1p1000, 2}
	for j := range 32 {
		border := 1 + float64(j)/32
		x = append(x, border, math.Nextafter(border, 0), math.Nextafter(border, 2), border*0x1p-700, border*0x1p700)
	}
	for range samples() {
		x = append(x, math.Ldexp(1+rng.Float64(), rng.IntN(60)-30))
	}
	slot := "(i64(_logslot_u32(x[i]) & 31:u32))"
	inverse := "_loginverse_u64" + slot
	text := "f64(_lognarrow_f32(x[i], _logpart_f32" + slot + ", u32(shr(" + inverse + ", 32:u64)), u32(" + inverse + ")))"
	worst := 0.0
	for i, y := range run[float64, float64](t, text, "f64", "f64", x, nil) {
		if x[i] == 1 && y != 0 {
			t.Errorf("log 1 = %v", y)
		}
		a := float32(math.Abs(y))
		half := float64(math.Nextafter32(a, 1e9)-a) / 2
		worst = max(worst, math.Abs(y-math.Log(x[i]))-half)
	}
	t.Logf("absolute error 2^%.2f", math.Log2(worst))
	if worst > 0x1p-28 {
		t.Errorf("absolute error %g = 2^%.2f", worst, math.Log2(worst))
	}
}
