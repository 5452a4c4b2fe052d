package gosource

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// goTypes are the types of Go that hold values, and elements: the bits of half-precision ones.
var goTypes = [...]string{
	loop.Bool: "bool", loop.I8: "int8", loop.I16: "int16", loop.I32: "int32", loop.I64: "int64",
	loop.U8: "uint8", loop.U16: "uint16", loop.U32: "uint32", loop.U64: "uint64",
	loop.F16: "uint16", loop.BF16: "uint16", loop.F32: "float32", loop.F64: "float64", loop.C64: "complex64", loop.C128: "complex128",
}

// expr writes an expression. Operands stand in parentheses: readers are helped little by precedence that two languages
// have otherwise.
func (w *writer) expr(e loop.Expr) string {
	switch e := e.(type) {
	case *loop.Const:
		return literal(e)
	case *loop.Ref:
		return w.names[e.Var]
	case *loop.Load:
		return w.load(e)
	case *loop.Unary:
		return w.unary(e)
	case *loop.Binary:
		return w.binary(e)
	case *loop.Select:
		choose := "support.If"
		if e.Type() == loop.F64 {
			choose = "support.IfFloat"
		}
		return fmt.Sprintf("%s(%s, %s, %s)", choose, w.expr(e.Cond), w.expr(e.X), w.expr(e.Y))
	case *loop.FMA:
		if e.Type() == loop.F32 {
			return fmt.Sprintf("loop.FMA32(%s, %s, %s)", w.expr(e.X), w.expr(e.Y), w.expr(e.Z))
		}
		return fmt.Sprintf("math.FMA(%s, %s, %s)", w.expr(e.X), w.expr(e.Y), w.expr(e.Z))
	case *loop.Cast:
		return w.cast(e)
	case *loop.Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = w.expr(a)
		}
		return w.scalar(e.Fn) + "(" + strings.Join(args, ", ") + ")"
	}
	w.fail("%T is no expression of a kernel for a processor", e)
	return ""
}

// operand is expr for what Go must not take for a constant, and in parentheses where it needs them.
func (w *writer) operand(e loop.Expr) string {
	if _, ok := e.(*loop.Const); ok {
		return "support.V(" + w.expr(e) + ")"
	}
	return w.inside(e)
}

// inside is an expression as an operand of another.
func (w *writer) inside(e loop.Expr) string {
	text := w.expr(e)
	switch e := e.(type) {
	case *loop.Binary:
		if strings.HasSuffix(text, ")") && !strings.HasPrefix(text, "(") && !infix(e) {
			return text
		}
		return "(" + text + ")"
	case *loop.Unary, *loop.Cast:
		return "(" + text + ")"
	}
	return text
}

// infix reports whether an operator stands between its operands in Go.
func infix(e *loop.Binary) bool { return infixOps[e.Op] != "" }

// literal writes a constant with its type.
func literal(k *loop.Const) string {
	t := goTypes[k.Typ]
	switch k.Typ {
	case loop.Bool:
		return strconv.FormatBool(k.Bits != 0)
	case loop.F32:
		return float(t, float64(math.Float32frombits(uint32(k.Bits))), 32, fmt.Sprintf("math.Float32frombits(%#x)", uint32(k.Bits)))
	case loop.F64:
		return float(t, math.Float64frombits(k.Bits), 64, fmt.Sprintf("math.Float64frombits(%#x)", k.Bits))
	case loop.C64, loop.C128:
		part := k.Typ.Real()
		return fmt.Sprintf("complex(%s, %s)", literal(&loop.Const{Typ: part, Bits: k.Bits}), literal(&loop.Const{Typ: part, Bits: k.Imag}))
	}
	v := loop.EvalCast(k.Typ, loop.Const{Typ: loop.U64, Bits: k.Bits}) // extended from its width
	if k.Typ.IsSigned() {
		return fmt.Sprintf("%s(%d)", t, int64(v.Bits))
	}
	return fmt.Sprintf("%s(%d)", t, v.Bits)
}

// float writes a number in decimal, and those that have none, -0 among them, by their bits.
func float(t string, v float64, size int, bits string) string {
	if math.IsInf(v, 0) || v != v || v == 0 && math.Signbit(v) {
		return bits
	}
	return t + "(" + strconv.FormatFloat(v, 'g', -1, size) + ")"
}

func (w *writer) load(e *loop.Load) string {
	element := w.element(e.Buf, e.Index)
	switch e.Elem {
	case loop.F16:
		return "loop.F16ToF32(" + element + ")"
	case loop.BF16:
		return "loop.BF16ToF32(" + element + ")"
	}
	return element
}

// unaryCalls are the operators that are calls, by the type of the operand: of any type, of F32 alone.
var unaryCalls = map[loop.UnaryOp][2]string{
	loop.Sqrt:  {"math.Sqrt(%s)", "float32(math.Sqrt(float64(%s)))"},
	loop.Floor: {"math.Floor(%s)", "float32(math.Floor(float64(%s)))"},
	loop.Ceil:  {"math.Ceil(%s)", "float32(math.Ceil(float64(%s)))"},
	loop.Trunc: {"math.Trunc(%s)", "float32(math.Trunc(float64(%s)))"},
	loop.Rint:  {"math.RoundToEven(%s)", "float32(math.RoundToEven(float64(%s)))"},
	loop.Abs:   {"math.Abs(%s)", "support.Abs32(%s)"},
	loop.Bits:  {"math.Float64bits(%s)", "math.Float32bits(%s)"},
	loop.Real:  {"real(%s)", ""}, loop.Imag: {"imag(%s)", ""},
	loop.RoundF16: {"", "loop.RoundToF16(%s)"}, loop.RoundBF16: {"", "loop.RoundToBF16(%s)"},
}

func (w *writer) unary(e *loop.Unary) string {
	from := e.X.Type()
	switch x := w.operand(e.X); {
	case e.Op == loop.Neg:
		return "-" + x
	case e.Op == loop.Not && from == loop.Bool:
		return "!" + x
	case e.Op == loop.Not:
		return "^" + x
	case e.Op == loop.Abs && from.IsInt():
		return "support.AbsInt(" + x + ")"
	case e.Op == loop.FromBits:
		return fmt.Sprintf("math.Float%dfrombits(%s)", 8*from.Size(), x)
	case e.Op == loop.TrailingZeros:
		return fmt.Sprintf("%s(bits.TrailingZeros%d(%s))", goTypes[e.Typ], 8*from.Size(), x)
	case e.Op == loop.OnesCount:
		return fmt.Sprintf("%s(bits.OnesCount%d(%s))", goTypes[e.Typ], 8*from.Size(), x)
	default:
		form := unaryCalls[e.Op][0]
		if from == loop.F32 {
			form = unaryCalls[e.Op][1]
		}
		if form == "" {
			w.fail("operator %s of %s", e.Op, from)
		}
		return fmt.Sprintf(form, x)
	}
}

// infixOps are the operators that Go has between operands of all types that have them here.
var infixOps = map[loop.BinaryOp]string{
	loop.Add: "+", loop.Sub: "-", loop.Eq: "==", loop.Ne: "!=", loop.Lt: "<", loop.Le: "<=", loop.Gt: ">", loop.Ge: ">=",
	loop.And: "&", loop.Or: "|", loop.Xor: "^", loop.Mul: "*",
}

// boolOps are those of Bool. Expressions have no effects, so it does not matter that Go may leave one out.
var boolOps = map[loop.BinaryOp]string{loop.And: "&&", loop.Min: "&&", loop.Or: "||", loop.Max: "||", loop.Xor: "!=", loop.Eq: "==", loop.Ne: "!="}

// floatCalls and intCalls are operators that are calls.
var (
	floatCalls = map[loop.BinaryOp]string{loop.Min: "support.Min", loop.Max: "support.Max", loop.MinNum: "support.MinNum", loop.MaxNum: "support.MaxNum", loop.Complex: "complex"}
	intCalls   = map[loop.BinaryOp]string{loop.Min: "min", loop.Max: "max", loop.Div: "support.Div", loop.Rem: "support.Rem"}
)

func (w *writer) binary(e *loop.Binary) string {
	t := e.X.Type()
	x, y := w.inside(e.X), w.inside(e.Y)
	if _, ok := e.X.(*loop.Const); ok {
		x = w.operand(e.X)
	}
	call := func(f string) string { return fmt.Sprintf("%s(%s, %s)", f, x, y) }
	switch {
	case t == loop.Bool:
		_, xVar := e.X.(*loop.Ref)
		_, yVar := e.Y.(*loop.Ref)
		if e.Op == loop.And && xVar && yVar { // merges ask so which operands have an entry, which no processor predicts
			return call("support.Both")
		}
		if op := boolOps[e.Op]; op != "" {
			return x + " " + op + " " + y
		}
		return fmt.Sprintf("support.Num[uint8](%s) %s support.Num[uint8](%s)", x, infixOps[e.Op], y)
	case t.IsComplex() && (e.Op == loop.Mul || e.Op == loop.Div):
		return call(map[loop.BinaryOp]string{loop.Mul: "loop.Mul", loop.Div: "loop.Div"}[e.Op] + strings.ToUpper(t.String()))
	case t.IsFloat() && e.Op == loop.Mul: // the conversion keeps Go from fusing it with a sum
		return fmt.Sprintf("%s(%s * %s)", goTypes[t], x, y)
	case t.IsFloat() && e.Op == loop.Div:
		return x + " / " + w.operand(e.Y)
	case t.IsFloat() && floatCalls[e.Op] != "":
		return call(floatCalls[e.Op])
	case t.IsInt() && intCalls[e.Op] != "":
		return call(intCalls[e.Op])
	case e.Op == loop.Shl:
		return fmt.Sprintf("%s << (uint64(%s) & %d)", x, w.operand(e.Y), 8*t.Size()-1)
	case e.Op == loop.Shr:
		return fmt.Sprintf("%s >> (uint64(%s) & %d)", x, w.operand(e.Y), 8*t.Size()-1)
	case infixOps[e.Op] != "":
		return x + " " + infixOps[e.Op] + " " + y
	}
	w.fail("operator %s of %s", e.Op, t)
	return ""
}

func (w *writer) cast(e *loop.Cast) string {
	from, to, x := e.X.Type(), e.Typ, w.operand(e.X)
	switch {
	case from == to:
		return x
	case to == loop.Bool:
		return x + " != 0"
	case from == loop.Bool && to.IsComplex():
		return fmt.Sprintf("complex(support.Num[%s](%s), 0)", goTypes[to.Real()], x)
	case from == loop.Bool:
		return fmt.Sprintf("support.Num[%s](%s)", goTypes[to], x)
	case from.IsComplex() && to.IsComplex():
		return fmt.Sprintf("%s(%s)", goTypes[to], x)
	case to.IsComplex():
		return fmt.Sprintf("complex(%s(%s), 0)", goTypes[to.Real()], x)
	case from.IsComplex():
		x, from = "real("+x+")", from.Real()
	}
	if from.IsFloat() && to.IsInt() {
		return fmt.Sprintf("%s(loop.FloatToInt(loop.%s, float64(%s)))", goTypes[to], strings.ToUpper(to.String()), x)
	}
	return fmt.Sprintf("%s(%s)", goTypes[to], x)
}
