package lang

// Function is a scalar operator or function of the language. Operators are
// functions too: the table is the one place that lists them.
type Function struct {
	Name  string // "+", "exp", …
	Arity int    // -1: two or more (min, max)
	Typing
}

// Typing is the rule that gives a function's argument and result types.
type Typing uint8

// The typing rules. "Numeric" excludes bool unless stated.
const (
	Arithmetic   Typing = iota // arguments promoted, result the same (bool + bool is or, bool * bool is and; bool - bool is an error, like NumPy)
	Division                   // arguments promoted; integers and bool become f64; result the same
	Comparison                 // arguments promoted, result bool; complex: == and != only
	Logical                    // arguments converted to bool by != 0, result bool
	Floating                   // integers and bool become f64; result the same; complex allowed
	RealFloating               // like Floating, complex refused
	Rounding                   // integers unchanged; floats same type; complex refused
	Magnitude                  // abs: result real part type for complex, same otherwise
	RealPart                   // real, imag: component type of complex; real argument: same
	Same                       // result and argument the same numeric type (neg, conj, sign, square, relu)
	Test                       // isnan, isinf, isfinite: result bool
	Bitwise                    // integers or bool, promoted, result the same
	MakeComplex                // complex(re, im): f32,f32 -> c64; else f64 -> c128
	Integral                   // floordiv, mod: promoted, result the same; complex refused
)

// Functions lists every scalar function and operator, by name.
var Functions = func() map[string]*Function {
	list := []Function{
		{"+", 2, Arithmetic}, {"-", 2, Arithmetic}, {"*", 2, Arithmetic},
		{"/", 2, Division}, {"^", 2, Arithmetic}, {"neg", 1, Same},
		{"==", 2, Comparison}, {"!=", 2, Comparison}, {"<", 2, Comparison},
		{"<=", 2, Comparison}, {">", 2, Comparison}, {">=", 2, Comparison},
		{"and", 2, Logical}, {"or", 2, Logical}, {"not", 1, Logical}, {"xor", 2, Logical},
		{"min", -1, Rounding}, {"max", -1, Rounding},
		{"abs", 1, Magnitude}, {"sign", 1, Rounding}, {"square", 1, Same}, {"cube", 1, Same}, {"relu", 1, Rounding},
		{"sqrt", 1, Floating}, {"cbrt", 1, RealFloating},
		{"exp", 1, Floating}, {"exp2", 1, RealFloating}, {"expm1", 1, RealFloating},
		{"log", 1, Floating}, {"log2", 1, RealFloating}, {"log10", 1, RealFloating}, {"log1p", 1, RealFloating},
		{"sin", 1, RealFloating}, {"cos", 1, RealFloating}, {"tan", 1, RealFloating},
		{"asin", 1, RealFloating}, {"acos", 1, RealFloating}, {"atan", 1, RealFloating},
		{"sinh", 1, RealFloating}, {"cosh", 1, RealFloating}, {"tanh", 1, RealFloating},
		{"asinh", 1, RealFloating}, {"acosh", 1, RealFloating}, {"atanh", 1, RealFloating},
		{"sigmoid", 1, RealFloating}, {"erf", 1, RealFloating},
		{"atan2", 2, RealFloating}, {"hypot", 2, RealFloating}, {"logaddexp", 2, RealFloating},
		{"heaviside", 2, RealFloating}, {"copysign", 2, RealFloating},
		{"pow", 2, Arithmetic}, {"mod", 2, Integral}, {"floordiv", 2, Integral},
		{"floor", 1, Rounding}, {"ceil", 1, Rounding}, {"round", 1, Rounding}, {"trunc", 1, Rounding},
		{"conj", 1, Same}, {"real", 1, RealPart}, {"imag", 1, RealPart}, {"complex", 2, MakeComplex},
		{"isnan", 1, Test}, {"isinf", 1, Test}, {"isfinite", 1, Test},
		{"bitand", 2, Bitwise}, {"bitor", 2, Bitwise}, {"bitxor", 2, Bitwise}, {"bitnot", 1, Bitwise},
	}
	m := make(map[string]*Function, len(list))
	for i := range list {
		m[list[i].Name] = &list[i]
	}
	return m
}()
