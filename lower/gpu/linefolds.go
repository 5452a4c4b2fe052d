package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// lineFold is the body of a loop over columns that folds something over the entries of its
// row in a variable, and stores what comes of that:
//
//	for k = 0 to K {
//	  var acc = 0
//	  for p = begin to end {
//	    acc = acc + A[p] * B[j*K + k]
//	  }
//	  C[i*K + k] = acc
//	}
//
// The loops may change places, as each column has a variable of its own: then it is a
// lineNest whose elements are these variables.
type lineFold struct {
	line   *loop.For
	before []loop.Stmt // declarations
	over   *loop.For
	inner  *loop.For // the innermost of the loops over entries: over itself, if it is one
	// computed are declarations in the loops around inner that depend on the column.
	computed []loop.Stmt
	after    []loop.Stmt
	fold     fold
	// column are the variables declared before and in the fold that depend on the column.
	column map[loop.VarID]bool
}

// lineFoldOf finds out whether a function is a loop over rows of such lines.
func lineFoldOf(f *loop.Func) (*lineNest, bool) {
	stores, ok := lineStoresOf(f)
	if !ok {
		return nil, false
	}
	t := &lineFold{line: stores.line, column: map[loop.VarID]bool{stores.line.Var: true}}
	for i, s := range t.line.Body {
		if over, is := s.(*loop.For); is {
			t.before, t.over, t.after = t.line.Body[:i], over, t.line.Body[i+1:]
			break
		}
	}
	if t.over == nil || !t.declares(t.before) || !t.straight(t.over) || hasLoops(t.after) {
		return nil, false
	}
	folds, ok := foldsOf(f, t.over)
	if !ok || len(folds) != 1 || t.depends(t.over.Lo) || t.depends(t.over.Hi) {
		return nil, false
	}
	t.fold = folds[0]
	n := &lineNest{f: f, row: stores.row, lets: lets(loop.LetsOf(f.Body)), buf: -1, width: stores.width, op: t.fold.op, sum: t}
	_, n.start = loneLoop(n.row.Body, isDeclaration)
	_, n.split = pointersOf(f, t.over)
	n.split = n.split || overDimension(f, t.over)
	return n, true
}

// declares notes which of the variables that are declared depend on the column; variables
// that may change do. It reports whether there is nothing else.
func (t *lineFold) declares(body []loop.Stmt) bool {
	for _, s := range body {
		if l, ok := s.(*loop.Let); ok {
			t.column[l.Var] = l.Mutable || t.depends(l.Value)
		}
	}
	return only(body, isDeclaration)
}

// straight checks that a loop over entries has nothing in it but declarations of what does
// not change and, last, another such loop, or one assignment. Outside the innermost loop
// what depends on the column may only be computed, not read.
func (t *lineFold) straight(s *loop.For) bool {
	last := len(s.Body) - 1
	if last < 0 || !t.declares(s.Body[:last]) {
		return false
	}
	nested, nests := s.Body[last].(*loop.For)
	for _, st := range s.Body[:last] {
		l, ok := st.(*loop.Let)
		switch {
		case !ok:
		case l.Mutable:
			return false
		case nests && t.column[l.Var]:
			if loop.HasLoad(l.Value) {
				return false
			}
			t.computed = append(t.computed, st)
		}
	}
	if nests {
		return !t.depends(nested.Lo) && !t.depends(nested.Hi) && t.straight(nested)
	}
	t.inner = s
	_, assigns := s.Body[last].(*loop.Assign)
	return assigns
}

func (t *lineFold) depends(e loop.Expr) bool { return loop.Reads(e, t.column) }

// begin emits what comes before the folds, for each column.
func (t *lineFold) begin(w *lineWork, n *loop.Inliner) {
	w.bound = nil
	for _, k := range w.columns {
		n.Bind(t.line.Var, k)
		n.Block(t.before)
		bound := map[loop.VarID]loop.Expr{}
		for _, s := range t.before {
			if l, ok := s.(*loop.Let); ok {
				bound[l.Var] = n.Value(l.Var)
			}
		}
		w.bound = append(w.bound, bound)
		w.values = append(w.values, bound[t.fold.variable].(*loop.Ref))
	}
}

// at makes what is emitted next that of a column.
func (t *lineFold) at(w *lineWork, n *loop.Inliner, u int) {
	n.Bind(t.line.Var, w.columns[u])
	for id, e := range w.bound[u] {
		n.Bind(id, e)
	}
	n.Bind(t.fold.variable, w.values[u])
}

// do emits an iteration of the folds for each column, after what is the same for all.
func (t *lineFold) do(w *lineWork, n *loop.Inliner) {
	for u := range w.columns {
		t.at(w, n, u)
		n.Block(t.computed)
		for _, s := range t.inner.Body {
			switch s := s.(type) {
			case *loop.Let:
				if t.column[s.Var] {
					n.Block([]loop.Stmt{s})
				}
			case *loop.Assign:
				w.assign(w.values[u], n.Expr(s.Value))
			}
		}
	}
}

// end emits what comes after the folds, for the columns that the thread really has.
func (t *lineFold) end(w *lineWork, n *loop.Inliner) {
	w.each(func(u int) {
		t.at(w, n, u)
		n.Block(t.after)
	})
}
