package loop

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// inFunc puts statements into a function with one variable of each kind. The
// first line of stmts is line 2 of the text.
func inFunc(stmts string) string {
	return "func f(readonly r: []u32, w: []f16, x: []f64; n: i64) chunk c, lo, hi {\n" + stmts + "\n}\n"
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", `1:1: expected "func", found the end of the text`},
		{"func 1", `1:6: expected the function's name, found "1"`},
		{"func f.1", `1:6: the function's name cannot have the suffix of "f.1"`},
		{"func if", `1:6: expected the function's name, found the reserved word "if"`},
		{"func f() {", `1:10: expected "chunk" or "grid", found "{"`},
		{"func f(a: []f65) chunk c, lo, hi {}", `1:13: expected a type such as i64 or f64, found "f65"`},
		{"func f(a: []i8, a: []i8) chunk c, lo, hi {}", `1:17: "a" is already declared`},
		{"func f(; n: f64) chunk c, lo, hi {}", `1:13: expected i64, the type of every parameter`},
		{"func f() chunk c, lo, lo {}", `1:23: "lo" is already declared`},
		{"func f() chunk c, lo, hi {} x", `1:29: expected the end of the text, found "x"`},
		{"func f() chunk c, lo, hi {", `1:27: expected a statement or "}", found the end of the text`},
		{inFunc("  let a: i64 = 1.0"), `2:16: a is of type i64, this expression of type f64`},
		{inFunc("let a: f16 = 1.0"), `2:8: f16 is a type of buffers only; values are computed in f32`},
		{inFunc("let n: i64 = 1"), `2:5: "n" is already declared`},
		{inFunc("n = 1"), `2:1: "n" cannot be assigned; declare it with var`},
		{inFunc("q = 1"), `2:1: "q" is not declared here`},
		{inFunc("n + 1"), `2:1: "n" cannot be assigned`},
		{inFunc("q + 1"), `2:1: expected a statement, found "q"`},
		{inFunc("1"), `2:1: expected a statement or "}", found "1"`},
		{inFunc("if n == 1 { let a: i64 = 2 }\nx[a] = 1.0"), `3:3: "a" is not declared here`},
		{inFunc("for i = 0 to n {}\nx[i] = 1.0"), `3:3: "i" is not declared here`},
		{inFunc("for i = 0 to 1.0 {}"), `2:14: the upper bound is of type i64, this expression of type f64`},
		{inFunc("for i = 0 to n { i = 1 }"), `2:18: "i" cannot be assigned`},
		{inFunc("r[0] = 1:u32"), `2:1: the buffer "r" is read-only`},
		{inFunc("w[0] = 1.0"), `2:8: an element of w is of type f32, this expression of type f64`},
		{inFunc("x[1:u32] = 1.0"), `2:3: the index is of type i64, this expression of type u32`},
		{inFunc("x[x[0]] = 1.0"), `2:3: the index is of type i64, this expression of type f64`},
		{inFunc("x[r[x[0]]] = 1.0"), `2:5: the index is of type i64, this expression of type f64`},
		{inFunc("x[0] = x"), `3:1: expected "[", found "}"`},
		{inFunc("if n {}"), `2:4: the condition is of type bool, this expression of type i64`},
		{inFunc("return 1"), `2:1: only a scalar function returns a value`},
		{inFunc(`fail 65536 "x"`), `2:6: expected the message's number, below 65536`},
		{inFunc(`fail 0 x`), `2:8: expected a message in quotes, found "x"`},
		{inFunc("fail 0 \"a\" fail 0 \"b\""), `2:19: message 0 was "a" before`},
		{inFunc("fail 0 \"a"), `2:8: the string does not end on its line`},
		{inFunc("x[0] = 1.0 + 1"), `2:12: the operands of + have types f64 and i64; cast one`},
		{inFunc("x[0] = 1.0 % 1.0"), `2:12: % is not defined on f64`},
		{inFunc("x[0] = !1.0"), `2:8: ! is not defined on f64`},
		{inFunc("let a: bool = 1 < 2 < 3"), `2:21: comparisons do not chain`},
		{inFunc("x[0] = sqrt(1.0, 2.0)"), `2:8: sqrt takes 1 arguments, not 2`},
		{inFunc("x[0] = min(1.0)"), `2:8: min takes 2 arguments, not 1`},
		{inFunc("x[0] = sqrt(n)"), `2:8: sqrt is not defined on i64`},
		{inFunc("x[0] = fma(1.0, 2.0:f32, 1.0)"), `2:8: fma takes three f32 or three f64; these are f64, f32, f64`},
		{inFunc("x[0] = fma(1.0, 2.0)"), `2:8: fma takes 3 arguments, not 2`},
		{inFunc("x[0] = select(n, 1.0, 1.0)"), `2:8: select takes bool, T, T; these are i64, f64, f64`},
		{inFunc("x[0] = f16(1.0)"), `2:8: f16 is a type of buffers only; round with roundf16`},
		{inFunc("x[0] = f64()"), `2:8: f64 takes 1 arguments, not 0`},
		{inFunc("x[0] = exp(1.0)"), `2:8: the result type of exp is unknown`},
		{inFunc("x[0] = 1.0 // why\n + 2.0"), `3:2: expected a statement or "}", found "+"`},
		{inFunc("x[0] = // why\n 2.0"), `2:8: expected an expression, found a comment`},
		{inFunc("x[0] = 1x"), `2:8: this is not a number`},
		{inFunc("x[0] = 0x"), `2:8: this is not a number`},
		{inFunc("x[0] = é"), `2:8: the byte 0xc3 has no meaning here; names are ASCII`},
		{inFunc("x[0] = f64#x"), `2:8: expected up to 16 hexadecimal digits after f64#`},
		{inFunc("x[0] = i64#1"), `2:8: bits can be given of f32 and f64 only, not of "i64"`},
		{inFunc("x[0] = 1e999"), `2:8: 1e999 is not a number that fits in f64`},
		{inFunc("let a: u8 = 256:u8"), `2:13: 256 does not fit in u8`},
		{inFunc("let a: i8 = 128:i8"), `2:13: 128 does not fit in i8`},
		{inFunc("let a: u8 = -1:u8"), `2:14: -1 does not fit in u8`},
		{inFunc("let a: i64 = 9223372036854775808"), `2:14: 9223372036854775808 does not fit in i64`},
		{inFunc("let a: i64 = 99999999999999999999"), `does not fit in i64`},
		{inFunc("let a: i64 = 1.0:i64"), `2:14: 1.0 is not a whole number, as i64 wants`},
		{inFunc("let a: f32 = 1:f32"), `2:14: 1 is a whole number; write 1.0:f32`},
		{inFunc("let a: c64 = 1.0:c64"), `2:14: a number cannot have type c64; write complex(re, im) or a cast`},
		{inFunc("let a: f32 = 1.0:f16"), `2:18: f16 is a type of buffers only`},
	} {
		_, err := ParseFunc(c.src)
		var at *ParseError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives  %v\nwants  %s", c.src, err, c.want)
		}
	}
}

func TestParseScalarErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"scalar f(x: f16) f64 {}", `1:13: f16 is a type of buffers only`},
		{"scalar f() f64 { return 1 }", `1:25: the result is of type f64, this expression of type i64`},
		{"scalar f() f64 { fail 0 \"\" }", `1:18: a scalar function cannot fail`},
		{"scalar f() f64 { return 1.0 } scalar", `1:31: expected the end of the text`},
	} {
		if _, err := ParseScalar(c.src); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives  %v\nwants  %s", c.src, err, c.want)
		}
	}
	if _, err := ParseScalars("// one\nscalar f() f64 { return 1.0 }\n// two\nfunc"); err == nil || err.Error() != `4:1: expected "scalar", found "func"` {
		t.Errorf("ParseScalars: %v", err)
	}
}

func TestParseScalars(t *testing.T) {
	all, err := ParseScalars("// one\nscalar one() f64 { return 1.0 }\n// two\nscalar two() i8 { return 2:i8 } // end")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Name != "one" || all[1].Name != "two" || all[1].Result != I8 {
		t.Errorf("got %v", all)
	}
}

// Text nested too deep is refused, text just within the limit is read, and what
// is read verifies and prints.
func TestParseDepth(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(n int) string
		limit int // greatest n that is read
	}{
		{"blocks", func(n int) string { return strings.Repeat("if true {\n", n) + strings.Repeat("}", n) }, maxDepth},
		{"else if", func(n int) string { return "if true {}" + strings.Repeat(" else if true {}", n-1) }, maxDepth},
		{"sum", func(n int) string { return "x[0] = 1.0" + strings.Repeat(" + 1.0", n-1) }, maxDepth},
		{"nested sum", func(n int) string {
			return "x[0] = " + strings.Repeat("1.0 + (", n-1) + "1.0" + strings.Repeat(")", n-1)
		}, maxDepth},
		{"minus", func(n int) string {
			return "x[0] = " + strings.Repeat("-(", n-1) + "1.0" + strings.Repeat(")", n-1)
		}, maxDepth},
		{"parentheses", func(n int) string { return "x[0] = " + strings.Repeat("(", n-1) + "1.0" + strings.Repeat(")", n-1) }, maxParens},
		{"loads", func(n int) string {
			return "x[0] = x[" + strings.Repeat("i64(x[", n) + "0" + strings.Repeat("])", n) + "]"
		}, maxDepth/2 - 1},
	} {
		f, err := ParseFunc(inFunc(c.build(c.limit)))
		if err != nil {
			t.Errorf("%s %d: %v", c.name, c.limit, err)
			continue
		}
		if err := f.Verify(nil); err != nil {
			t.Errorf("%s %d: %v", c.name, c.limit, err)
		}
		if _, err := ParseFunc(f.String()); err != nil {
			t.Errorf("%s %d does not parse back: %v", c.name, c.limit, err)
		}
		for _, n := range []int{c.limit + 1, 50_000} {
			if _, err := ParseFunc(inFunc(c.build(n))); err == nil || !strings.Contains(err.Error(), "nested deeper than") {
				t.Errorf("%s %d: %v", c.name, n, err)
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	if _, err := ParseFunc(strings.Repeat(" ", maxSource+1)); err == nil || !strings.Contains(err.Error(), "the text has") {
		t.Error(err)
	}
}

// A literal keeps its bits through printing and parsing.
func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		text string
		want Const
	}{
		{"1", Const{I64, 1, 0}},
		{"-9223372036854775808", Const{I64, 1 << 63, 0}},
		{"-1:i8", Const{I8, ^uint64(0), 0}},
		{"-128:i8", Const{I8, ^uint64(127), 0}},
		{"255:u8", Const{U8, 255, 0}},
		{"18446744073709551615:u64", Const{U64, ^uint64(0), 0}},
		{"true", Const{Bool, 1, 0}},
		{"1.0", Const{F64, 0x3ff0000000000000, 0}},
		{"-0.0", Const{F64, 1 << 63, 0}},
		{"1e+300", Const{F64, 0x7e37e43c8800759c, 0}},
		{"0.1:f32", Const{F32, 0x3dcccccd, 0}},
		{"1e-45:f32", Const{F32, 1, 0}},
		{"inf", Const{F64, 0x7ff0000000000000, 0}},
		{"-inf:f32", Const{F32, 0xff800000, 0}},
		{"nan", Const{F64, 0x7ff8000000000000, 0}},
		{"nan:f32", Const{F32, 0x7fc00000, 0}},
		{"f64#7ff8000000000001", Const{F64, 0x7ff8000000000001, 0}},
		{"f32#ffc00000", Const{F32, 0xffc00000, 0}},
		{"complex(1.0, -0.0)", Const{C128, 0x3ff0000000000000, 1 << 63}},
		{"complex(nan:f32, f32#7f800001)", Const{C64, 0x7fc00000, 0x7f800001}},
	} {
		if got := c.want.String(); got != c.text {
			t.Errorf("%v prints as %s, want %s", c.want, got, c.text)
		}
		if got, err := parseConst(c.text, c.want.Typ); err != nil || got != c.want {
			t.Errorf("%s reads as %v, %v", c.text, got, err)
		}
	}
	// Other ways to write a literal.
	for _, c := range []struct{ text, want string }{
		{"0xff", "255"}, {"-0x80:i8", "-128:i8"}, {"0x1p-3", "0.125"}, {"0x1.8p1:f32", "3.0:f32"},
		{"1e3", "1000.0"}, {"1.", "1.0"}, {"-nan", "f64#fff8000000000000"}, {"010", "10"}, {"-0", "0"},
		{"f32#3f800000", "1.0:f32"}, {"complex(1.0, (2.0))", "complex(1.0, 2.0)"},
	} {
		got, err := parseConst(c.text, Invalid)
		if err != nil || got.String() != c.want {
			t.Errorf("%s reads as %v, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// parseConst reads a literal of type t, or of any type if t is Invalid.
func parseConst(text string, t Type) (Const, error) {
	types := []Type{t}
	if t == Invalid {
		types = []Type{I64, F64, F32, I8, C128}
	}
	var err error
	for _, t := range types {
		var s *Scalar
		if s, err = ParseScalar(fmt.Sprintf("scalar f() %s { return %s }", t, text)); err == nil {
			c, ok := s.Body[0].(*Return).Value.(*Const)
			if !ok {
				return Const{}, errors.New("not a constant")
			}
			return *c, nil
		}
	}
	return Const{}, err
}

func FuzzParse(f *testing.F) {
	f.Add(inFunc("x[0] = -(-1.0) // comment"))
	f.Add(inFunc("for independent i = 0 to n { if i == 1 { fail 0 \"a\" } else if true {} }"))
	f.Add(inGrid("barrier\nlet a: f64 = shuffle_up(r[thread()], warp(), 8)\nif block() == n {\nlet b: u32 = ballot(a > 0.0)\natomic_max(u[0], b)\n}"))
	f.Add(inGrid("let a: i64 = atomic_cas(s[lane()], blocks(), 2)\natomic_add(w[a], 1)\nbarrier_warp"))
	f.Add("scalar f(x: c64) c64 { return complex((1.0:f32), f32#7fc00001) }")
	f.Add(`program p { scalar n bound buffer a: []i8 temp partition q of n grain 1 chunks n stage s over q { alloc a[max(n, -1)] partitioned { let n = a[0] } } }`)
	f.Fuzz(func(t *testing.T, src string) {
		fuzzOne(t, src, ParseFunc)
		fuzzOne(t, src, ParseScalar)
		fuzzOne(t, src, ParseProgram)
	})
}

// fuzzOne wants that what parses can be verified without a panic, and prints as
// text that parses and prints the same.
func fuzzOne[T verifiable](t *testing.T, src string, parse func(string) (T, error)) {
	x, err := parse(src)
	if err != nil {
		return
	}
	verified := x.Verify(nil) == nil
	text := x.String()
	y, err := parse(text)
	if err != nil {
		t.Fatalf("%v in the printed text\n%s", err, text)
	}
	if again := y.String(); again != text {
		t.Fatalf("prints as\n%s\nthen as\n%s", text, again)
	}
	if (y.Verify(nil) == nil) != verified {
		t.Fatalf("verified before printing: %t\n%s", verified, text)
	}
}
