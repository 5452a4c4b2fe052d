package interp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Small functions over an I64 buffer y and an argument n, and what y holds after
// chunk 7 with lo 2 and hi 5, y having 8 zeros and n being 3.
func TestFunctions(t *testing.T) {
	for _, test := range []struct {
		name, body string
		status     int64
		want       []int64
	}{
		{"parameters", "y[0] = n\n y[1] = c\n y[2] = lo\n y[3] = hi", 0, []int64{3, 7, 2, 5}},
		{"for", "for i = lo to hi { y[i] = i * 10 }", 0, []int64{0, 0, 20, 30, 40}},
		{"for runs zero times", "for i = hi to lo { y[0] = 1 }\n for i = n to n { y[0] = 1 }", 0, []int64{0}},
		{"for at the limits", "for i = 9223372036854775805 to 9223372036854775807 { y[0] = y[0] + 1 }", 0, []int64{2}},
		{"for evaluates its bounds once", "var m: i64 = n\n for i = 0 to m { m = 100\n y[i] = 1 }", 0, []int64{1, 1, 1, 0}},
		{"nested for", "for i = 0 to n { for j = i to n { y[i] = y[i] + j } }", 0, []int64{3, 3, 2}},
		{"while", "var i: i64 = 0\n while i < n { y[i] = 5\n i = i + 1 }", 0, []int64{5, 5, 5, 0}},
		{"while with another condition", "var i: i64 = 0\n while i + 1 < n & y[i] == 0 { y[i] = 5\n i = i + 1 }", 0, []int64{5, 5, 0}},
		{"while never", "while n < 3 { y[0] = 1 }\n while n > hi { y[0] = 2 }", 0, []int64{0}},
		{"if", "if n == 3 { y[0] = 1 }\n if n == 4 { y[1] = 1 }", 0, []int64{1, 0}},
		{"if on leaves", `
			if lo < hi { y[0] = 1 } else { y[0] = 2 }
			if hi < lo { y[1] = 1 } else { y[1] = 2 }
			if lo <= lo { y[2] = 1 } else { y[2] = 2 }
			if hi <= lo { y[3] = 1 } else { y[3] = 2 }
			if hi > lo { y[4] = 1 } else { y[4] = 2 }
			if lo >= hi { y[5] = 1 } else { y[5] = 2 }
			if lo != hi { y[6] = 1 } else { y[6] = 2 }
			if lo == hi { y[7] = 1 } else { y[7] = 2 }`, 0, []int64{1, 2, 1, 2, 1, 2, 1, 2}},
		{"if on unsigned leaves", `
			let big: u64 = u64(-1)
			let one: u64 = 1:u64
			if big < one { y[0] = 1 } else { y[0] = 2 }
			if one <= big { y[1] = 1 } else { y[1] = 2 }
			if big == one { y[2] = 1 } else { y[2] = 2 }`, 0, []int64{2, 1, 2}},
		{"else if", "if n == 1 { y[0] = 1 } else if n == 3 { y[0] = 2 } else { y[0] = 3 }", 0, []int64{2}},
		{"fail", "y[0] = 1\n fail 1 \"second\"\n y[0] = 2", 2, []int64{1}},
		{"fail in loops", "for i = 0 to n { var j: i64 = 0\n while j < 9 { y[i] = j\n if j == 2 { fail 0 \"first\" }\n j = j + 1 } }", 1, []int64{2, 0}},
		{"five statements", "y[0] = 1\n y[1] = 2\n y[2] = 3\n y[3] = 4\n y[4] = 5", 0, []int64{1, 2, 3, 4, 5}},
		{"indices", "y[n + 1] = 1\n y[n - 1] = 2\n y[0] = y[1 + n] + y[n - 1]\n y[n * 2 - 1] = y[n * lo + -2]", 0, []int64{3, 0, 2, 0, 1, 1}},
		{"gathers", "y[0] = 4\n y[4] = 2\n y[2] = 7\n y[1] = y[y[0]]\n y[3] = y[y[y[0 * n]]]", 0, []int64{4, 2, 7, 7, 2}},
		{"variables of one name", "for i = 0 to 2 { let v: i64 = i\n y[i] = v }\n for i = 2 to 4 { let v: i64 = i * i\n y[i] = v }", 0, []int64{0, 1, 4, 9}},
		{"nothing", "", 0, []int64{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := mustCompile(t, "func f(y: []i64; n: i64) chunk c, lo, hi {\n"+test.body+"\n}\n")
			y := make([]int64, 8)
			if st, err := k.Run([]Memory{memory(y)}, []int64{3}, 7, 2, 5); st != test.status || err != nil {
				t.Fatalf("status %d, %v; want %d", st, err, test.status)
			}
			if got := y[:len(test.want)]; !slices.Equal(got, test.want) {
				t.Errorf("y = %v, want %v", got, test.want)
			}
		})
	}
}

// Gathers through each width of index are the same as indexing in Go.
func TestGatherWidths(t *testing.T) {
	k := mustCompile(t, `func f(readonly a: []u32, readonly b: []u64, readonly d: []i32, readonly x: []f64, readonly z: []i64, y: []f64) chunk c, lo, hi {
  for i = lo to hi {
    y[i] = x[i64(a[i])] + x[i64(b[i + 1])] + x[i64(d[i])] + x[z[i]] + x[i64(a[i64(a[i])])]
  }
}
`)
	a, b, d, z := []uint32{1, 2, 0}, []uint64{9, 2, 1, 0}, []int32{0, 2, 1}, []int64{2, 1, 0}
	x, y := []float64{1, 10, 100}, make([]float64, 3)
	bufs := []Memory{memory(a), memory(b), memory(d), memory(x), memory(z), memory(y)}
	if st, err := k.Run(bufs, nil, 0, 0, 3); st != 0 {
		t.Fatal(err)
	}
	for i := range y {
		want := x[a[i]] + x[b[i+1]] + x[d[i]] + x[z[i]] + x[a[a[i]]]
		if y[i] != want {
			t.Errorf("y[%d] = %v, want %v", i, y[i], want)
		}
	}
}

func TestSpMV(t *testing.T) {
	m := randomCSR(300, 5)
	want := make([]float64, len(m.y))
	m.multiply(want)
	k := mustCompile(t, spmvText)
	if st, err := k.Run(m.buffers(m.y), []int64{300}, 0, 0, 300); st != 0 {
		t.Fatal(err)
	}
	if !slices.Equal(m.y, want) {
		t.Error("differs from the loop in Go")
	}
}

// One kernel serves many goroutines at once, each on a chunk of its own.
func TestConcurrentCalls(t *testing.T) {
	m := randomCSR(400, 5)
	want := make([]float64, len(m.y))
	m.multiply(want)
	k := mustCompile(t, spmvText)
	bufs := m.buffers(m.y)
	var wg sync.WaitGroup
	for chunk := range int64(40) {
		wg.Go(func() {
			if st := k.Call(bufs, []int64{400}, chunk, 10*chunk, 10*chunk+10); st != 0 {
				t.Errorf("chunk %d: status %d", chunk, st)
			}
		})
	}
	wg.Wait()
	if !slices.Equal(m.y, want) {
		t.Error("differs from the loop in Go")
	}
}

func TestOutOfBounds(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       BoundsError
	}{
		{"load", "y[0] = x[4]", BoundsError{"f", "x", 4, 4}},
		{"load below", "y[0] = x[lo - 1]", BoundsError{"f", "x", -1, 4}},
		{"load computed", "y[0] = x[hi * hi]", BoundsError{"f", "x", 16, 4}},
		{"load at the end of i64", "y[0] = x[lo + 9223372036854775807]", BoundsError{"f", "x", math.MaxInt64, 4}},
		{"store", "y[1] = x[0]", BoundsError{"f", "y", 1, 1}},
		{"store computed", "y[hi * hi] = x[0]", BoundsError{"f", "y", 16, 1}},
		{"store of a variable", "let v: f64 = 1.0\n y[2] = v", BoundsError{"f", "y", 2, 1}},
		{"store of an integer", "p[9] = 1:u32", BoundsError{"f", "p", 9, 3}},
		{"store to an empty buffer", "e[0] = 1:u64", BoundsError{"f", "e", 0, 0}},
		{"gather: the index", "y[0] = x[i64(p[3])]", BoundsError{"f", "p", 3, 3}},
		{"gather: the element", "y[0] = x[i64(p[2])]", BoundsError{"f", "x", math.MaxUint32, 4}},
		{"gather: 64-bit index", "y[0] = x[i64(q[0])]", BoundsError{"f", "x", -2, 4}},
		{"in a loop", "for i = lo to hi + 1 { y[0] = y[0] + x[i] }", BoundsError{"f", "x", 4, 4}},
		{"in a condition that is false anyway", "if lo == 1 & x[9] == 0.0 { y[0] = 1.0 }", BoundsError{"f", "x", 9, 4}},
		{"in a case not selected", "y[0] = select(lo == 0, 1.0, x[9])", BoundsError{"f", "x", 9, 4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := mustCompile(t, "func f(readonly x: []f64, y: []f64, p: []u32, readonly q: []u64, e: []u64) chunk c, lo, hi {\n"+test.body+"\n}\n")
			bufs := []Memory{
				memory([]float64{1, 2, 3, 4}), memory(make([]float64, 1)),
				memory([]uint32{0, 1, math.MaxUint32}), memory([]uint64{math.MaxUint64 - 1}), {},
			}
			for range 2 { // the frame is used again
				st, err := k.Run(bufs, nil, 0, 0, 4)
				var got *BoundsError
				if !errors.As(err, &got) || *got != test.want || st != StatusOutOfBounds {
					t.Fatalf("status %d, %v; want %v", st, err, &test.want)
				}
				if st := k.Call(bufs, nil, 0, 0, 4); st != StatusOutOfBounds {
					t.Errorf("Call returns %d", st)
				}
			}
		})
	}
	want := "interp: func f: index 4 of buffer x is out of range: it has 3 elements"
	if got := (&BoundsError{"f", "x", 4, 3}).Error(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestBadCalls(t *testing.T) {
	k := mustCompile(t, "func f(y: []f64; n: i64) chunk c, lo, hi {\n y[0] = 1.0\n}\n")
	y := memory([]float64{0})
	for _, test := range []struct {
		want string
		bufs []Memory
		args []int64
	}{
		{"takes 1 buffers, got 0", nil, []int64{1}},
		{"takes 1 buffers, got 2", []Memory{y, y}, []int64{1}},
		{"takes 1 scalar arguments, got 0", []Memory{y}, nil},
		{"buffer y has -1 elements", []Memory{{y.Ptr, -1}}, []int64{1}},
		{"buffer y has 3 elements at address 0x0", []Memory{{nil, 3}}, []int64{1}},
	} {
		st, err := k.Run(test.bufs, test.args, 0, 0, 0)
		var call *CallError
		if st != StatusBadCall || !errors.As(err, &call) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("status %d, %v; want %q", st, err, test.want)
		}
	}
}

// library parses scalar functions and returns the lookup of them.
func library(t *testing.T, text string) func(string) (*loop.Scalar, bool) {
	t.Helper()
	scalars, err := loop.ParseScalars(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) (*loop.Scalar, bool) {
		for _, s := range scalars {
			if s.Name == name {
				return s, true
			}
		}
		return nil, false
	}
}

const testLibrary = `
scalar half_f64(x: f64) f64 {
  return x / 2.0
}
scalar sub_f64(x: f64, y: f64) f64 {
  return x - y
}
scalar clamp_f64(x: f64, lo: f64, hi: f64) f64 {
  if x < lo {
    return lo
  }
  if x > hi {
    return hi
  }
  return x
}
scalar pow_f64(x: f64, n: i64) f64 {
  var r: f64 = 1.0
  for i = 0 to min(n, 40) {
    r = r * x
    if r > 1000.0 {
      return half_f64(r)
    }
  }
  return r
}
scalar swap_c128(z: c128) c128 {
  return complex(imag(z), real(z))
}
scalar nine_i64() i64 {
  return 9
}
scalar positive_bool(x: f64) bool {
  if x > 0.0 {
    return true
  } else {
    return false
  }
}
`

func TestCalls(t *testing.T) {
	lookup := library(t, testLibrary)
	for _, test := range []struct {
		expr string
		want float64
	}{
		{"half_f64(3.0)", 1.5},
		{"half_f64(half_f64(half_f64(8.0)))", 1},
		{"half_f64(4.0) + half_f64(6.0)", 5},
		{"sub_f64(10.0, sub_f64(7.0, sub_f64(3.0, 2.0)))", 4},
		{"sub_f64(sub_f64(10.0, 1.0), sub_f64(3.0, half_f64(2.0)))", 7},
		{"clamp_f64(sub_f64(9.0, 1.0), half_f64(4.0), sub_f64(8.0, 2.0))", 6},
		{"clamp_f64(-1.0, 0.0, 1.0)", 0},
		{"pow_f64(2.0, 5)", 32},
		{"pow_f64(10.0, 100)", 5000},
		{"pow_f64(2.0, nine_i64())", 512},
		{"real(swap_c128(swap_c128(swap_c128(complex(1.0, 2.0)))))", 2},
		{"f64(positive_bool(-1.0)) + select(positive_bool(1.0), 10.0, 0.0)", 10},
	} {
		f := mustParse(t, "func f(y: []f64) chunk c, lo, hi {\n y[0] = "+test.expr+"\n}\n")
		k, err := Compile(f, lookup)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, 1)
		if st, err := k.Run([]Memory{memory(y)}, nil, 0, 0, 0); st != 0 || y[0] != test.want {
			t.Errorf("%s = %v (%v), want %v", test.expr, y[0], err, test.want)
		}
	}
}
