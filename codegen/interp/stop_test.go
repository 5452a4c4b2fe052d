package interp

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file tests calls that are told to stop (control.go).

// A call whose stop word is set ends early when it is long, and is left alone
// when it is short. Loops of scalar functions, whose callers want a value, go on.
func TestRunUntil(t *testing.T) {
	scalars, err := loop.ParseScalars(`scalar spin_i64(n: i64) i64 {
  var s: i64 = 0
  for i = 0 to n {
    s = s + i
  }
  return s
}`)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (*loop.Scalar, bool) { return scalars[0], name == scalars[0].Name }
	for _, test := range []struct {
		name, body string
		want       int64
	}{
		{"long", "  for i = 0 to 1000000000000 {\n    y[0] = i\n  }", loop.StatusStopped},
		{"nested", "  for i = 0 to 1000000000000 {\n    for j = 0 to 3 {\n      y[0] = i\n    }\n  }", loop.StatusStopped},
		{"while", "  while y[0] >= 0 {\n    y[0] = y[0] + 1\n  }", loop.StatusStopped},
		{"while comparing variables", "  var i: i64 = 0\n  while i < 1000000000000 {\n    i = i + 1\n  }", loop.StatusStopped},
		{"short", "  for i = 0 to 100 {\n    y[0] = i\n  }", 0},
		{"in a scalar function", "  y[0] = spin_i64(100000)", 0},
	} {
		f, err := loop.ParseFunc("func f(y: []i64) chunk c, lo, hi {\n" + test.body + "\n}")
		if err != nil {
			t.Fatal(err)
		}
		k, err := Compile(f, lookup)
		if err != nil {
			t.Fatal(err)
		}
		y := []int64{0}
		var stop atomic.Uint32
		stop.Store(1)
		got, err := k.RunUntil(&stop, []Memory{{unsafe.Pointer(&y[0]), 1}}, nil, 0, 0, 0)
		if err != nil || got != test.want {
			t.Errorf("%s: status %d, error %v, want %d", test.name, got, err, test.want)
		}
		if test.name == "in a scalar function" && y[0] != 100000*99999/2 {
			t.Errorf("%s: the value is %d", test.name, y[0])
		}
	}
}
