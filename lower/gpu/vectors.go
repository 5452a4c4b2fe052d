package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// A lane that takes several columns side by side reads and writes them by one access of
// up to 16 bytes. LLVM makes that of single ones where it sees that they are side by
// side and aligned: so the parameters that tell how far apart lines are must be seen to
// be multiples of the number of columns. Functions for vectors are written for such
// parameters, and are only launched where they are.

// wideDoublings is the binary logarithm of wideColumns.
const wideDoublings = 2

// vectorsFrom is how many columns lines must have for vectors, of elements of so many
// bytes: with less, teams are so small that rows of different lengths keep a warp waiting.
func vectorsFrom(bytes int) loop.SizeExpr { return loop.SizeConst(8 * max(4, bytes)) }

// stridesOf finds the parameters that index arithmetic multiplies by, and the width.
func stridesOf(f *loop.Func, width loop.VarID) []loop.VarID {
	list := []loop.VarID{width}
	add := func(e loop.Expr) {
		if r, ok := e.(*loop.Ref); ok && slices.Contains(f.Args, r.Var) && !slices.Contains(list, r.Var) {
			list = append(list, r.Var)
		}
	}
	for e := range loop.AllExprs(f.Body) {
		if x, ok := e.(*loop.Binary); ok && x.Op == loop.Mul && x.Typ == loop.I64 {
			add(x.X)
			add(x.Y)
		}
	}
	return list
}

// wholeVectors is 1 where all of some parameters are multiples of wideColumns, else 0.
func wholeVectors(s *loop.Stage, strides []loop.VarID) loop.SizeExpr {
	var all loop.SizeExpr = loop.SizeConst(1)
	for _, id := range strides {
		x := loop.SizeExpr(loop.SizeScalar(argOf(s, id)))
		rest := sizeOp(loop.Sub, x, sizeOp(loop.Mul, sizeOp(loop.Div, x, loop.SizeConst(wideColumns)), loop.SizeConst(wideColumns)))
		all = sizeOp(loop.Mul, all, emit.Not(sizeOp(loop.Min, rest, loop.SizeConst(1))))
	}
	return all
}

// roundDown puts multiples of wideColumns in place of parameters that are such multiples.
func (g *gridFunc) roundDown(f *loop.Func, in *loop.Inlining, strides []loop.VarID) {
	for _, id := range strides {
		i := slices.Index(f.Args, id)
		in.Args[i] = g.Builder.Let(f.Vars[id].Name, g.Builder.Mul(coop.Shr(in.Args[i], loop.Int(wideDoublings)), loop.Int(wideColumns)))
	}
}

// vector gives the thread n columns side by side from k on. Beyond the end it goes along
// with the last ones.
func (w *lineWork) vector(k, columns loop.Expr, n int) {
	b := w.g.Builder
	k = b.Let("k", k)
	w.valid = append(w.valid, b.Let("valid", b.Lt(k, columns)))
	first := b.Let("column", b.Min(k, b.Sub(columns, loop.Int(int64(n)))))
	for u := range n {
		w.columns = append(w.columns, b.Add(first, loop.Int(int64(u))))
	}
}
