package aot

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Sizes of a linked program are loop.SizeExpr. These functions make them, and
// compute what is known already.

func sizeOp(op loop.BinaryOp, x, y loop.SizeExpr) loop.SizeExpr {
	a, ok1 := x.(loop.SizeConst)
	b, ok2 := y.(loop.SizeConst)
	if ok1 && ok2 {
		if v, ok := foldSize(op, int64(a), int64(b)); ok {
			return loop.SizeConst(v)
		}
	}
	switch {
	case op == loop.Add && ok1 && a == 0, op == loop.Mul && ok1 && a == 1:
		return y
	case (op == loop.Add || op == loop.Sub) && ok2 && b == 0, (op == loop.Mul || op == loop.Div) && ok2 && b == 1:
		return x
	}
	return &loop.SizeOp{Op: op, X: x, Y: y}
}

// foldSize computes an operation; not ok if the result does not fit 64 bits. Numbers
// are kept far from the limits, so that the checks stay simple.
func foldSize(op loop.BinaryOp, x, y int64) (int64, bool) {
	const limit = math.MaxInt32
	if x > limit || x < -limit || y > limit || y < -limit {
		return 0, false
	}
	switch op {
	case loop.Add:
		return x + y, true
	case loop.Sub:
		return x - y, true
	case loop.Mul:
		return x * y, true
	case loop.Min:
		return min(x, y), true
	case loop.Max:
		return max(x, y), true
	case loop.Div:
		if y != 0 {
			return x / y, true
		}
	}
	return 0, false
}

func sizeAdd(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Add, x, y) }
func sizeMul(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Mul, x, y) }
func sizeDiv(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Div, x, y) }

// sameSize reports whether two expressions are the same.
func sameSize(x, y loop.SizeExpr) bool {
	switch x := x.(type) {
	case *loop.SizeLoad:
		y, ok := y.(*loop.SizeLoad)
		return ok && x.Buffer == y.Buffer && sameSize(x.Index, y.Index)
	case *loop.SizeOp:
		y, ok := y.(*loop.SizeOp)
		return ok && x.Op == y.Op && sameSize(x.X, y.X) && sameSize(x.Y, y.Y)
	}
	return x == y
}

// mapSize rewrites the scalars and buffers of an expression.
func mapSize(e loop.SizeExpr, scalar func(loop.ScalarID) loop.SizeExpr, buffer func(loop.BufferID) loop.BufferID) loop.SizeExpr {
	switch e := e.(type) {
	case loop.SizeScalar:
		return scalar(loop.ScalarID(e))
	case *loop.SizeLoad:
		return &loop.SizeLoad{Buffer: buffer(e.Buffer), Index: mapSize(e.Index, scalar, buffer)}
	case *loop.SizeHint:
		return mapSize(e.Else, scalar, buffer) // nothing is known of earlier runs
	case loop.SizeLen:
		return loop.SizeLen{Buffer: buffer(e.Buffer)}
	case *loop.SizeOp:
		return &loop.SizeOp{Op: e.Op, X: mapSize(e.X, scalar, buffer), Y: mapSize(e.Y, scalar, buffer)}
	}
	return e
}
