package loop_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// tileText multiplies an m×k by a k×n matrix and adds to another, whose rows are stride elements apart; the bounds, the
// index and the update vary.
const tileText = `func f(readonly a: []%[1]s, readonly b: []%[1]s, y: []%[1]s; k: i64, n: i64, stride: i64) chunk c, lo, hi {
  for i = lo to hi {
    let row: i64 = i * stride
    %[5]s
    for p = 0 to k {
      let x: %[1]s = a[i * k + p]
      for independent j = %[2]s to n {
        let at: i64 = %[3]s
        %[4]s
      }
    }
  }
}
`

// TestTile compares products and what Tile makes of them, bit by bit, for sizes that leave tiles of all widths, and says
// which are left alone; with memory to pack what rows share and without.
func TestTile(t *testing.T) {
	const sum = "y[at] = y[at] + x * b[p * n + j]"
	for _, test := range []struct {
		elem, from, at, update string
		tiles                  bool
		before                 string
	}{
		{"f64", "0", "row + j", sum, true, ""},
		{"f32", "0", "row + j", sum, true, ""},
		{"i64", "0", "j + i * stride", sum, true, ""},
		{"f64", "1", "row + j - 1", sum, true, ""},
		{"f64", "0", "row + j", "y[at] = min(y[at], x + b[p * n + j])", true, ""},
		{"f64", "0", "row + j", "let v: f64 = b[p * n + j]\n        y[at] = y[at] + v * x / (x + f64(j - i))", true, ""},
		{"f64", "0", "row + j", sum, true, "for independent q = 0 to n {\n y[row + q] = 2.5\n }"},
		{"f64", "0", "row + j", sum, false, "for independent q = 0 to n {\n y[row + q] = a[q]\n }"},    // not constant
		{"f64", "0", "row + j", sum, false, "for independent q = 1 to n {\n y[row + q] = 2.5\n }"},     // not all
		{"f64", "0", "row + j", sum, false, "for independent q = 0 to n {\n y[row + q + 1] = 2.5\n }"}, // others
		{"f64", "0", "row + (n - j)", sum, false, ""},                                                  // backwards
		{"f64", "0", "row + 2 * j", sum, false, ""},                                                    // not one after the other
		{"f64", "0", "j", sum, false, ""},                                                              // all rows are one
		{"f64", "0", "row * i + j", sum, false, ""},                                                    // no stride
		{"f64", "i", "row + j", sum, false, ""},                                                        // a triangle
		{"f64", "0", "row + j", "y[at] = y[at] + y[j] * x", false, ""},                                 // reads others
		{"f64", "0", "row + j", "if x > 0.0 {\n y[at] = y[at] + x\n}", false, ""},                      // not always
	} {
		f, err := loop.ParseFunc(fmt.Sprintf(tileText, test.elem, test.from, test.at, test.update, test.before))
		if err != nil {
			t.Fatalf("%s: %v", test.update, err)
		}
		tiled := loop.Tile(f)
		if (tiled != f) != test.tiles {
			t.Errorf("%v: tiled: %t, want %t\n%s", test, tiled != f, test.tiles, tiled)
		}
		if err := tiled.Verify(nil); err != nil {
			t.Errorf("%v: %v\n%s", test, err, tiled)
		}
		panelled, elem, n := loop.Panelled(f)
		if (n > 0) != test.tiles || n > 0 && elem != f.Bufs[2].Elem {
			t.Errorf("%v: packs %d of %v", test, n, elem)
		}
		if again, err := loop.ParseFunc(panelled.String()); err != nil || again.String() != panelled.String() {
			t.Errorf("%v: %v\n%s", err, again, panelled)
		}
		packed := loop.Tile(panelled)
		if err := packed.Verify(nil); err != nil {
			t.Errorf("%v: %v\n%s", test, err, packed)
		}
		if test.elem != "f64" || tiled == f {
			continue
		}
		for _, size := range [][3]int64{{0, 3, 9}, {1, 3, 9}, {4, 0, 9}, {4, 3, 0}, {5, 3, 1}, {8, 2, 15}, {11, 5, 8}, {130, 3, 4}, {4, 300, 9}} {
			for _, overlap := range []int64{0, 1} {
				want := tileRun(t, f, size, overlap)
				for _, g := range []*loop.Func{tiled, packed} {
					if got := tileRun(t, g, size, overlap); got != want {
						t.Fatalf("%v, %v, overlap %d:\n%v, tiled\n%v", test, size, overlap, want, got)
					}
				}
			}
		}
	}
}

// tileRun runs a function of tileText on m, k and n, with rows that have some elements in common, and prints the bits of
// what it makes.
func tileRun(t *testing.T, f *loop.Func, size [3]int64, overlap int64) string {
	t.Helper()
	kernel, err := interp.Compile(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, k, n := size[0], size[1], size[2]
	stride := n - overlap
	a, b, y := make([]float64, m*k+1), make([]float64, k*n+1), make([]float64, m*(n+1)+n+1)
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
	panel := make([]float64, 1<<13)
	for _, x := range [][]float64{a, b, y, panel}[:len(f.Bufs)] {
		bufs = append(bufs, interp.Memory{Ptr: unsafe.Pointer(&x[0]), Len: int64(len(x))})
	}
	if status, err := kernel.Run(bufs, []int64{k, n, stride}, 0, 0, m); err != nil || status != 0 {
		t.Fatalf("status %d, %v", status, err)
	}
	return fmt.Sprintf("%x", y)
}
