package gosource

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A row is what a loop goes along of a buffer: in
//
//	for k = lo to hi { … b[base + k] … }
//
// the elements from base+lo on. It becomes a slice of known length before the loop, so that the Go compiler need not check each
// index: of A_vals[p] in the loop of p too, whose base is 0.
type row struct {
	loop loop.VarID
	buf  loop.BufID
	base string // as Go writes it; "" is 0
	name string
	one  bool // the loop uses the element at base alone, and nothing changes it: it is loaded before

	inside map[loop.VarID]bool // what changes in the loop
}

// loop writes a loop.
func (w *writer) loop(s *loop.For) {
	v := w.names[s.Var]
	outer := len(w.rows)
	w.findRows(s)
	if len(w.rows) == outer {
		w.line("for %s, end := %s, %s; %s < end; %s++ {", v, w.expr(s.Lo), w.expr(s.Hi), v, v)
		w.block(s.Body)
		w.line("}")
		return
	}
	n, at := count(v), place(v)
	lo := "lo"
	if c, ok := s.Lo.(*loop.Const); ok && c.Bits == 0 {
		lo = ""
		w.line("if %s := %s; %s > 0 {", n, w.expr(s.Hi), n)
	} else {
		w.line("if lo, hi := %s, %s; lo < hi {", w.expr(s.Lo), w.expr(s.Hi))
		w.line("%s := hi - lo", n)
	}
	for _, r := range w.rows[outer:] {
		if r.one {
			w.line("%s := %s[%s]", r.name, w.bufs[r.buf], r.base)
			continue
		}
		w.slice(r.name, w.bufs[r.buf], sum(r.base, lo), n)
	}
	if w.apart(s, w.rows[outer:], lo) {
		w.line("}")
		w.rows = w.rows[:outer]
		return
	}
	w.line("for %s := int64(0); %s < %s; %s++ {", at, at, n, at)
	w.line("%s := %s", v, sum(lo, at))
	w.mayBeUnused(v)
	w.block(s.Body)
	w.line("}\n}")
	w.rows = w.rows[:outer]
}

// sum is that of two parts of an index, of which either may be "", for 0.
func sum(x, y string) string {
	if x == "" || y == "" {
		return x + y
	}
	return x + "+" + y
}

// slice writes a row. It ends where its capacity does: as n is not 0, the Go compiler then leaves out what keeps the address of an
// empty slice inside of its array.
func (w *writer) slice(name, buf, first, n string) {
	if first == "" {
		w.line("%s := %s[:%s:%s]", name, buf, n, n)
		return
	}
	w.line("first_%s := %s", name, first)
	w.line("%s := %s[first_%s : first_%s+%s : first_%s+%s]", name, buf, name, name, n, name, n)
}

// count and place are the names of how often a loop runs, and of which time it is.
func count(v string) string { return "n_" + v }
func place(v string) string { return "at_" + v }

// findRows adds the rows of a loop. Every iteration must use an element of each, as a slice takes all: accesses in branches and inner
// loops do not count, and loops that may end early have none.
func (w *writer) findRows(s *loop.For) {
	inside := map[loop.VarID]bool{s.Var: true} // what changes in the loop
	ends := false
	loop.WalkStmts(s.Body, func(st loop.Stmt) {
		switch st := st.(type) {
		case *loop.Let:
			inside[st.Var] = true
		case *loop.Assign:
			inside[st.Var] = true
		case *loop.For:
			inside[st.Var] = true
		case *loop.Fail, *loop.Return:
			ends = true
		}
	})
	if ends {
		return
	}
	w.define(s.Body)
	try := func(buf loop.BufID, index loop.Expr) {
		r := row{loop: s.Var, buf: buf, name: fmt.Sprintf("row%d_%s", len(w.rows), w.names[s.Var]), inside: inside}
		if _, ok := w.rowOf(buf, index); !ok && w.along(index, &r) { // unless it is in a row, perhaps one of a loop around this one
			w.rows = append(w.rows, r)
		}
	}
	for _, st := range s.Body {
		switch st := st.(type) {
		case *loop.Let, *loop.Assign, *loop.Store:
			for _, e := range loop.Exprs(st) {
				loop.WalkExpr(e, func(e loop.Expr) {
					if l, ok := e.(*loop.Load); ok {
						try(l.Buf, l.Index)
					}
				})
			}
			if st, ok := st.(*loop.Store); ok {
				try(st.Buf, st.Index)
			}
		}
	}
}

// define remembers the values of variables that a block defines and nothing changes.
func (w *writer) define(body []loop.Stmt) {
	for _, st := range body {
		if l, ok := st.(*loop.Let); ok && !l.Mutable {
			w.values[l.Var] = l.Value
		}
	}
}

// along finds what an index is to the loop of a row: its base, or one place.
func (w *writer) along(index loop.Expr, r *row) bool {
	if w.fixed[r.buf] && w.constant(index, r.inside) {
		r.base, r.one = w.expr(index), true
		return true
	}
	base, ok := w.base(index, r.loop, r.inside)
	r.base, r.one = base, false
	return ok
}

// base is what an index has beside a loop's variable, if it is the sum of both and the rest does not change in the loop.
func (w *writer) base(index loop.Expr, v loop.VarID, inside map[loop.VarID]bool) (string, bool) {
	switch e := index.(type) {
	case *loop.Ref:
		if e.Var == v {
			return "", true
		}
		if value, ok := w.values[e.Var]; ok && inside[e.Var] {
			return w.base(value, v, inside)
		}
	case *loop.Binary:
		if e.Op != loop.Add {
			return "", false
		}
		for _, half := range [][2]loop.Expr{{e.X, e.Y}, {e.Y, e.X}} {
			base, ok := w.base(half[0], v, inside)
			if !ok || !w.constant(half[1], inside) {
				continue
			}
			rest := w.inside(half[1])
			if base != "" {
				rest = base + "+" + rest
			}
			return rest, true
		}
	}
	return "", false
}

// constant reports whether an expression has one value throughout a loop: it reads no memory, and nothing that the loop changes.
func (w *writer) constant(e loop.Expr, inside map[loop.VarID]bool) bool {
	return !loop.HasExpr(e, func(e loop.Expr) bool {
		switch e := e.(type) {
		case *loop.Ref:
			return inside[e.Var]
		case *loop.Load, *loop.Call:
			return true
		}
		return false
	})
}

// rowOf finds the row that has an element of a buffer.
func (w *writer) rowOf(buf loop.BufID, index loop.Expr) (row, bool) {
	for _, r := range w.rows {
		is := row{loop: r.loop, buf: buf, inside: r.inside}
		if r.buf == buf && w.along(index, &is) && is.base == r.base && is.one == r.one {
			return r, true
		}
	}
	return row{}, false
}

// element is an element of a buffer: of a row, where there is one.
func (w *writer) element(buf loop.BufID, index loop.Expr) string {
	r, ok := w.rowOf(buf, index)
	switch {
	case !ok:
		return w.bufs[buf] + "[" + w.expr(index) + "]"
	case r.one:
		return r.name
	}
	return r.name + "[" + place(w.names[r.loop]) + "]"
}
