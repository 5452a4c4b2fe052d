package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// pairs makes the pairs of a row and an iteration of the only loop in it the rows of a stage, and so on: those of
// a dense tensor of rank 3, of which one dimension alone may be too few for all threads. Where innermost loops
// read what does not lie side by side, lanes are better given the columns of a row, if they can be
// (columns.go). Other stages stay as they are, and so do products that blocks take (blocked.go).
func (m *mapper) pairs(s *loop.Stage, reads reading) *loop.Stage {
	if asked := m.asked(s); !m.unblocked && (asked == "" || asked == blockedWord) {
		if _, ok := m.blockedProduct(s); ok {
			return s
		}
	}
	for t := s; t != nil; t = m.paired(s, reads) {
		s = t
	}
	return s
}

// reading says where innermost loops may read.
type reading uint8

const (
	anywhereAtAll reading = iota
	onlySideBySide
)

// paired does that for one loop; nil if it cannot be done.
func (m *mapper) paired(s *loop.Stage, reads reading) *loop.Stage {
	if !onlyGoesThrough(s.Func) || readsOthersStores(s.Func) {
		return nil
	}
	outer := onlyLoop(s.Func)
	inner, rest := lastLoop(outer.Body)
	if inner == nil || !hasLoops(inner.Body) || reads == onlySideBySide && !(readsSideBySide(s.Func) && overDimensions(s.Func, inner)) {
		return nil
	}
	if pos, ok := pointersOf(s.Func, inner); ok && inner.Independent {
		return m.entriesAsRows(s, outer, inner, rest, pos)
	}
	if !overDimension(s.Func, inner) || !storesApart(s.Func, outer, inner) {
		return nil
	}
	t := withLoop(s, outer, []string{"pair"}, func(vars []*loop.Ref) []loop.Stmt {
		pair := vars[0]
		body := []loop.Stmt{
			&loop.Let{Var: outer.Var, Value: loop.NewBinary(loop.Div, pair, inner.Hi)},
			&loop.Let{Var: inner.Var, Value: loop.NewBinary(loop.Rem, pair, inner.Hi)},
		}
		return []loop.Stmt{&loop.For{Var: pair.Var, Lo: outer.Lo, Hi: outer.Hi, Body: slices.Concat(body, rest, inner.Body), Origin: outer.Origin}}
	})
	if t == nil {
		return nil
	}
	count := loop.SizeScalar(argOf(s, inner.Hi.(*loop.Ref).Var))
	return m.over(t, sizeOp(loop.Mul, loop.SizeScalar(m.cuts[s.Partition].n), count))
}

// over makes a stage one over so many pairs.
func (m *mapper) over(s *loop.Stage, n loop.SizeExpr) *loop.Stage {
	s.Partition = m.partition(s.Name+"_pairs", n)
	m.cuts[s.Partition] = m.cut(s.Partition)
	return s
}

// entriesAsRows makes the entries of a tensor's rows the rows of a stage, where the lowering says that nothing which they change is
// changed by others. The row of each is found by search.
func (m *mapper) entriesAsRows(s *loop.Stage, outer, inner *loop.For, rest []loop.Stmt, pos loop.BufID) *loop.Stage {
	crd, ok := readAlong(inner)
	if !ok {
		return nil
	}
	f := m.listFunc(s, s.Func.Name)
	b, rows := f.Builder, f.scalar(m.cuts[s.Partition].n)
	f.in.Loop = instead(outer, func(n *loop.Inliner) {
		b.For("entry", b.Lo(), b.Hi(), func(p loop.Expr) {
			n.Bind(outer.Var, rowOf(b, f.in.Bufs[pos], loop.Int(0), rows, p))
			n.Block(rest)
			n.Bind(inner.Var, p)
			n.Block(inner.Body)
		})
	})
	b.Inline(s.Func, f.in)
	t := f.stage(s, "", -1)
	if !verified(t) {
		return nil
	}
	return m.over(&t, loop.SizeLen{Buffer: s.Bufs[crd]})
}

// overDimensions reports whether the loops in a loop do, or have no iterations at times, rather than go
// through entries, which all iterations of the loop share.
func overDimensions(f *loop.Func, l *loop.For) bool {
	ok := true
	sometimes := map[loop.VarID]loop.Expr{}
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			if x, is := s.Value.(*loop.Select); is && !s.Mutable {
				sometimes[s.Var] = x.Y
			}
		case *loop.For:
			whole := *s
			if hi, is := s.Hi.(*loop.Ref); is && sometimes[hi.Var] != nil {
				whole.Hi = sometimes[hi.Var]
			}
			ok = ok && overDimension(f, &whole)
		case *loop.While:
			ok = false
		}
	})
	return ok
}

// readsOthersStores reports whether a function reads an element of what it stores to but where it stores: at the one place
// that a sum is added to.
func readsOthersStores(f *loop.Func) bool {
	at := map[loop.BufID]loop.Expr{}
	for _, st := range storesOf(f.Body) {
		if at[st.Buf] != nil {
			return readsOwnStores(f)
		}
		at[st.Buf] = st.Index
	}
	for l := range loop.Loads(f.Body) {
		place, stored := at[l.Buf].(*loop.Ref)
		if at[l.Buf] != nil && !(stored && isRef(l.Index, place.Var)) {
			return true
		}
	}
	return false
}

// storesApart reports whether iterations of a loop in a row have nothing to do with each other, and the only
// thing that they store is at x + k, for the iteration k and an x of the row, or from there on in an array
// with further dimensions: at (x + k)*n + l for a loop over l, which goes through a dimension of n, as it does
// for all dense arrays.
func storesApart(f *loop.Func, outer, inner *loop.For) bool {
	list := storesOf(inner.Body)
	if len(list) != 1 || has(inner.Body, isOther) || !keepsVariables(inner.Body) {
		return false
	}
	row := parameters(f)
	row[outer.Var] = true
	declare(row, f.Body)
	declare(row, outer.Body)
	known, counters := lets(loop.LetsOf(f.Body)), map[loop.VarID]bool{}
	for _, l := range loopsOf(inner.Body) {
		counters[l.Var] = true
	}
	for index := known.value(list[0].Index); ; {
		if atColumn(index, inner.Var, row) {
			return true
		}
		sum, ok := index.(*loop.Binary)
		if !ok || sum.Op != loop.Add {
			return false
		}
		l, isCounter := sum.Y.(*loop.Ref)
		product, ok := known.value(sum.X).(*loop.Binary)
		if !isCounter || !counters[l.Var] || !ok || product.Op != loop.Mul {
			return false
		}
		if n, ok := product.Y.(*loop.Ref); !ok || !slices.Contains(f.Args, n.Var) {
			return false
		}
		index = known.value(product.X)
	}
}
