package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// rank is where a quantile lies among sorted values: between two ranks, counted
// from 0, at a weight from 0 to 1 towards the second.
type rank struct{ low, high, weight loop.Expr }

// plotting are the parameters alpha and beta of the continuous methods: the order q
// of n values has the rank n·q + alpha + q·(1-alpha-beta) - 1. R. Hyndman, Y. Fan,
// "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996).
var plotting = map[string][2]float64{
	"interpolated_inverted_cdf": {0, 1},
	"hazen":                     {0.5, 0.5},
	"weibull":                   {0, 0},
	"median_unbiased":           {1.0 / 3, 1.0 / 3},
	"normal_unbiased":           {3.0 / 8, 3.0 / 8},
}

// rank emits the rank of order q among n > 0 values, by the step's method. It is
// computed in f64, with one rounding for each operation.
func (x *selector) rank(e *emit.Func, q, n loop.Expr) rank {
	b := e.B
	number := func(v float64) loop.Expr { return loop.Float(loop.F64, v) }
	count := b.Let("size", b.Cast(loop.F64, n))
	last := b.Let("last", b.Sub(count, number(1)))
	round := func(op loop.UnaryOp, v loop.Expr) loop.Expr { return b.Let("r", loop.NewUnary(op, v)) }
	// Beyond 2^53 values their number may be rounded up: the last of them bounds the rank as an integer again.
	end := b.Let("end", b.Sub(n, loop.Int(1)))
	index := func(v loop.Expr) loop.Expr {
		return b.Let("rank", b.Min(end, b.Cast(loop.I64, b.Max(number(0), b.Min(last, v)))))
	}
	// at is one rank, middle the mean of two where split holds.
	at := func(v loop.Expr) rank {
		i := index(v)
		return rank{i, i, number(0)}
	}
	middle := func(low, high, split loop.Expr) rank {
		return rank{index(low), index(high), b.Select(split, number(0.5), number(0))}
	}
	linear := b.Let("h", b.Mul(q, last))
	scaled := b.Let("nq", b.Mul(count, q))
	switch x.step.Method {
	case "lower":
		return at(round(loop.Floor, linear))
	case "higher":
		return at(round(loop.Ceil, linear))
	case "nearest":
		return at(round(loop.Rint, linear))
	case "midpoint":
		low := round(loop.Floor, linear)
		return middle(low, round(loop.Ceil, linear), b.Ne(low, linear))
	case "inverted_cdf":
		return at(b.Sub(round(loop.Ceil, scaled), number(1)))
	case "averaged_inverted_cdf":
		up := round(loop.Ceil, scaled)
		whole := b.Eq(up, scaled)
		return middle(b.Sub(up, number(1)), b.Select(whole, up, b.Sub(up, number(1))), whole)
	case "closest_observation":
		return at(b.Sub(round(loop.Rint, scaled), number(1)))
	}
	h := linear
	if p, ok := plotting[x.step.Method]; ok {
		shift := b.Add(number(p[0]), b.Mul(q, number(1-p[0]-p[1])))
		h = b.Sub(b.Add(scaled, shift), number(1))
	}
	h = b.Let("h", b.Max(number(0), b.Min(last, h)))
	low := round(loop.Floor, h)
	return rank{index(low), index(b.Add(low, number(1))), b.Let("weight", b.Sub(h, low))}
}
