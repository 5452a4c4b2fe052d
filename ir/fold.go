package ir

import "github.com/lacuna-sparse/lacuna/tensor"

// Evaluator computes a function of lang.Functions on constants. The lowerer
// provides it, so that what folds here has the bits that kernels compute.
type Evaluator func(fn string, typ tensor.DType, args []tensor.Scalar) (tensor.Scalar, bool)

// Fold replaces e by a constant when its operands are constants.
func (ev Evaluator) Fold(e Expr) Expr {
	switch e := e.(type) {
	case *Cast:
		if c, ok := e.X.(*Const); ok {
			return &Const{Value: c.Value.Convert(e.To).Convert(ComputeType(e.To))}
		}
		if e.X.DType() == e.To {
			return e.X
		}
	case *Select:
		if c, ok := e.Cond.(*Const); ok {
			if c.Value.Bool() {
				return e.Then
			}
			return e.Else
		}
	case *Call:
		args := make([]tensor.Scalar, len(e.Args))
		for i, a := range e.Args {
			c, ok := a.(*Const)
			if !ok {
				return e
			}
			args[i] = c.Value
		}
		if v, ok := ev(e.Fn, e.Typ, args); ok {
			return &Const{Value: v}
		}
	}
	return e
}

// ConstValue returns the value of a literal.
func ConstValue(e Expr) (tensor.Scalar, bool) {
	if c, ok := e.(*Const); ok {
		return c.Value, true
	}
	return tensor.Scalar{}, false
}
