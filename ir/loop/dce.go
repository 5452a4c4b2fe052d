package loop

// RemoveDead returns a copy of f without the computations that nothing depends
// on: variables that are never read (or read only to compute variables that are
// never read), and the branches and counted loops that are left empty. While
// loops stay, as one that never ends must not start to end.
func RemoveDead(f *Func) *Func {
	out := *f
	out.Body = removeDead(f.Body, len(f.Vars))
	return Compact(&out)
}

// removeDead sweeps until nothing more goes away: an empty branch may have been
// the last reader of a variable.
func removeDead(body []Stmt, vars int) []Stmt {
	for {
		before := countStmts(body)
		body = sweep(body, liveVars(body, vars))
		if countStmts(body) == before {
			return body
		}
	}
}

func countStmts(body []Stmt) int {
	n := 0
	WalkStmts(body, func(Stmt) { n++ })
	return n
}

// liveVars marks the variables that effects and conditions read, and those that
// the values of marked variables read.
func liveVars(body []Stmt, vars int) []bool {
	live := make([]bool, vars)
	var queue []VarID
	mark := func(e Expr) {
		WalkExpr(e, func(e Expr) {
			if r, ok := e.(*Ref); ok && !live[r.Var] {
				live[r.Var] = true
				queue = append(queue, r.Var)
			}
		})
	}
	values := make([][]Expr, vars) // what each variable is set to
	WalkStmts(body, func(s Stmt) {
		switch s := s.(type) {
		case *Let:
			values[s.Var] = append(values[s.Var], s.Value)
		case *Assign:
			values[s.Var] = append(values[s.Var], s.Value)
		default:
			for _, e := range Exprs(s) {
				mark(e)
			}
		}
	})
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, e := range values[id] {
			mark(e)
		}
	}
	return live
}

// sweep copies body without what is dead.
func sweep(body []Stmt, live []bool) []Stmt {
	var out []Stmt
	for _, s := range body {
		from := s
		switch x := s.(type) {
		case *Let:
			if !live[x.Var] {
				continue
			}
		case *Assign:
			if !live[x.Var] {
				continue
			}
		case *For:
			inner := sweep(x.Body, live)
			if isEmpty(inner) {
				continue
			}
			s = &For{Var: x.Var, Lo: x.Lo, Hi: x.Hi, Body: inner, Independent: x.Independent, Unroll: x.Unroll, Lanes: x.Lanes}
		case *While:
			s = &While{Cond: x.Cond, Body: sweep(x.Body, live)}
		case *If:
			then, otherwise := sweep(x.Then, live), sweep(x.Else, live)
			switch {
			case isEmpty(then) && isEmpty(otherwise):
				continue
			case isEmpty(then):
				s = &If{Cond: NewUnary(Not, x.Cond), Then: otherwise}
			case isEmpty(otherwise):
				s = &If{Cond: x.Cond, Then: then, Seldom: x.Seldom}
			default:
				s = &If{Cond: x.Cond, Then: then, Else: otherwise, Seldom: x.Seldom}
			}
		}
		stamp(s, OriginOf(from))
		out = append(out, s)
	}
	return out
}

// isEmpty reports whether a block does nothing.
func isEmpty(body []Stmt) bool {
	for _, s := range body {
		if _, ok := s.(*Comment); !ok {
			return false
		}
	}
	return true
}
