// Package scalar has the functions of the language on single elements, as expressions of the loop language, and their
// values on constants.
package scalar

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Cast converts x to a tensor type; a half-precision one rounds.
func Cast(to tensor.DType, x loop.Expr) loop.Expr {
	x = loop.NewCast(emit.ComputeType(to), x)
	switch to {
	case tensor.Float16:
		return loop.NewUnary(loop.RoundF16, x)
	case tensor.BFloat16:
		return loop.NewUnary(loop.RoundBF16, x)
	}
	return x
}

// operators maps functions that are one operator of the loop language.
var operators = map[string]loop.BinaryOp{
	"+": loop.Add, "-": loop.Sub, "*": loop.Mul, "/": loop.Div,
	"==": loop.Eq, "!=": loop.Ne, "<": loop.Lt, "<=": loop.Le, ">": loop.Gt, ">=": loop.Ge,
	"and": loop.And, "or": loop.Or, "xor": loop.Xor,
	"bitand": loop.And, "bitor": loop.Or, "bitxor": loop.Xor,
	"min": loop.Min, "max": loop.Max,
}

// boolOperators are the operators that mean something else on bool, as in NumPy.
var boolOperators = map[string]loop.BinaryOp{"+": loop.Or, "*": loop.And}

// roundings maps rounding functions; integers are left as they are.
var roundings = map[string]loop.UnaryOp{
	"floor": loop.Floor, "ceil": loop.Ceil, "trunc": loop.Trunc, "round": loop.Rint,
}

// Apply is the value of a function of the language, in type t, on arguments
// of one type.
func Apply(fn string, t loop.Type, args []loop.Expr) loop.Expr {
	if fn == "^" {
		fn = "pow"
	}
	x := args[0]
	in := x.Type()
	if op, ok := boolOperators[fn]; ok && in == loop.Bool {
		return loop.NewBinary(op, x, args[1])
	}
	if op, ok := operators[fn]; ok {
		return ByReal(op, x, args[1])
	}
	if op, ok := roundings[fn]; ok {
		if !in.IsFloat() {
			return x
		}
		return loop.NewUnary(op, x)
	}
	if fn == "pow" {
		if p := smallPower(x, args[1]); p != nil {
			return p
		}
	}
	if f, ok := special[fn]; ok {
		return f(t, args)
	}
	return libraryCall(fn, t, args)
}

// IsOperator reports whether a function of numbers that are not complex is a few operations of the loop language. power is
// its second argument, if that is known.
func IsOperator(fn string, power tensor.Scalar, known bool) bool {
	_, binary := operators[fn]
	_, rounding := roundings[fn]
	switch fn {
	case "neg", "not", "abs", "sqrt", "square", "cube", "relu":
		return true
	case "^", "pow":
		return known && smallPower(number(loop.F64, 0), emit.Constant(power.Convert(tensor.Float64))) != nil
	}
	return binary || rounding
}

// ByReal is an operator on two numbers of one type, or the product or quotient of both parts
// of a complex number with a real one: with the complex number y+0i the other part would
// be NaN where one is infinite.
func ByReal(op loop.BinaryOp, x, y loop.Expr) loop.Expr {
	if !x.Type().IsComplex() || y.Type().IsComplex() {
		return loop.NewBinary(op, x, y)
	}
	part := func(of loop.UnaryOp) loop.Expr { return loop.NewBinary(op, loop.NewUnary(of, x), y) }
	return loop.NewBinary(loop.Complex, part(loop.Real), part(loop.Imag))
}

// smallPower is x to a literal power of 1, 2 or 3 as products, nil otherwise.
func smallPower(x, power loop.Expr) loop.Expr {
	c, ok := power.(*loop.Const)
	if !ok || x.Type() == loop.Bool || x.Type().IsComplex() {
		return nil
	}
	switch *c {
	case *loop.Number(c.Typ, 1):
		return x
	case *loop.Number(c.Typ, 2):
		return times(x, x)
	case *loop.Number(c.Typ, 3):
		return times(times(x, x), x)
	}
	return nil
}

// libraryCall calls the function of that name in ir/loop/lib, in the nearest type that it exists
// in, with a conversion from and to narrower ones.
func libraryCall(fn string, t loop.Type, args []loop.Expr) loop.Expr {
	in := args[0].Type()
	wide := loop.F64
	switch {
	case in.IsComplex():
		wide = loop.C128
	case in.IsSigned():
		wide = loop.I64
	case in.IsInt(), in == loop.Bool:
		wide = loop.U64
	}
	call := &loop.Call{Fn: fn + "_" + wide.String(), Typ: wide}
	for _, a := range args {
		call.Args = append(call.Args, loop.NewCast(wide, a))
	}
	return loop.NewCast(t, call)
}

// special holds functions that are short expressions.
var special = map[string]func(t loop.Type, a []loop.Expr) loop.Expr{
	"neg": func(_ loop.Type, a []loop.Expr) loop.Expr { return loop.NewUnary(loop.Neg, a[0]) },
	"not": func(_ loop.Type, a []loop.Expr) loop.Expr { return loop.NewUnary(loop.Not, a[0]) },
	"bitnot": func(_ loop.Type, a []loop.Expr) loop.Expr {
		return loop.NewUnary(loop.Not, a[0])
	},
	"abs": func(t loop.Type, a []loop.Expr) loop.Expr {
		in := a[0].Type()
		switch {
		case in.IsComplex():
			return loop.NewCast(t, &loop.Call{Fn: "abs_c128", Typ: loop.F64, Args: []loop.Expr{loop.NewCast(loop.C128, a[0])}})
		case in == loop.Bool, in.IsInt() && !in.IsSigned():
			return a[0]
		}
		return loop.NewUnary(loop.Abs, a[0])
	},
	"sqrt": func(t loop.Type, a []loop.Expr) loop.Expr {
		if a[0].Type().IsComplex() {
			return libraryCall("sqrt", t, a)
		}
		return loop.NewUnary(loop.Sqrt, a[0])
	},
	"square": func(_ loop.Type, a []loop.Expr) loop.Expr {
		return times(a[0], a[0])
	},
	"cube": func(_ loop.Type, a []loop.Expr) loop.Expr {
		return times(times(a[0], a[0]), a[0])
	},
	"relu": func(_ loop.Type, a []loop.Expr) loop.Expr {
		return loop.NewBinary(loop.Max, a[0], number(a[0].Type(), 0))
	},
	"sign": sign,
	"heaviside": func(t loop.Type, a []loop.Expr) loop.Expr {
		x, zero := a[0], number(t, 0)
		step := loop.NewSelect(loop.NewBinary(loop.Lt, x, zero), zero, number(t, 1))
		at0 := loop.NewSelect(loop.NewBinary(loop.Eq, x, zero), a[1], step)
		return loop.NewSelect(loop.NewBinary(loop.Ne, x, x), x, at0)
	},
	"copysign": copysign,
	"conj": func(t loop.Type, a []loop.Expr) loop.Expr {
		if !t.IsComplex() {
			return a[0]
		}
		return loop.NewBinary(loop.Complex, loop.NewUnary(loop.Real, a[0]), loop.NewUnary(loop.Neg, loop.NewUnary(loop.Imag, a[0])))
	},
	"real": func(_ loop.Type, a []loop.Expr) loop.Expr {
		if !a[0].Type().IsComplex() {
			return a[0]
		}
		return loop.NewUnary(loop.Real, a[0])
	},
	"imag": func(t loop.Type, a []loop.Expr) loop.Expr {
		if !a[0].Type().IsComplex() {
			return number(t, 0)
		}
		return loop.NewUnary(loop.Imag, a[0])
	},
	"complex":  func(_ loop.Type, a []loop.Expr) loop.Expr { return loop.NewBinary(loop.Complex, a[0], a[1]) },
	"isnan":    func(_ loop.Type, a []loop.Expr) loop.Expr { return loop.NewBinary(loop.Ne, a[0], a[0]) },
	"isinf":    func(_ loop.Type, a []loop.Expr) loop.Expr { return anyPart(a[0], loop.Or, IsInf) },
	"isfinite": func(_ loop.Type, a []loop.Expr) loop.Expr { return anyPart(a[0], loop.And, isFinite) },
}

// times is the product, which on bool is "and".
func times(x, y loop.Expr) loop.Expr {
	if x.Type() == loop.Bool {
		return loop.NewBinary(loop.And, x, y)
	}
	return loop.NewBinary(loop.Mul, x, y)
}

// number is a small integer in type t.
func number(t loop.Type, n int64) loop.Expr {
	if t == loop.Bool {
		return loop.Truth(n != 0)
	}
	return loop.Number(t, n)
}

// sign is -1, 0 or 1; NaN stays NaN and -0 stays -0.
func sign(t loop.Type, a []loop.Expr) loop.Expr {
	x, zero := a[0], number(t, 0)
	if t == loop.Bool {
		return x
	}
	pos := loop.NewSelect(loop.NewBinary(loop.Gt, x, zero), number(t, 1), x)
	if t.IsInt() && !t.IsSigned() {
		return pos
	}
	return loop.NewSelect(loop.NewBinary(loop.Lt, x, zero), number(t, -1), pos)
}

// copysign is |x| with the sign bit of y.
func copysign(t loop.Type, a []loop.Expr) loop.Expr {
	bits, mask := loop.U64, uint64(1)<<63
	if t == loop.F32 {
		bits, mask = loop.U32, 1<<31
	}
	m := &loop.Const{Typ: bits, Bits: mask}
	y := loop.NewBinary(loop.And, loop.NewUnary(loop.Bits, a[1]), m)
	x := loop.NewUnary(loop.Bits, loop.NewUnary(loop.Abs, a[0]))
	return loop.NewUnary(loop.FromBits, loop.NewBinary(loop.Or, x, y))
}

// anyPart applies a test to a real number, or to both parts of a complex one.
func anyPart(x loop.Expr, join loop.BinaryOp, test func(loop.Expr) loop.Expr) loop.Expr {
	if !x.Type().IsComplex() {
		return test(x)
	}
	return loop.NewBinary(join, test(loop.NewUnary(loop.Real, x)), test(loop.NewUnary(loop.Imag, x)))
}

// IsInf is whether a real number is infinite.
func IsInf(x loop.Expr) loop.Expr {
	if !x.Type().IsFloat() {
		return loop.Truth(false)
	}
	return loop.NewBinary(loop.Eq, loop.NewUnary(loop.Abs, x), loop.Float(x.Type(), math.Inf(1)))
}

func isFinite(x loop.Expr) loop.Expr {
	if !x.Type().IsFloat() {
		return loop.Truth(true)
	}
	return loop.NewBinary(loop.Lt, loop.NewUnary(loop.Abs, x), loop.Float(x.Type(), math.Inf(1)))
}

// operation emits an operation on values.
func (o Operations) operation(x *ir.Call, args []loop.Expr) loop.Expr {
	t := emit.ComputeType(x.Typ)
	if o.Grids && x.Fn == "exp" && t == loop.F32 && args[0].Type() == t {
		return &loop.Call{Fn: "_expsingle_f32", Typ: t, Args: args} // has a third of the operations
	}
	return Apply(x.Fn, t, args)
}
