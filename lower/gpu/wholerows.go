package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
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
		return atLeast(length, max(m.opts.LongRow*int64(m.opts.Threads)/part, 1))
	}
	few := sizeOp(loop.Sub, loop.SizeConst(1), atLeast(rows, fewerRows+1))
	return sizeOp(loop.Mul, from(wholeRow), sizeOp(loop.Max, few, from(longestRow)))
}

// wholeRows is the stage in which blocks take rows one after another. It is not ok where neighbouring
// threads would read elements that are apart: then what one row needs of a part of memory that is read at
// once is little, and the lanes of other warps of the block read the rest.
func (m *mapper) wholeRows(s *loop.Stage, rows loop.ScalarID) (loop.Stage, bool) {
	if !readsSideBySide(s.Func) {
		return loop.Stage{}, false
	}
	g := m.newFunc(s.Func.Name + "_whole")
	in := g.parameters(s)
	b := g.Builder
	n := g.scalar(rows)
	g.share(&in, s.Func, g.wholeBlock())
	g.inTurns(g.block(), n, g.blocks(), func(row loop.Expr) {
		in.Chunk, in.Lo, in.Hi, in.Single = row, row, b.Let("next", b.Add(row, loop.Int(1))), true
		b.Inline(s.Func, in)
	})
	return g.verified(s, "whole_rows")
}

// readsSideBySide reports whether the innermost loops of a function read only elements that lie one
// behind the other, and such as are the same in all iterations.
func readsSideBySide(f *loop.Func) bool {
	ok := true
	loop.WalkStmts(f.Body, func(s loop.Stmt) {
		if l, is := s.(*loop.For); is && !hasLoops(l.Body) {
			ok = ok && iteratesSideBySide(l)
		}
	})
	return ok
}

// iteratesSideBySide is that for one loop, without loops in it.
func iteratesSideBySide(l *loop.For) bool {
	values := map[loop.VarID]loop.Expr{} // declared in the loop
	varies := map[loop.VarID]bool{l.Var: true}
	depends := func(e loop.Expr) bool { return loop.Reads(e, varies) }
	aside := func(e loop.Expr) bool {
		if r, ok := e.(*loop.Ref); ok && values[r.Var] != nil {
			e = values[r.Var]
		}
		if isRef(e, l.Var) || !depends(e) {
			return true
		}
		sum, ok := e.(*loop.Binary)
		return ok && sum.Op == loop.Add && isRef(sum.Y, l.Var) && !depends(sum.X)
	}
	ok := true
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		for _, e := range loop.Exprs(s) {
			ok = ok && !loop.HasExpr(e, func(e loop.Expr) bool {
				load, is := e.(*loop.Load)
				return is && !aside(load.Index)
			})
		}
		switch s := s.(type) {
		case *loop.Let:
			varies[s.Var] = varies[s.Var] || s.Mutable || depends(s.Value)
			if !s.Mutable {
				values[s.Var] = s.Value
			}
		case *loop.Assign:
			varies[s.Var] = true
		}
	})
	return ok
}
