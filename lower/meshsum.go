package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// Matrices that are added up often have one pattern: those of one mesh or one graph. This file cuts the rows of a sum that is
// gathered in a workspace into blocks. Where all operands store the same in a block, it is added up operand by operand, in vectors,
// while the block's part of the result stays in the first cache; row by row, many operands at places that are alike are in one
// another's way in the caches. Terms are added in the order of the rows' workspaces.

// meshRows is the number of rows in a block: with ten entries in each, it takes 30 KiB of the result.
const meshRows = 256

// meshTermsAtOnce is how many operands are added in one loop.
const meshTermsAtOnce = 4

// meshTerms lists the terms of a sum of matrices whose rows are gathered by the loop of w, nil if it is no such sum.
func (w *walk) meshTerms() []*ir.Access {
	s, ok := w.f.Body.(*ir.Workspace)
	out, t := w.out, w.step.Result
	if !ok || len(s.Producers) < 2 || s.Mask != nil || out == nil || w.opts.Grids || w.bound != nil || w.split != nil || w.counting ||
		!w.handsOn(s) || t.Rank != 2 || w.step.LHS.Indices[t.Format.Order()[0]].Plain() != w.f.Index || !out.levels[0].Full() || !out.levels[1].Ranges() || t.DType != s.Tensor.DType || emit.Type(t.DType) != emit.ComputeType(t.DType) {
		return nil
	}
	var terms []*ir.Access
	for _, p := range s.Producers {
		f, ok := p.(*ir.Forall)
		if !ok {
			return nil
		}
		leaf, ok := f.Body.(*ir.Assign)
		if !ok || leaf.Temp != nil || leaf.LHS.Indices[0].Plain() != f.Index {
			return nil
		}
		a, ok := leaf.Value.(*ir.Access)
		if !ok || a.Tensor.Rank != 2 || a.Tensor.DType != t.DType {
			return nil
		}
		levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
		if !levels[0].Full() || !levels[1].Ranges() || !levels[1].Unique || a.Indices[order[0]].Plain() != w.f.Index || a.Indices[order[1]].Plain() != f.Index {
			return nil
		}
		terms = append(terms, a)
	}
	return terms
}

// meshBlocks emits the loop over rows lo to hi in blocks.
func (w *walk) meshBlocks(terms []*ir.Access, lo, hi loop.Expr) {
	b := w.B
	from := b.Var("from", lo)
	b.While(b.Lt(from, hi), func() {
		first := b.Let("first", from)
		to := b.Let("to", b.Min(b.Add(first, loop.Int(meshRows)), hi))
		begins, size, differ := w.compared(terms, first, to)
		b.If(b.Eq(differ, loop.Int(0)), func() { w.addBlock(terms, begins, first, to, size) }, func() {
			b.For(w.f.Index.Name, first, to, func(i loop.Expr) { w.body(i, nil) })
		})
		b.Assign(from, to)
	})
}

// compared says where the entries of each term begin in the rows from first to to, how many the first one has, and, by a variable that is
// not 0 then, if others have other places.
func (w *walk) compared(terms []*ir.Access, first, to loop.Expr) (begins []loop.Expr, size loop.Expr, differ *loop.Ref) {
	b := w.B
	for _, a := range terms {
		begins = append(begins, b.Let("begin", b.LoadIndex(w.positionsOf(a), first)))
	}
	size = b.Let("size", b.Sub(b.LoadIndex(w.positionsOf(terms[0]), to), begins[0]))
	differ = b.Var("differ", loop.Int(0))
	compare := func(lo, hi loop.Expr, x, y func(p loop.Expr) loop.Expr) {
		b.If(b.Eq(differ, loop.Int(0)), func() {
			b.For("p", lo, hi, func(p loop.Expr) { b.Assign(differ, b.Or(differ, loop.NewBinary(loop.Xor, x(p), y(p)))) })
		}, nil)
	}
	for k, a := range terms[1:] {
		end := func(a *ir.Access, begin loop.Expr) func(loop.Expr) loop.Expr {
			return func(i loop.Expr) loop.Expr { return b.Sub(b.LoadIndex(w.positionsOf(a), b.Add(i, loop.Int(1))), begin) }
		}
		compare(first, to, end(terms[0], begins[0]), end(a, begins[k+1]))
		place := func(a *ir.Access, begin loop.Expr) func(loop.Expr) loop.Expr {
			return func(p loop.Expr) loop.Expr { return b.LoadIndex(w.coordinatesOf(a), b.Add(begin, p)) }
		}
		compare(loop.Int(0), size, place(terms[0], begins[0]), place(a, begins[k+1]))
	}
	return begins, size, differ
}

func (w *walk) positionsOf(a *ir.Access) loop.BufID {
	return w.Read(w.Input(a.Tensor, 1, emit.Positions))
}

func (w *walk) coordinatesOf(a *ir.Access) loop.BufID {
	return w.Read(w.Input(a.Tensor, 1, emit.Coordinates))
}

// addBlock appends the entries of the rows from first to to, where all terms have so many at the same places.
func (w *walk) addBlock(terms []*ir.Access, begins []loop.Expr, first, to, size loop.Expr) {
	b, out := w.B, w.out
	n := b.Let("n", out.current[0])
	b.Assign(out.current[0], b.Add(n, size))
	if out.mode == countEntries {
		return
	}
	crd, vals, pos := w.Write(out.segments[0].crd[0]), w.Write(out.values), w.Write(out.segments[0].pos)
	b.ForIndependent("p", loop.Int(0), size, func(p loop.Expr) {
		b.Store(crd, b.Add(n, p), b.Cast(b.Elem(crd), b.LoadIndex(w.coordinatesOf(terms[0]), b.Add(begins[0], p))))
	})
	sum := w.workspaceOf(w.f.Body.(*ir.Workspace).Tensor)
	for k := 0; k < len(terms); k += meshTermsAtOnce {
		b.ForIndependent("p", loop.Int(0), size, func(p loop.Expr) {
			at := b.Let("at", b.Add(n, p))
			acc := sum.Identity()
			if k > 0 {
				acc = b.Load(vals, at)
			}
			for i, a := range terms[k:min(k+meshTermsAtOnce, len(terms))] {
				x := b.Load(w.Read(w.Input(a.Tensor, 0, emit.Values)), b.Add(begins[k+i], p))
				acc = b.Let("sum", fold.Step(b, sum.Fold(), acc, x))
			}
			b.Store(vals, at, acc)
		})
	}
	b.For(w.f.Index.Name, first, to, func(i loop.Expr) {
		next := b.Add(i, loop.Int(1))
		from := b.Sub(begins[0], n)
		if !out.allParents { // counts, which a later stage adds up
			from = b.LoadIndex(w.positionsOf(terms[0]), i)
		}
		b.Store(pos, next, b.Cast(w.opts.positions(), b.Sub(b.LoadIndex(w.positionsOf(terms[0]), next), from)))
	})
}
