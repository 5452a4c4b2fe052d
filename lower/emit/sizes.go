package emit

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Times is x*y, without the product where x is 1.
func Times(x, y loop.SizeExpr) loop.SizeExpr {
	if x == loop.SizeConst(1) {
		return y
	}
	return &loop.SizeOp{Op: loop.Mul, X: x, Y: y}
}

// Min is the smaller of two sizes.
func Min(x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Min, X: x, Y: y} }

// CeilDiv is x/y rounded up, for x not negative and y positive.
func CeilDiv(x, y loop.SizeExpr) loop.SizeExpr {
	less := &loop.SizeOp{Op: loop.Sub, X: x, Y: loop.SizeConst(1)}
	up := &loop.SizeOp{Op: loop.Add, X: &loop.SizeOp{Op: loop.Div, X: less, Y: y}, Y: loop.SizeConst(1)}
	// -1/y is 0, not -1.
	return &loop.SizeOp{Op: loop.Mul, X: up, Y: Min(x, loop.SizeConst(1))}
}

// Product is x·y, without factors of 1.
func Product(x, y loop.SizeExpr) loop.SizeExpr {
	if y == loop.SizeConst(1) {
		return x
	}
	return Times(x, y)
}

// Max is the larger of two sizes.
func Max(x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: loop.Max, X: x, Y: y} }

// Not is 1 for 0, and 0 for 1.
func Not(x loop.SizeExpr) loop.SizeExpr {
	return &loop.SizeOp{Op: loop.Sub, X: loop.SizeConst(1), Y: x}
}

// AtLeast is 1 where n, which is not negative, is at least some number, else 0.
func AtLeast(n loop.SizeExpr, some int64) loop.SizeExpr {
	return Min(loop.SizeConst(1), &loop.SizeOp{Op: loop.Div, X: n, Y: loop.SizeConst(some)})
}

// AtLeastOne is x, or 1 if that is more.
func AtLeastOne(x loop.SizeExpr) loop.SizeExpr { return Max(x, loop.SizeConst(1)) }

// Doublings is how often some number can be doubled that n, which is not negative, is at least; up to most, and
// 0 where n is less.
func Doublings(n loop.SizeExpr, some int64, most int) loop.SizeExpr {
	var log loop.SizeExpr = loop.SizeConst(0)
	for k := range most {
		log = &loop.SizeOp{Op: loop.Add, X: log, Y: AtLeast(n, some<<k)}
	}
	return log
}
