package interp

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A value is a compiled expression. form says what is known of it, for operators
// that can do better than to call a closure.
type value[T any] struct {
	// fn computes the value. It is nil for a leaf, most of which need no closure;
	// code makes one.
	fn   func(*frame) T
	form form
	// slot is the register of a leaf, or the one an offset starts from.
	slot slot
	// k is the value of a constant, or what an offset adds.
	k T
	// from tells how an element of an index buffer is read.
	from *element
}

type form uint8

const (
	general  form = iota
	register      // the register slot
	constant      // k; also in the register slot
	offset        // an I64: the register slot plus k
	fetched       // an integer: element from
)

// element is a load whose index is a register plus a constant.
type element struct {
	typ  loop.Type
	buf  bufRef
	slot slot
	k    int64
}

// leaf reports whether v can be read from register v.slot.
func (v value[T]) leaf() bool { return v.form == register || v.form == constant }

// code is a closure that computes v.
func (v value[T]) code() func(*frame) T {
	if v.leaf() {
		s := v.slot
		return func(fr *frame) T { return *reg[T](fr, s) }
	}
	return v.fn
}

// computed is a value known only by the closure that computes it.
func computed[T any](fn func(*frame) T) value[T] { return value[T]{fn: fn} }

// readOf is the value of a variable.
func readOf[T any](s slot) value[T] {
	return value[T]{form: register, slot: s}
}

// constantOf is the value k, whose bits are those of the literal.
func constantOf[T any](c *compiler, literal loop.Const, k T) value[T] {
	s, ok := c.constants[literal]
	if !ok {
		s = c.allocate(literal.Typ)
		if c.constants == nil {
			c.constants = make(map[loop.Const]slot)
		}
		c.constants[literal] = s
	}
	return value[T]{form: constant, slot: s, k: k}
}

// A class compiles the expressions that Go type T carries. There is one for
// each Go type; the operators that all types have are written once, over it.
type class[T any] struct {
	literal func(loop.Const) T
	load    func(*compiler, *loop.Load) value[T]
	unary   func(*compiler, *loop.Unary) value[T]
	binary  func(*compiler, *loop.Binary) value[T]
	cast    func(*compiler, *loop.Cast) value[T]
	fma     func(x, y, z value[T]) value[T] // nil: there is none
}

// expression compiles e, whose type the class carries.
func expression[T any](c *compiler, cl *class[T], e loop.Expr) value[T] {
	defer c.ascend()
	if !c.descend() {
		return value[T]{}
	}
	switch e := e.(type) {
	case *loop.Const:
		k := *e
		if k.Typ.IsInt() { // narrow ones must be extended from their width
			k = loop.EvalCast(k.Typ, loop.Const{Typ: loop.U64, Bits: k.Bits})
		}
		return constantOf(c, k, cl.literal(k))
	case *loop.Ref:
		v := c.variable(e.Var, fixed)
		if v.typ != e.Typ {
			c.fail("variable %d has type %s and is read as %s", e.Var, v.typ, e.Typ)
		}
		return readOf[T](v.slot)
	case *loop.Load:
		return cl.load(c, e)
	case *loop.Unary:
		if want := loop.UnaryType(e.Op, e.X.Type()); want == loop.Invalid || want != e.Typ {
			c.fail("operator %s on %s does not give %s", e.Op, e.X.Type(), e.Typ)
			return value[T]{}
		}
		return cl.unary(c, e)
	case *loop.Binary:
		x, y := e.X.Type(), e.Y.Type()
		if want := loop.BinaryType(e.Op, x); x != y || want == loop.Invalid || want != e.Typ {
			c.fail("operator %s on %s and %s does not give %s", e.Op, x, y, e.Typ)
			return value[T]{}
		}
		return cl.binary(c, e)
	case *loop.Select:
		c.expect(e.Cond, loop.Bool, "the condition of a select")
		c.expect(e.Y, e.X.Type(), "the second case of a select")
		if c.err != nil {
			return value[T]{}
		}
		return selected(c.bool(e.Cond), expression(c, cl, e.X), expression(c, cl, e.Y))
	case *loop.FMA:
		c.expect(e.Y, e.X.Type(), "the second factor of an fma")
		c.expect(e.Z, e.X.Type(), "the summand of an fma")
		if c.err == nil && cl.fma == nil {
			c.fail("fma of %s", e.X.Type())
		}
		if c.err != nil {
			return value[T]{}
		}
		return cl.fma(expression(c, cl, e.X), expression(c, cl, e.Y), expression(c, cl, e.Z))
	case *loop.Cast:
		if !e.X.Type().IsCompute() {
			c.fail("cast from %s to %s", e.X.Type(), e.Typ)
			return value[T]{}
		}
		return cl.cast(c, e)
	case *loop.Call:
		return call[T](c, e)
	case *loop.Special:
		return readOf[T](c.special(e.Reg))
	}
	c.fail("%T is no expression of the loop language", e)
	return value[T]{}
}

// selected evaluates both cases, as Select does.
func selected[T any](cond value[bool], x, y value[T]) value[T] {
	f := cond.code()
	if x.leaf() && y.leaf() {
		a, b := x.slot, y.slot
		return computed(func(fr *frame) T {
			if f(fr) {
				return *reg[T](fr, a)
			}
			return *reg[T](fr, b)
		})
	}
	g, h := x.code(), y.code()
	return computed(func(fr *frame) T {
		a, b := g(fr), h(fr)
		if f(fr) {
			return a
		}
		return b
	})
}

// The classes. They are functions and not tables because a class refers to the
// functions that use it.

func (c *compiler) bool(e loop.Expr) value[bool] {
	return expression(c, &class[bool]{boolLiteral, boolLoad, boolUnary, boolBinary, boolCast, nil}, e)
}

func (c *compiler) int(e loop.Expr) value[int64] {
	return expression(c, &class[int64]{intLiteral, intLoad, intUnary, intBinary, intCast, nil}, e)
}

func (c *compiler) f32(e loop.Expr) value[float32] {
	return expression(c, &class[float32]{f32Literal, f32Load, f32Unary, f32Binary, f32Cast, fma(loop.FMA32)}, e)
}

func (c *compiler) f64(e loop.Expr) value[float64] {
	return expression(c, &class[float64]{f64Literal, f64Load, f64Unary, f64Binary, f64Cast, fma(math.FMA)}, e)
}

func (c *compiler) c64(e loop.Expr) value[complex64] {
	return expression(c, &class[complex64]{c64Literal, c64Load, c64Unary, c64Binary, c64Cast, nil}, e)
}

func (c *compiler) c128(e loop.Expr) value[complex128] {
	return expression(c, &class[complex128]{c128Literal, c128Load, c128Unary, c128Binary, c128Cast, nil}, e)
}

func boolLiteral(k loop.Const) bool   { return k.Bits != 0 }
func intLiteral(k loop.Const) int64   { return int64(k.Bits) }
func f32Literal(k loop.Const) float32 { return math.Float32frombits(uint32(k.Bits)) }
func f64Literal(k loop.Const) float64 { return math.Float64frombits(k.Bits) }

func c64Literal(k loop.Const) complex64 {
	return complex(math.Float32frombits(uint32(k.Bits)), math.Float32frombits(uint32(k.Imag)))
}

func c128Literal(k loop.Const) complex128 {
	return complex(math.Float64frombits(k.Bits), math.Float64frombits(k.Imag))
}
