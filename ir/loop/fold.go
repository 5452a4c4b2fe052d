package loop

import (
	"fmt"
	"math"
)

// NewUnary is op applied to x. Of a constant the result is computed, unless it
// is a NaN, whose bits are the engine's choice; !!x is x, and the complement of a
// comparison is the opposite comparison where that holds for every value (not
// for the order of floats, because of NaN). It panics when op is not defined on x.
func NewUnary(op UnaryOp, x Expr) Expr {
	t := UnaryType(op, x.Type())
	if t == Invalid {
		panic(fmt.Sprintf("BUG: %s of %s", op, x.Type()))
	}
	if c, ok := x.(*Const); ok {
		if folded, ok := EvalUnary(op, *c); ok && !folded.isNaN() {
			return &folded
		}
	}
	if op == Not && t == Bool {
		switch x := x.(type) {
		case *Unary:
			if x.Op == Not {
				return x.X
			}
		case *Binary:
			if opposite := opposites[x.Op]; opposite != InvalidBinary && (x.Op == Eq || x.Op == Ne || !isReal(x.X.Type())) {
				return &Binary{Op: opposite, Typ: Bool, X: x.X, Y: x.Y}
			}
		}
	}
	return &Unary{Op: op, Typ: t, X: x}
}

// opposites maps each comparison to the one that holds when it does not.
var opposites = [...]BinaryOp{Eq: Ne, Ne: Eq, Lt: Ge, Ge: Lt, Gt: Le, Le: Gt, Complex: InvalidBinary}

// NewBinary is op applied to x and y. It computes operations on constants,
// unless the result is a NaN, and drops neutral operands of integer and Bool
// operations: x+0, x*1, x&true and the like; a chain of added constants becomes
// one. Operations on floats are else left alone, because every identity of
// theirs fails for some value (-0.0 + 0.0 is 0.0). It panics when op is not
// defined on x and y.
func NewBinary(op BinaryOp, x, y Expr) Expr {
	t := BinaryType(op, x.Type())
	if t == Invalid || x.Type() != y.Type() {
		panic(fmt.Sprintf("BUG: %s of %s and %s", op, x.Type(), y.Type()))
	}
	cx, constX := x.(*Const)
	cy, constY := y.(*Const)
	if constX && constY {
		if folded, ok := EvalBinary(op, *cx, *cy); ok && !folded.isNaN() {
			return &folded
		}
	}
	// A constant goes to the right of an operation that may be turned around.
	if constX && !constY && commutes(op) && (x.Type() == Bool || x.Type().IsInt()) {
		x, y, cy, constY = y, x, cx, true
	}
	if constY {
		if e, ok := simplifyRight(op, x, cy); ok {
			return e
		}
	}
	return &Binary{Op: op, Typ: t, X: x, Y: y}
}

func commutes(op BinaryOp) bool {
	switch op {
	case Add, Mul, Min, Max, And, Or, Xor:
		return true
	}
	return false
}

// isNaN reports whether c, or a part of it, is not a number.
func (c *Const) isNaN() bool {
	switch c.Typ.Real() {
	case F32:
		return isNaN32(c.Bits) || isNaN32(c.Imag)
	case F64:
		return isNaN64(c.Bits) || isNaN64(c.Imag)
	}
	return false
}

func isNaN32(bits uint64) bool { return math.IsNaN(float64(math.Float32frombits(uint32(bits)))) }
func isNaN64(bits uint64) bool { return math.IsNaN(math.Float64frombits(bits)) }

// simplifyRight simplifies op on an integer or Bool x and a constant y.
func simplifyRight(op BinaryOp, x Expr, y *Const) (Expr, bool) {
	t := y.Typ
	if t != Bool && !t.IsInt() {
		return nil, false
	}
	zero, ones := y.Bits == 0, y.Bits == allOnes(t)
	switch op {
	case Add, Sub:
		if zero {
			return x, true
		}
		if e, ok := foldChain(op, x, y); ok {
			return e, true
		}
		if negated := wrapBits(t, -y.Bits); op == Add && t.IsSigned() && int64(y.Bits) < 0 && negated != y.Bits {
			return &Binary{Op: Sub, Typ: t, X: x, Y: &Const{Typ: t, Bits: negated}}, true
		}
	case Or, Xor, Shl, Shr:
		if zero {
			return x, true
		}
		if op == Or && ones {
			return y, true
		}
	case Mul:
		if zero {
			return y, true
		}
		if y.Bits == 1 {
			return x, true
		}
	case Div:
		if y.Bits == 1 {
			return x, true
		}
	case Rem:
		if y.Bits == 1 {
			return &Const{Typ: t}, true
		}
	case And:
		if zero {
			return y, true
		}
		if ones {
			return x, true
		}
	case Eq, Ne:
		if t != Bool {
			return nil, false
		}
		if (op == Eq) == ones {
			return x, true
		}
		return NewUnary(Not, x), true
	}
	return nil, false
}

// allOnes is the value of t with every bit set; true for Bool.
func allOnes(t Type) uint64 {
	if t == Bool {
		return 1
	}
	return wrapBits(t, ^uint64(0))
}

// foldChain turns (a ± c) ± y, with constants c and y, into a + d or a - d. The
// sum wraps like the additions it stands for.
func foldChain(op BinaryOp, x Expr, y *Const) (Expr, bool) {
	inner, ok := x.(*Binary)
	if !ok || inner.Op != Add && inner.Op != Sub {
		return nil, false
	}
	c, ok := inner.Y.(*Const)
	if !ok {
		return nil, false
	}
	sum := signedBits(inner.Op, c) + signedBits(op, y)
	return NewBinary(Add, inner.X, &Const{Typ: y.Typ, Bits: wrapBits(y.Typ, sum)}), true
}

// signedBits is what op, Add or Sub, adds when c is its right operand.
func signedBits(op BinaryOp, c *Const) uint64 {
	if op == Sub {
		return -c.Bits
	}
	return c.Bits
}

// NewSelect is x where cond holds and y otherwise. A constant condition selects
// at once. It panics when the types do not fit.
func NewSelect(cond, x, y Expr) Expr {
	if cond.Type() != Bool || x.Type() != y.Type() {
		panic(fmt.Sprintf("BUG: select of %s, %s and %s", cond.Type(), x.Type(), y.Type()))
	}
	if c, ok := cond.(*Const); ok {
		if c.Bits != 0 {
			return x
		}
		return y
	}
	return &Select{Cond: cond, X: x, Y: y}
}

// NewFMA is x*y + z, rounded once; of constants it is computed, unless it is a NaN. It
// panics when it is not defined on the operands.
func NewFMA(x, y, z Expr) Expr {
	t := x.Type()
	if FMAType(t) == Invalid || y.Type() != t || z.Type() != t {
		panic(fmt.Sprintf("BUG: fma of %s, %s and %s", t, y.Type(), z.Type()))
	}
	cx, ok := x.(*Const)
	cy, ok2 := y.(*Const)
	cz, ok3 := z.(*Const)
	if ok && ok2 && ok3 {
		if folded, ok := EvalFMA(*cx, *cy, *cz); ok && !folded.isNaN() {
			return &folded
		}
	}
	return &FMA{X: x, Y: y, Z: z}
}

// NewCast converts x to the compute type t. A cast to the type x has is x, and
// casts of constants are computed. It panics when t is not a compute type.
func NewCast(t Type, x Expr) Expr {
	if !t.IsCompute() {
		panic("BUG: a cast to " + t.String())
	}
	if x.Type() == t {
		return x
	}
	if c, ok := x.(*Const); ok {
		folded := EvalCast(t, *c)
		return &folded
	}
	return &Cast{Typ: t, X: x}
}
