package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Rows that are longer than a warp needs to read several elements by each lane, and too few to
// keep a device busy with a warp for each, are taken by whole blocks.

const (
	// A block takes a row from LongRow/wholeRow iterations for each thread on, if there are no more
	// rows than fewerRows: so many warps keep any device busy.
	wholeRow  = 16
	fewerRows = 1 << 14
	// From LongRow/longestRow on it does in any case.
	longestRow = 2
)

// blocksForRows is 1 where blocks are to take rows of a mean length, else 0.
func (m *mapper) blocksForRows(rows, length loop.SizeExpr) loop.SizeExpr {
	from := func(part int64) loop.SizeExpr {
		return emit.AtLeast(length, max(m.opts.LongRow*int64(m.opts.Threads)/part, 1))
	}
	few := emit.Not(emit.AtLeast(rows, fewerRows+1))
	return sizeOp(loop.Mul, from(wholeRow), sizeOp(loop.Max, few, from(longestRow)))
}

// wholeRows is the stage in which blocks take rows one after another. It has no function where neighbouring
// threads would read elements that are apart: then what one row needs of a part of memory that is read at
// once is little, and the lanes of other warps of the block read the rest.
func (m *mapper) wholeRows(s *loop.Stage, rows loop.ScalarID) loop.Stage {
	if !readsSideBySide(s.Func) {
		return loop.Stage{}
	}
	g, in := m.begin(s, "_whole")
	n := g.scalar(rows)
	g.share(&in, s.Func, g.wholeBlock())
	g.inTurns(g.block(), n, g.blocks(), func(row loop.Expr) { g.element(s, in, row) })
	return g.stage(s, "whole_rows")
}

// readsSideBySide reports whether the innermost loops of a function read only elements that lie one
// behind the other, and such as are the same in all iterations.
func readsSideBySide(f *loop.Func) bool {
	return !slices.ContainsFunc(loopsOf(f.Body), func(l *loop.For) bool { return !hasLoops(l.Body) && !iteratesSideBySide(l) })
}

// iteratesSideBySide is that for one loop, without loops in it.
func iteratesSideBySide(l *loop.For) bool {
	known, varies, ok := lets(loop.LetsOf(l.Body)), map[loop.VarID]bool{l.Var: true}, true
	depends := func(e loop.Expr) bool { return loop.Reads(e, varies) }
	apart := func(e loop.Expr) bool {
		load, is := e.(*loop.Load)
		if !is || !depends(load.Index) {
			return false
		}
		index := known.value(load.Index)
		sum, adds := index.(*loop.Binary)
		return !isRef(index, l.Var) && !(adds && sum.Op == loop.Add && isRef(sum.Y, l.Var) && !depends(sum.X))
	}
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		for _, e := range loop.Exprs(s) {
			ok = ok && !loop.HasExpr(e, apart)
		}
		switch s := s.(type) {
		case *loop.Let:
			varies[s.Var] = varies[s.Var] || s.Mutable || depends(s.Value)
		case *loop.Assign:
			varies[s.Var] = true
		}
	})
	return ok
}
