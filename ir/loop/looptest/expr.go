package looptest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Operators by what they are drawn for.
var (
	intUnary     = []loop.UnaryOp{loop.Neg, loop.Not, loop.Abs}
	floatUnary   = []loop.UnaryOp{loop.Neg, loop.Abs, loop.Sqrt, loop.Floor, loop.Ceil, loop.Trunc, loop.Rint}
	bitCounts    = []loop.UnaryOp{loop.TrailingZeros, loop.OnesCount}
	halfRounding = []loop.UnaryOp{loop.RoundF16, loop.RoundBF16}
	intBinary    = []loop.BinaryOp{
		loop.Add, loop.Sub, loop.Mul, loop.Div, loop.Rem, loop.Min, loop.Max,
		loop.And, loop.Or, loop.Xor, loop.Shl, loop.Shr,
	}
	floatBinary   = []loop.BinaryOp{loop.Add, loop.Sub, loop.Mul, loop.Div, loop.Min, loop.Max}
	complexBinary = []loop.BinaryOp{loop.Add, loop.Sub, loop.Mul, loop.Div}
	boolBinary    = []loop.BinaryOp{loop.And, loop.Or, loop.Xor, loop.Min, loop.Max}
	equality      = []loop.BinaryOp{loop.Eq, loop.Ne}
	comparisons   = []loop.BinaryOp{loop.Eq, loop.Ne, loop.Lt, loop.Le, loop.Gt, loop.Ge}
)

// Values worth trying besides random ones.
var (
	ints   = []int64{0, 1, -1, 2, 3, 7, 31, 64, 127, -128, 1 << 31, math.MaxInt64, math.MinInt64}
	floats = []float64{
		0, 1, -1, math.Copysign(0, -1), 0.5, 2.5, -3.5, 1e-310, 1e-45, 65519.99, 65520, 1e30, 1e300,
		math.Inf(1), math.Inf(-1), math.NaN(), 9.3e18, -9.3e18,
	}
)

// constant draws a constant of a compute type.
func (g *generator) constant(t loop.Type) *loop.Const {
	switch {
	case t.IsComplex():
		c := &loop.Const{Typ: t, Bits: g.constant(t.Real()).Bits}
		c.Imag = g.constant(t.Real()).Bits
		return c
	case t == loop.F32 && g.oneIn(4):
		return &loop.Const{Typ: t, Bits: uint64(rapid.Uint32().Draw(g.t, "bits"))}
	case t == loop.F64 && g.oneIn(4):
		return &loop.Const{Typ: t, Bits: rapid.Uint64().Draw(g.t, "bits")}
	case t == loop.F32 || t == loop.F64:
		return loop.Float(t, pick(g, floats))
	case g.oneIn(3):
		return loop.Number(t, rapid.Int64().Draw(g.t, "int"))
	}
	return loop.Number(t, pick(g, ints))
}

// leaf draws a constant, a variable or an element.
func (g *generator) leaf(t loop.Type) loop.Expr {
	var known []loop.Expr
	for _, v := range g.scope {
		if v.ref.Typ == t {
			known = append(known, v.ref)
		}
	}
	for _, id := range g.loadable(t) {
		index := loop.Int(int64(g.upto(int(g.lens[id]))))
		known = append(known, &loop.Load{Buf: id, Elem: g.bufs[id].Elem, Index: index})
	}
	if len(known) > 0 && !g.oneIn(4) {
		return pick(g, known)
	}
	return g.constant(t)
}

// expr draws an expression of type t and of bounded height.
func (g *generator) expr(t loop.Type, height int) loop.Expr {
	if height == 0 || g.oneIn(3) {
		return g.leaf(t)
	}
	height--
	switch g.upto(8) {
	case 0:
		from := g.computeType()
		return &loop.Cast{Typ: t, X: g.expr(from, height)}
	case 1:
		return &loop.Select{Cond: g.expr(loop.Bool, height), X: g.expr(t, height), Y: g.expr(t, height)}
	case 2:
		return g.load(t, height)
	case 3:
		return g.call(t, height)
	}
	switch {
	case t == loop.Bool:
		return g.boolean(height)
	case t.IsInt():
		return g.integer(t, height)
	case t.IsFloat():
		return g.float(t, height)
	}
	return g.complex(t, height)
}

// loadable are the buffers that values of type t may be loaded from here.
func (g *generator) loadable(t loop.Type) []loop.BufID {
	var ids []loop.BufID
	for i, b := range g.bufs {
		if b.Elem.Compute() == t && g.lens[i] > 0 && loop.BufID(i) != g.exclusive {
			ids = append(ids, loop.BufID(i))
		}
	}
	return ids
}

func (g *generator) load(t loop.Type, height int) loop.Expr {
	ids := g.loadable(t)
	if len(ids) == 0 {
		return g.leaf(t)
	}
	id := pick(g, ids)
	return &loop.Load{Buf: id, Elem: g.bufs[id].Elem, Index: masked(g.expr(loop.I64, height), g.lens[id])}
}

func (g *generator) call(t loop.Type, height int) loop.Expr {
	var fit []*loop.Scalar
	for _, s := range g.scalars {
		if s.Result == t {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return g.leaf(t)
	}
	s := pick(g, fit)
	c := &loop.Call{Fn: s.Name, Typ: t}
	for _, id := range s.Args {
		c.Args = append(c.Args, g.expr(s.Vars[id].Type, height))
	}
	return c
}

func (g *generator) unary(op loop.UnaryOp, from loop.Type, height int) loop.Expr {
	return &loop.Unary{Op: op, Typ: loop.UnaryType(op, from), X: g.expr(from, height)}
}

func (g *generator) binary(op loop.BinaryOp, from loop.Type, height int) loop.Expr {
	return &loop.Binary{Op: op, Typ: loop.BinaryType(op, from), X: g.expr(from, height), Y: g.expr(from, height)}
}

func (g *generator) boolean(height int) loop.Expr {
	switch g.upto(4) {
	case 0:
		return g.unary(loop.Not, loop.Bool, height)
	case 1:
		return g.binary(pick(g, boolBinary), loop.Bool, height)
	}
	t := g.computeType()
	if t.IsComplex() {
		return g.binary(pick(g, equality), t, height)
	}
	return g.binary(pick(g, comparisons), t, height)
}

func (g *generator) integer(t loop.Type, height int) loop.Expr {
	switch g.upto(5) {
	case 0:
		if (t == loop.U32 || t == loop.U64) && g.oneIn(4) {
			return g.unary(pick(g, bitCounts), t, height)
		}
		return g.unary(pick(g, intUnary), t, height)
	case 1:
		if t == loop.U32 {
			return g.bits(loop.F32, height)
		}
		if t == loop.U64 {
			return g.bits(loop.F64, height)
		}
	}
	return g.binary(pick(g, intBinary), t, height)
}

// bits draws the bits of a float that is not a NaN.
func (g *generator) bits(t loop.Type, height int) loop.Expr {
	x := g.expr(t, height)
	number := &loop.Binary{Op: loop.Eq, Typ: loop.Bool, X: x, Y: x}
	return &loop.Unary{
		Op: loop.Bits, Typ: loop.UnaryType(loop.Bits, t),
		X: &loop.Select{Cond: number, X: x, Y: loop.Number(t, 0)},
	}
}

// extremeNumber draws a MinNum or MaxNum. Sums with 0 make signalling NaNs quiet and the
// zero that results positive, of which engines may take either.
func (g *generator) extremeNumber(t loop.Type, height int) loop.Expr {
	plus0 := func(x loop.Expr) loop.Expr {
		return &loop.Binary{Op: loop.Add, Typ: t, X: x, Y: loop.Number(t, 0)}
	}
	op := pick(g, []loop.BinaryOp{loop.MinNum, loop.MaxNum})
	return plus0(&loop.Binary{Op: op, Typ: t, X: plus0(g.expr(t, height)), Y: plus0(g.expr(t, height))})
}

func (g *generator) float(t loop.Type, height int) loop.Expr {
	wide := map[loop.Type]loop.Type{loop.F32: loop.C64, loop.F64: loop.C128}
	bits := map[loop.Type]loop.Type{loop.F32: loop.U32, loop.F64: loop.U64}
	switch g.upto(10) {
	case 8:
		return &loop.FMA{X: g.expr(t, height), Y: g.expr(t, height), Z: g.expr(t, height)}
	case 9:
		return g.extremeNumber(t, height)
	case 0, 1:
		return g.unary(pick(g, floatUnary), t, height)
	case 2:
		return g.unary(pick(g, []loop.UnaryOp{loop.Real, loop.Imag}), wide[t], height)
	case 3:
		return g.unary(loop.FromBits, bits[t], height)
	case 4:
		if t == loop.F32 {
			return g.unary(pick(g, halfRounding), t, height)
		}
	}
	return g.binary(pick(g, floatBinary), t, height)
}

func (g *generator) complex(t loop.Type, height int) loop.Expr {
	switch g.upto(4) {
	case 0:
		return g.unary(loop.Neg, t, height)
	case 1:
		return g.binary(loop.Complex, t.Real(), height)
	}
	return g.binary(pick(g, complexBinary), t, height)
}
