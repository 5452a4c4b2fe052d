package lib_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

// forGrids are functions that package lower calls for results that are rounded to 32 bits.
var forGrids = []string{"_expnarrow_f64", "_logslot_i64", "_lognarrow_f64"}

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

// TestNarrowLog checks the absolute error of 2^-44 with the table that it is for.
func TestNarrowLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := []float64{1, math.Nextafter(1, 0), math.Nextafter(1, 2), 0x1p-1022, math.MaxFloat64, 1 + 1.0/64, math.Nextafter(1+1.0/64, 0), 2}
	for range samples() {
		x = append(x, math.Ldexp(1+rng.Float64(), rng.IntN(60)-30))
	}
	var c []float64
	for _, v := range x {
		m, _ := math.Frexp(v)
		slot := math.Floor((2*m - 1) * 64)
		inverse := 1.0
		if slot > 0 {
			inverse = 1 / (1 + (slot+0.5)/64)
		}
		c = append(c, inverse)
	}
	worst := 0.0
	for i, y := range run[float64, float64](t, "_lognarrow_f64(x[i], w[i], 0.0 - log_f64(w[i]))", "f64", "f64", x, c) {
		if x[i] == 1 && y != 0 {
			t.Errorf("log 1 = %v", y)
		}
		// As the logarithm grows, so do the roundings of sums.
		worst = max(worst, math.Abs(y-math.Log(x[i]))/max(1, math.Abs(y)/16))
	}
	if worst > 0x1p-44 {
		t.Errorf("absolute error %g = 2^%.2f", worst, math.Log2(worst))
	}
}
