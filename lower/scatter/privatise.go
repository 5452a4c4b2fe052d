package scatter

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// Where a scatter adds up floats, each of which rounds, threads cannot add to whatever copy of the result they have
// (copies.go): bits would depend on them. So the outermost loop is cut into as many parts as the caller chooses for the
// data, each of which adds to a copy of its own, and the copies are added up as a tree of fixed shape.

// MostPrivate is into how many parts a scatter is cut at most.
const MostPrivate = 16

// Private is what a nest adds to in place of the result.
type Private struct {
	Copies loop.BufferID
	Base   loop.Expr // of the copy that the function adds to
	of     *Result
	parts  int64
}

// Privatisable reports whether parts of a step may add to copies of its result.
func Privatisable(c *ir.Compute) bool {
	t := c.Result.DType
	rounds := emit.ComputeType(t).IsFloat() || emit.ComputeType(t).IsComplex()
	return c.Scatter && c.Fold == ir.FoldSum && rounds && c.Gap == nil && c.Result.Rank > 0 && c.Result.Format.IsDense() && emit.ComputeType(t) == emit.Type(t) && !c.Directives.Serial
}

// NewPrivate makes copies of the result for so many parts of a nest.
func (k *Result) NewPrivate(parts int64) *Private {
	b := k.Program.Buffers[k.Kernel.Result.Values]
	return &Private{of: k, Copies: k.Buffer(b.Name+"_private", b.Elem, loop.Temp), parts: parts}
}

// apartSize is how far the copies of the result lie apart.
func (k *Result) apartSize() loop.SizeExpr {
	const last = loop.CopyAlign - 1
	up := &loop.SizeOp{Op: loop.Div, X: &loop.SizeOp{Op: loop.Add, X: k.Size(k.Step.Result, 0), Y: loop.SizeConst(last)}, Y: loop.SizeConst(loop.CopyAlign)}
	return emit.Times(up, loop.SizeConst(loop.CopyAlign))
}

// apart is that in a function.
func (k *Result) apart(e *emit.Func) loop.Expr {
	b, n := e.B, loop.Expr(loop.Int(1))
	for axis := range k.Step.Result.Rank {
		n = b.Mul(n, e.Scalar(k.Dim(k.Step.Result, axis)))
	}
	const last = loop.CopyAlign - 1
	return b.Let("apart", b.And(b.Add(n, loop.Int(last)), loop.Int(^last)))
}

// Open makes a function add to the copy of its chunk.
func (p *Private) Open(f *emit.Func) {
	p.Base = f.B.Let("own", f.B.Mul(f.B.Chunk(), p.of.apart(f)))
}

// Bounds are the iterations of an outermost loop of n that the chunk runs, by the entries under
// them where weight is an array that tells those; -1: none does.
func (p *Private) Bounds(e *emit.Func, n loop.Expr, weight loop.BufferID) (lo, hi loop.Expr) {
	b := e.B
	if p == nil {
		return b.Lo(), b.Hi()
	}
	parts, total, first := loop.Int(p.parts), n, loop.Expr(loop.Int(0))
	var weights loop.BufID
	if weight >= 0 {
		weights = e.Read(weight)
		first = b.Let("first", b.LoadIndex(weights, loop.Int(0)))
		total = b.Let("total", b.Sub(b.LoadIndex(weights, n), first))
	}
	at := func(part loop.Expr) loop.Expr {
		before := b.Let("before", b.Add(b.Mul(b.Div(total, parts), part), b.Div(b.Mul(b.Rem(total, parts), part), parts)))
		if weight < 0 {
			return before
		}
		i := level.LowerBound(b, weights, loop.Int(0), n, b.Let("target", b.Add(first, before)))
		i = b.Select(b.Eq(part, parts), n, i) // also what comes behind the last entry
		return b.Let("cut", b.Select(b.Eq(part, loop.Int(0)), loop.Int(0), i))
	}
	lo = at(b.Chunk())
	return lo, at(b.Let("next", b.Add(b.Chunk(), loop.Int(1))))
}

// Partition registers the cut of a nest into the parts.
func (p *Private) Partition() int {
	part := p.of.Builder.Partition(loop.SizeConst(p.parts), -1, 1)
	p.of.Program.Partitions[part].Grain = 1
	return part
}

// AddStages adds the stage of a nest whose chunks add to copies, and one that adds those up; onto what the result holds, or in place of it.
func (p *Private) AddStages(s loop.Stage, onto bool) {
	k := p.of
	s.Allocs = append(s.Allocs, loop.Alloc{Buffer: p.Copies, Len: emit.Times(loop.SizeConst(p.parts), k.apartSize()), Zero: true})
	k.AddStage(s)
	name := k.Step.Result.Name
	e := k.NewFunc("sum_" + name)
	b := e.B
	vals, all, apart := e.Write(k.Kernel.Result.Values), e.Read(p.Copies), k.apart(e)
	b.ForIndependent("p", b.Lo(), b.Hi(), func(at loop.Expr) {
		var tree func(from, n int64) loop.Expr
		tree = func(from, n int64) loop.Expr {
			if n == 1 {
				return b.Load(all, b.Add(at, b.Mul(loop.Int(from), apart)))
			}
			return b.Add(tree(from, n/2), tree(from+n/2, n-n/2))
		}
		x := tree(0, p.parts)
		if onto { // what nothing is added to stays as it is, -0 too
			x = b.Let("x", x)
			old := b.Let("old", b.Load(vals, at))
			x = b.Select(b.Eq(x, loop.Number(k.Program.Buffers[k.Kernel.Result.Values].Elem, 0)), old, b.Add(old, x))
		}
		b.Store(vals, at, x)
	})
	sum := e.Stage("sum")
	sum.Partition = k.Partition(k.Size(k.Step.Result, 0), -1, foldGrain)
	k.AddStage(sum)
	k.Notes = append(k.Notes, fmt.Sprintf("%d parts, whatever the number of threads: each adds to a copy of %s", p.parts, name))
}
