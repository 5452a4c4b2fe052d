package lower

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A workspace gathers entries that arise in any order and hands them on in the
// order of their coordinates. An entry's key is its row-major place in the
// workspace's extents. What holds the entries is a store (densework.go,
// hashwork.go, sortwork.go); all stores combine entries of one key in the order in
// which they arise, so the choice never changes a result. The memory belongs to
// the thread that runs the chunk; each use leaves it as it was found.
type workspace struct {
	tensor *ir.Tensor
	// vars are the consumer's variables, by axis; their extents are the axes'.
	vars  []*ir.Index
	store store
	// crd are the coordinates of the entries in order, by axis, once the
	// producer is done.
	crd []loop.BufferID
	// capacity is how many entries the store must have room for, and a power
	// of two; shift is 64 minus its logarithm (workcapacity.go).
	capacity, shift loop.ScalarID
	mask            *iterator // entries outside which the workspace holds nothing
	// open: it is masked, and not drained yet (maskedwork.go).
	open bool
	// anyOrder: its entries are those of the result, whose order does not matter (resultwork.go).
	anyOrder bool
}

// store holds the entries of a workspace.
type store interface {
	// prepare makes the buffers; sizes holds the number of keys.
	prepare(k *kernel, w *workspace)
	// bounded reports whether the store needs w.capacity.
	bounded() bool
	// distinct reports whether insertions of one key take one place.
	distinct() bool
	// allocs are the allocations of the buffers.
	allocs(k *kernel, w *workspace) []loop.Alloc
	// open begins a use.
	open(e *emitter, w *workspace)
	// insert folds x into the entry of key. In a function that counts, x is nil
	// and only the key counts.
	insert(e *emitter, w *workspace, key, x loop.Expr)
	// drain ends a use and returns the number of entries. It calls visit, if that is
	// not nil, for the number and key of each, in order. Where the p-th had the
	// coordinates that emitter.list leaves, its value can be read until the next use.
	drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr
	// element is where the p-th entry's value is in the buffer values, after the drain.
	element(e *emitter, w *workspace, p loop.Expr) loop.Expr
	// complete reports whether an entry's value can be read while it is visited;
	// visited is where it is then.
	complete() bool
	visited(e *emitter, p, key loop.Expr) loop.Expr
	values() loop.BufferID
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
		w := &workspace{tensor: s.Tensor}
		for _, a := range k.step.Workspaces {
			if a.Tensor == s.Tensor {
				w.vars = a.Vars(nil)
			}
		}
		how := ""
		if s.Mask != nil {
			how = ", masked by " + s.Mask.Tensor.Name
		}
		for axis := range w.vars {
			w.crd = append(w.crd, k.Buffer(fmt.Sprintf("%s_crd%d", s.Tensor.Name, axis), k.opts.Coordinates, loop.Scratch))
		}
		if w.anyOrder = k.inAnyOrder(s); w.anyOrder {
			how = ", in any order"
		}
		switch k.opts.Workspace {
		case DenseWorkspace:
			w.store = &denseStore{}
			if s.Mask != nil {
				w.store = &maskedStore{}
			} else if w.anyOrder {
				w.store = &resultStore{}
			}
		case HashWorkspace:
			w.store = &hashStore{}
		case SortWorkspace:
			w.store = &sortStore{}
		}
		if w.store.bounded() {
			w.capacity = k.NewScalar(s.Tensor.Name+"_capacity", false)
			w.shift = k.NewScalar(s.Tensor.Name+"_shift", false)
		}
		w.store.prepare(k, w)
		k.workspaces = append(k.workspaces, w)
		k.Notes = append(k.Notes, fmt.Sprintf("%s: %s workspace over %s%s", s.Tensor.Name, k.opts.Workspace, indexNames(w.vars), how))
	})
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

func (k *kernel) workspaceOf(t *ir.Tensor) *workspace {
	for _, w := range k.workspaces {
		if w.tensor == t {
			return w
		}
	}
	panic("BUG: no workspace for " + t.Name)
}

// keys is the number of keys of a workspace.
func (k *kernel) keys(w *workspace) loop.SizeExpr {
	var n loop.SizeExpr = loop.SizeConst(1)
	for _, v := range w.vars {
		n = emit.Times(n, loop.SizeScalar(k.extent(v)))
	}
	return n
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
	w.store.open(e, w)
	e.produce(st, s)
	if e.plainCopy(st, s) {
		if _, written := w.store.(*resultStore); written || e.counting() {
			last := len(e.out.segments) - 1
			e.B.Assign(e.out.current[last], e.B.Add(e.out.current[last], w.store.drain(e, w, nil)))
			return
		}
		if w.store.complete() {
			e.copyOut(st, s, w)
			return
		}
	}
	if m, ok := w.store.(*maskedStore); ok && e.depth > 0 && m.meets(w, s) {
		// The loop that reads it decides whether its entries are listed: see walk.meet. Until then it has none, and what lists them
		// would write to a buffer that the loop had asked to read.
		e.entries[w] = loop.Int(0)
		w.open = true
		e.Write(w.crd[0])
		if e.stmt(st, s.Consumer); w.open {
			panic("BUG: nothing reads workspace " + s.Tensor.Name)
		}
		return
	}
	e.drained(w)
	e.stmt(st, s.Consumer)
}

// drained lists the entries of a workspace.
func (e *emitter) drained(w *workspace) {
	e.entries[w] = w.store.drain(e, w, func(p, key loop.Expr) { e.list(w, p, key) })
}

// copyOut appends the entries of a workspace to the result as they are drained,
// without a list of their coordinates in between.
func (e *emitter) copyOut(st *state, s *ir.Workspace, w *workspace) {
	f := s.Consumer.(*ir.Forall)
	leaf := f.Body.(*ir.Assign)
	a := leaf.Value.(*ir.Access)
	e.entries[w] = loop.Int(0) // it is there to be read
	w.store.drain(e, w, func(p, key loop.Expr) {
		inner := st.clone()
		inner.index[f.Index] = key
		inner.cursors[a] = cursor{access: a, level: len(a.Tensor.Format.Physical()), pos: p}
		inner.values[a] = e.B.Let(a.Tensor.Name, e.B.Load(e.Read(w.store.values()), w.store.visited(e, p, key)))
		e.withResult(inner, func() { e.stmt(inner, leaf) })
	})
	if !e.quiet {
		e.kernel.Notes = append(e.kernel.Notes, fmt.Sprintf("%s: %s, by entries", f.Index.Name, w.tensor.Name))
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
	it := &iterator{cursor: c, stride: 1, crd: e.Read(e.Input(s.Mask.Tensor, c.level, Coordinates))}
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
	if sup := e.alg.Stored(s.Value, leaves{e: e, st: st}); w.work().Fold.IsNeutral(sup.Background) {
		cond = e.holds(sup.Set, func(at ir.Atom) loop.Expr { return e.atoms[at].flag })
	}
	// What the guard computes stays inside it.
	inner := st.clone()
	b.If(cond, func() {
		if e.bound != nil {
			e.bound.insert(e, w)
			return
		}
		insert := w.store.insert
		if e.shared != nil && e.shared.insert != nil {
			insert = e.shared.insert
		}
		var key loop.Expr = loop.Int(0)
		for axis, x := range s.LHS.Indices {
			n := e.extent(w.vars[axis])
			c := inner.index[x.Plain()]
			if x.Plain() == nil {
				c = e.place(inner, x, n)
			}
			key = b.Add(b.Mul(key, e.Scalar(n)), c)
		}
		key = b.Let("key", key)
		if e.counting() {
			insert(e, w, key, nil)
			return
		}
		insert(e, w, key, b.Let("x", e.expr(inner, s.Value)))
	}, nil)
}

// list stores the coordinates of the p-th entry.
func (e *emitter) list(w *workspace, p, key loop.Expr) {
	b := e.B
	for axis := len(w.vars) - 1; axis >= 0; axis-- {
		c := key
		if axis > 0 {
			n := e.Scalar(e.extent(w.vars[axis]))
			c = b.Rem(key, n)
			key = b.Let("key", b.Div(key, n))
		}
		crd := e.Write(w.crd[axis])
		b.Store(crd, p, b.Cast(b.Elem(crd), c))
	}
}

// work is the fold that the workspace holds the results of.
func (w *workspace) work() *ir.Reduce { return ir.WorkOf(w.tensor) }

// identity is what an entry's fold starts from.
func (w *workspace) identity() loop.Expr { return emit.Constant(w.work().Fold.Identity(w.work().Typ)) }

// valueType is the type of the entries.
func (w *workspace) valueType() loop.Type { return emit.ComputeType(tensor.DType(w.tensor.DType)) }
