package loop_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// jamText multiplies a row of n numbers by a matrix; the update and what is beside it vary.
const jamText = `func f(readonly a: []f64, readonly b: []f64, y: []%s; n: i64, m: i64) chunk c, lo, hi {
  for p = lo to n {
    let x: f64 = a[p]
    for independent k = 0 to m {
      let at: i64 = k + hi
      %s
    }
  }
}
`

// TestJam compares functions and what Jam makes of them, bit by bit, for rows that four divides and others, and says
// which are left alone.
func TestJam(t *testing.T) {
	for _, test := range []struct {
		elem, update string
		jams         bool
	}{
		{"f64", "y[at] = y[at] + x * b[p * m + k]", true},
		{"f64", "y[at] = max(y[at], x - b[p * m + k])", true},
		{"f64", "y[at] = y[at] * 0.5 + x / b[p * m + k]", true},
		{"f64", "let v: f64 = b[p * m + k]\n      y[at] = y[at] + v * v", true},
		{"f64", "y[at] = x * b[p * m + k]", false},                         // no update
		{"f64", "y[at + p] = y[at + p] + x", false},                        // another element each time
		{"f64", "y[at] = y[at] + y[k] * x", false},                         // reads others
		{"f16", "y[at] = y[at] + f32(x)", false},                           // rounds each time
		{"f64", "let v: f64 = y[at]\n      y[at] = v + x", false},          // read before
		{"f64", "if x > 0.0 {\n        y[at] = y[at] + x\n      }", false}, // not always
	} {
		f, err := loop.ParseFunc(fmt.Sprintf(jamText, test.elem, test.update))
		if err != nil {
			t.Fatalf("%s: %v", test.update, err)
		}
		j := loop.Jam(f)
		if (j != f) != test.jams {
			t.Errorf("%s: jammed: %t, want %t\n%s", test.update, j != f, test.jams, j)
		}
		if err := j.Verify(nil); err != nil {
			t.Errorf("%s: %v\n%s", test.update, err, j)
		}
		if test.elem != "f64" {
			continue
		}
		for n := range int64(10) {
			for _, m := range []int64{0, 1, 3} {
				if x, y := jamRun(t, f, n, m), jamRun(t, j, n, m); x != y {
					t.Errorf("%s, %d rows of %d: %v, jammed %v", test.update, n, m, x, y)
				}
			}
		}
	}
}

// jamRun runs a function of jamText, and prints the bits of what it makes.
func jamRun(t *testing.T, f *loop.Func, n, m int64) string {
	t.Helper()
	k, err := interp.Compile(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b, y := make([]float64, n+1), make([]float64, n*m+1), make([]float64, 2*m+n*(m+1)+2)
	for i := range a {
		a[i] = math.Sin(float64(i))
	}
	for i := range b {
		b[i] = math.Cos(float64(3 * i))
	}
	for i := range y {
		y[i] = float64(i) / 3
	}
	var bufs []interp.Memory
	for _, x := range [][]float64{a, b, y} {
		bufs = append(bufs, interp.Memory{Ptr: unsafe.Pointer(&x[0]), Len: int64(len(x))})
	}
	if status, err := k.Run(bufs, []int64{n, m}, 0, 0, 1); err != nil || status != 0 {
		t.Fatalf("status %d, %v", status, err)
	}
	return fmt.Sprintf("%x", y)
}
