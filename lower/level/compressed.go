package level

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func init() {
	Register(tensor.CompressedLevel, Kind{
		Count: func(v Level, n loop.SizeExpr) loop.SizeExpr { return &loop.SizeLoad{Buffer: v.Pos(), Index: n} },
		Children: func(v Level, f *emit.Func, at Place) (begin, end loop.Expr) {
			b, pos := f.B, f.Read(v.Pos())
			if at.Present == nil {
				return b.Let("begin", b.LoadIndex(pos, at.Pos)), b.Let("end", b.LoadIndex(pos, b.Add(at.Pos, loop.Int(1))))
			}
			lo, hi := b.Var("begin", loop.Int(0)), b.Var("end", loop.Int(0))
			b.If(at.Present, func() {
				b.Assign(lo, b.LoadIndex(pos, at.Pos))
				b.Assign(hi, b.LoadIndex(pos, b.Add(at.Pos, loop.Int(1))))
			}, nil)
			return b.Let("begin", lo), b.Let("end", hi)
		},
		Locate: search,
	})
}

// search locates a coordinate among those under a place, which ascend.
func search(v Level, f *emit.Func, at Place, coord loop.Expr, _ bool) Place {
	begin, end := v.Children(f, at)
	return Search(v, f, begin, end, coord)
}

// Search locates a coordinate among those of positions begin to end-1, which ascend.
func Search(v Level, f *emit.Func, begin, end, coord loop.Expr) Place {
	b, crd := f.B, f.Read(v.Crd())
	lo := LowerBound(b, crd, begin, end, coord)
	found := b.Var("found", loop.Truth(false))
	b.If(b.Lt(lo, end), func() { b.Assign(found, b.Eq(b.LoadIndex(crd, lo), coord)) }, nil)
	d := Place{Pos: lo, Present: b.Let("has", found)}
	if !v.Unique {
		d.End = SegmentEnd(b, crd, lo, end, coord)
	}
	return d
}

// LowerBound is the first position in [begin, end) whose coordinate is at least
// coord, or end: a binary search.
func LowerBound(b *loop.Builder, crd loop.BufID, begin, end, coord loop.Expr) loop.Expr {
	return b.Let("at", emit.Bisect(b, begin, end, func(at loop.Expr) loop.Expr { return b.Lt(b.LoadIndex(crd, at), coord) }))
}

// SegmentEnd is the end of the run of coordinate coord that starts at p.
func SegmentEnd(b *loop.Builder, crd loop.BufID, p, end, coord loop.Expr) loop.Expr {
	q := b.Var("q", p)
	more := b.Var("more", b.Lt(q, end))
	b.While(more, func() {
		b.If(b.Eq(b.LoadIndex(crd, q), coord),
			func() {
				b.Assign(q, b.Add(q, loop.Int(1)))
				b.Assign(more, b.Lt(q, end))
			},
			func() { b.Assign(more, loop.Truth(false)) })
	})
	return b.Let("q", q)
}
