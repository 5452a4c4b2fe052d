package loop

import (
	"cmp"
	"slices"
)

// Loops in blocks of so many steps, as schedules ask for: one by itself (strip mining), or several that stand directly in each other, whose
// blocks then stand outside of all of them (Wolf and Lam, "A data locality optimizing algorithm", 1991).

// Split returns f with each loop that steps gives a number for run in blocks of so many steps; f itself if it gives none. What each
// iteration does and their order are the same.
func Split(f *Func, steps func(*For) int64) *Func {
	return replaceLoops(f, func(n *rewrite, s *For) []Stmt {
		if steps(s) == 0 {
			return nil
		}
		return n.blocks([]*For{s}, steps)
	})
}

// Block returns f with nests of as many loops that steps gives numbers for run block by block. Where f stays as it is, why says what is
// in the way of that; it is empty if no such loop is there. Sums over several of the loops are added in another order.
func Block(f *Func, many int, steps func(*For) int64) (out *Func, why string) {
	out = replaceLoops(f, func(n *rewrite, s *For) []Stmt {
		if steps(s) == 0 {
			return nil
		}
		chain, problem := chainOf(s, many, steps)
		if problem != "" {
			why = cmp.Or(why, problem) // the outermost loop's
			return nil
		}
		return n.blocks(chain, steps)
	})
	if out != f {
		why = ""
	}
	return out, why
}

// chainOf is the nest of loops that s begins, or what is in the way of running it block by block.
func chainOf(s *For, many int, steps func(*For) int64) (chain []*For, problem string) {
	varies := map[VarID]bool{}
	chain = []*For{s}
	for len(chain) < many {
		varies[s.Var] = true
		last := len(s.Body) - 1
		for _, x := range s.Body[:max(last, 0)] {
			l, ok := x.(*Let)
			if !ok || l.Mutable {
				return nil, "its loops do not stand directly in each other"
			}
			varies[l.Var] = true
		}
		inner, ok := s.Body[max(last, 0)].(*For)
		switch {
		case !ok || steps(inner) == 0:
			return nil, "its loops do not stand directly in each other"
		case Reads(inner.Lo, varies) || Reads(inner.Hi, varies):
			return nil, "a loop of it runs over what is stored under another: the place of a block in that is not known"
		}
		s = inner
		chain = append(chain, s)
	}
	if !exchangeable(chain) {
		return nil, "what its loops do depends on their order"
	}
	return chain, ""
}

// exchangeable reports whether the iterations of a nest of loops can take turns in another order: all they do is to store different elements, which
// a store at an index of all its loops is taken to do, or to add to some.
func exchangeable(chain []*For) bool {
	// from are for each variable the loops that its value depends on, a bit each.
	from, stored := map[VarID]int{}, map[BufID]bool{}
	for k, s := range chain {
		from[s.Var] = 1 << k
	}
	depends := func(e Expr) (on int) {
		WalkExpr(e, func(e Expr) {
			if r, ok := e.(*Ref); ok {
				on |= from[r.Var]
			}
		})
		return on
	}
	good, all := true, 1<<len(chain)-1
	WalkStmts(chain[0].Body, func(s Stmt) {
		switch s := s.(type) {
		case *Let:
			from[s.Var] |= depends(s.Value)
			good = good && !s.Mutable
		case *Store:
			stored[s.Buf] = true
			on := depends(s.Index)
			good = good && (on == all || on != 0 && accumulates(s))
		case *For, *If:
		default:
			good = false
		}
	})
	WalkStmts(chain[0].Body, func(s Stmt) {
		own, _ := s.(*Store)
		for _, e := range Exprs(s) {
			WalkExpr(e, func(e Expr) {
				if l, ok := e.(*Load); ok && stored[l.Buf] {
					good = good && own != nil && accumulates(own) && l == operandOf(own)
				}
			})
		}
	})
	return good
}

// accumulates reports whether a store adds to its element, by an operator for which the order does not matter but for rounding.
func accumulates(s *Store) bool { return operandOf(s) != nil }

// operandOf is the load of the element that a store adds to; nil if it does not.
func operandOf(s *Store) *Load {
	b, ok := s.Value.(*Binary)
	if !ok || !slices.Contains([]BinaryOp{Add, Mul, Min, Max, And, Or, Xor}, b.Op) {
		return nil
	}
	for _, x := range []Expr{b.X, b.Y} {
		if l, ok := x.(*Load); ok && l.Buf == s.Buf && sameRef(l.Index, s.Index) {
			return l
		}
	}
	return nil
}

// sameRef reports whether two indices are the same variable.
func sameRef(a, b Expr) bool {
	x, ok := a.(*Ref)
	y, ok2 := b.(*Ref)
	return ok && ok2 && x.Var == y.Var
}

// blocks are the loops of a nest, of which each but the last has constants and the next in it, with a loop over blocks for each around all
// of them.
func (n *rewrite) blocks(chain []*For, steps func(*For) int64) []Stmt {
	var out []Stmt
	let := func(to *[]Stmt, name string, e Expr) Expr {
		l, r := n.let(name, e)
		*to = append(*to, l)
		return r
	}
	type block struct {
		counter  VarID
		many     Expr
		begin    []Stmt
		from, to Expr
	}
	list := make([]block, len(chain))
	for k, s := range chain {
		size, b := Int(steps(s)), &list[k]
		lo, hi := let(&out, "first", s.Lo), let(&out, "last", s.Hi)
		b.many = let(&out, "blocks", ceilDiv(NewBinary(Sub, hi, lo), steps(s)))
		b.counter = n.fresh("block", I64)
		b.from = let(&b.begin, "from", NewBinary(Add, lo, NewBinary(Mul, &Ref{Var: b.counter, Typ: I64}, size)))
		b.to = let(&b.begin, "to", NewBinary(Min, hi, NewBinary(Add, b.from, size)))
	}
	var inner *For
	for k := len(chain) - 1; k >= 0; k-- {
		s := *chain[k]
		s.Lo, s.Hi = list[k].from, list[k].to
		if inner != nil {
			s.Body = append(slices.Clone(s.Body[:len(s.Body)-1]), inner)
		}
		inner = &s
	}
	for k := len(chain) - 1; k >= 0; k-- {
		inner = &For{Var: list[k].counter, Lo: Int(0), Hi: list[k].many, Body: append(list[k].begin, inner), Origin: chain[k].Origin}
	}
	return append(out, inner)
}
