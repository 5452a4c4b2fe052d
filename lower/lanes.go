package lower

import (
	"math"
	"os"

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
// that lanes make faster.
func (w *walk) inLanes() bool {
	r := w.floatFold()
	if r == nil || len(w.followers) > 0 {
		return false
	}
	switch r.Fold {
	case ir.FoldSum, ir.FoldProd, ir.FoldMin, ir.FoldMax:
		return cheap(w.st, w.f.Body.(*ir.Assign).Value)
	}
	return false
}

// inBlocks reports whether the innermost loop of w over the entries of one operand
// is a fold that gains by blocks: the smallest or largest number, which is the same
// in any order.
func (w *walk) inBlocks(it *iterator) bool {
	r := w.floatFold()
	if r == nil || !it.unique || it.stride > 1 || len(w.followers) > 0 || w.count != nil {
		return false
	}
	if r.Fold != ir.FoldMin && r.Fold != ir.FoldMax {
		return false
	}
	st := w.st.clone()
	st.cursors[it.access] = it.child(loop.Int(0), nil, nil)
	return cheap(st, w.f.Body.(*ir.Assign).Value)
}

// floatFold is the reduction that the loop's body is a step of, nil if there is
// none that folds real numbers. Engines may reorder integers as they like, and
// the parts of complex numbers are several chains as it is.
func (w *walk) floatFold() *ir.Reduce {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || leaf.Temp == nil || leaf.Temp.Reduce.In != nil || w.emitter.counting() {
		return nil
	}
	if r := leaf.Temp.Reduce; computeType(r.Typ).IsFloat() {
		return r
	}
	return nil
}

// cheap reports whether x is made of few operators that take no call, of numbers,
// and of elements whose positions are known without a search or a branch.
func cheap(st *state, x ir.Expr) bool {
	terms, cheap := 0, true
	ir.Walk(x, func(x ir.Expr) {
		terms++
		switch x := x.(type) {
		case *ir.Access:
			cheap = cheap && direct(st, x)
		case *ir.Call:
			cheap = cheap && isOperator(x)
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
func direct(st *state, a *ir.Access) bool {
	if _, known := st.values[a]; known {
		return true
	}
	c := st.cursors[a]
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
				at := w.at(b.Let(w.f.Index.Name, b.Add(first, loop.Int(int64(i)))), nil)
				b.Assign(lane, w.combine(fold, lane, w.expr(at, w.f.Body.(*ir.Assign).Value)))
			}
		})
		b.Assign(acc.state[0], w.combine(fold, acc.state[0], w.tree(fold, lanes)))
		b.Assign(acc.seen, loop.Truth(true))
		b.Assign(rest, b.Add(lo, b.Mul(blocks, loop.Int(laneCount))))
	}, nil)
	b.For(w.f.Index.Name, b.Let("rest", rest), hi, func(i loop.Expr) { w.body(i, nil) })
}

// at is the state at index i of the loop, with the given cursors.
func (w *walk) at(i loop.Expr, cursors []cursor) *state {
	st := w.st.clone()
	st.index[w.f.Index] = i
	for _, c := range cursors {
		st.cursors[c.access] = c
	}
	w.advance(st)
	return st
}

const blockCount = 4

// blocks emits the loop over the entries of it as a fold in blocks of entries.
func (w *walk) blocks(it *iterator, begin, end loop.Expr, visit func(p loop.Expr)) {
	b := w.b
	acc := w.accs[w.f.Body.(*ir.Assign).Temp]
	name := "p_" + it.access.Tensor.Name
	n := b.Let("length", b.Sub(end, begin))
	block := func(p loop.Expr) {
		parts := make([]loop.Expr, blockCount)
		for i := range parts {
			q := b.Let("p", b.Add(p, loop.Int(int64(i))))
			at := w.at(b.Let(w.f.Index.Name, it.index(b, q)), []cursor{it.child(q, nil, nil)})
			parts[i] = b.Let("v", w.expr(at, w.f.Body.(*ir.Assign).Value))
		}
		b.Assign(acc.state[0], w.best(acc.reduce.Fold, acc.state[0], parts))
	}
	switch variant {
	case "T":
		nb := b.Let("blocks", loop.NewBinary(loop.Shr, n, loop.Int(2)))
		b.For("block", loop.Int(0), nb, func(i loop.Expr) {
			block(b.Let(name, b.Add(begin, b.Mul(i, loop.Int(blockCount)))))
		})
		b.For(name, b.Let("rest", b.Add(begin, b.Mul(nb, loop.Int(blockCount)))), end, visit)
	case "O":
		b.If(b.Ge(n, loop.Int(blockCount)), func() {
			last := b.Let("last", b.Sub(end, loop.Int(blockCount)))
			nb := b.Let("blocks", loop.NewBinary(loop.Shr, b.Add(n, loop.Int(blockCount-1)), loop.Int(2)))
			b.For("block", loop.Int(0), nb, func(i loop.Expr) {
				block(b.Let(name, b.Min(b.Add(begin, b.Mul(i, loop.Int(blockCount))), last)))
			})
		}, func() {
			b.For(name, begin, end, visit)
		})
	case "P":
		b.If(b.Ge(n, loop.Int(blockCount)), func() {
			nb := b.Let("blocks", loop.NewBinary(loop.Shr, n, loop.Int(2)))
			b.For("block", loop.Int(0), nb, func(i loop.Expr) {
				block(b.Let(name, b.Add(begin, b.Mul(i, loop.Int(blockCount)))))
			})
			b.If(b.Ne(b.And(n, loop.Int(3)), loop.Int(0)), func() {
				block(b.Let("last", b.Sub(end, loop.Int(blockCount))))
			}, nil)
		}, func() {
			b.For(name, begin, end, visit)
		})
	}
}

var variant = os.Getenv("V")

// best is min or max of x and the values.
func (e *emitter) best(f ir.Fold, x loop.Expr, values []loop.Expr) loop.Expr {
	b := e.b
	better := func(x, y loop.Expr) loop.Expr {
		if f == ir.FoldMax {
			return b.Select(b.Gt(y, x), y, x)
		}
		return b.Select(b.Lt(y, x), y, x)
	}
	nan := loop.Expr(loop.Truth(false))
	for _, v := range values {
		nan = b.Or(nan, b.Ne(v, v))
	}
	for len(values) > 1 {
		var next []loop.Expr
		for i := 0; i < len(values); i += 2 {
			next = append(next, b.Let("m", better(values[i], values[i+1])))
		}
		values = next
	}
	return b.Select(nan, loop.Float(x.Type(), math.NaN()), better(x, values[0]))
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
