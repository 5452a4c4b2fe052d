package oracle

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file bounds how errors in arguments and different roundings show in the
// result of a function: a running error analysis that evaluates the function at
// the ends of its arguments' error intervals.

// Functions that are one correctly rounded operation, so that equal arguments
// give equal results everywhere.
var rounded = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "neg": true, "abs": true, "square": true, "relu": true, "sign": true,
	"min": true, "max": true, "floor": true, "ceil": true, "trunc": true, "round": true, "sqrt": true,
	"real": true, "imag": true, "conj": true, "complex": true, "copysign": true, "heaviside": true, "mod": true, "floordiv": true,
	"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true,
	"isnan": true, "isinf": true, "isfinite": true, "not": true, "and": true, "or": true, "xor": true,
}

// partwise are the functions of complex numbers that compute both parts by themselves.
var partwise = map[string]bool{"+": true, "-": true, "neg": true, "conj": true}

// libraryUnits is how many units two math libraries may differ by.
const libraryUnits = 32

// operation is a function with what gaps do to it, which the result is where one annihilates.
func (e *evaluator) operation(fn string, in, out tensor.DType, args ...Value) Value {
	z := apply(fn, in, out, args...)
	z.Omissible = omissible(args)
	for _, a := range args {
		z.State, z.Varies = max(z.State, a.State), z.Varies || a.Varies
		z.Disputed = z.Disputed || a.Disputed
	}
	var decided []Value
	varies := false
	for i, a := range args {
		if (a.State != Gap && a.State != Unknown) || !annihilates(fn, in, i, a) || inexact(in) && e.arithmetic == StrictIEEE {
			continue
		}
		v := convert(in, out, a)
		if a.State == Unknown {
			z.Disputed = z.Disputed || distance(out, v, z) != 0
			z.State = Unknown
			continue
		}
		decided, varies = append(decided, v), varies || a.Varies
	}
	if len(decided) == 1 || len(decided) == 2 && distance(out, decided[0], decided[1]) == 0 {
		z = Value{B: decided[0].B, I: decided[0].I, C: decided[0].C, State: Gap, Varies: varies}
	}
	for i, a := range args {
		// Rounding decides whether the value of a gap annihilates.
		if a.Err > 0 && a.State == Gap && inexact(in) && !finite(z.C) && annihilates(fn, in, i, Value{}) && within(a, Value{}) {
			z.Err = math.Inf(1)
		}
	}
	if z.State != Stored && z.C == 0 {
		z.C = 0 // what is not stored has no sign
	}
	return z
}

// omissible reports whether a sparse result may leave out what is made of values.
func omissible(values []Value) bool {
	found := false
	for _, v := range values {
		if v.State == Stored && !v.Omissible {
			return false
		}
		found = found || v.Omissible
	}
	return found
}

// annihilates reports whether argument i decides the result alone.
func annihilates(fn string, dt tensor.DType, i int, v Value) bool {
	zero := !truth(dt, v)
	switch fn {
	case "*", "and":
		return zero
	case "bitand":
		return v.I == 0 && !v.B
	case "or":
		return dt == tensor.Bool && v.B
	case "/", "mod", "floordiv":
		return zero && i == 0
	case "+":
		return dt.IsFloat() && math.IsInf(real(v.C), 0)
	case "min":
		return !inexact(dt) && distance(dt, v, identity(lang.Max, dt)) == 0
	case "max":
		return !inexact(dt) && distance(dt, v, identity(lang.Min, dt)) == 0
	}
	return false
}

// apply calls a function and bounds the error of the result.
func apply(fn string, in, out tensor.DType, args ...Value) Value {
	f := func(a []Value) Value { return call(fn, in, out, a) }
	z := f(args)
	z.Err = spread(f, in, out, args, z)
	if !inexact(in) {
		return z
	}
	switch {
	case math.IsInf(z.Err, 1):
	case comparison(fn) && within(args[0], args[1]), unsignedDecides(fn, in, args), (fn == "mod" || fn == "floordiv") && uncertain(args):
		z.Err = math.Inf(1)
	case !inexact(out):
	case !exactly(fn, in, args, z):
		z.Err += libraryUnits * unit(out) * math.Max(1, magnitude(z))
	case z.Err > 0:
		z.Err += unit(out) * magnitude(z)
	}
	if in.IsComplex() && out.IsComplex() && !finite(z.C) && !partwise[fn] {
		z.Err = math.Inf(1) // which part of a complex number overflows is nobody's rule
	}
	return z
}

// uncertain reports whether some argument is not known exactly. Functions with jumps may
// then be on either side of one.
func uncertain(args []Value) bool {
	return slices.ContainsFunc(args, func(v Value) bool { return v.Err > 0 })
}

// spread is how far the result moves when each argument moves by its error.
func spread(f func([]Value) Value, in, out tensor.DType, args []Value, z Value) float64 {
	total := 0.0
	for i, a := range args {
		if a.Err == 0 {
			continue
		}
		if math.IsInf(a.Err, 1) || !inexact(in) {
			return math.Inf(1)
		}
		steps := []complex128{complex(a.Err, 0), complex(-a.Err, 0)}
		if in.IsComplex() {
			steps = append(steps, complex(0, a.Err), complex(0, -a.Err))
		}
		worst := 0.0
		for _, step := range steps {
			moved := append([]Value(nil), args...)
			moved[i].C += step
			worst = math.Max(worst, distance(out, z, f(moved)))
		}
		total += worst
	}
	return total
}

func magnitude(v Value) float64 {
	m := math.Hypot(real(v.C), imag(v.C))
	if math.IsNaN(m) || math.IsInf(m, 0) {
		return 0 // NaN and infinities are not rounded
	}
	return m
}

// exactly reports whether every library gives the same result, bar the errors
// of the arguments.
func exactly(fn string, in tensor.DType, args []Value, z Value) bool {
	if in.IsComplex() {
		// Products of whole numbers are exact; quotients, moduli and powers are not.
		switch fn {
		case "*", "square", "cube":
			return whole(z.C) && exactIn(in, magnitude(z))
		case "/", "abs", "sqrt", "exp", "log", "^", "pow":
			return z.C == 0
		}
		return true
	}
	if rounded[fn] {
		return true
	}
	if fn == "cube" || fn == "^" || fn == "pow" {
		return whole(z.C) && exactIn(in, magnitude(z)) && whole(args[0].C) || isNaN(z.C)
	}
	// Library functions give exact results where those are whole numbers and the
	// argument is a special one.
	for _, a := range args {
		if x := real(a.C); x != 0 && x != 1 && finite(a.C) {
			return false
		}
	}
	return !finite(z.C) || whole(z.C)
}

func comparison(fn string) bool {
	switch fn {
	case "==", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// within reports whether the values may be equal, or in the other order.
func within(x, y Value) bool {
	e := slack * (x.Err + y.Err)
	return e > 0 && (magnitude(Value{C: x.C - y.C}) <= e && finite(x.C) && finite(y.C))
}

// unsignedDecides reports whether the sign of a zero decides: an implicit zero
// has none, so the result depends on what is stored.
func unsignedDecides(fn string, in tensor.DType, args []Value) bool {
	zero := func(i int) bool { return args[i].C == 0 }
	switch fn {
	case "/":
		return zero(1) && (!zero(0) || in.IsComplex())
	case "floordiv":
		return zero(1) && !zero(0)
	case "^", "pow":
		return zero(0) && (real(args[1].C) < 0 || in.IsComplex())
	case "atan2":
		return zero(0) || zero(1)
	case "copysign":
		return zero(1)
	case "log", "sqrt":
		return in.IsComplex() && imag(args[0].C) == 0
	}
	return false
}
