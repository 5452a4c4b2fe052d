package loop

import (
	"errors"
	"strings"
	"testing"
)

// Each case breaks one thing that the parser would not have let through. The
// function has variables c 1, lo 2, hi 3 after its parameter n 0, then s 4.
func TestVerifyFunc(t *testing.T) {
	const base = `func f(readonly r: []u32, w: []f16, x: []f64; n: i64) chunk c, lo, hi {
  var s: f64 = 0.0
  if n == 1 {
    let k: i64 = 2
    x[k] = s
  }
}
`
	n := &Ref{Var: 0, Typ: I64}
	s := &Ref{Var: 4, Typ: F64}
	add := func(stmts ...Stmt) func(*Func) {
		return func(f *Func) { f.Body = append(f.Body, stmts...) }
	}
	set := func(value Expr) func(*Func) { return add(&Assign{Var: 4, Value: value}) }
	deep := Expr(n)
	for range maxDepth {
		deep = &Unary{Op: Neg, Typ: I64, X: deep}
	}
	wide := Expr(n)
	for range 40 {
		wide = &Binary{Op: Add, Typ: I64, X: wide, Y: wide}
	}
	nested := Stmt(&Comment{})
	for range maxDepth {
		nested = &If{Cond: Truth(true), Then: []Stmt{nested}}
	}
	for _, c := range []struct {
		change func(*Func)
		want   string
	}{
		{func(f *Func) { f.Name = "no name" }, `"no name" cannot name a function`},
		{func(f *Func) { f.Name = "if" }, `"if" cannot name a function`},
		{func(f *Func) { f.Vars[0].Name = "n.1" }, `"n.1" cannot name a variable`},
		{func(f *Func) { f.Bufs[0].Name = "" }, `"" cannot name a buffer`},
		{func(f *Func) { f.Bufs[0].Elem = 99 }, "buffer 0 has no element type"},
		{func(f *Func) { f.Vars[4].Type = F16 }, "variable 4 (s) has type f16, which is not a type to compute in"},
		{func(f *Func) { f.Vars[4].Type = F32 }, "s is of type f32, its value of type f64 (in: var s: f32 = 0.0)"},
		{func(f *Func) { f.Vars[0].Type = U64 }, "n is of type u64, its value of type i64"},
		{func(f *Func) { f.Args = append(f.Args, 0) }, "declares n again"},
		{func(f *Func) { f.Hi = 77 }, "declares variable 77; there are 6"},
		{func(f *Func) { f.Lo = -1 }, "declares variable -1"},
		{add(&Let{Var: 4, Value: Float(F64, 0)}), "declares s again (in: let s: f64 = 0.0)"},
		{add(&Let{Var: 5, Value: Int(0)}), "declares k again"},
		{add(&Store{Buf: 2, Index: &Ref{Var: 5, Typ: I64}, Value: s}), "uses k outside its block (in: x[k] = s)"},
		{func(f *Func) { f.Body = f.Body[1:] }, "uses s before its declaration (in: x[k] = s)"},
		{add(&Assign{Var: 0, Value: Int(0)}), "assigns n, which is not mutable"},
		{add(&Assign{Var: 9, Value: Int(0)}), "uses variable 9; there are 6"},
		{set(Int(0)), "the value is of type i64, not f64"},
		{set(&Ref{Var: 0, Typ: F64}), "reads n as f64; it is of type i64"},
		{set(&Const{Typ: F64, Imag: 1}), "a constant of type f64 cannot have the bits 0x0, 0x1"},
		{add(&Let{Var: 4, Value: &Const{Typ: I8, Bits: 200}}), "a constant of type i8 cannot have the bits 0xc8"},
		{add(&Let{Var: 4, Value: &Const{Typ: F16}}), "a constant of type f16"},
		{set(&Unary{Op: Sqrt, Typ: F64, X: n}), "sqrt of i64 does not give f64"},
		{set(&Unary{Op: InvalidUnary, Typ: F64, X: s}), "operator 0 of f64 does not give f64"},
		{set(&Unary{Op: 99, Typ: F64, X: s}), "an operator that does not exist"},
		{set(&Binary{Op: 99, Typ: F64, X: s, Y: s}), "an operator that does not exist"},
		{set(&Binary{Op: Add, Typ: F64, X: s, Y: n}), "+ of f64 and i64 does not give f64"},
		{set(&Binary{Op: Lt, Typ: F64, X: s, Y: s}), "< of f64 and f64 does not give f64"},
		{set(&Select{Cond: n, X: s, Y: s}), "the condition of select is of type i64, not bool"},
		{set(&Select{Cond: Truth(true), X: s, Y: n}), "select between f64 and i64"},
		{set(&Cast{Typ: BF16, X: s}), "casts to bf16, which is not a type to compute in"},
		{set(&Load{Buf: 2, Elem: F64, Index: s}), "the index is of type f64, not i64"},
		{set(&Load{Buf: 0, Elem: F64, Index: n}), "loads f64 from r, a buffer of u32"},
		{set(&Load{Buf: 3, Elem: F64, Index: n}), "uses buffer 3; there are 3"},
		{set(&Call{Fn: "exp_f64", Typ: F64, Args: []Expr{s, s}}), "calls exp_f64 with 2 arguments; it takes 1"},
		{set(&Call{Fn: "exp_f64", Typ: F64, Args: []Expr{n}}), "argument 1 of exp_f64 is of type i64, not f64"},
		{add(&Let{Var: 4, Value: &Call{Fn: "exp_f64", Typ: I64, Args: []Expr{s}}}), "calls exp_f64 for i64; it gives f64"},
		{set(&Call{Fn: "exp", Typ: F64}), "calls exp, which is not in the library"},
		{add(&Store{Buf: 0, Index: n, Value: Number(U32, 1)}), "stores to r, which is read-only (in: r[n] = 1:u32)"},
		{add(&Store{Buf: 1, Index: n, Value: s}), "the stored value is of type f64, not f32"},
		{add(&Store{Buf: 2, Index: s, Value: s}), "the index is of type f64, not i64"},
		{add(&Store{Buf: -1, Index: n, Value: s}), "uses buffer -1"},
		{add(&For{Var: 5, Lo: s, Hi: n}), "the lower bound is of type f64, not i64"},
		{add(&For{Var: 4, Lo: n, Hi: n}), "declares s again (in: for s = n to n {)"},
		{add(&While{Cond: n}), "the condition is of type i64, not bool (in: while n {)"},
		{add(&If{Cond: s}), "the condition is of type f64, not bool (in: if s {)"},
		{add(&Fail{Code: 0}), "fails with message 0; there are 0"},
		{add(&Return{Value: n}), "only a scalar function returns a value"},
		{add(&Comment{Text: "a\nb"}), "a comment is one line"},
		{add(nil), "a statement or expression is missing (nil)"},
		{add((*If)(nil)), "a statement or expression is missing (nil)"},
		{set(nil), "a statement or expression is missing (nil)"},
		{set((*Select)(nil)), "a statement or expression is missing (nil)"},
		{add(&Let{Var: 5, Value: deep}), "nested deeper than 1000 levels"},
		{add(nested), "nested deeper than 1000 levels"},
		{add(&Let{Var: 5, Value: wide}), "more than 4194304 statements and expressions"},
	} {
		f, err := ParseFunc(base)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Verify(testLibrary); err != nil {
			t.Fatal(err)
		}
		c.change(f)
		err = f.Verify(testLibrary)
		var v *VerifyError
		if !errors.As(err, &v) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// testLibrary knows exp_f64 only.
func testLibrary(name string) (*Scalar, bool) {
	return &Scalar{Name: "exp_f64", Vars: []Var{{"x", F64}}, Args: []VarID{0}, Result: F64}, name == "exp_f64"
}

func TestVerifyListsAtMostTwentyProblems(t *testing.T) {
	f := &Func{Name: "f", Vars: []Var{{"a", I64}, {"b", I64}, {"c", I64}}, Lo: 1, Hi: 2}
	for range 100 {
		f.Body = append(f.Body, &Fail{})
	}
	var v *VerifyError
	if err := f.Verify(nil); !errors.As(err, &v) || len(v.Problems) != maxProblems || v.What != "func f" {
		t.Errorf("got %v", err)
	}
}

func TestVerifyScalar(t *testing.T) {
	library := map[string]*Scalar{}
	resolve := func(name string) (*Scalar, bool) { s, ok := library[name]; return s, ok }
	all, err := ParseScalars(`
scalar ping_f64(x: f64) f64 { return pong_f64(x) }
scalar pong_f64(x: f64) f64 { return select(x > 0.0, ping_f64(x), 0.0) }
scalar self_f64(x: f64) f64 { return self_f64(x) }
scalar leaf_f64(x: f64) f64 { return x }
scalar user_f64(x: f64) f64 { return leaf_f64(leaf_f64(x)) }
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		library[s.Name] = s
	}
	for _, c := range []struct{ src, want string }{
		{"scalar f(x: f64) f64 { }", "not every path ends in a return"},
		{"scalar f(x: f64) f64 { if x > 0.0 { return x } }", "not every path ends in a return"},
		{"scalar f(x: f64) f64 { while true { return x } }", "not every path ends in a return"},
		{"scalar f(x: f64) f64 { if x > 0.0 { return x } else if x < 0.0 { return -x } else { return 0.0 } }", ""},
		{"scalar f(x: f64) f64 { for i = 0 to 9 { return x } return x }", ""},
		{"scalar min(x: f64) f64 { return x }", `"min" cannot name a function`},
		{"scalar i64(x: f64) f64 { return x }", `"i64" cannot name a function`},
		{all[0].String(), "calls itself, perhaps through other functions"},
		{all[1].String(), "calls itself"},
		{all[2].String(), "calls itself"},
		{all[3].String(), ""},
		{all[4].String(), ""},
	} {
		s, err := ParseScalar(c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		err = s.Verify(resolve)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.src, err, c.want)
		}
	}
	// What the parser would refuse.
	for _, c := range []struct {
		s    Scalar
		want string
	}{
		{Scalar{Name: "f", Result: F16, Body: []Stmt{&Return{Int(1)}}}, "the result type f16 is not a type to compute in"},
		{Scalar{Name: "f", Result: F64, Body: []Stmt{&Return{Int(1)}}}, "the result is of type i64, not f64"},
		{Scalar{Name: "f", Result: I64, Body: []Stmt{&Fail{}, &Return{Int(1)}}}, "a scalar function cannot fail"},
		{Scalar{Name: "f", Result: I64, Body: []Stmt{&Return{&Load{Elem: I64, Index: Int(0)}}}}, "uses buffer 0; there are 0"},
		{Scalar{Name: "f", Result: I64, Args: []VarID{0}, Body: []Stmt{&Return{Int(0)}}}, "declares variable 0; there are 0"},
	} {
		if err := c.s.Verify(nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}
