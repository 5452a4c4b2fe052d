package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// bound counts what a nest puts into its workspaces. Memory is allocated between
// stages, so a store that does not have a place for each key must know how many
// entries it may get. A stage of its own runs the nest and counts insertions; of
// an innermost loop that does nothing else, LLVM leaves its length.
type bound struct {
	inserts, need map[*gathering]*loop.Ref
	total         *loop.Ref // of all uses of all workspaces, when not nil
	// masks, when not nil, counts the entries of the masks of workspaces, and
	// nothing is produced.
	masks *loop.Ref
}

func (c *bound) insert(e *emitter, w *gathering) {
	if c.total != nil {
		e.B.Assign(c.total, e.B.Add(c.total, loop.Int(1)))
		return
	}
	e.B.Assign(c.inserts[w], e.B.Add(c.inserts[w], loop.Int(1)))
}

// close ends a use of the workspace.
func (c *bound) close(e *emitter, w *gathering) {
	if c.total != nil {
		return
	}
	e.B.Assign(c.need[w], e.B.Max(c.need[w], c.inserts[w]))
	e.B.Assign(c.inserts[w], loop.Int(0))
}

// boundStages emits the stages that find the capacities of the workspaces, if
// their stores ask for them: the most insertions of any use in each chunk, then
// over all chunks.
func (k *kernel) boundStages(body ir.Stmt, part int) {
	if len(k.workspaces) == 0 || k.opts.Workspace == DenseWorkspace {
		return
	}
	t := k.step.Result
	needs := k.Buffer(t.Name+"_needs", loop.I64, loop.Temp)
	n := loop.Int(int64(len(k.workspaces)))

	e := k.emitter("bound_" + t.Name)
	b := e.B
	e.quiet, e.symbolic = true, true
	e.root.wanted = part >= 0
	e.bound = &bound{inserts: map[*gathering]*loop.Ref{}, need: map[*gathering]*loop.Ref{}}
	for _, w := range k.workspaces {
		e.bound.inserts[w] = b.Var("inserts", loop.Int(0))
		e.bound.need[w] = b.Var("need", loop.Int(0))
	}
	e.nest(body)
	for i, w := range k.workspaces {
		b.Store(e.Write(needs), b.Add(b.Mul(b.Chunk(), n), loop.Int(int64(i))), e.bound.need[w])
	}
	s := e.Stage("bound")
	s.Symbolic = true
	k.perChunk(&s, part, loop.Alloc{Buffer: needs, Len: emit.Times(k.Chunks(part), loop.SizeConst(int64(len(k.workspaces))))})
	k.AddStage(s)
	k.capacityStage(body, needs, part)
}

// capacityStage turns the bounds of hash tables into powers of two at least twice
// as large, so that a table is never more than half full.
func (k *kernel) capacityStage(body ir.Stmt, needs loop.BufferID, part int) {
	t := k.step.Result
	sizes := k.Buffer(t.Name+"_sizes", loop.I64, loop.Temp)
	e := k.emitter("capacity")
	b := e.B
	chunks := e.chunks(part)
	n := int64(len(k.workspaces))
	limit := k.wideLimit(body)
	for i, w := range k.workspaces {
		need := b.Var("need", loop.Int(0))
		b.For("c", loop.Int(0), chunks, func(c loop.Expr) {
			b.Assign(need, b.Max(need, b.Load(e.Read(needs), b.Add(b.Mul(c, loop.Int(n)), loop.Int(int64(i))))))
		})
		if w.store.Facts().Distinct {
			w.LimitToKeys(e.Func, need)
			if len(w.Vars) > 1 && k.opts.LimitWide {
				b.If(b.Gt(need, e.Scalar(limit)), func() { b.Fail("%s", TooWide) }, nil)
			}
		}
		e.checkEntries(need)
		workspace.StoreRoom(w.store, e.Func, need, sizes, int64(2*i))
	}
	s := e.Stage("capacity")
	s.Allocs, s.Symbolic = []loop.Alloc{{Buffer: sizes, Len: loop.SizeConst(2 * n)}}, true
	k.AddStage(s)

	lets := loop.Stage{Name: "size", Partition: -1}
	for i, w := range k.workspaces {
		for j, id := range []loop.ScalarID{w.Capacity, w.Shift} {
			lets.Lets = append(lets.Lets, loop.ScalarLet{Scalar: id, Value: &loop.SizeLoad{Buffer: sizes, Index: loop.SizeConst(2*i + j)}})
		}
	}
	k.AddStage(lets)
}

// wideLimit emits the stage that sets the limit for hash tables for several
// dimensions, if there are any such workspaces.
func (k *kernel) wideLimit(body ir.Stmt) loop.ScalarID {
	several := slices.ContainsFunc(k.workspaces, func(w *gathering) bool { return len(w.Vars) > 1 })
	if !several || !k.opts.LimitWide {
		return -1
	}
	limit := k.NewScalar(k.step.Result.Name+"_wide", false)
	share := &loop.SizeOp{Op: loop.Div, X: k.operandEntries(body), Y: loop.SizeConst(wideShare)}
	k.AddStage(loop.Stage{Name: "limit", Partition: -1, Lets: []loop.ScalarLet{
		{Scalar: limit, Value: &loop.SizeOp{Op: loop.Add, X: share, Y: loop.SizeConst(wideEntries)}}}})
	return limit
}

const (
	// A hash table for several dimensions may have to take all products of a kernel
	// at once, at some hundred bytes each. Up to wideEntries that does not
	// matter; above, it may have a share of 1/wideShare of the operands' entries.
	wideEntries = 1 << 16
	wideShare   = 4
)

// TooWide is the message of a program that was lowered with LimitWide when a hash
// table for several dimensions would get too large.
const TooWide = "too many entries for a workspace of several dimensions"
