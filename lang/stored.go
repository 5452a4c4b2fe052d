package lang

import "github.com/lacuna-sparse/lacuna/tensor"

// Two forms that look like calls and speak of how a tensor is stored and how large it
// is, not of its values.
//
//	stored(A(i,j))    true at the coordinates that A stores, false elsewhere
//	like(e, A(i,j))   e, where i and j run as far as the dimensions of A
//
// The first reads a tensor of its own, which has the index arrays of A and true for
// every value (tensor.Pattern): behind the checker it is an operand like any other.
// The second gives extents and is gone after Bind.

// The words of these forms.
const (
	storedWord = "stored"
	likeWord   = "like"
)

// Like is X; the indices of its accesses take their extents from them. The
// coordinates need not lie inside: nothing is read.
type Like struct {
	Pos      Pos
	X        Expr
	Accesses []*Access
}

// DType is the type of X.
func (e *Like) DType() tensor.DType { return e.X.DType() }

// Position is the place of the word.
func (e *Like) Position() Pos { return e.Pos }

// stored checks stored(A(…)).
func (s *stmtChecker) stored(n *Apply) value {
	r, ok := n.Args[0].(*Ref)
	if !ok || !r.Parens && !s.bareIsTensor(r.Name) {
		s.fail(ErrStored, n.Args[0].Place(), "write the element of an operand: stored(A(i,j))", "stored takes an element of a tensor")
		return value{}
	}
	if t := s.tensors[r.Name]; t != nil && s.state[t].assigned {
		s.fail(ErrStored, r.Pos, "ask for the operands that it comes from: which coordinates a result stores is up to the planner",
			"%s is a result, and stored asks what an operand stores", r.Name)
		return value{}
	}
	a := s.access(r)
	if a == nil {
		return value{}
	}
	return value{Expr: &Access{Pos: n.Pos, Tensor: s.patternOf(a.Tensor), Indices: a.Indices}}
}

// patternOf is the tensor that tells what t stores.
func (c *checker) patternOf(t *Tensor) *Tensor {
	for _, p := range c.prog.Tensors {
		if p.StoredOf == t {
			return p
		}
	}
	p := &Tensor{
		ID: len(c.prog.Tensors), Name: storedWord + "(" + t.Name + ")", Rank: t.Rank, DType: tensor.Bool,
		Pos: t.Pos, Operand: true, StoredOf: t,
	}
	c.prog.Tensors = append(c.prog.Tensors, p)
	c.state[p] = &tensorState{declared: true}
	return p
}

// like checks like(e, A(…), …).
func (s *stmtChecker) like(n *Apply) value {
	x := s.expr(n.Args[0])
	e := &Like{Pos: n.Pos}
	good := x.ok()
	for _, arg := range n.Args[1:] {
		r, ok := arg.(*Ref)
		if !ok || !r.Parens {
			s.fail(ErrStored, arg.Place(), "write the element of a tensor: like(e, A(i,j))", "like takes an expression and elements of tensors")
			good = false
			continue
		}
		a := s.access(r)
		good = good && a != nil
		e.Accesses = append(e.Accesses, a)
	}
	if !good {
		return value{}
	}
	e.X = x.Expr
	return value{e, x.weak}
}
