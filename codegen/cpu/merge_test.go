package cpu_test

import (
	"fmt"
	"strings"
	"testing"
)

// This file tests loads that are chosen by address (elementOrZero of codegen/llvm/arith.go).

// TestElementOrZero says which choices between an element and 0 are made between addresses: those of floats in loops whose iterations
// nobody counts, where LLVM would make a branch.
func TestElementOrZero(t *testing.T) {
	const counted, merging = "for q = lo to hi {", "while p < n {\n    let q: i64 = p"
	for _, test := range []struct {
		loop, elem, zero string
		addresses        bool
	}{
		{merging, "f64", "0.0", true},
		{merging, "f32", "0.0:f32", true},
		{merging, "f64", "-0.0", false},
		{merging, "f64", "1.0", false},
		{merging, "i64", "0", false},
		{counted, "f64", "0.0", false},
	} {
		text := emit(t, parse(t, fmt.Sprintf(`func choose(readonly crd: []i64, readonly x: []%s, out: []%[1]s; n: i64) chunk c, lo, hi {
  var p: i64 = 0
  %s
    let has: bool = crd[q] < 5
    out[q] = select(has, x[q], %s)
    p = p + 1
  }
}`, test.elem, test.loop, test.zero)))
		if got := strings.Contains(text, "private unnamed_addr constant"); got != test.addresses || strings.Contains(text, "!unpredictable") != got {
			t.Errorf("%v: a choice between addresses: %v", test, got)
		}
	}
}
