package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// blockText adds up products over rows of a; the statements of its inner loop vary, and what is between the loops.
const blockText = `func f(readonly a: []f64, readonly b: []f64, y: []f64; n: i64, m: i64) chunk c, lo, hi {
  for i = lo to n {
    %s
    for k = %s to m {
      %s
    }
  }
}
`

// TestBlock runs nests block by block, for blocks that divide loops and others, and says which nests stay as they are and why.
func TestBlock(t *testing.T) {
	for _, test := range []struct{ between, lo, inside, why string }{
		{"", "0", "y[k] = y[k] + a[i] * b[i * m + k]", ""},
		{"let at: i64 = i + m", "0", "y[at] = y[at] + b[i * m + k]", ""},
		{"let x: f64 = a[i]", "0", "y[k] = max(y[k], x)", ""},
		{"", "0", "y[i * m + k] = a[i]", ""},
		{"", "i", "y[k] = y[k] + a[i]", "under another"},                                    // a triangle
		{"y[i] = 0.0", "0", "y[i] = y[i] + b[k]", "directly"},                               // something between
		{"var x: f64 = a[i]", "0", "y[k] = y[k] + x", "directly"},                           // changes
		{"", "0", "y[0] = y[0] + a[i]", "order"},                                            // one element
		{"", "0", "y[k] = a[i]", "order"},                                                   // the last wins
		{"", "0", "y[k] = y[k] - a[i]", "order"},                                            // not known to be a sum
		{"", "0", "y[k] = y[k + 1] + a[i]", "order"},                                        // of another element
		{"", "0", "if a[i] > 0.0 {\n        y[k] = y[k] + a[i]\n      }", ""},               // on a condition
		{"", "0", "while y[k] > 100.0 {\n        y[k] = y[k] + a[i]\n      }", "order"},     // as long as one holds
		{"", "0", "let z: f64 = y[k]\n      y[k] = z + a[i]", "order"},                      // read before
		{"", "0", "if y[k] > 0.0 {\n        y[k] = y[k] + a[i]\n      }", "order"},          // asks what is there
		{"", "0", "for j = 0 to 2 {\n        y[k + j] = y[k + j] + a[i]\n      }", "order"}, // not one variable
	} {
		f, err := loop.ParseFunc(fmt.Sprintf(blockText, test.between, test.lo, test.inside))
		if err != nil {
			t.Fatalf("%s: %v", test.inside, err)
		}
		for _, size := range []int64{1, 2, 3, 100} {
			b, why := loop.Block(f, 2, func(*loop.For) int64 { return size })
			if (b != f) != (test.why == "") || !strings.Contains(why, test.why) {
				t.Errorf("%s: blocks: %t, %q, want %q\n%s", test.inside, b != f, why, test.why, b)
			}
			checkSame(t, f, b)
			checkSame(t, f, loop.Split(f, func(s *loop.For) int64 { return size }))
		}
	}
}

// TestBlockOne splits a loop by its place alone, and finds none where there is none.
func TestBlockOne(t *testing.T) {
	f, err := loop.ParseFunc(fmt.Sprintf(blockText, "", "0", "y[k] = y[k] + a[i]"))
	if err != nil {
		t.Fatal(err)
	}
	if s := loop.Split(f, func(*loop.For) int64 { return 0 }); s != f {
		t.Errorf("split without a loop:\n%s", s)
	}
	if b, why := loop.Block(f, 2, func(*loop.For) int64 { return 0 }); b != f || why != "" {
		t.Errorf("blocks without a loop: %q\n%s", why, b)
	}
	if n := strings.Count(loop.Split(f, func(*loop.For) int64 { return 8 }).String(), "for "); n != 3 {
		t.Errorf("%d loops, want those over blocks, steps and columns", n)
	}
}

// checkSame verifies g and compares what it computes with f.
func checkSame(t *testing.T, f, g *loop.Func) {
	t.Helper()
	if err := g.Verify(nil); err != nil {
		t.Errorf("%v\n%s", err, g)
		return
	}
	for n := range int64(6) {
		for _, m := range []int64{0, 1, 4} {
			if x, y := jamRun(t, f, n, m), jamRun(t, g, n, m); x != y {
				t.Errorf("%d rows of %d: %v, in blocks %v\n%s", n, m, x, y, g)
			}
		}
	}
}
