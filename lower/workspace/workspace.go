// Package workspace has the stores of workspaces: what gathers entries that arise in any order and hands them on in the
// order of their coordinates. An entry's key is its row-major place in the workspace's extents. All stores combine entries of
// one key in the order in which they arise, so the choice never changes a result. The memory belongs to the thread that runs
// a chunk; each use leaves it as it was found. The loops that fill and read them are lower's (workspacenest.go), and a run
// chooses the store (runtime/exec/workspaces.go).
package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Space is what a store is for: the entries of a workspace.
type Space struct {
	Tensor *ir.Tensor
	// Vars are the consumer's variables, by axis; their extents are the axes', which Extent gives.
	Vars   []*ir.Index
	Extent func(*ir.Index) loop.ScalarID
	// Crd are the coordinates of the entries in order, by axis, once the producer is done.
	Crd []loop.BufferID
	// Values has the values of the entries, where a store says.
	Values loop.BufferID
	// Capacity is how many entries a bounded store must have room for, and a power
	// of two; Shift is 64 minus its logarithm.
	Capacity, Shift loop.ScalarID
	// AnyOrder: the entries are those of the result, whose order does not matter.
	AnyOrder bool
}

// Store holds the entries of a workspace.
type Store interface {
	// Prepare makes the buffers.
	Prepare(b *emit.Builder)
	// Facts are what is true of the store.
	Facts() Facts
	// Allocs are the allocations of the buffers.
	Allocs() []loop.Alloc
	// Open begins a use.
	Open(u *Use)
	// Insert folds x into the entry of key. In a function that counts, x is nil
	// and only the key counts.
	Insert(u *Use, key, x loop.Expr)
	// Drain ends a use and returns the number of entries. It calls visit, if that is
	// not nil, for the number and key of each, in order. Where the p-th had the
	// coordinates that [Space.List] leaves, its value can be read until the next use.
	Drain(u *Use, visit func(p, key loop.Expr)) loop.Expr
	// Element is where the p-th entry's value is in the buffer Values, after the drain.
	Element(f *emit.Func, p loop.Expr) loop.Expr
	// Visited is where it is while the entry is visited, of complete stores.
	Visited(f *emit.Func, p, key loop.Expr) loop.Expr
}

// Facts are what is true of a store.
type Facts struct {
	Bounded  bool // it needs a capacity
	Distinct bool // insertions of one key take one place
	Complete bool // an entry's value can be read while it is visited
	Masked   bool // it holds nothing outside a mask
	Direct   bool // its entries are those of the result
}

// Use is a use of a workspace in a function.
type Use struct {
	*emit.Func
	// Counting: the function only counts entries.
	Counting bool
	// Grids: it is for engines that share loops among threads.
	Grids  bool
	Mask   Mask
	Result Target

	held   *loop.Ref // entries inserted so far
	before loop.Expr // the number of entries of a result before those of the use
}

// Mask are the entries outside which a workspace holds nothing.
type Mask struct {
	Begin, End loop.Expr
	Key        func(p loop.Expr) loop.Expr
}

// Target is the list of entries of a result to which a use appends, and how many there were before it.
type Target struct {
	Crd, Values loop.BufferID
	Entries     *loop.Ref
}

// Keys is the number of keys.
func (s *Space) Keys() loop.SizeExpr {
	var n loop.SizeExpr = loop.SizeConst(1)
	for _, v := range s.Vars {
		n = emit.Times(n, loop.SizeScalar(s.Extent(v)))
	}
	return n
}

// keys is that in a function.
func (s *Space) keys(f *emit.Func) loop.Expr {
	n := loop.Expr(loop.Int(1))
	for _, v := range s.Vars {
		n = f.B.Mul(n, f.Scalar(s.Extent(v)))
	}
	return n
}

// List stores the coordinates of the p-th entry.
func (s *Space) List(f *emit.Func, p, key loop.Expr) {
	b := f.B
	for axis := len(s.Vars) - 1; axis >= 0; axis-- {
		c := key
		if axis > 0 {
			n := f.Scalar(s.Extent(s.Vars[axis]))
			c = b.Rem(key, n)
			key = b.Let("key", b.Div(key, n))
		}
		crd := f.Write(s.Crd[axis])
		b.Store(crd, p, b.Cast(b.Elem(crd), c))
	}
}

// Open counts the entries of a use, for stores that do no more to begin one.
func (s *Space) Open(u *Use) { u.held = u.B.Var("n_"+s.Tensor.Name, loop.Int(0)) }

// Visited is where values of stores with a place for each key are.
func (s *Space) Visited(_ *emit.Func, _, key loop.Expr) loop.Expr { return key }

// work is the fold that the workspace holds the results of.
func (s *Space) work() *ir.Reduce { return ir.WorkOf(s.Tensor) }

// Fold combines the values of one key.
func (s *Space) Fold() ir.Fold { return s.work().Fold }

// Identity is what an entry's fold starts from.
func (s *Space) Identity() loop.Expr { return emit.Constant(s.Fold().Identity(s.work().Typ)) }

// ValueType is the type of the entries.
func (s *Space) ValueType() loop.Type { return emit.ComputeType(tensor.DType(s.Tensor.DType)) }
