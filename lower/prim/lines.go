package prim

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// Scans and order statistics walk lines: the elements of a tensor along some of
// its axes. Planning has brought them into planes of a dense tensor or into
// segments of entries (ir.Lines), so that there are two ways to walk and no case
// for any format.

// lines are the lines of a tensor along axes.
type lines struct {
	*emit.Builder
	opts Options
	from *ir.Tensor
	axes []int
	how  ir.Lines
	// above and below are the axes stored before and after those of the lines;
	// only planes have any below.
	above, below []int
	vals         loop.BufferID
	pos          loop.BufferID   // of the segments, -1 for planes
	crd          []loop.BufferID // by axis of the lines, for segments

	lets   []loop.ScalarLet // that define the following
	length loop.ScalarID    // elements of a line, gaps included; see measure
	groups loop.ScalarID    // lines, or planes of them
}

// newLines looks at the lines of from along axes and defines their numbers. The operator stands at a place of the program.
func newLines(name string, at ir.Pos, from *ir.Tensor, axes []int, types emit.OperandTypes, opts Options) *lines {
	k := emit.New(name, types)
	k.Origin = emit.Origin(at)
	k.Grain = opts.Grain
	l := &lines{Builder: k, opts: opts, from: from, axes: axes, how: ir.LinesOf(from.Format, axes), pos: -1}
	order := from.Format.Order()
	first := 0
	for order[first] != axes[0] {
		first++
	}
	l.above, l.below = order[:first], order[first+len(axes):]
	l.vals = k.Input(from, 0, emit.Values)
	if l.how != ir.Planes {
		l.pos = k.Input(from, first, emit.Positions)
		for i := range axes {
			l.crd = append(l.crd, k.Input(from, first+i, emit.Coordinates))
		}
	}
	l.groups = l.define("groups", l.count(first))
	return l
}

// measure defines the length of lines. Where only stored elements count, nobody
// needs it, and it need not fit 64 bits.
func (l *lines) measure() { l.length = l.define("length", l.product(l.axes)) }

// define adds a scalar to those that the first stage computes.
func (l *lines) define(name string, value loop.SizeExpr) loop.ScalarID {
	id := l.NewScalar(name, false)
	l.lets = append(l.lets, loop.ScalarLet{Scalar: id, Value: value})
	return id
}

// product is the product of the extents of axes.
func (l *lines) product(axes []int) loop.SizeExpr {
	n := loop.SizeExpr(loop.SizeConst(1))
	for _, axis := range axes {
		n = emit.Product(n, loop.SizeScalar(l.Dim(l.from, axis)))
	}
	return n
}

// count is the number of positions of the first levels.
func (l *lines) count(levels int) loop.SizeExpr {
	return level.Count(l, l.from, 0, levels, loop.SizeConst(1))
}

// segment is where the entries of a line begin and end.
func (l *lines) segment(e *emit.Func, group loop.Expr) (begin, end loop.Expr) {
	pos := e.Read(l.pos)
	return e.B.Let("begin", e.B.LoadIndex(pos, group)), e.B.Let("end", e.B.LoadIndex(pos, e.B.Add(group, loop.Int(1))))
}

// place is the number of the coordinate that entry p has along the line.
func (l *lines) place(e *emit.Func, p loop.Expr) loop.Expr {
	var flat loop.Expr
	for i, axis := range l.axes {
		c := e.B.LoadIndex(e.Read(l.crd[i]), p)
		if flat == nil {
			flat = c
			continue
		}
		flat = e.B.Add(e.B.Mul(flat, e.Scalar(l.Dim(l.from, axis))), c)
	}
	return flat
}

// grain is the work of a chunk.
func (l *lines) grain() int64 {
	switch {
	case l.opts.Grain > 0:
		return l.opts.Grain
	case l.opts.Grids:
		return 1 // as many chunks as there are items
	}
	return emit.ChunkGrain
}

// evenly registers the cut of n equal items, each of the given work, into chunks.
// The partition is of the chunks, since an item may be more than one is worth;
// bounds gives the items of the chunk that a function runs.
func (l *lines) evenly(n, work loop.SizeExpr) cutItems {
	chunks := l.define("chunks", emit.Min(n, emit.CeilDiv(emit.Product(n, work), loop.SizeConst(l.grain()))))
	each := l.define("each", emit.CeilDiv(n, emit.Max(loop.SizeScalar(chunks), loop.SizeConst(1))))
	return cutItems{lines: l, items: l.define("items", n), each: each, chunks: chunks}
}

// cutItems is a list of items cut into chunks of equally many.
type cutItems struct {
	*lines
	items, each, chunks loop.ScalarID
}

// partition is the cut; with a factor of 0 it is empty.
func (c cutItems) partition(factor loop.SizeExpr) int {
	return c.Partition(emit.Product(loop.SizeScalar(c.chunks), factor), -1, 1)
}

// bounds are the first item of the chunk and the one behind the last.
func (c cutItems) bounds(e *emit.Func) (lo, hi loop.Expr) {
	b := e.B
	each, items := e.Scalar(c.each), e.Scalar(c.items)
	return b.Let("first", b.Min(items, b.Mul(b.Lo(), each))), b.Let("last", b.Min(items, b.Mul(b.Hi(), each)))
}

// finish returns what has been built.
func (l *lines) finish(to *ir.Tensor) *emit.Kernel {
	l.Result.Tensor = to
	l.Result.Levels = emit.NoArrays(to.Rank)
	return l.Done()
}
