package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A fold is a chain: each step waits for the one before, four cycles for a sum,
// while a processor could start eight of them and more in each. In lanes it is
// several chains next to each other: elements t, t+8, t+16, … of a loop go to lane
// t, the lanes are combined as a balanced tree, and what is left at the end is
// folded one by one. Engines find vectors in that form, and it says in which order
// everything is rounded, so that all of them still compute the same bits.

// laneCount is a constant of the language, whatever the machine: the order in which
// a sum is rounded follows from it.
const laneCount = 8

// laneTerms bounds how much of an expression is repeated for each lane.
const laneTerms = 16

// inLanes reports whether the innermost loop of w over a whole dimension is a fold
// of floats that lanes make faster: one of elements of dense operands, joined by
// operations that are cheap themselves.
func (w *walk) inLanes() bool {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || leaf.Temp == nil || leaf.Temp.Reduce.In != nil || w.counting || w.emitter.counting() || len(w.followers) > 0 {
		return false
	}
	r := leaf.Temp.Reduce
	switch r.Fold {
	case ir.FoldSum, ir.FoldProd, ir.FoldMin, ir.FoldMax:
	default:
		return false
	}
	if !computeType(r.Typ).IsFloat() {
		return false // integers engines may reorder; the parts of complex numbers are chains already
	}
	return w.cheap(leaf.Value)
}

// cheap reports whether x is made of few operators that take no call, of numbers,
// and of elements whose positions are known without a search or a branch.
func (w *walk) cheap(x ir.Expr) bool {
	terms, cheap := 0, true
	ir.Walk(x, func(x ir.Expr) {
		terms++
		switch x := x.(type) {
		case *ir.Access:
			cheap = cheap && w.direct(x)
		case *ir.Call:
			cheap = cheap && isOperator(x)
		case *ir.TempRef:
			cheap = cheap && w.st.temps[x.Temp].present == nil
		}
	})
	return cheap && terms <= laneTerms
}

// isOperator reports whether a call is one operation on real numbers, or a few on
// complex ones.
func isOperator(x *ir.Call) bool {
	if x.Typ.IsComplex() && x.Fn == "/" {
		return false
	}
	_, ok := operators[x.Fn]
	switch x.Fn {
	case "neg", "abs", "sqrt", "square", "cube", "relu":
		ok = ok || !x.Typ.IsComplex()
	case "conj", "real", "imag", "not":
		ok = true
	}
	return ok
}

// direct reports whether the element of a is loaded from a place that is computed
// from the indices, and stored as it is computed with.
func (w *walk) direct(a *ir.Access) bool {
	if _, known := w.st.values[a]; known {
		return true
	}
	c := w.st.cursors[a]
	if c.present != nil || a.Tensor.Work != nil || loopType(a.Tensor.DType) != computeType(a.Tensor.DType) {
		return false
	}
	for levels := a.Tensor.Format.Physical(); c.level < len(levels); c.level++ {
		if _, x := c.next(); levels[c.level].Kind != tensor.DenseLevel || x.Gather != nil || x.Pad {
			return false
		}
	}
	return true
}

// lanes emits the loop from lo to hi as a fold in lanes.
func (w *walk) lanes(lo, hi loop.Expr) {
	b := w.b
	acc := w.accs[w.f.Body.(*ir.Assign).Temp]
	fold := acc.reduce.Fold
	rest := b.Var("rest", lo)
	length := b.Let("length", b.Sub(hi, lo))
	b.If(b.Ge(length, loop.Int(laneCount)), func() {
		lanes := make([]*loop.Ref, laneCount)
		for i := range lanes {
			lanes[i] = b.Var("lane", constant(fold.Identity(acc.reduce.Typ)))
		}
		blocks := b.Let("blocks", b.Div(length, loop.Int(laneCount)))
		b.For("block", loop.Int(0), blocks, func(block loop.Expr) {
			first := b.Let(w.f.Index.Name, b.Add(lo, b.Mul(block, loop.Int(laneCount))))
			for i, lane := range lanes {
				at := w.at(b.Let(w.f.Index.Name, b.Add(first, loop.Int(int64(i)))))
				b.Assign(lane, w.combine(fold, lane, w.expr(at, w.f.Body.(*ir.Assign).Value)))
			}
		})
		b.Assign(acc.state[0], w.combine(fold, acc.state[0], w.tree(fold, lanes)))
		b.Assign(acc.seen, loop.Truth(true))
		b.Assign(rest, b.Add(lo, b.Mul(blocks, loop.Int(laneCount))))
	}, nil)
	b.For(w.f.Index.Name, b.Let("rest", rest), hi, func(i loop.Expr) { w.body(i, nil) })
}

// at is the state at index i of the loop.
func (w *walk) at(i loop.Expr) *state {
	st := w.st.clone()
	st.index[w.f.Index] = i
	w.advance(st)
	return st
}

// tree combines lanes, each with its neighbour until one is left.
func (e *emitter) tree(f ir.Fold, lanes []*loop.Ref) loop.Expr {
	parts := make([]loop.Expr, len(lanes))
	for i, lane := range lanes {
		parts[i] = lane
	}
	for len(parts) > 1 {
		parts = append([]loop.Expr{e.b.Let("part", e.combine(f, parts[0], parts[1]))}, parts[2:]...)
	}
	return parts[0]
}
