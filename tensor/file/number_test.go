package file

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestScanFloat(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
		st   numStatus
	}{
		{"0", 0, numOK},
		{"-0", math.Copysign(0, -1), numOK},
		{"-0.0e5", math.Copysign(0, -1), numOK},
		{"+1.5", 1.5, numOK},
		{"1.", 1, numOK},
		{".5", 0.5, numOK},
		{"1e22", 1e22, numOK},
		{"1e23", 1e23, numOK},
		{"123456789012345678901234567890", 123456789012345678901234567890, numOK},
		{"0.000000000000000000000000000001", 1e-30, numOK},
		{"9007199254740993", 9007199254740992, numOK},
		{"9007199254740993.0000000001", 9007199254740994, numOK},
		{"2.2250738585072011e-308", 2.2250738585072011e-308, numOK},
		{"4.9406564584124654e-324", 5e-324, numOK},
		{"1e-400", 0, numOK},
		{"1.5D+02", 150, numOK},
		{"1.5d-300", 1.5e-300, numOK},
		{"0e99999999999999999999", 0, numOK},
		{"1e309", math.Inf(1), numRange},
		{"1e99999999999999999999", math.Inf(1), numRange},
		{"inf", math.Inf(1), numOK},
		{"-Infinity", math.Inf(-1), numOK},
		{"NaN", math.NaN(), numOK},
		{"", 0, numSyntax},
		{".", 0, numSyntax},
		{"-", 0, numSyntax},
		{"e5", 0, numSyntax},
		{"1e", 0, numSyntax},
		{"1e+", 0, numSyntax},
		{"infinite", 0, numSyntax},
		{"nan(1)", 0, numSyntax},
	} {
		got, end, st := scanFloat([]byte(tt.text+"\n"), 0)
		same := math.Float64bits(got) == math.Float64bits(tt.want) || got != got && tt.want != tt.want
		if st != tt.st || st == numOK && (!same || end != len(tt.text)) {
			t.Errorf("scanFloat(%q) = %v, %d, %d; want %v, %d", tt.text, got, end, st, tt.want, tt.st)
		}
	}
}

func TestScanFloatAgreesWithStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][-+]?[0-9]{1,3})?`).Draw(t, "text")
		want, err := strconv.ParseFloat(text, 64)
		got, end, st := scanFloat([]byte(text+" "), 0)
		if (st == numRange) != (err != nil) || end != len(text) || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("scanFloat(%q) = %v, %d, %d; want %v, %v", text, got, end, st, want, err)
		}
	})
}

func TestScanFloatAgreesWithStrconvOnFullMantissas(t *testing.T) {
	check := func(t *rapid.T, mant uint64, exp int) {
		text := fmt.Sprintf("%de%d", mant, exp)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, st := scanFloat([]byte(text+"\n"), 0); got != want || st != numOK {
			t.Errorf("scanFloat(%s) = %b, want %b", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.Uint64Range(1, 9999999999999999999).Draw(t, "mantissa"), rapid.IntRange(-30, 30).Draw(t, "exponent"))
		// The middle of two floats: 54 bits, the last of them 1, times a power of two
		// that the decimal exponent brings in.
		odd := 1<<53 | rapid.Uint64Range(0, 1<<53-1).Draw(t, "odd") | 1
		check(t, odd, 0)
		check(t, odd*5, -1)
		check(t, odd*25, -2)
		check(t, odd*125, -3)
	})
}

func TestScanInteger(t *testing.T) {
	for _, tt := range []struct {
		text string
		mag  uint64
		neg  bool
		st   numStatus
	}{
		{"0", 0, false, numOK},
		{"-12", 12, true, numOK},
		{"+12", 12, false, numOK},
		{"18446744073709551615", math.MaxUint64, false, numOK},
		{"000000000000000000000018446744073709551615", math.MaxUint64, false, numOK},
		{"18446744073709551616", 0, false, numRange},
		{"2.0", 2, false, numOK},
		{"-1.5e1", 15, true, numOK},
		{"1e19", 1e19, false, numOK},
		{"1e20", 0, false, numRange},
		{"2.5", 0, false, numFraction},
		{"x", 0, false, numSyntax},
		{"-", 0, true, numSyntax},
		{"inf", 0, false, numSyntax},
	} {
		mag, neg, _, st := scanInteger([]byte(tt.text+"\n"), 0)
		if st != tt.st || st == numOK && (mag != tt.mag || neg != tt.neg) {
			t.Errorf("scanInteger(%q) = %v, %v, %v; want %v", tt.text, mag, neg, st, tt)
		}
	}
}

// TestNarrowRoundsOnce reads decimals that lie so near the middle of two narrow
// numbers that rounding to float64 first goes wrong.
func TestNarrowRoundsOnce(t *testing.T) {
	for _, tt := range []struct {
		shape floatShape
		text  string
		want  float64
	}{
		{shape32, "1.000000059604644775390625", 1},                              // the middle: to even
		{shape32, "1.0000000596046447753906250000000001", 1 + 0x1p-23},          // a little above
		{shape32, "-1.0000000596046447753906250000000001", -(1 + 0x1p-23)},      //
		{shape32, "1.00000017881393432617187499999999999", 1 + 0x1p-23},         // a little below
		{shape32, "1.000000178813934326171875", 1 + 0x1p-22},                    // the middle: to even
		{shape16, "1.00048828125", 1},                                           // the middle
		{shape16, "1.000488281250000000000001", 1 + 0x1p-10},                    // above
		{shape16, "2.98023223876953125e-8", 0},                                  // half the least subnormal
		{shape16, "2.980232238769531250000000001D-8", 0x1p-24},                  // above
		{shapeBF16, "1.00390625", 1},                                            // the middle
		{shapeBF16, "1.003906250000000000000000000000000000000001", 1 + 0x1p-7}, // above
	} {
		f, end, st := scanFloat([]byte(tt.text+"\n"), 0)
		if st != numOK {
			t.Fatalf("%q is not a number", tt.text)
		}
		if got, st := tt.shape.narrow(f, []byte(tt.text)[:end]); got != tt.want || st != numOK {
			t.Errorf("narrow(%q) = %b, want %b", tt.text, got, tt.want)
		}
	}
	if _, st := shape16.narrow(65520, []byte("65520")); st != numRange {
		t.Error("65520 rounds beyond the largest f16, but is accepted")
	}
	if got, st := shape16.narrow(65519, []byte("65519")); got != 65504 || st != numOK {
		t.Errorf("65519 as f16 is %v, want 65504", got)
	}
}

func TestShortestHalf(t *testing.T) {
	for _, tt := range []struct {
		shape floatShape
		value func(uint16) float32
	}{
		{shape16, tensor.Float16FromBits},
		{shapeBF16, tensor.BFloat16FromBits},
	} {
		for bits := range 1 << 16 {
			want := float64(tt.value(uint16(bits)))
			text := tt.shape.appendShortest(nil, want)
			f, _, st := scanFloat(append(text, '\n'), 0)
			got, _ := tt.shape.narrow(f, text)
			if st != numOK || math.Float64bits(got) != math.Float64bits(want) && got == got {
				t.Fatalf("%x: wrote %q, read back %v, want %v", bits, text, got, want)
			}
			if digits := strings.Trim(strings.SplitN(string(text), "e", 2)[0], "-0."); len(digits) > 6 {
				t.Fatalf("%x: %q is not short", bits, text)
			}
		}
	}
	if got := string(shape16.appendShortest(nil, float64(tensor.Float16FromBits(tensor.Float16Bits(0.1))))); got != "0.1" {
		t.Errorf("f16 0.1 is written %s", got)
	}
}

func TestRoundAgreesWithFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(rapid.Float64Range(-1e38, 1e38), rapid.Float64Range(-1e-38, 1e-38)).Draw(t, "f")
		got, tie := shape32.round(f)
		if want := float64(float32(f)); got != want {
			t.Errorf("round(%b) = %b, want %b", f, got, want)
		}
		if tie { // half-way: twice f is the sum of two neighbours
			below, above := math.Nextafter32(float32(got), -math.MaxFloat32), math.Nextafter32(float32(got), math.MaxFloat32)
			twice := new(big.Float).SetFloat64(2 * f)
			lo := new(big.Float).Add(big.NewFloat(got), big.NewFloat(float64(below)))
			hi := new(big.Float).Add(big.NewFloat(got), big.NewFloat(float64(above)))
			if twice.Cmp(lo) != 0 && twice.Cmp(hi) != 0 {
				t.Errorf("round(%b) claims a tie", f)
			}
		}
	})
}
