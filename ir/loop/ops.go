package loop

// UnaryOp is an operator of one operand.
type UnaryOp uint8

// The unary operators. Result type is the operand's unless stated.
const (
	InvalidUnary  UnaryOp = iota
	Neg                   // integers (wraps), floats (flips the sign), complex
	Not                   // Bool: logical; integers: bitwise complement
	Abs                   // integers (wraps at the minimum), floats
	Sqrt                  // F32, F64: IEEE correctly rounded
	Floor                 // F32, F64
	Ceil                  // F32, F64
	Trunc                 // F32, F64
	Rint                  // F32, F64: to nearest, ties to even
	Real                  // complex -> its real type
	Imag                  // complex -> its real type
	Bits                  // F32 -> U32, F64 -> U64: reinterpret the bits
	FromBits              // U32 -> F32, U64 -> F64: reinterpret the bits
	RoundF16              // F32 -> F32: round to the nearest f16 value (ties to even; overflow gives inf)
	RoundBF16             // F32 -> F32: round to the nearest bf16 value (ties to even)
	TrailingZeros         // U32, U64: zero bits below the lowest one bit, the width for 0
	OnesCount             // U32, U64: number of one bits
)

// BinaryOp is an operator of two operands of one type.
type BinaryOp uint8

// The binary operators. Result type is the operands' unless stated.
const (
	InvalidBinary BinaryOp = iota
	Add                    // integers wrap; floats, complex IEEE (no contraction)
	Sub
	Mul    // complex: (ac-bd) + (ad+bc)i
	Div    // F32, F64: IEEE; complex: Smith's method, see EvalBinary; integers: truncates, x/0 = 0, min/-1 = min
	Rem    // integers: sign of the dividend, x%0 = 0, min%-1 = 0
	Min    // integers, Bool, floats: the smaller one, NaN if one is; -0 is below 0
	Max    // integers, Bool, floats: the larger one, NaN if one is; -0 is below 0
	MinNum // F32, F64: the smaller one, the other one if one is NaN; of zeros either
	MaxNum // F32, F64: the larger one, the other one if one is NaN; of zeros either
	And    // Bool: logical (both sides evaluated); integers: bitwise
	Or
	Xor
	Shl // integers: y taken modulo the width
	Shr // integers: arithmetic if signed, logical if not; y taken modulo the width
	Eq  // any type -> Bool; NaN is unequal to everything
	Ne  // any type -> Bool
	Lt  // integers, Bool, floats -> Bool
	Le
	Gt
	Ge
	Complex // F32,F32 -> C64; F64,F64 -> C128
)

type opFacts struct {
	name string // as printed: infix symbol or function name
	prec int    // infix precedence, higher binds tighter; 0: function syntax
	cmp  bool   // result is Bool
}

var unaryOps = [...]opFacts{
	Neg: {name: "-"}, Not: {name: "!"}, Abs: {name: "abs"}, Sqrt: {name: "sqrt"},
	Floor: {name: "floor"}, Ceil: {name: "ceil"}, Trunc: {name: "trunc"}, Rint: {name: "rint"},
	Real: {name: "real"}, Imag: {name: "imag"}, Bits: {name: "bits"}, FromBits: {name: "frombits"},
	RoundF16: {name: "roundf16"}, RoundBF16: {name: "roundbf16"},
	TrailingZeros: {name: "ctz"}, OnesCount: {name: "popcount"},
}

var binaryOps = [...]opFacts{
	Add: {name: "+", prec: 4}, Sub: {name: "-", prec: 4},
	Mul: {name: "*", prec: 5}, Div: {name: "/", prec: 5}, Rem: {name: "%", prec: 5},
	Min: {name: "min"}, Max: {name: "max"}, MinNum: {name: "minnum"}, MaxNum: {name: "maxnum"},
	And: {name: "&", prec: 2}, Or: {name: "|", prec: 1}, Xor: {name: "xor"},
	Shl: {name: "shl"}, Shr: {name: "shr"},
	Eq: {name: "==", prec: 3, cmp: true}, Ne: {name: "!=", prec: 3, cmp: true},
	Lt: {name: "<", prec: 3, cmp: true}, Le: {name: "<=", prec: 3, cmp: true},
	Gt: {name: ">", prec: 3, cmp: true}, Ge: {name: ">=", prec: 3, cmp: true},
	Complex: {name: "complex"},
}

// String returns the operator as the loop language writes it.
func (op UnaryOp) String() string { return unaryOps[op].name }

// String returns the operator as the loop language writes it.
func (op BinaryOp) String() string { return binaryOps[op].name }

// IsComparison reports whether the operator's result is Bool.
func (op BinaryOp) IsComparison() bool { return binaryOps[op].cmp }
