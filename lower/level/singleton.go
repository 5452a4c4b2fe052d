package level

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func init() {
	Register(tensor.SingletonLevel, Kind{
		Count: func(_ Level, n loop.SizeExpr) loop.SizeExpr { return n },
		Children: func(_ Level, f *emit.Func, at Place) (begin, end loop.Expr) {
			if end = at.End; end == nil {
				end = f.B.Add(at.Pos, loop.Int(1))
			}
			if at.Present != nil {
				end = f.B.Select(at.Present, end, at.Pos)
			}
			return at.Pos, f.B.Let("end", end)
		},
		Locate: search,
	})
}
