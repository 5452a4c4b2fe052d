package difftest

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// expr writes an expression in the given indices.
func (g *generator) expr(scope []string, depth int) term {
	g.budget--
	if depth == 0 || g.budget <= 0 {
		return g.leaf(scope)
	}
	sub := func() term { return g.expr(scope, depth-1) }
	kind := g.intn(20)
	if g.infinite { // no products
		kind = pick(g, 0, 1, 2, 3, 7, 8, 9, 11, 14, 18)
	}
	switch kind {
	case 1, 2, 3:
		return g.join(pick(g, "+", "+", "-"), sub(), sub())
	case 4, 5, 6:
		return g.join("*", sub(), sub())
	case 7, 8, 9:
		return g.reduction(scope, depth-1)
	case 10:
		return g.extreme(scope, sub(), sub())
	case 11:
		c, x, y := g.condition(scope, depth-1), sub(), g.leaf(scope)
		return term{fmt.Sprintf("where(%s, %s, %s)", c.text, x.text, y.text), tensor.Promote(x.dtype, y.dtype)}
	case 12:
		return g.unary(sub())
	case 13:
		return g.condition(scope, depth-1)
	case 14:
		return g.cast(sub())
	case 15:
		return g.binary(sub(), g.leaf(scope))
	case 16:
		return g.withLiteral(sub())
	case 17:
		return g.implicit(scope, depth-1)
	case 18, 19:
		return g.scan(scope, depth-1)
	}
	return g.leaf(scope)
}

// join writes x op y for + - *; bools have no difference.
func (g *generator) join(op string, x, y term) term {
	dt := tensor.Promote(x.dtype, y.dtype)
	if op == "-" && dt == tensor.Bool {
		op = "+"
	}
	return term{fmt.Sprintf("(%s %s %s)", x.text, op, y.text), dt}
}

// extreme writes min or max of two or three.
func (g *generator) extreme(scope []string, x, y term) term {
	args := []term{x, y}
	if g.chance(15) {
		args = append(args, g.leaf(scope))
	}
	sum, text := args[0], args[0].text
	for _, a := range args[1:] {
		sum, text = g.join("+", sum, a), text+", "+a.text
	}
	if sum.dtype.IsComplex() {
		return sum
	}
	return term{fmt.Sprintf("%s(%s)", pick(g, "min", "max"), text), sum.dtype}
}

// condition writes a truth value.
func (g *generator) condition(scope []string, depth int) term {
	if g.chance(10) {
		a := g.access(scope, "")
		if name, _, _ := strings.Cut(a.text, "("); g.Operands[name] != nil {
			return term{"stored(" + a.text + ")", tensor.Bool}
		}
	}
	x := g.expr(scope, depth)
	if g.chance(15) {
		return term{fmt.Sprintf("(not %s)", x.text), tensor.Bool}
	}
	y := term{pick(g, "0", "1", "2"), tensor.Bool}
	if x.dtype == tensor.Bool || !g.chance(30) {
		y = g.leaf(scope)
	}
	op := pick(g, "!=", "==", "<", "<=", ">", ">=", "and", "or", "xor")
	switch {
	case op == "xor":
		return term{fmt.Sprintf("xor(%s, %s)", x.text, y.text), tensor.Bool}
	case tensor.Promote(x.dtype, y.dtype).IsComplex() && op != "and" && op != "or":
		op = pick(g, "!=", "==")
	}
	return term{fmt.Sprintf("(%s %s %s)", x.text, op, y.text), tensor.Bool}
}

// The functions of one argument, by what they take.
var (
	numberFunctions = []string{"square", "abs", "neg", "cube"} // integers, floats
	realFunctions   = []string{"sign", "relu", "floor", "ceil", "trunc", "round"}
	testFunctions   = []string{"isnan", "isinf", "isfinite"}
	smoothFunctions = []string{
		"tanh", "sin", "cos", "sigmoid", "atan", "erf", "exp", "log1p", "log", "cbrt", "asinh", "expm1", "exp2", "log2", "log10",
		"tan", "asin", "acos", "sinh", "cosh", "acosh", "atanh",
	}
)

// unary applies a function of one argument.
func (g *generator) unary(x term) term {
	apply := func(fn string, dt tensor.DType) term {
		if fn == "neg" {
			return term{fmt.Sprintf("(-(%s))", x.text), dt}
		}
		return term{fmt.Sprintf("%s(%s)", fn, x.text), dt}
	}
	if x.dtype == tensor.Bool {
		switch g.intn(3) {
		case 1:
			return apply("bitnot", tensor.Bool)
		case 2:
			return apply("sqrt", tensor.Float64)
		}
		return term{fmt.Sprintf("(not (%s))", x.text), tensor.Bool}
	}
	switch kind := g.intn(8); {
	case kind < 3:
		fn := pick(g, numberFunctions...)
		if fn == "abs" {
			return apply(fn, x.dtype.Real())
		}
		return apply(fn, x.dtype)
	case kind == 3:
		return apply(pick(g, testFunctions...), tensor.Bool)
	case x.dtype.IsComplex() && kind < 6:
		return apply(pick(g, "real", "imag"), x.dtype.Real())
	case x.dtype.IsComplex():
		return apply("conj", x.dtype)
	case kind == 4 && x.dtype.IsInteger():
		return apply("bitnot", x.dtype)
	case kind < 6 || g.exact && !g.chance(15):
		return apply(pick(g, realFunctions...), x.dtype)
	case kind == 6:
		return apply("sqrt", floating(x.dtype))
	}
	return apply(pick(g, smoothFunctions...), floating(x.dtype))
}

// binary applies a less usual operator of two arguments.
func (g *generator) binary(x, y term) term {
	dt := tensor.Promote(x.dtype, y.dtype)
	call := func(fn string, dt tensor.DType) term {
		return term{fmt.Sprintf("%s(%s, %s)", fn, x.text, y.text), dt}
	}
	switch kind := g.intn(7); {
	case dt == tensor.Bool:
		return call(pick(g, "bitand", "bitor", "bitxor"), dt)
	case kind == 1:
		return term{fmt.Sprintf("(%s / %s)", x.text, y.text), floating(dt)}
	case dt.IsComplex():
		return g.join("*", x, y)
	case kind == 2:
		return call(pick(g, "floordiv", "mod"), dt)
	case kind == 3 && dt.IsInteger():
		return call(pick(g, "bitand", "bitor", "bitxor"), dt)
	case kind == 3:
		return call(pick(g, "heaviside", "hypot", "logaddexp", "copysign", "atan2"), floating(dt))
	case kind == 4:
		return term{fmt.Sprintf("((%s) ^ (%s))", x.text, y.text), dt}
	case kind == 5 && g.chance(30):
		out := tensor.Complex128
		if dt == tensor.Float32 || dt == tensor.Float16 || dt == tensor.BFloat16 {
			out = tensor.Complex64
		}
		return call("complex", out)
	}
	return call(pick(g, "mod", "floordiv"), dt)
}

// withLiteral combines x with a literal, which adapts to its type.
func (g *generator) withLiteral(x term) term {
	switch g.intn(6) {
	case 1:
		return term{fmt.Sprintf("(%s %s %s)", x.text, pick(g, "+", "-"), pick(g, "1", "2", "3")), withInt(x.dtype)}
	case 2:
		return term{fmt.Sprintf("(0.5*(%s))", x.text), floating(x.dtype)}
	case 3:
		return term{fmt.Sprintf("((%s)^%s)", x.text, pick(g, "2", "3", "0", "1")), withInt(x.dtype)}
	case 4:
		return term{fmt.Sprintf("((%s)/%s)", x.text, pick(g, "2", "4")), floating(withInt(x.dtype))}
	case 5:
		if !x.dtype.IsComplex() {
			return term{fmt.Sprintf("%s(%s, %s)", pick(g, "mod", "floordiv", "min", "max"), x.text, pick(g, "2", "3", "0")), withInt(x.dtype)}
		}
	}
	return term{fmt.Sprintf("(%s*(%s))", pick(g, "2", "0", "3"), x.text), withInt(x.dtype)}
}

// cast converts to another type.
func (g *generator) cast(x term) term {
	dt := g.anyType()
	if dt.IsComplex() && !g.dtype.IsComplex() {
		dt = tensor.Float64
	}
	return term{fmt.Sprintf("%s(%s)", dt, x.text), dt}
}

// leaf writes an access, an index as a number, a scalar or a constant.
func (g *generator) leaf(scope []string) term {
	switch kind := g.intn(20); {
	case kind == 19:
		dt := g.operandType()
		return term{fmt.Sprintf("%s(%d)", dt, g.intn(4)), dt}
	case kind == 18 || len(scope) == 0 && kind > 4:
		return g.scalar()
	case kind == 17 && len(scope) > 0:
		return term{pick(g, scope...), tensor.Int64}
	case len(scope) == 0:
		return g.access(nil, "")
	}
	return g.access(scope, pick(g, scope...))
}

// scalar is an operand of rank 0. Their names begin with s: they are written
// without parentheses and are not used again with indices.
func (g *generator) scalar() term {
	for _, name := range []string{"T0", "T1", "R"} {
		if m := g.made[name]; m != nil && m.shape != nil && len(m.shape) == 0 && g.chance(60) {
			return term{name, m.dtype}
		}
	}
	name := "s" + g.operandName()
	dt := g.operandType()
	g.Operands[name] = tensor.ScalarTensor(g.value(dt))
	return term{name, dt}
}

// floating is the type in which functions like exp are computed.
func floating(dt tensor.DType) tensor.DType {
	if dt == tensor.Bool || dt.IsInteger() {
		return tensor.Float64
	}
	return dt
}

// withInt is the type in which a value meets an integer literal.
func withInt(dt tensor.DType) tensor.DType {
	if dt == tensor.Bool {
		return tensor.Int64
	}
	return dt
}

// sumType is the type of a sum or product over values.
func sumType(dt tensor.DType) tensor.DType {
	if dt == tensor.Bool || dt.IsInteger() && dt != tensor.Uint64 {
		return tensor.Int64
	}
	return dt
}

func joinNames(list []string) string { return strings.Join(list, ",") }
