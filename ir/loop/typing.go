package loop

// UnaryType is the result type of op applied to an operand of type x, or
// Invalid when op does not take such an operand.
func UnaryType(op UnaryOp, x Type) Type {
	switch op {
	case Neg:
		if x.IsInt() || isReal(x) || x.IsComplex() {
			return x
		}
	case Not:
		if x == Bool || x.IsInt() {
			return x
		}
	case Abs:
		if x.IsInt() || isReal(x) {
			return x
		}
	case Sqrt, Floor, Ceil, Trunc, Rint:
		if isReal(x) {
			return x
		}
	case Real, Imag:
		if x.IsComplex() {
			return x.Real()
		}
	case Bits:
		switch x {
		case F32:
			return U32
		case F64:
			return U64
		}
	case FromBits:
		switch x {
		case U32:
			return F32
		case U64:
			return F64
		}
	case TrailingZeros, OnesCount:
		if x == U32 || x == U64 {
			return x
		}
	case RoundF16, RoundBF16:
		if x == F32 {
			return F32
		}
	}
	return Invalid
}

// BinaryType is the result type of op applied to two operands of type x, or
// Invalid when op does not take such operands.
func BinaryType(op BinaryOp, x Type) Type {
	switch op {
	case Add, Sub, Mul, Div:
		if x.IsInt() || isReal(x) || x.IsComplex() {
			return x
		}
	case Rem, Shl, Shr:
		if x.IsInt() {
			return x
		}
	case Min, Max:
		if isOrdered(x) {
			return x
		}
	case MinNum, MaxNum:
		if isReal(x) {
			return x
		}
	case And, Or, Xor:
		if x == Bool || x.IsInt() {
			return x
		}
	case Eq, Ne:
		if x.IsCompute() {
			return Bool
		}
	case Lt, Le, Gt, Ge:
		if isOrdered(x) {
			return Bool
		}
	case Complex:
		switch x {
		case F32:
			return C64
		case F64:
			return C128
		}
	}
	return Invalid
}

// FMAType is the result type of an FMA of operands of type x, or Invalid when there is none.
func FMAType(x Type) Type {
	if isReal(x) {
		return x
	}
	return Invalid
}

// IsCompute reports whether variables and expressions may have type t: every
// type but Invalid and the two half-precision storage types.
func (t Type) IsCompute() bool { return t != Invalid && int(t) < len(types) && t.Compute() == t }

// isReal reports whether t is a floating-point type to compute in.
func isReal(t Type) bool { return t == F32 || t == F64 }

// isOrdered reports whether < is defined on t.
func isOrdered(t Type) bool { return t == Bool || t.IsInt() || isReal(t) }
