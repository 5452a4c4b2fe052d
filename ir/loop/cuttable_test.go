package loop_test

import (
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// TestDivisible says of which functions one call does what calls for parts do.
func TestDivisible(t *testing.T) {
	for _, test := range []struct {
		body string
		want bool
	}{
		{"for i = lo to hi {\n y[i] = x[i]\n }", true},
		{"// rows\n let a: f64 = x[0]\n for i = lo to hi {\n var s: f64 = a\n s = s + x[i]\n y[i] = s\n }", true},
		{"var s: f64 = 0.0\n for i = lo to hi {\n s = s + x[i]\n y[i] = s\n }", false},                 // a sum of each chunk
		{"let a: f64 = y[0]\n for i = lo to hi {\n y[i] = a\n }", false},                               // reads what another has stored
		{"for i = lo to hi {\n y[i] = x[c]\n }", false},                                                // knows its chunk
		{"for i = lo to hi {\n y[i] = x[i - lo]\n }", false},                                           // counts from its start
		{"for i = lo to hi - 1 {\n y[i] = x[i]\n }", false},                                            // not all
		{"for i = lo to hi {\n y[i] = x[i]\n }\n for k = lo to hi {\n y[k] = y[k] + y[0]\n }", false},  // one loop behind the other
		{"for i = lo to hi {\n y[i] = x[i]\n }\n y[0] = x[0]", false},                                  // once a chunk
		{"for i = lo to hi {\n if x[i] > 1.0 {\n fail 0 \"too large\"\n }\n y[i] = x[i]\n }", false},   // tells where it fails
		{"let n: i64 = hi - lo\n for i = lo to hi {\n y[i] = x[i] + f64(n)\n }", false},                // depends on its length
		{"if x[0] > 0.0 {\n for i = lo to hi {\n y[i] = x[i]\n }\n }", false},                          // nothing but a loop
		{"for i = lo to hi {\n for j = 0 to 3 {\n y[3 * i + j] = y[3 * i + j] + x[i]\n }\n }", true},   // whatever is inside
		{"for independent i = lo to hi {\n y[i] = x[i]\n }", true},                                     //
		{"for i = 0 to hi {\n y[i] = x[i]\n }", false},                                                 // not from its start
		{"let b: f64 = x[0]\n let d: f64 = x[1] + b\n for i = lo to hi {\n y[i] = x[i] + d\n }", true}, //
	} {
		text := fmt.Sprintf("func f(readonly x: []f64, y: []f64) chunk c, lo, hi {\n%s\n}\n", test.body)
		f, err := loop.ParseFunc(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := loop.Divisible(f); got != test.want {
			t.Errorf("%s: %t, want %t", text, got, test.want)
		}
	}
}
