package derive

import (
	"sync"

	"github.com/lacuna-sparse/lacuna/lang"
)

// rules has, for every function of real arguments, the adjoint of each argument as an
// expression of the language: g is the adjoint of the value, x and y are the
// arguments and f is the value. An empty rule says that the argument moves nothing:
// the derivative is zero wherever there is one. A function without rules is a question
// with the answers true and false, or counts in integers, and has no derivative.
//
// Where two branches meet (min, max of equal arguments) each gets half; at a kink
// (abs, relu at 0) the derivative is 0, as torch and JAX have it. Formulas that give
// 0*inf at a point where the limit is 0 are guarded.
var rules = map[string][]string{
	"+": {"g", "g"}, "-": {"g", "-g"}, "*": {"g*y", "g*x"}, "/": {"g/y", "-(g*f/y)"}, "neg": {"-g"},
	"^": powerRules, "pow": powerRules,
	"min": {"where(x < y, g, where(x == y, g*0.5, 0))", "where(y < x, g, where(x == y, g*0.5, 0))"},
	"max": {"where(x > y, g, where(x == y, g*0.5, 0))", "where(y > x, g, where(x == y, g*0.5, 0))"},
	"abs": {"g*sign(x)"}, "sign": {""}, "square": {"g*2*x"}, "cube": {"g*3*x*x"}, "relu": {"where(x > 0, g, 0)"},
	"sqrt": {"g*0.5/f"}, "cbrt": {"g/(3*f*f)"},
	"exp": {"g*f"}, "exp2": {"g*f*0.6931471805599453"}, "expm1": {"g*exp(x)"},
	"log": {"g/x"}, "log2": {"g/(x*0.6931471805599453)"}, "log10": {"g/(x*2.302585092994046)"}, "log1p": {"g/(1 + x)"},
	"sin": {"g*cos(x)"}, "cos": {"-(g*sin(x))"}, "tan": {"g*(1 + f*f)"},
	"asin": {"g/sqrt((1 - x)*(1 + x))"}, "acos": {"-(g/sqrt((1 - x)*(1 + x)))"}, "atan": {"g/(1 + x*x)"},
	"sinh": {"g*cosh(x)"}, "cosh": {"g*sinh(x)"}, "tanh": {"g*(1 - f*f)"},
	"asinh": {"g/hypot(x, 1)"}, "acosh": {"g/sqrt((x - 1)*(x + 1))"}, "atanh": {"g/((1 - x)*(1 + x))"},
	"sigmoid": {"g*f*(1 - f)"}, "erf": {"g*1.1283791670955126*exp(-(x*x))"},
	"atan2":     {"g*y/(x*x + y*y)", "-(g*x/(x*x + y*y))"},
	"hypot":     {"where(f == 0, 0, g*(x/f))", "where(f == 0, 0, g*(y/f))"},
	"logaddexp": {"where(x == -inf, 0, g*where(x == f, 1, exp(x - f)))", "where(y == -inf, 0, g*where(y == f, 1, exp(y - f)))"},
	"heaviside": {"", "where(x == 0, g, 0)"}, "copysign": {"where((copysign(1, x) < 0) == (copysign(1, y) < 0), g, -g)", ""},
	"mod": {"g", "-(g*floor(x/y))"}, "floordiv": {"", ""},
	"floor": {""}, "ceil": {""}, "round": {""}, "trunc": {""},
	"conj": {"g"}, "real": {"g"}, "imag": {""},
}

// powerRules are those of x^y. x^0 is 1 for every x, and 0^y is 0 for every positive y. At 0^0 both
// derivatives are 0, as in torch. Elsewhere the formula is written where y is 0 too, because the gradient of the gradient sees what y moves.
var powerRules = []string{"where(y == 0 and not isfinite(1/x), 0, g*y*x^(y - 1))", "where(f == 0 or x == 0 and y == 0, 0, g*f*log(x))"}

// complexRules has the adjoints of complex arguments: of L = Re and Im of what is
// minimised, dL/dRe + i dL/dIm. A holomorphic function hands on g times the conjugate of
// its derivative.
var complexRules = map[string][]string{
	"+": {"g", "g"}, "-": {"g", "-g"}, "*": {"g*conj(y)", "g*conj(x)"}, "/": {"g/conj(y)", "-(g*conj(f/y))"}, "neg": {"-g"},
	"square": {"g*2*conj(x)"}, "cube": {"g*3*conj(x*x)"},
	"exp": {"g*conj(f)"}, "log": {"g/conj(x)"}, "sqrt": {"g*0.5/conj(f)"},
	"^": complexPowerRules, "pow": complexPowerRules,
	"conj": {"conj(g)"},
	"abs":  {"where(f == 0, 0, complex(g/f, 0)*x)"}, "real": {"complex(g, 0)"}, "imag": {"complex(0, g)"},
}

// complexPowerRules are powerRules for complex numbers.
var complexPowerRules = []string{"where(y == 0 and not isfinite(1/abs(x)), 0, g*conj(y*x^(y - 1)))", "where(f == 0 or x == 0 and y == 0, 0, g*conj(f*log(x)))"}

// makeComplex has the adjoints of the real arguments of complex(re, im).
var makeComplex = []string{"real(g)", "imag(g)"}

// parsed is the syntax of a rule.
var parsed = sync.OnceValue(func() map[string]lang.Node {
	m := map[string]lang.Node{}
	note := func(list []string) {
		for _, text := range list {
			if text == "" || m[text] != nil {
				continue
			}
			file, err := lang.Parse("r = " + text)
			if err != nil {
				panic("BUG: the rule " + text + ": " + err.Error())
			}
			m[text] = file.Stmts[0].RHS
		}
	}
	for _, list := range rules {
		note(list)
	}
	for _, list := range complexRules {
		note(list)
	}
	note(makeComplex)
	for _, table := range []map[string]string{ranks, slopes} {
		for _, text := range table {
			note([]string{text})
		}
	}
	return m
})

// ruleOf is the rule for argument i of a call: its syntax, nil if the argument moves
// nothing, and whether there is one.
func ruleOf(e *lang.Call, i int) (lang.Node, bool) {
	table := rules
	switch {
	case e.Fn == "complex":
		return parsed()[makeComplex[i]], true
	case e.Args[i].DType().IsComplex():
		table = complexRules
	}
	list, ok := table[e.Fn]
	if !ok || i >= len(list) {
		return nil, false
	}
	return parsed()[list[i]], true
}
