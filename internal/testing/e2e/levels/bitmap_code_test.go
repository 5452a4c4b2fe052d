package levels_test

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

func init() {
	level.Register(bitmap, level.Kind{
		Count: func(v level.Level, n loop.SizeExpr) loop.SizeExpr {
			word := &loop.SizeLoad{Buffer: v.Crd(), Index: emit.Times(n, emit.CeilDiv(loop.SizeScalar(v.Size()), loop.SizeConst(bitsOfWord)))}
			return &loop.SizeOp{Op: loop.Div, X: word, Y: loop.SizeConst(1 << bitsOfWord)}
		},
		Locate: func(v level.Level, f *emit.Func, at level.Place, coord loop.Expr, bounded bool) level.Place {
			b, crd := f.B, f.Read(v.Crd())
			has, pos := b.Var("has", loop.Truth(false)), b.Var("pos", loop.Int(0))
			there := level.Both(b, at.Present, nil)
			if !bounded {
				there = level.Both(b, there, v.Inside(f, coord))
			}
			look := func() {
				words := b.Div(b.Add(f.Scalar(v.Size()), loop.Int(bitsOfWord-1)), loop.Int(bitsOfWord))
				word := b.Let("word", b.LoadIndex(crd, b.Add(b.Mul(at.Pos, words), b.Div(coord, loop.Int(bitsOfWord)))))
				bit := b.Let("bit", b.Rem(coord, loop.Int(bitsOfWord)))
				below := loop.NewBinary(loop.And, word, b.Sub(loop.NewBinary(loop.Shl, loop.Int(1), bit), loop.Int(1)))
				b.Assign(pos, b.Add(loop.NewBinary(loop.Shr, word, loop.Int(bitsOfWord)), b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, b.Cast(loop.U64, below)))))
				b.Assign(has, b.Eq(loop.NewBinary(loop.And, loop.NewBinary(loop.Shr, word, bit), loop.Int(1)), loop.Int(1)))
			}
			if there == nil {
				look()
			} else {
				b.If(there, look, nil)
			}
			return level.Place{Pos: b.Let("p", pos), Present: b.Let("has", has)}
		},
	})
}
