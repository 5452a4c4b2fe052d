package lower

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// gathering is a workspace with the store that holds its entries (package workspace).
type gathering struct {
	*workspace.Space
	store workspace.Store
	mask  *iterator // entries outside which the workspace holds nothing
	// open: it is masked, and not drained yet (workspacemask.go).
	open bool
}

// WorkspaceKind is how a workspace stores its entries.
type WorkspaceKind uint8

// The kinds of workspace.
const (
	// DenseWorkspace has a place for each key and bitmaps of the places in use.
	// Its memory grows with the extents; its bitmaps are read and cleared along
	// what was touched, never as a whole.
	DenseWorkspace WorkspaceKind = iota
	// HashWorkspace is a hash table and a list of keys that is sorted.
	HashWorkspace
	// SortWorkspace is a list of all insertions that is sorted and combined.
	SortWorkspace
)

// String is the kind's name.
func (w WorkspaceKind) String() string {
	return [...]string{DenseWorkspace: "dense", HashWorkspace: "hash", SortWorkspace: "sort"}[w]
}

// prepareWorkspaces makes the workspaces of a nest.
func (k *kernel) prepareWorkspaces(body ir.Stmt) {
	ir.EachStmt(body, func(st ir.Stmt) {
		s, ok := st.(*ir.Workspace)
		if !ok {
			return
		}
		w := &gathering{Space: &workspace.Space{Tensor: s.Tensor, Extent: k.extent}}
		for _, a := range k.step.Workspaces {
			if a.Tensor == s.Tensor {
				w.Vars = a.Vars(nil)
			}
		}
		how := ""
		if s.Mask != nil {
			how = ", masked by " + s.Mask.Tensor.Name
		}
		for axis := range w.Vars {
			w.Crd = append(w.Crd, k.Buffer(fmt.Sprintf("%s_crd%d", s.Tensor.Name, axis), k.opts.Coordinates, loop.Scratch))
		}
		if w.AnyOrder = k.inAnyOrder(s); w.AnyOrder {
			how = ", in any order"
		}
		switch k.opts.Workspace {
		case DenseWorkspace:
			w.store = workspace.NewDense(w.Space)
			if s.Mask != nil {
				w.store = workspace.NewMasked(w.Space)
			} else if w.AnyOrder {
				w.store = workspace.NewResult(w.Space)
			}
		case HashWorkspace:
			w.store = workspace.NewHash(w.Space)
		case SortWorkspace:
			w.store = workspace.NewSorted(w.Space)
		}
		if w.store.Facts().Bounded {
			w.Capacity = k.NewScalar(s.Tensor.Name+"_capacity", false)
			w.Shift = k.NewScalar(s.Tensor.Name+"_shift", false)
		}
		w.store.Prepare(k.Builder)
		k.workspaces = append(k.workspaces, w)
		k.Notes = append(k.Notes, fmt.Sprintf("%s: %s workspace over %s%s", s.Tensor.Name, k.opts.Workspace, indexNames(w.Vars), how))
	})
}

// inAnyOrder reports whether the entries of a workspace are those of the result, which may have them in any order.
func (k *kernel) inAnyOrder(s *ir.Workspace) bool {
	t := k.step.Result
	if k.opts.Grids || !t.Relaxed.Relaxed() || s.Mask != nil || !k.handsOn(s) {
		return false
	}
	last := t.Relaxed.Physical()[t.Rank-1]
	return last.Ranges() && !last.Ordered && t.DType == s.Tensor.DType && emit.Type(t.DType) == emit.ComputeType(t.DType)
}

func indexNames(vars []*ir.Index) string {
	text := ""
	for i, v := range vars {
		if i > 0 {
			text += ", "
		}
		text += v.Name
	}
	return text
}

func (k *kernel) workspaceOf(t *ir.Tensor) *gathering {
	for _, w := range k.workspaces {
		if w.Tensor == t {
			return w
		}
	}
	panic("BUG: no workspace for " + t.Name)
}

// workspace emits a producer, puts its entries in order, and emits the consumer.
func (e *emitter) workspace(st *state, s *ir.Workspace) {
	w := e.workspaceOf(s.Tensor)
	if e.shared != nil && e.shared.workspace != nil {
		e.shared.workspace(st, s)
		return
	}
	if e.bound != nil && e.bound.masks != nil {
		it := e.maskEntries(st, s)
		e.B.Assign(e.bound.masks, e.B.Add(e.bound.masks, e.B.Sub(it.end, it.begin)))
		return
	}
	if e.bound != nil {
		e.produce(st, s)
		e.bound.close(e, w)
		if next, ok := s.Consumer.(*ir.Workspace); ok {
			e.workspace(st, next)
		}
		return
	}
	w.mask = e.maskEntries(st, s)
	w.store.Open(e.use(w))
	e.produce(st, s)
	if e.plainCopy(st, s) {
		if w.store.Facts().Direct || e.counting() {
			last := len(e.out.segments) - 1
			e.B.Assign(e.out.current[last], e.B.Add(e.out.current[last], w.store.Drain(e.uses[w], nil)))
			return
		}
		if w.store.Facts().Complete {
			e.copyOut(st, s, w)
			return
		}
	}
	if w.store.Facts().Masked && e.depth > 0 && w.meets(s) {
		// The loop that reads it decides whether its entries are listed: see walk.meet. Until then it has none, and what lists them
		// would write to a buffer that the loop had asked to read.
		e.entries[w] = loop.Int(0)
		w.open = true
		e.Write(w.Crd[0])
		if e.stmt(st, s.Consumer); w.open {
			panic("BUG: nothing reads workspace " + s.Tensor.Name)
		}
		return
	}
	e.drained(w)
	e.stmt(st, s.Consumer)
}

// use begins a use of a workspace in the function.
func (e *emitter) use(w *gathering) *workspace.Use {
	u := &workspace.Use{Func: e.Func, Counting: e.counting(), Grids: e.opts.Grids}
	if it := w.mask; it != nil {
		u.Mask = workspace.Mask{Begin: it.begin, End: it.end, Key: func(p loop.Expr) loop.Expr { return it.index(e.B, p) }}
	}
	if w.store.Facts().Direct {
		last := len(e.out.segments) - 1
		u.Result = workspace.Target{Crd: e.out.segments[last].crd[0], Values: e.out.values, Entries: e.out.current[last]}
	}
	e.uses[w] = u
	return u
}

// drained lists the entries of a workspace.
func (e *emitter) drained(w *gathering) {
	e.entries[w] = w.store.Drain(e.uses[w], func(p, key loop.Expr) { w.List(e.Func, p, key) })
}

// copyOut appends the entries of a workspace to the result as they are drained,
// without a list of their coordinates in between.
func (e *emitter) copyOut(st *state, s *ir.Workspace, w *gathering) {
	f := s.Consumer.(*ir.Forall)
	leaf := f.Body.(*ir.Assign)
	a := leaf.Value.(*ir.Access)
	e.entries[w] = loop.Int(0) // it is there to be read
	w.store.Drain(e.uses[w], func(p, key loop.Expr) {
		inner := st.clone()
		inner.index[f.Index] = key
		inner.cursors[a] = cursor{access: a, level: len(a.Tensor.Format.Physical()), pos: p}
		inner.values[a] = e.B.Let(a.Tensor.Name, e.B.Load(e.Read(w.Values), w.store.Visited(e.Func, p, key)))
		e.withResult(inner, func() { e.stmt(inner, leaf) })
	})
	if !e.quiet {
		e.kernel.Notes = append(e.kernel.Notes, fmt.Sprintf("%s: %s, by entries", f.Index.Name, w.Tensor.Name))
	}
}

// produce emits the producers. They write no result, although they bind the
// result's variables.
func (e *emitter) produce(st *state, s *ir.Workspace) {
	out := e.out
	e.out = nil
	for _, p := range s.Producers {
		e.stmt(st.reading(p), p)
	}
	e.out = out
}

// maskEntries are the entries of a workspace's mask: those of its innermost
// level, the levels above being resolved by the loops outside the workspace.
func (e *emitter) maskEntries(st *state, s *ir.Workspace) *iterator {
	if s.Mask == nil {
		return nil
	}
	c := st.cursors[s.Mask]
	if c.level != len(s.Mask.Tensor.Format.Physical())-1 {
		panic("BUG: the mask " + ir.ExprString(s.Mask) + " is not resolved outside its workspace")
	}
	it := &iterator{cursor: c, stride: 1, crd: e.Read(e.Input(s.Mask.Tensor, c.level, emit.Coordinates))}
	it.begin, it.end = e.children(c)
	return it
}

// plainCopy reports whether the consumer appends every entry of the workspace to
// the last segment of the result, and nothing else to that or to another one.
func (e *emitter) plainCopy(st *state, s *ir.Workspace) bool {
	last := len(e.out.segments) - 1
	return e.out.appendsAtLeaf(last) && st.result.level >= e.out.segments[last].first && e.handsOn(s)
}

// handsOn reports whether the consumer is a loop over the keys that makes each entry of the workspace one of the result, at the key's coordinate of the last
// level and places of others that the loop has no part in, and nothing else.
func (k *kernel) handsOn(s *ir.Workspace) bool {
	f, ok := s.Consumer.(*ir.Forall)
	if !ok {
		return false
	}
	leaf, ok := f.Body.(*ir.Assign)
	if !ok || leaf.Temp != nil || leaf.LHS.Tensor != k.step.Result {
		return false
	}
	order := leaf.LHS.Tensor.Format.Order()
	for axis, x := range leaf.LHS.Indices {
		last := axis == order[len(order)-1]
		if last && x.Plain() != f.Index || !last && slices.Contains(x.Vars(nil), f.Index) {
			return false
		}
	}
	a, ok := leaf.Value.(*ir.Access)
	return ok && a.Tensor == s.Tensor && len(a.Indices) == 1 && a.Indices[0].Plain() == f.Index &&
		k.leftAlone(&ir.Literal{Value: s.Tensor.Fill})
}

// insert emits the leaf of a producer: it folds a value into an entry, where the
// operands' patterns say that there is one.
func (e *emitter) insert(st *state, s *ir.Assign) {
	b, w := e.B, e.workspaceOf(s.LHS.Tensor)
	cond := loop.Expr(loop.Truth(true))
	if sup := e.alg.Stored(s.Value, leaves{e: e, st: st}); w.Fold().IsNeutral(sup.Background) {
		cond = e.holds(sup.Set, func(at ir.Atom) loop.Expr { return e.atoms[at].flag })
	}
	// What the guard computes stays inside it.
	inner := st.clone()
	b.If(cond, func() {
		if e.bound != nil {
			e.bound.insert(e, w)
			return
		}
		insert := func(key, x loop.Expr) { w.store.Insert(e.uses[w], key, x) }
		if e.shared != nil && e.shared.insert != nil {
			insert = func(key, x loop.Expr) { e.shared.insert(w, key, x) }
		}
		var key loop.Expr = loop.Int(0)
		for axis, x := range s.LHS.Indices {
			n := e.extent(w.Vars[axis])
			c := inner.index[x.Plain()]
			if x.Plain() == nil {
				c = e.place(inner, x, n)
			}
			key = b.Add(b.Mul(key, e.Scalar(n)), c)
		}
		key = b.Let("key", key)
		if e.counting() {
			insert(key, nil)
			return
		}
		insert(key, b.Let("x", e.expr(inner, s.Value)))
	}, nil)
}
