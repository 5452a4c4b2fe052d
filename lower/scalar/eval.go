package scalar

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Eval computes a function of the language on constants with the semantics of
// the loop language, library functions included: it is the ir.Evaluator.
func Eval(fn string, typ tensor.DType, args []tensor.Scalar) (tensor.Scalar, bool) {
	operands := make([]loop.Expr, len(args))
	for i, a := range args {
		operands[i] = emit.Constant(a)
	}
	c, ok := evalExpr(Apply(fn, emit.ComputeType(typ), operands), nil)
	if !ok {
		return tensor.Scalar{}, false
	}
	return scalarOf(c), true
}

// scalarOf is a literal of the loop language as a tensor scalar.
func scalarOf(c loop.Const) tensor.Scalar {
	return tensor.FromBits(tensor.DType(c.Typ), c.Bits, c.Imag)
}

// maxSteps bounds the evaluation of one library call on constants; no library
// function comes near it.
const maxSteps = 1 << 16

// frame is a call of a library function being evaluated.
type frame struct {
	vars  []loop.Const
	steps *int
}

func evalExpr(e loop.Expr, f *frame) (loop.Const, bool) {
	switch e := e.(type) {
	case *loop.Const:
		return *e, true
	case *loop.Ref:
		return f.vars[e.Var], true
	case *loop.Unary:
		x, ok := evalExpr(e.X, f)
		if !ok {
			return x, false
		}
		return loop.EvalUnary(e.Op, x)
	case *loop.Binary:
		x, ok := evalExpr(e.X, f)
		y, ok2 := evalExpr(e.Y, f)
		if !ok || !ok2 {
			return x, false
		}
		return loop.EvalBinary(e.Op, x, y)
	case *loop.FMA:
		x, ok := evalExpr(e.X, f)
		y, ok2 := evalExpr(e.Y, f)
		z, ok3 := evalExpr(e.Z, f)
		if !ok || !ok2 || !ok3 {
			return x, false
		}
		return loop.EvalFMA(x, y, z)
	case *loop.Cast:
		x, ok := evalExpr(e.X, f)
		if !ok {
			return x, false
		}
		return loop.EvalCast(e.Typ, x), true
	case *loop.Select:
		c, ok := evalExpr(e.Cond, f)
		if !ok {
			return c, false
		}
		if c.Bits != 0 {
			return evalExpr(e.X, f)
		}
		return evalExpr(e.Y, f)
	case *loop.Call:
		return evalCall(e, f)
	}
	return loop.Const{}, false
}

func evalCall(e *loop.Call, f *frame) (loop.Const, bool) {
	fn, ok := lib.Lookup(e.Fn)
	if !ok {
		panic("BUG: no library function " + e.Fn)
	}
	steps := new(int)
	if f != nil {
		steps = f.steps
	}
	inner := &frame{vars: make([]loop.Const, len(fn.Vars)), steps: steps}
	for i, a := range e.Args {
		v, ok := evalExpr(a, f)
		if !ok {
			return v, false
		}
		inner.vars[fn.Args[i]] = v
	}
	v, done, ok := inner.block(fn.Body)
	return v, done && ok
}

// block runs statements; done says that a Return gave the value.
func (f *frame) block(body []loop.Stmt) (v loop.Const, done, ok bool) {
	for _, s := range body {
		if v, done, ok = f.stmt(s); done || !ok {
			return v, done, ok
		}
	}
	return v, false, true
}

func (f *frame) stmt(s loop.Stmt) (v loop.Const, done, ok bool) {
	if *f.steps++; *f.steps > maxSteps {
		return v, false, false
	}
	switch s := s.(type) {
	case *loop.Let:
		f.vars[s.Var], ok = evalExpr(s.Value, f)
		return v, false, ok
	case *loop.Assign:
		f.vars[s.Var], ok = evalExpr(s.Value, f)
		return v, false, ok
	case *loop.Return:
		v, ok = evalExpr(s.Value, f)
		return v, true, ok
	case *loop.Comment:
		return v, false, true
	case *loop.If:
		c, ok := evalExpr(s.Cond, f)
		if !ok {
			return v, false, false
		}
		if c.Bits != 0 {
			return f.block(s.Then)
		}
		return f.block(s.Else)
	case *loop.While:
		for {
			c, ok := evalExpr(s.Cond, f)
			if !ok || c.Bits == 0 {
				return v, false, ok
			}
			if v, done, ok = f.block(s.Body); done || !ok {
				return v, done, ok
			}
			if *f.steps++; *f.steps > maxSteps {
				return v, false, false
			}
		}
	case *loop.For:
		lo, ok := evalExpr(s.Lo, f)
		hi, ok2 := evalExpr(s.Hi, f)
		if !ok || !ok2 {
			return v, false, false
		}
		for i := int64(lo.Bits); i < int64(hi.Bits); i++ {
			f.vars[s.Var] = *loop.Int(i)
			if v, done, ok = f.block(s.Body); done || !ok {
				return v, done, ok
			}
			if *f.steps++; *f.steps > maxSteps {
				return v, false, false
			}
		}
		return v, false, true
	}
	return v, false, false
}
