package ir

import "github.com/lacuna-sparse/lacuna/tensor"

// Evaluator computes a function of lang.Functions on constants. The lowerer
// provides it, so that what folds here has the bits that kernels compute.
type Evaluator func(fn string, typ tensor.DType, args []tensor.Scalar) (tensor.Scalar, bool)

// Fold replaces e by a constant when its operands are constants. What is made of a gap
// is one.
func (ev Evaluator) Fold(e Expr) Expr {
	switch e := e.(type) {
	case *Cast:
		if c, ok := e.X.(*Literal); ok {
			return &Literal{Value: c.Value.Convert(e.To).Convert(ComputeType(e.To)), Gap: c.Gap, Stored: c.Stored}
		}
		if TypeOf(e.X) == e.To {
			return e.X
		}
	case *Select:
		if c, ok := e.Cond.(*Literal); ok {
			taken := e.Else
			if c.Value.Bool() {
				taken = e.Then
			}
			if !c.Gap && !c.Stored {
				return taken
			}
			if t, ok := taken.(*Literal); ok {
				return madeOf(t.Value, c, t)
			}
		}
	case *Call:
		args, consts := make([]tensor.Scalar, len(e.Args)), make([]*Literal, len(e.Args))
		for i, a := range e.Args {
			c, ok := a.(*Literal)
			if !ok {
				return e
			}
			args[i], consts[i] = c.Value, c
		}
		if v, ok := ev(e.Fn, e.Typ, args); ok {
			return madeOf(v, consts...)
		}
	}
	return e
}

// unsigned turns a negative zero of a gap into zero: what is not stored has no sign.
func unsigned(c *Literal) *Literal {
	if c.Gap && isValue(c.Value, tensor.Zero(c.Value.DType())) {
		c.Value = tensor.Zero(c.Value.DType())
	}
	return c
}

// ConstValue returns the value of a constant.
func ConstValue(e Expr) (tensor.Scalar, bool) {
	if c, ok := e.(*Literal); ok {
		return c.Value, true
	}
	return tensor.Scalar{}, false
}
