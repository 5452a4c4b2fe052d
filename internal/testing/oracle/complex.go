package oracle

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/lacuna-sparse/lacuna/tensor"
)

func callComplex(fn string, dt, out tensor.DType, a []Value) Value {
	x := a[0].C
	num := func(c complex128) Value { return round(dt, Value{C: c}) }
	switch fn {
	case "neg":
		return num(-x)
	case "conj":
		return num(cmplx.Conj(x))
	case "square":
		return num(x * x)
	case "cube":
		return num(x * x * x)
	case "real":
		return Value{C: complex(real(x), 0)}
	case "imag":
		return Value{C: complex(imag(x), 0)}
	case "abs":
		return round(out, Value{C: complex(cmplx.Abs(x), 0)})
	case "sqrt":
		return num(cmplx.Sqrt(x))
	case "exp":
		return num(cmplx.Exp(x))
	case "log":
		return num(cmplx.Log(x))
	case "isnan":
		return Value{B: math.IsNaN(real(x)) || math.IsNaN(imag(x))}
	case "isinf":
		return Value{B: math.IsInf(real(x), 0) || math.IsInf(imag(x), 0)}
	case "isfinite":
		return Value{B: tests["isfinite"](real(x)) && tests["isfinite"](imag(x))}
	}
	y := a[1].C
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
		return num(cmplx.Pow(x, y))
	case "==":
		return Value{B: x == y}
	case "!=":
		return Value{B: x != y}
	}
	panic(fmt.Sprintf("oracle: %s on complex numbers", fn))
}
