package oracle

import (
	"math"
	"math/big"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// truth is x != 0.
func truth(dt tensor.DType, v Value) bool {
	switch {
	case dt == tensor.Bool:
		return v.B
	case dt.IsFloat(), dt.IsComplex():
		return v.C != 0
	}
	return v.I != 0
}

// round brings a floating-point value to its type: f32 arithmetic rounds after
// every operation, and half types are computed in f32.
func round(dt tensor.DType, v Value) Value {
	switch dt {
	case tensor.Float32, tensor.Float16, tensor.BFloat16:
		return Value{C: complex(float64(float32(real(v.C))), 0)}
	case tensor.Complex64:
		return Value{C: complex128(complex64(v.C))}
	}
	return v
}

// store rounds a value to the type of the tensor it goes into.
func store(dt tensor.DType, v Value) Value {
	if dt == tensor.Float16 || dt == tensor.BFloat16 {
		return FromScalar(tensor.Float(dt, real(v.C)))
	}
	return v
}

// cast converts a value with its error.
func cast(from, to tensor.DType, v Value) Value {
	if from == to {
		return v
	}
	f := func(a []Value) Value { return convert(from, to, a[0]) }
	z := f([]Value{v})
	z.State, z.Omissible, z.Varies, z.Disputed = v.State, v.Omissible, v.Varies, v.Disputed
	z.Err = spread(f, from, to, []Value{v}, z)
	if to == tensor.Bool && within(v, Value{}) {
		z.Err = math.Inf(1)
	}
	if z.Err > 0 && inexact(to) {
		z.Err += unit(to) * magnitude(z)
	}
	return z
}

// wrap reduces an integer to its type.
func wrap(dt tensor.DType, i int64) Value {
	switch dt {
	case tensor.Int8:
		i = int64(int8(i))
	case tensor.Int16:
		i = int64(int16(i))
	case tensor.Int32:
		i = int64(int32(i))
	case tensor.Uint8:
		i = int64(uint8(i))
	case tensor.Uint16:
		i = int64(uint16(i))
	case tensor.Uint32:
		i = int64(uint32(i))
	}
	return Value{I: i}
}

// convert changes the type of a value: integers wrap, floats become integers by
// truncation with saturation (NaN is 0), anything becomes bool by v != 0.
func convert(from, to tensor.DType, v Value) Value {
	inexact := from.IsFloat() || from.IsComplex()
	switch {
	case to == tensor.Bool:
		return Value{B: truth(from, v)}
	case to.IsFloat() || to.IsComplex():
		c := v.C
		switch {
		case from == tensor.Bool:
			if v.B {
				c = 1
			}
		case from == tensor.Uint64:
			c = complex(float64(uint64(v.I)), 0)
			if to.Real() == tensor.Float32 || compute(to) == tensor.Float32 {
				c = complex(float64(float32(uint64(v.I))), 0)
			}
		case !inexact:
			c = complex(float64(v.I), 0)
			if to.Real() == tensor.Float32 || compute(to) == tensor.Float32 {
				c = complex(float64(float32(v.I)), 0)
			}
		}
		if !to.IsComplex() {
			c = complex(real(c), 0)
		}
		return store(to, round(to, Value{C: c}))
	case from == tensor.Bool:
		if v.B {
			return Value{I: 1}
		}
		return Value{}
	case inexact:
		return saturate(to, real(v.C))
	}
	return wrap(to, v.I)
}

func saturate(to tensor.DType, f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	bits := 8 * to.Size()
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if to.IsSigned() {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	x := new(big.Int)
	switch {
	case math.IsInf(f, 1):
		x.Set(hi)
	case math.IsInf(f, -1):
		x.Set(lo)
	default:
		new(big.Float).SetFloat64(f).Int(x)
	}
	if x.Cmp(lo) < 0 {
		x = lo
	}
	if x.Cmp(hi) > 0 {
		x = hi
	}
	if to == tensor.Uint64 {
		return Value{I: int64(x.Uint64())}
	}
	return Value{I: x.Int64()}
}

// call applies a function of the language to arguments of type in.
func call(fn string, in, out tensor.DType, a []Value) Value {
	switch {
	case in == tensor.Bool:
		return callBool(fn, a)
	case in.IsComplex():
		return callComplex(fn, in, out, a)
	case in.IsFloat():
		return callFloat(fn, in, out, a)
	}
	return callInt(fn, in, a)
}

func callBool(fn string, a []Value) Value {
	x := a[0].B
	y := false
	if len(a) > 1 {
		y = a[1].B
	}
	switch fn {
	case "+", "or", "bitor", "max":
		return Value{B: x || y}
	case "*", "and", "bitand", "min":
		return Value{B: x && y}
	case "xor", "bitxor", "!=":
		return Value{B: x != y}
	case "not", "bitnot":
		return Value{B: !x}
	case "==":
		return Value{B: x == y}
	case "<":
		return Value{B: !x && y}
	case "<=":
		return Value{B: !x || y}
	case ">":
		return Value{B: x && !y}
	case ">=":
		return Value{B: x || !y}
	case "abs", "floor", "ceil", "round", "trunc", "sign", "relu", "square", "cube", "real", "conj":
		return Value{B: x}
	case "isfinite":
		return Value{B: true}
	case "isnan", "isinf":
		return Value{}
	}
	panic("oracle: " + fn + " on bool")
}

func callInt(fn string, dt tensor.DType, a []Value) Value {
	x := a[0].I
	var y int64
	if len(a) > 1 {
		y = a[1].I
	}
	less := x < y
	if dt == tensor.Uint64 {
		less = uint64(x) < uint64(y)
	}
	switch fn {
	case "+":
		return wrap(dt, x+y)
	case "-":
		return wrap(dt, x-y)
	case "*":
		return wrap(dt, x*y)
	case "neg":
		return wrap(dt, -x)
	case "abs":
		if dt.IsSigned() && x < 0 {
			x = -x
		}
		return wrap(dt, x)
	case "square":
		return wrap(dt, x*x)
	case "cube":
		return wrap(dt, x*x*x)
	case "relu":
		if dt.IsSigned() && x < 0 {
			return Value{}
		}
		return a[0]
	case "sign":
		switch {
		case x == 0:
			return Value{}
		case dt.IsSigned() && x < 0:
			return Value{I: -1}
		}
		return Value{I: 1}
	case "min":
		if less || x == y {
			return a[0]
		}
		return a[1]
	case "max":
		if less {
			return a[1]
		}
		return a[0]
	case "==":
		return Value{B: x == y}
	case "!=":
		return Value{B: x != y}
	case "<":
		return Value{B: less}
	case "<=":
		return Value{B: less || x == y}
	case ">":
		return Value{B: !less && x != y}
	case ">=":
		return Value{B: !less}
	case "bitand":
		return Value{I: x & y}
	case "bitor":
		return Value{I: x | y}
	case "bitxor":
		return Value{I: x ^ y}
	case "bitnot":
		return wrap(dt, ^x)
	case "floor", "ceil", "round", "trunc", "real", "conj":
		return a[0]
	case "imag", "isnan", "isinf":
		return Value{}
	case "isfinite":
		return Value{B: true}
	case "^", "pow":
		return wrap(dt, intPow(dt, x, y))
	case "floordiv", "mod":
		q, m := floorDivide(dt, x, y)
		if fn == "mod" {
			return wrap(dt, m)
		}
		return wrap(dt, q)
	}
	panic("oracle: " + fn + " on integers")
}

func intPow(dt tensor.DType, x, y int64) int64 {
	if dt.IsSigned() && y < 0 {
		switch x {
		case 1:
			return 1
		case -1:
			if y%2 == 0 {
				return 1
			}
			return -1
		}
		return 0
	}
	r := int64(1)
	for n := uint64(y); n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= x
		}
		x *= x
	}
	return r
}

func floorDivide(dt tensor.DType, x, y int64) (q, m int64) {
	if y == 0 {
		return 0, 0
	}
	if dt == tensor.Uint64 {
		return int64(uint64(x) / uint64(y)), int64(uint64(x) % uint64(y))
	}
	if y == -1 {
		return -x, 0
	}
	q, m = x/y, x%y
	if m != 0 && (m < 0) != (y < 0) {
		q, m = q-1, m+y
	}
	return q, m
}

// floorMod is the remainder with the sign of y.
func floorMod(x, y float64) float64 {
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// floorDivideFloat is NumPy's: the quotient without the remainder, to the nearest
// whole number, so that an infinite x gives NaN.
func floorDivideFloat(x, y float64) float64 {
	if y == 0 {
		return x / y
	}
	m := math.Mod(x, y)
	q := (x - m) / y
	if m != 0 && (m < 0) != (y < 0) {
		q--
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f
}

// unary functions of a float, by Go's math library.
var unary = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "exp2": math.Exp2, "expm1": math.Expm1,
	"log": math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"erf": math.Erf, "abs": math.Abs, "floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc, "round": math.RoundToEven,
	"neg": func(x float64) float64 { return -x }, "real": func(x float64) float64 { return x },
	"conj": func(x float64) float64 { return x }, "imag": func(float64) float64 { return 0 },
	"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"sign": func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	},
}

var tests = map[string]func(float64) bool{
	"isnan": math.IsNaN, "isinf": func(x float64) bool { return math.IsInf(x, 0) },
	"isfinite": func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) },
}

func callFloat(fn string, dt, out tensor.DType, a []Value) Value {
	x := real(a[0].C)
	if f, ok := unary[fn]; ok {
		return round(out, Value{C: complex(f(x), 0)})
	}
	if f, ok := tests[fn]; ok {
		return Value{B: f(x)}
	}
	num := func(f float64) Value { return round(dt, Value{C: complex(f, 0)}) }
	switch fn {
	case "square":
		return num(x * x)
	case "cube":
		return num(real(num(x*x).C) * x)
	case "relu":
		if x >= 0 || math.IsNaN(x) {
			return number(a[0].C)
		}
		return num(0)
	}
	y := real(a[1].C)
	switch fn {
	case "+":
		return num(x + y)
	case "-":
		return num(x - y)
	case "*":
		return num(x * y)
	case "/":
		return num(x / y)
	case "^", "pow":
		return num(math.Pow(x, y))
	case "min":
		return num(min(x, y))
	case "max":
		return num(max(x, y))
	case "==":
		return Value{B: x == y}
	case "!=":
		return Value{B: x != y}
	case "<":
		return Value{B: x < y}
	case "<=":
		return Value{B: x <= y}
	case ">":
		return Value{B: x > y}
	case ">=":
		return Value{B: x >= y}
	case "atan2":
		return num(math.Atan2(x, y))
	case "hypot":
		return num(math.Hypot(x, y))
	case "logaddexp":
		return num(logAddExp(x, y))
	case "heaviside":
		switch {
		case math.IsNaN(x):
			return a[0]
		case x == 0:
			return a[1]
		case x > 0:
			return num(1)
		}
		return num(0)
	case "copysign":
		return num(math.Copysign(x, y))
	case "floordiv":
		return num(floorDivideFloat(x, y))
	case "mod":
		return num(floorMod(x, y))
	case "complex":
		return round(out, Value{C: complex(x, y)})
	}
	panic("oracle: " + fn + " on floats")
}
