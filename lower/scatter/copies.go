package scatter

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// A nest whose outermost loop is not one of the result's, as that of the columns of a matrix
// stored by rows, updates one element of a dense result in many chunks. Where the order of
// updates does not matter, threads may have copies of the result of their own (loop.Copies),
// which a stage behind the nest folds into it.

// updatesPerElement is how many updates of each element a thread must make for a copy to pay:
// to make one and to fold it takes as long as half an update to one. copiedChunks is how many
// chunks a thread must have in any case, which is what it takes to wake it and more.
const (
	updatesPerElement = 2
	copiedChunks      = 2
)

// foldGrain is how many elements of copies a chunk folds.
const foldGrain = 1 << 13

// AddUpdates adds the stage of a nest that updates the result, and one that folds what threads
// have in copies, if they may have any.
func (k *Result) AddUpdates(s loop.Stage, copies bool) {
	if !copies || s.Partition < 0 {
		k.AddStage(s)
		return
	}
	name := k.Step.Result.Name
	typ := ir.ComputeType(k.Step.Result.DType)
	folds := []copied{{k.Kernel.Result.Values, k.Step.Fold, emit.Constant(k.Step.Fold.Identity(typ))}}
	if k.visits != nil {
		folds = append(folds, copied{*k.visits, ir.FoldSum, loop.Int(0)})
	}
	least := emit.Times(k.Size(k.Step.Result, 0), loop.SizeConst(updatesPerElement*int64(len(folds))))
	c := &loop.Copies{
		Count:  k.NewScalar(name+"_copies", false),
		Chunks: &loop.SizeOp{Op: loop.Add, X: loop.SizeConst(copiedChunks), Y: &loop.SizeOp{Op: loop.Div, X: least, Y: loop.SizeConst(emit.ChunkGrain)}},
	}
	for i := range folds {
		b := k.Program.Buffers[folds[i].buffer]
		c.List = append(c.List, loop.Copy{Buffer: folds[i].buffer, All: k.Buffer(b.Name+"_copies", b.Elem, loop.Temp), Start: folds[i].start})
	}
	s.Ordered, s.Copies = true, c
	k.AddStage(s)
	k.foldCopiesStage(c, folds)
	k.Notes = append(k.Notes, fmt.Sprintf("several threads: each updates a copy of %s where it has %d updates for each element; %s joins copies", name, updatesPerElement*len(folds), k.Step.Fold))
}

// copied is a buffer of which threads have copies: the fold that updates it, and what that makes
// of nothing.
type copied struct {
	buffer loop.BufferID
	fold   ir.Fold
	start  *loop.Const
}

// foldCopiesStage emits the stage that folds copies into the buffers, the elements in chunks.
// Without copies it has none.
func (k *Result) foldCopiesStage(c *loop.Copies, folds []copied) {
	e := k.NewFunc("fold_" + k.Step.Result.Name)
	b := e.B
	apart := k.apart(e)
	b.For("copy", loop.Int(0), e.Scalar(c.Count), func(copy loop.Expr) {
		from := b.Let("from", b.Mul(copy, apart))
		for i, f := range folds {
			vals, all := e.Write(f.buffer), e.Read(c.List[i].All)
			b.ForIndependent("p", b.Lo(), b.Hi(), func(p loop.Expr) {
				b.Store(vals, p, joined(b, f, b.Let("x", b.Load(vals, p)), b.Let("y", b.Load(all, b.Add(from, p)))))
			})
		}
	})
	s := e.Stage("fold")
	elements := emit.Times(k.Size(k.Step.Result, 0), &loop.SizeOp{Op: loop.Min, X: loop.SizeConst(1), Y: loop.SizeScalar(c.Count)})
	s.Partition = k.Partition(elements, -1, foldGrain)
	k.AddStage(s)
}

// joined is the fold of an element and of that of a copy. Of floats that are NaN it is the same NaN that one thread
// makes: the element itself where the copy was not updated, else the one that updates give (see extremumOf in codegen/llvm).
func joined(b *loop.Builder, f copied, x, y loop.Expr) loop.Expr {
	v := fold.Step(b, f.fold, x, y)
	if t := v.Type(); t.IsFloat() {
		v = b.Let("v", v)
		return b.Select(b.Eq(y, f.start), x, b.Select(b.Ne(v, v), loop.Float(t, math.NaN()), v))
	}
	return v
}
