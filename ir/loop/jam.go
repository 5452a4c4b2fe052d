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
	j := &jammer{vars: slices.Clone(f.Vars)}
	body := j.block(f.Body)
	if !j.changed {
		return f
	}
	out := *f
	out.Vars, out.Body = j.vars, body
	return &out
}

type jammer struct {
	vars    []Var
	changed bool
}

func (j *jammer) block(body []Stmt) []Stmt {
	out := make([]Stmt, 0, len(body))
	for _, s := range body {
		switch s := s.(type) {
		case *For:
			if r := rowOf(s); r != nil {
				out = append(out, j.jam(r)...)
				j.changed = true
				continue
			}
			c := *s
			c.Body = j.block(s.Body)
			out = append(out, &c)
		case *While:
			out = append(out, From(s, &While{Cond: s.Cond, Body: j.block(s.Body)}))
		case *If:
			out = append(out, From(s, &If{Cond: s.Cond, Then: j.block(s.Then), Else: j.block(s.Else)}))
		default:
			out = append(out, s)
		}
	}
	return out
}

// row is a loop around an independent one that updates elements.
type row struct {
	outer, inner *For
	outerLets    []*Let
	innerLets    []*Let
	store        *Store
	elem         Type // of what is stored
}

// rowOf recognises what Jam unrolls: nothing but constants, loads and arithmetic around one update, at an element that the
// outer loop's variable has no part in.
func rowOf(s *For) *row {
	r := &row{outer: s}
	varies := map[VarID]bool{s.Var: true}
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
	if !ok || r.inner == nil || reads(r.inner.Lo, varies) || reads(r.inner.Hi, varies) {
		return nil
	}
	for _, x := range r.inner.Body {
		switch x := x.(type) {
		case *Let:
			if x.Mutable || r.store != nil {
				return nil
			}
			r.innerLets = append(r.innerLets, x)
			if reads(x.Value, varies) {
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
	if r.store == nil || reads(r.store.Index, varies) || !r.updates() {
		return nil
	}
	return r
}

// reads reports whether e reads one of the variables.
func reads(e Expr, vars map[VarID]bool) bool {
	found := false
	WalkExpr(e, func(e Expr) {
		r, ok := e.(*Ref)
		found = found || ok && vars[r.Var]
	})
	return found
}

// mostJammed is how many operands an update may have: what is larger gains little.
const mostJammed = 24

// updates reports whether the buffer stored to is read once, for the element that is stored.
func (r *row) updates() bool {
	loads, size, same := 0, 0, true
	count := func(e Expr) {
		WalkExpr(e, func(e Expr) {
			size++
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
	return loads == 1 && same && size <= mostJammed && r.elem.Compute() == r.elem // else each store rounds
}

func (j *jammer) fresh(name string, t Type) VarID {
	j.vars = append(j.vars, Var{name, t})
	return VarID(len(j.vars) - 1)
}

func (j *jammer) let(name string, value Expr) (*Let, *Ref) {
	id := j.fresh(name, value.Type())
	return &Let{Var: id, Value: value}, &Ref{Var: id, Typ: value.Type()}
}

// jam is the loop in steps of several iterations, and for what they leave.
func (j *jammer) jam(r *row) []Stmt {
	begin, lo := j.let("begin", r.outer.Lo)
	many, times := j.let("many", NewBinary(Max, NewBinary(Div, NewBinary(Sub, r.outer.Hi, lo), Int(jammed)), Int(0)))
	step := j.fresh("step", I64)
	var outer, inner []Stmt
	k := j.fresh(j.vars[r.inner.Var].Name, I64) // one of its own, as the rest has that loop too
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
			names[l.Var] = j.fresh(j.vars[l.Var].Name, j.vars[l.Var].Type)
			return From(l, &Let{Var: names[l.Var], Value: value})
		}
		first := NewBinary(Add, lo, NewBinary(Add, NewBinary(Mul, &Ref{Var: step, Typ: I64}, Int(jammed)), Int(int64(u))))
		i, _ := j.let(j.vars[r.outer.Var].Name, first)
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
			load, was := j.let("was", &Load{Buf: r.store.Buf, Elem: r.elem, Index: at})
			inner, element = append(inner, load), was
		}
		of.load = func(l *Load) Expr {
			if l.Buf == r.store.Buf {
				return element
			}
			return nil
		}
		next, is := j.let("is", of.expr(r.store.Value))
		inner, element = append(inner, next), is
	}
	inner = append(inner, From(r.store, &Store{Buf: r.store.Buf, Index: at, Value: element}))
	outer = append(outer, From(r.inner, &For{Var: k, Lo: r.inner.Lo, Hi: r.inner.Hi, Body: inner, Independent: true}))
	rest := *r.outer
	rest.Lo = NewBinary(Add, lo, NewBinary(Mul, times, Int(jammed)))
	return []Stmt{begin, many, From(r.outer, &For{Var: step, Lo: Int(0), Hi: times, Body: outer}), &rest}
}
