package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestLimits checks that each limit lets through what it says and no more.
func TestLimits(t *testing.T) {
	nest := func(n int) string { return "y = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	sum := func(n int) string { return "y = 1" + strings.Repeat("+1", n-1) }
	sums := func(n int) string { // n reductions, eight to a call
		var b strings.Builder
		b.WriteString("y = 0")
		for range n / 8 {
			fmt.Fprintf(&b, " + max(%s)", strings.TrimSuffix(strings.Repeat("sum_j x(j),", 8), ","))
		}
		return b.String()
	}
	for _, c := range []struct {
		what, src string
		code      Code
	}{
		{"200 parentheses", nest(MaxNesting), ""},
		{"201 parentheses", nest(MaxNesting + 1), ErrTooDeep},
		{"200 signs", "y = " + strings.Repeat("-", MaxNesting) + "1", ""},
		{"201 signs", "y = " + strings.Repeat("-", MaxNesting+1) + "1", ErrTooDeep},
		{"200 powers", "y = 1" + strings.Repeat("^1", MaxNesting), ""},
		{"201 powers", "y = 1" + strings.Repeat("^1", MaxNesting+1), ErrTooDeep},
		{"201 negations", "y = " + strings.Repeat("not ", MaxNesting+1) + "true", ErrTooDeep},
		{"300 powers in separate factors", "y = 1" + strings.Repeat("*2^1", 300), ""},
		{"300 signs in separate operands", "y = 1" + strings.Repeat("+-1", 300), ""},
		{"300 parentheses side by side", "y = 1" + strings.Repeat("+(1)", 300), ""},
		{"201 reductions", "y = " + strings.Repeat("sum_j ", MaxNesting+1) + "1", ErrTooDeep},
		{"1000 summands", sum(MaxHeight), ""},
		{"1001 summands", sum(MaxHeight + 1), ErrTooDeep},
		{"a tower of sums", "y = " + strings.Repeat("(", 3) + strings.TrimPrefix(sum(400), "y = ") + strings.Repeat(strings.Repeat("+1", 400)+")", 3), ErrTooDeep},
		{"1001 operands in an index", "y = x(i" + strings.Repeat("+i", MaxHeight+1) + ")", ErrTooDeep},
		{"1001 arguments", "y = max(1" + strings.Repeat(",1", MaxHeight) + ")", ErrTooDeep},
		{"4096 indices", sums(MaxIndices), ""},
		{"4104 indices", sums(MaxIndices + 8), ErrTooLarge},
	} {
		_, err := checkText(t, c.src, "x(1)")
		var e *Error
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.code != "" && (!errors.As(err, &e) || e.Code != c.code):
			t.Errorf("%s: got %v, want %s", c.what, err, c.code)
		}
	}
}
