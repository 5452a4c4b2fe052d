package loop

import "slices"

// jammed is how many iterations of an outer loop are made one.
const jammed = 4

// Jam returns f with loops unrolled and jammed (Callahan, Cocke, Kennedy, "Estimating interlock and improving balance for
// pipelined architectures", 1988) that add to a row again and again:
//
//	for p = begin to end { for independent k { y[at] = y[at] + a[p]*b[…] } }
//
// Four iterations of the outer loop become one, whose inner loop loads and stores y once. Each element takes its terms one after
// the other in the order of before, so the bits are the same. LLVM has such a pass, but not one that sees that the inner loops may be
// joined. f itself is not changed.
func Jam(f *Func) *Func {
	return replaceLoops(f, func(n *rewrite, s *For) []Stmt {
		if r := rowOf(s); r != nil && r.size <= mostJammed {
			return n.jam(r)
		}
		return nil
	})
}

// rewrite is a function that is being rewritten, or what new variables need of it.
type rewrite struct{ vars []Var }

// replaceLoops is f with the statements that replace gives in the place of loops, the outer ones first; it gives none to
// have what is inside looked at.
func replaceLoops(f *Func, replace func(*rewrite, *For) []Stmt) *Func {
	n, changed := &rewrite{slices.Clone(f.Vars)}, false
	var block func(body []Stmt) []Stmt
	block = func(body []Stmt) []Stmt {
		out := make([]Stmt, 0, len(body))
		for _, s := range body {
			switch s := s.(type) {
			case *For:
				if list := replace(n, s); list != nil {
					WalkStmts(list, func(x Stmt) { stamp(x, s.Origin) })
					out, changed = append(out, list...), true
					continue
				}
				c := *s
				c.Body = block(s.Body)
				out = append(out, &c)
			case *While:
				out = append(out, &While{Cond: s.Cond, Body: block(s.Body), Origin: s.Origin})
			case *If:
				out = append(out, &If{Cond: s.Cond, Then: block(s.Then), Else: block(s.Else), Seldom: s.Seldom, Origin: s.Origin})
			default:
				out = append(out, s)
			}
		}
		return out
	}
	body := block(f.Body)
	if !changed {
		return f
	}
	out := *f
	out.Vars, out.Body = n.vars, body
	return &out
}

// row is a loop around an independent one that updates elements.
type row struct {
	outer, inner *For
	outerLets    []*Let
	innerLets    []*Let
	store        *Store
	elem         Type           // of what is stored
	varies       map[VarID]bool // variables whose values the outer loop's has a part in
	size         int            // operands and operators of an iteration
}

// rowOf recognises what Jam and Tile unroll: nothing but constants, loads and arithmetic around one update, at an element that the
// outer loop's variable has no part in.
func rowOf(s *For) *row {
	varies := map[VarID]bool{s.Var: true}
	r := &row{outer: s, varies: varies}
	ok := true
	for _, x := range s.Body {
		switch x := x.(type) {
		case *Let:
			ok = ok && r.inner == nil && !x.Mutable
			r.outerLets = append(r.outerLets, x)
			varies[x.Var] = true
		case *For:
			ok = ok && r.inner == nil && x.Independent
			r.inner = x
		default:
			return nil
		}
	}
	if !ok || r.inner == nil || Reads(r.inner.Lo, varies) || Reads(r.inner.Hi, varies) {
		return nil
	}
	for _, x := range r.inner.Body {
		switch x := x.(type) {
		case *Let:
			if x.Mutable || r.store != nil {
				return nil
			}
			r.innerLets = append(r.innerLets, x)
			if Reads(x.Value, varies) {
				varies[x.Var] = true
			}
		case *Store:
			if r.store != nil {
				return nil
			}
			r.store = x
		default:
			return nil
		}
	}
	if r.store == nil || Reads(r.store.Index, varies) || !r.updates() {
		return nil
	}
	return r
}

// mostJammed is the size of a row that Jam unrolls: what is larger gains little.
const mostJammed = 24

// updates reports whether the buffer stored to is read once, for the element that is stored.
func (r *row) updates() bool {
	loads, same := 0, true
	count := func(e Expr) {
		WalkExpr(e, func(e Expr) {
			r.size++
			l, ok := e.(*Load)
			if !ok || l.Buf != r.store.Buf {
				return
			}
			loads++
			r.elem = l.Elem
			x, ok := l.Index.(*Ref)
			y, ok2 := r.store.Index.(*Ref)
			same = same && ok && ok2 && x.Var == y.Var
		})
	}
	for _, l := range slices.Concat(r.outerLets, r.innerLets) {
		count(l.Value)
	}
	if loads > 0 {
		return false
	}
	count(r.store.Value)
	return loads == 1 && same && r.elem.Compute() == r.elem // else each store rounds
}

// fresh makes a variable.
func (n *rewrite) fresh(name string, t Type) VarID {
	n.vars = append(n.vars, Var{name, t})
	return VarID(len(n.vars) - 1)
}

// let makes a constant of a value.
func (n *rewrite) let(name string, value Expr) (*Let, *Ref) {
	id := n.fresh(name, value.Type())
	return &Let{Var: id, Value: value}, &Ref{Var: id, Typ: value.Type()}
}

// jam is the loop in steps of several iterations, and for what they leave.
func (n *rewrite) jam(r *row) []Stmt {
	begin, lo := n.let("begin", r.outer.Lo)
	many, times := n.let("many", NewBinary(Max, NewBinary(Div, NewBinary(Sub, r.outer.Hi, lo), Int(jammed)), Int(0)))
	step := n.fresh("step", I64)
	var outer, inner []Stmt
	k := n.fresh(n.vars[r.inner.Var].Name, I64) // one of its own, as the rest has that loop too
	var element *Ref                            // what the update has made so far
	var at Expr
	for u := range jammed {
		names := map[VarID]VarID{r.inner.Var: k}
		of := rewriter{buffer: func(b BufID) BufID { return b }, variable: func(v VarID) VarID {
			if to, ok := names[v]; ok {
				return to
			}
			return v
		}}
		rename := func(l *Let) Stmt {
			value := of.expr(l.Value)
			names[l.Var] = n.fresh(n.vars[l.Var].Name, n.vars[l.Var].Type)
			return &Let{Var: names[l.Var], Value: value, Origin: l.Origin}
		}
		first := NewBinary(Add, lo, NewBinary(Add, NewBinary(Mul, &Ref{Var: step, Typ: I64}, Int(jammed)), Int(int64(u))))
		i, _ := n.let(n.vars[r.outer.Var].Name, first)
		names[r.outer.Var] = i.Var
		outer = append(outer, i)
		for _, l := range r.outerLets {
			outer = append(outer, rename(l))
		}
		for _, l := range r.innerLets {
			inner = append(inner, rename(l))
		}
		if u == 0 {
			at = of.expr(r.store.Index)
			load, was := n.let("was", &Load{Buf: r.store.Buf, Elem: r.elem, Index: at})
			inner, element = append(inner, load), was
		}
		of.load = func(l *Load) Expr {
			if l.Buf == r.store.Buf {
				return element
			}
			return nil
		}
		next, is := n.let("is", of.expr(r.store.Value))
		inner, element = append(inner, next), is
	}
	inner = append(inner, &Store{Buf: r.store.Buf, Index: at, Value: element, Origin: r.store.Origin})
	outer = append(outer, &For{Var: k, Lo: r.inner.Lo, Hi: r.inner.Hi, Body: inner, Independent: true, Origin: r.inner.Origin})
	rest := *r.outer
	rest.Lo = NewBinary(Add, lo, NewBinary(Mul, times, Int(jammed)))
	return []Stmt{begin, many, &For{Var: step, Lo: Int(0), Hi: times, Body: outer}, &rest}
}
