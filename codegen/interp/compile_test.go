package interp

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Trees that break a rule of the language are refused, however they came to be:
// the verifier may not have seen them.
func TestCompileRefuses(t *testing.T) {
	i64 := func(v loop.VarID) loop.Expr { return &loop.Ref{Var: v, Typ: loop.I64} }
	one := loop.Int(1)
	half := loop.Float(loop.F64, 0.5)
	yes := loop.Truth(true)
	bin := func(op loop.BinaryOp, t loop.Type, x, y loop.Expr) loop.Expr {
		return &loop.Binary{Op: op, Typ: t, X: x, Y: y}
	}
	let := func(v loop.VarID, e loop.Expr) loop.Stmt { return &loop.Let{Var: v, Value: e} }
	// Variables: 0…2 the chunk triple, 3 i64, 4 f64, 5 f16.
	for _, test := range []struct {
		name, want string
		body       []loop.Stmt
	}{
		{"undeclared", "variable 3 is used where it is not declared", []loop.Stmt{let(4, &loop.Cast{Typ: loop.F64, X: i64(3)})}},
		{"own value", "variable 3 is used where it is not declared", []loop.Stmt{let(3, bin(loop.Add, loop.I64, i64(3), one))}},
		{"out of scope", "variable 3 is used where it is not declared", []loop.Stmt{
			&loop.If{Cond: yes, Then: []loop.Stmt{let(3, one)}}, &loop.Store{Buf: 1, Index: i64(3), Value: half}}},
		{"loop variable out of scope", "variable 3 is used where it is not declared", []loop.Stmt{
			&loop.For{Var: 3, Lo: one, Hi: one}, &loop.Store{Buf: 1, Index: i64(3), Value: half}}},
		{"twice", "variable 3 is declared twice", []loop.Stmt{let(3, one), let(3, one)}},
		{"parameter again", "variable 1 is declared twice", []loop.Stmt{let(1, one)}},
		{"no such variable", "there is no variable 9", []loop.Stmt{let(9, one)}},
		{"no such variable read", "there is no variable -1", []loop.Stmt{let(3, i64(-1))}},
		{"immutable", "variable 3 is assigned but is not mutable", []loop.Stmt{let(3, one), &loop.Assign{Var: 3, Value: one}}},
		{"loop variable assigned", "variable 3 is assigned but is not mutable", []loop.Stmt{
			&loop.For{Var: 3, Lo: one, Hi: one, Body: []loop.Stmt{&loop.Assign{Var: 3, Value: bin(loop.Add, loop.I64, i64(3), one)}}}}},
		{"ref type", "variable 3 has type i64 and is read as f64", []loop.Stmt{let(3, one), let(4, &loop.Ref{Var: 3, Typ: loop.F64})}},
		{"let type", "a value has type f64, want i64", []loop.Stmt{let(3, half)}},
		{"sum of two types", "operator + on i64 and f64 does not give i64", []loop.Stmt{let(3, bin(loop.Add, loop.I64, one, half))}},
		{"sum to a variable of two types", "a summand has type f64, want i64", []loop.Stmt{
			&loop.Let{Var: 3, Mutable: true, Value: one}, &loop.Assign{Var: 3, Value: bin(loop.Add, loop.I64, i64(3), half)}}},
		{"product in a sum", "operator * on i64 and f64 does not give i64", []loop.Stmt{let(3, bin(loop.Add, loop.I64, bin(loop.Mul, loop.I64, one, half), one))}},
		{"result type", "operator == on i64 and i64 does not give i64", []loop.Stmt{let(3, bin(loop.Eq, loop.I64, one, one))}},
		{"no such operator on type", "operator % on f64 and f64 does not give f64", []loop.Stmt{let(4, bin(loop.Rem, loop.F64, half, half))}},
		{"unary", "operator sqrt on i64 does not give i64", []loop.Stmt{let(3, &loop.Unary{Op: loop.Sqrt, Typ: loop.I64, X: one})}},
		{"cast from storage type", "cast from f16 to f64", []loop.Stmt{let(4, &loop.Cast{Typ: loop.F64, X: &loop.Const{Typ: loop.F16}})}},
		{"condition", "a condition has type i64, want bool", []loop.Stmt{&loop.If{Cond: one}}},
		{"while condition", "a condition has type f64, want bool", []loop.Stmt{&loop.While{Cond: half}}},
		{"select condition", "the condition of a select has type i64, want bool", []loop.Stmt{let(3, &loop.Select{Cond: one, X: one, Y: one})}},
		{"select cases", "the second case of a select has type f64, want i64", []loop.Stmt{let(3, &loop.Select{Cond: yes, X: one, Y: half})}},
		{"for bound", "the end of a for has type f64, want i64", []loop.Stmt{&loop.For{Var: 3, Lo: one, Hi: half}}},
		{"other for bound", "the start of a for has type f64, want i64", []loop.Stmt{&loop.For{Var: 3, Lo: half, Hi: one}}},
		{"for variable", "parameter 4 has type f64, want i64", []loop.Stmt{&loop.For{Var: 4, Lo: one, Hi: one}}},
		{"index", "an index has type f64, want i64", []loop.Stmt{&loop.Store{Buf: 1, Index: half, Value: half}}},
		{"read-only", "buffer x is read-only and is stored to", []loop.Stmt{&loop.Store{Buf: 0, Index: one, Value: half}}},
		{"stored type", "a value stored to buffer y has type i64, want f64", []loop.Stmt{&loop.Store{Buf: 1, Index: one, Value: one}}},
		{"no such buffer", "there is no buffer 2", []loop.Stmt{&loop.Store{Buf: 2, Index: one, Value: half}}},
		{"no such buffer read", "there is no buffer -1", []loop.Stmt{let(4, &loop.Load{Buf: -1, Elem: loop.F64, Index: one})}},
		{"element type", "buffer x has elements of type f64, not i64", []loop.Stmt{let(3, &loop.Load{Buf: 0, Elem: loop.I64, Index: one})}},
		{"fail", "fail 1 has no message", []loop.Stmt{&loop.Fail{Code: 1}}},
		{"return", "return belongs into a scalar function", []loop.Stmt{&loop.Return{Value: one}}},
		{"unknown function", "there is no scalar function tan", []loop.Stmt{let(4, &loop.Call{Fn: "tan", Typ: loop.F64})}},
		{"call type", "scalar function half_f64 returns f64, not i64", []loop.Stmt{let(3, &loop.Call{Fn: "half_f64", Typ: loop.I64, Args: []loop.Expr{half}})}},
		{"call arguments", "scalar function half_f64 takes 1 arguments, got 2", []loop.Stmt{let(4, &loop.Call{Fn: "half_f64", Typ: loop.F64, Args: []loop.Expr{half, half}})}},
		{"argument type", "a value has type i64, want f64", []loop.Stmt{let(4, &loop.Call{Fn: "half_f64", Typ: loop.F64, Args: []loop.Expr{one}})}},
		{"nil statement", "<nil> is no statement", []loop.Stmt{nil}},
		{"first of two mistakes", "there is no buffer 2", []loop.Stmt{&loop.Store{Buf: 2, Index: one, Value: half}, let(9, one)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := testFunc(test.body)
			k, err := Compile(f, library(t, testLibrary))
			if err == nil || !strings.Contains(err.Error(), test.want) || k != nil {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if !strings.HasPrefix(err.Error(), "interp: func f: ") {
				t.Errorf("error %q does not name the function", err)
			}
		})
	}
}

func testFunc(body []loop.Stmt) *loop.Func {
	return &loop.Func{
		Name: "f",
		Bufs: []loop.Buf{{Name: "x", Elem: loop.F64, ReadOnly: true}, {Name: "y", Elem: loop.F64}},
		Vars: []loop.Var{
			{Name: "c", Type: loop.I64}, {Name: "lo", Type: loop.I64}, {Name: "hi", Type: loop.I64},
			{Name: "a", Type: loop.I64}, {Name: "b", Type: loop.F64},
		},
		Chunk: 0, Lo: 1, Hi: 2,
		Body:  body,
		Fails: []string{"it"},
	}
}

func TestCompileRefusesFunctions(t *testing.T) {
	half := testFunc(nil)
	half.Vars = append(half.Vars, loop.Var{Name: "h", Type: loop.F16})
	same := testFunc(nil)
	same.Lo = same.Hi
	float := testFunc(nil)
	float.Args = []loop.VarID{4}
	for want, f := range map[string]*loop.Func{
		"variable h has type f16, which only buffers may have": half,
		"variable 2 is declared twice":                         same,
		"parameter 4 has type f64, want i64":                   float,
	} {
		if _, err := Compile(f, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestCompileRefusesScalars(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"recursion", "scalar f_f64(x: f64) f64 {\n return f_f64(x)\n}\n", "scalar f_f64: scalar function f_f64 calls itself"},
		{"recursion by another", "scalar f_f64(x: f64) f64 {\n return g_f64(x)\n}\nscalar g_f64(x: f64) f64 {\n return f_f64(x)\n}\n", "scalar g_f64: scalar function f_f64 calls itself"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := testFunc([]loop.Stmt{&loop.Let{Var: 4, Value: &loop.Call{Fn: "f_f64", Typ: loop.F64, Args: []loop.Expr{loop.Float(loop.F64, 1)}}}})
			_, err := Compile(f, library(t, test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
		})
	}
	for want, body := range map[string][]loop.Stmt{
		"the function can end without return": {&loop.If{Cond: loop.Truth(true), Then: []loop.Stmt{&loop.Return{Value: loop.Float(loop.F64, 1)}}}},
		"there is no buffer 0":                {&loop.Store{Buf: 0, Index: loop.Int(0), Value: loop.Int(0)}},
		"the value returned has type i64":     {&loop.Return{Value: loop.Int(1)}},
		"fail 0 has no message":               {&loop.Fail{}},
	} {
		f := testFunc([]loop.Stmt{&loop.Let{Var: 4, Value: &loop.Call{Fn: "g", Typ: loop.F64}}})
		_, err := Compile(f, func(string) (*loop.Scalar, bool) {
			return &loop.Scalar{Name: "g", Result: loop.F64, Body: body}, true
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Nesting is limited, so that no function overflows the stack.
func TestCompileDepth(t *testing.T) {
	var e loop.Expr = loop.Int(1)
	for range 100_000 {
		e = &loop.Unary{Op: loop.Neg, Typ: loop.I64, X: e}
	}
	if _, err := Compile(testFunc([]loop.Stmt{&loop.Let{Var: 3, Value: e}}), nil); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("error %v", err)
	}
	var body []loop.Stmt
	for range 100_000 {
		body = []loop.Stmt{&loop.While{Cond: loop.Truth(false), Body: body}}
	}
	if _, err := Compile(testFunc(body), nil); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("error %v", err)
	}
}

// A constant that is not extended from its width is read as the value of that
// width.
func TestConstantsAreExtended(t *testing.T) {
	k, err := Compile(testFunc([]loop.Stmt{
		&loop.Store{Buf: 1, Index: loop.Int(0), Value: &loop.Cast{Typ: loop.F64, X: &loop.Const{Typ: loop.U8, Bits: 0x1ff}}},
		&loop.Store{Buf: 1, Index: loop.Int(1), Value: &loop.Cast{Typ: loop.F64, X: &loop.Const{Typ: loop.I8, Bits: 0xff}}},
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, 2)
	if st := k.Call([]Memory{{}, memory(y)}, nil, 0, 0, 0); st != 0 || y[0] != 255 || y[1] != -1 {
		t.Errorf("status %d, y = %v", st, y)
	}
}
