package loop

import "iter"

// WalkStmts calls visit for every statement of body and of the blocks nested in
// it, in the order of the text, each before what it contains.
func WalkStmts(body []Stmt, visit func(Stmt)) {
	for _, s := range body {
		visit(s)
		switch s := s.(type) {
		case *For:
			WalkStmts(s.Body, visit)
		case *While:
			WalkStmts(s.Body, visit)
		case *If:
			WalkStmts(s.Then, visit)
			WalkStmts(s.Else, visit)
		}
	}
}

// Exprs returns the expressions that stand in s itself, leaving out those of
// nested blocks, in the order of evaluation.
func Exprs(s Stmt) []Expr {
	switch s := s.(type) {
	case *Let:
		return []Expr{s.Value}
	case *Assign:
		return []Expr{s.Value}
	case *Store:
		return []Expr{s.Index, s.Value}
	case *For:
		return []Expr{s.Lo, s.Hi}
	case *While:
		return []Expr{s.Cond}
	case *If:
		return []Expr{s.Cond}
	case *Return:
		return []Expr{s.Value}
	case *Shuffle:
		return []Expr{s.Value, s.Lane}
	case *Ballot:
		return []Expr{s.Cond}
	case *Atomic:
		if s.Op == AtomicCompareAndSwap {
			return []Expr{s.Index, s.Expected, s.Value}
		}
		return []Expr{s.Index, s.Value}
	}
	return nil
}

// Operands returns the direct operands of e.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case *Load:
		return []Expr{e.Index}
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Select:
		return []Expr{e.Cond, e.X, e.Y}
	case *FMA:
		return []Expr{e.X, e.Y, e.Z}
	case *Cast:
		return []Expr{e.X}
	case *Call:
		return e.Args
	}
	return nil
}

// WalkExpr calls visit for e and every expression in it, each before its
// operands.
func WalkExpr(e Expr, visit func(Expr)) {
	HasExpr(e, func(e Expr) bool {
		visit(e)
		return false
	})
}

// HasExpr reports whether e, or an expression in it, is of some kind. It looks no further than to the first.
func HasExpr(e Expr, is func(Expr) bool) bool {
	if is(e) {
		return true
	}
	for _, x := range Operands(e) {
		if HasExpr(x, is) {
			return true
		}
	}
	return false
}

// AllExprs goes over the expressions of body, those in nested blocks and in others included, in the order of
// WalkStmts and WalkExpr.
func AllExprs(body []Stmt) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		done := false
		WalkStmts(body, func(s Stmt) {
			for _, e := range Exprs(s) {
				done = done || HasExpr(e, func(e Expr) bool { return !yield(e) })
			}
		})
	}
}

// Loads goes over the loads among AllExprs.
func Loads(body []Stmt) iter.Seq[*Load] {
	return func(yield func(*Load) bool) {
		for e := range AllExprs(body) {
			if l, ok := e.(*Load); ok && !yield(l) {
				return
			}
		}
	}
}

// HasLoad reports whether e reads memory.
func HasLoad(e Expr) bool {
	return HasExpr(e, func(e Expr) bool {
		_, ok := e.(*Load)
		return ok
	})
}

// Reads reports whether e reads one of the variables.
func Reads(e Expr, vars map[VarID]bool) bool {
	return HasExpr(e, func(e Expr) bool {
		r, ok := e.(*Ref)
		return ok && vars[r.Var]
	})
}

// A rewriter copies statements and expressions, renaming as it goes.
type rewriter struct {
	variable func(VarID) VarID
	fail     func(int) int
	buffer   func(BufID) BufID
	load     func(*Load) Expr // what stands in for a load, nil for itself; may be nil
}

func (r rewriter) block(body []Stmt) []Stmt {
	if len(body) == 0 {
		return nil
	}
	out := make([]Stmt, len(body))
	for i, s := range body {
		out[i] = r.stmt(s)
		stamp(out[i], OriginOf(s))
	}
	return out
}

func (r rewriter) stmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Let:
		return &Let{Var: r.variable(s.Var), Mutable: s.Mutable, Value: r.expr(s.Value)}
	case *Assign:
		return &Assign{Var: r.variable(s.Var), Value: r.expr(s.Value)}
	case *Store:
		return &Store{Buf: r.buffer(s.Buf), Index: r.expr(s.Index), Value: r.expr(s.Value)}
	case *For:
		lo, hi := r.expr(s.Lo), r.expr(s.Hi)
		return &For{Var: r.variable(s.Var), Lo: lo, Hi: hi, Body: r.block(s.Body), Independent: s.Independent, Unroll: s.Unroll, Lanes: s.Lanes}
	case *While:
		return &While{Cond: r.expr(s.Cond), Body: r.block(s.Body)}
	case *If:
		return &If{Cond: r.expr(s.Cond), Then: r.block(s.Then), Else: r.block(s.Else), Seldom: s.Seldom}
	case *Fail:
		return &Fail{Code: r.fail(s.Code)}
	case *Return:
		return &Return{Value: r.expr(s.Value)}
	case *Shuffle:
		value, lane := r.expr(s.Value), r.expr(s.Lane)
		return &Shuffle{Var: r.variable(s.Var), Kind: s.Kind, Value: value, Lane: lane, Width: s.Width}
	case *Ballot:
		return &Ballot{Cond: r.expr(s.Cond), Var: r.variable(s.Var)}
	case *Atomic:
		return r.atomic(s)
	}
	return s // a comment or barrier
}

func (r rewriter) atomic(s *Atomic) Stmt {
	out := *s
	out.Buf, out.Index = r.buffer(s.Buf), r.expr(s.Index)
	if s.Expected != nil {
		out.Expected = r.expr(s.Expected)
	}
	out.Value = r.expr(s.Value)
	if s.Var != NoVar {
		out.Var = r.variable(s.Var)
	}
	return &out
}

func (r rewriter) expr(e Expr) Expr {
	switch e := e.(type) {
	case *Ref:
		return &Ref{Var: r.variable(e.Var), Typ: e.Typ}
	case *Load:
		if r.load != nil {
			if x := r.load(e); x != nil {
				return x
			}
		}
		return &Load{Buf: r.buffer(e.Buf), Elem: e.Elem, Index: r.expr(e.Index)}
	case *Unary:
		return &Unary{Op: e.Op, Typ: e.Typ, X: r.expr(e.X)}
	case *Binary:
		return &Binary{Op: e.Op, Typ: e.Typ, X: r.expr(e.X), Y: r.expr(e.Y)}
	case *Select:
		return &Select{Cond: r.expr(e.Cond), X: r.expr(e.X), Y: r.expr(e.Y)}
	case *FMA:
		return &FMA{X: r.expr(e.X), Y: r.expr(e.Y), Z: r.expr(e.Z)}
	case *Cast:
		return &Cast{Typ: e.Typ, X: r.expr(e.X)}
	case *Call:
		args := make([]Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = r.expr(a)
		}
		return &Call{Fn: e.Fn, Typ: e.Typ, Args: args}
	}
	return e // a constant or special register
}

// DeclaredIn are the variables that a body declares.
func DeclaredIn(body []Stmt) map[VarID]bool {
	set := map[VarID]bool{}
	WalkStmts(body, func(s Stmt) {
		if id, ok := Declared(s); ok {
			set[id] = true
		}
	})
	return set
}

// LetsOf are the values of what a body declares and does not change.
func LetsOf(body []Stmt) map[VarID]Expr {
	lets := map[VarID]Expr{}
	WalkStmts(body, func(s Stmt) {
		if l, ok := s.(*Let); ok && !l.Mutable {
			lets[l.Var] = l.Value
		}
	})
	return lets
}

// StoresAtLoaded reports whether a body stores elements at places that it loads.
func StoresAtLoaded(body []Stmt) (found bool) {
	loaded := map[VarID]bool{}
	isLoaded := func(e Expr) bool { return Reads(e, loaded) || HasLoad(e) }
	WalkStmts(body, func(s Stmt) {
		switch s := s.(type) {
		case *Let:
			loaded[s.Var] = isLoaded(s.Value)
		case *Store:
			found = found || isLoaded(s.Index)
		}
	})
	return found
}
