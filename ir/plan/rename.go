package plan

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
)

// renaming copies expressions with index variables replaced. Each fold binds
// variables of its own, so that its loops can stand in an order of their own: the
// sum of a variance and the mean that it reads may walk one body in two ways.
type renaming struct {
	b        *builder
	to       map[*ir.Index]*ir.Index
	accesses map[*ir.Access]*ir.Access
	temps    map[*ir.Temp]*ir.Temp
}

func newRenaming(b *builder) *renaming {
	return &renaming{b: b, to: map[*ir.Index]*ir.Index{}, accesses: map[*ir.Access]*ir.Access{}, temps: map[*ir.Temp]*ir.Temp{}}
}

// renamed returns over and body with fresh variables in place of those that over
// binds.
func (b *builder) renamed(over *ir.Reduce, body ir.Expr) (*ir.Reduce, ir.Expr) {
	n := newRenaming(b)
	copied := &ir.Reduce{Vars: n.bind(over.Vars)}
	if over.In != nil {
		copied.In = n.access(over.In)
	}
	return copied, n.expr(body)
}

// bind makes a fresh variable for each of vars.
func (n *renaming) bind(vars []*ir.Index) []*ir.Index {
	fresh := make([]*ir.Index, len(vars))
	for i, v := range vars {
		fresh[i] = &ir.Index{ID: v.ID, Name: n.b.freshName(n.b.indices[v.ID].Name), Free: v.Free, Pos: v.Pos}
		n.to[v] = fresh[i]
	}
	return fresh
}

// freshName is name with the first number behind it that makes it new.
func (b *builder) freshName(name string) string {
	for k := 2; ; k++ {
		fresh := fmt.Sprintf("%s%d", name, k)
		if !b.names[fresh] {
			b.names[fresh] = true
			return fresh
		}
	}
}

// touches reports whether any of vars is replaced.
func (n *renaming) touches(vars []*ir.Index) bool {
	for _, v := range vars {
		if n.to[v] != nil {
			return true
		}
	}
	return false
}

func (n *renaming) expr(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Literal, *ir.Extent:
		// A copy of a variable takes the values of the original.
		return e
	case *ir.Access:
		return n.access(e)
	case *ir.IndexValue:
		if v := n.to[e.Var]; v != nil {
			return &ir.IndexValue{Var: v}
		}
		return e
	case *ir.TempRef:
		return &ir.TempRef{Temp: n.temp(e.Temp)}
	case *ir.Call:
		args := make([]ir.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = n.expr(a)
		}
		return &ir.Call{Fn: e.Fn, Args: args, Typ: e.Typ}
	case *ir.Select:
		return &ir.Select{Cond: n.expr(e.Cond), Then: n.expr(e.Then), Else: n.expr(e.Else)}
	case *ir.Cast:
		return &ir.Cast{To: e.To, X: n.expr(e.X)}
	}
	panic("BUG: unknown plan expression")
}

// access copies an access once, so that equal accesses stay one.
func (n *renaming) access(a *ir.Access) *ir.Access {
	if !n.touches(a.Vars(nil)) {
		return a
	}
	if c := n.accesses[a]; c != nil {
		return c
	}
	c := &ir.Access{Pos: a.Pos, Tensor: a.Tensor}
	for _, x := range a.Indices {
		y := x
		y.Terms = nil
		for _, t := range x.Terms {
			if v := n.to[t.Var]; v != nil {
				t.Var = v
			}
			y.Terms = append(y.Terms, t)
		}
		if x.Gather != nil {
			y.Gather = n.access(x.Gather)
		}
		c.Indices = append(c.Indices, y)
	}
	n.accesses[a] = c
	n.b.copies++
	return c
}

// temp copies a reduction that reads a replaced variable, with fresh variables
// for those that it binds.
func (n *renaming) temp(t *ir.Temp) *ir.Temp {
	r := t.Reduce
	if !n.touches(r.FreeVars()) {
		return t
	}
	if c := n.temps[t]; c != nil {
		return c
	}
	over := &ir.Reduce{Vars: n.bind(r.Vars)}
	if r.In != nil {
		over.In = n.access(r.In)
	}
	c := n.b.add(r.Fold, over, n.expr(r.Body), r.Typ).Temp
	n.temps[t] = c
	return c
}
