package level

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func init() {
	Register(tensor.DenseLevel, Kind{
		Count: func(v Level, n loop.SizeExpr) loop.SizeExpr { return emit.Times(n, loop.SizeScalar(v.Size())) },
		Locate: func(v Level, f *emit.Func, at Place, coord loop.Expr, bounded bool) Place {
			d := Place{Pos: coord, Present: at.Present, Exact: at.Exact}
			if !bounded {
				d.Present, d.Exact = Both(f.B, at.Present, v.Inside(f, coord)), false
			}
			if v.Number > 0 {
				d.Pos = f.B.Let("p", f.B.Add(f.B.Mul(at.Pos, f.Scalar(v.Size())), coord))
			}
			return d
		},
	})
}
