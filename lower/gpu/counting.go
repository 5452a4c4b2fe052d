package gpu

import "github.com/lacuna-sparse/lacuna/ir/loop"

// countsOnly finds the variable of a loop that does nothing but count its iterations:
//
//	for p = begin to end {
//	  if n > most { fail … }
//	  n = n + 1
//	}
//
// It fails, if it does, on what no iteration changes, or on a count that is too large; so
// it fails in its last iteration if it does in any.
func countsOnly(s *loop.For) (loop.VarID, bool) {
	counter := loop.NoVar
	var conditions []loop.Expr
	for _, st := range s.Body {
		if n, ok := counts(st); ok && counter == loop.NoVar {
			counter = n
		} else if x, ok := st.(*loop.If); ok && len(x.Then) == 1 && len(x.Else) == 0 && isFail(x.Then[0]) {
			conditions = append(conditions, x.Cond)
		} else if _, ok := st.(*loop.Comment); !ok {
			return loop.NoVar, false
		}
	}
	for _, c := range conditions {
		if x, ok := c.(*loop.Binary); ok && x.Op == loop.Gt && isRef(x.X, counter) {
			c = x.Y
		}
		if loop.HasLoad(c) || loop.Reads(c, map[loop.VarID]bool{s.Var: true, counter: true}) {
			return loop.NoVar, false
		}
	}
	return counter, counter != loop.NoVar
}

func isFail(s loop.Stmt) bool {
	_, ok := s.(*loop.Fail)
	return ok
}

// countAtOnce emits the last iteration of a loop that only counts in place of all of them;
// it reports whether the loop is one.
func (g *gridFunc) countAtOnce(s *loop.For, n *loop.Inliner) bool {
	counter, ok := countsOnly(s)
	if !ok {
		return false
	}
	b := g.Builder
	lo, hi := b.Let("lo", n.Expr(s.Lo)), b.Let("hi", n.Expr(s.Hi))
	b.If(b.Lt(lo, hi), func() {
		last := b.Let("last", b.Sub(hi, loop.Int(1)))
		count := n.Value(counter).(*loop.Ref)
		b.Assign(count, b.Add(count, b.Sub(last, lo)))
		iteration(n, s, last)
	}, nil)
	return true
}
