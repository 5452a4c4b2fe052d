package lib_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

func TestNames(t *testing.T) {
	want := strings.Fields(`
		abs_c128 acos_f64 acosh_f64 asin_f64 asinh_f64 atan2_f64 atan_f64 atanh_f64 cbrt_f64 cos_f64 cosh_f64 erf_f64 exp2_f64
		exp_c128 exp_f64 expm1_f64 floordiv_f64 floordiv_i64 floordiv_u64 hypot_f64 log10_f64 log1p_f64 log2_f64 log_c128 log_f64
		logaddexp_f64 mod_f64 mod_i64 mod_u64 pow_c128 pow_f64 pow_i64 pow_u64 sigmoid_f64 sin_f64 sinh_f64 sqrt_c128 tan_f64 tanh_f64`)
	if got := lib.Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %q\nwant %q", got, want)
	}
	if _, ok := lib.Lookup("gamma_f64"); ok {
		t.Error("Lookup finds gamma_f64, which does not exist")
	}
}

// Every function obeys the rules of the loop language, and its printed text
// reads back as itself.
func TestFunctionsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		s, ok := lib.Lookup(name)
		if !ok {
			t.Errorf("%s is called but does not exist", name)
			return
		}
		if err := s.Verify(lib.Lookup); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again, err := loop.ParseScalar(s.String())
		if err != nil {
			t.Errorf("%s: printed text: %v", name, err)
		} else if again.String() != s.String() {
			t.Errorf("%s changes when printed and parsed", name)
		}
		for _, m := range regexp.MustCompile(`\b([a-z0-9_]+_(?:f64|c128|u64|i64))\(`).FindAllStringSubmatch(s.String(), -1) {
			visit(m[1])
		}
	}
	for _, name := range append(lib.Names(), forGrids...) {
		visit(name)
	}
	// What no public function reaches would be dead weight.
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".loop") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		scalars, err := loop.ParseScalars(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scalars {
			if !seen[s.Name] {
				t.Errorf("%s: nothing needs %s", f.Name(), s.Name)
			}
		}
	}
}

// The page on numerics states the same bounds as the files.
func TestDocumentedBounds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/numerics.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]float64{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\| (\\d+\\.\\d+) \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	for name, b := range bounds() {
		if rows[name] != b {
			t.Errorf("docs/numerics.md states %v for %s, its file %v", rows[name], name, b)
		}
	}
	if len(rows) != len(bounds()) {
		t.Errorf("docs/numerics.md has %d rows with a bound, the files state %d", len(rows), len(bounds()))
	}
}

func ExampleLookup() {
	s, _ := lib.Lookup("sin_f64")
	fmt.Println(s)
	// Output:
	// scalar sin_f64(x: f64) f64 {
	//   let s: c128 = _sinq_c128(_reduce_c128(x))
	//   return select(abs(x) < 7.450580596923828e-09, x, select(abs(x) < inf, real(s), nan))
	// }
}
