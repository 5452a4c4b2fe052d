package ir

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Sequence runs statements one after the other. Around the loops of each they
// accumulate into one result; inside loops all of them do at each leaf.
type Sequence struct{ Stmts []Stmt }

// Stmt is a statement of concrete index notation: *Forall, *Where, *Workspace,
// *Tabulate, *Sequence or *Assign.
type Stmt interface{ stmt() }

// Forall runs Body for each value of Index.
type Forall struct {
	Index *Index
	Body  Stmt
}

// Where computes the scalar Temp by Producer, then runs Consumer, which reads it.
type Where struct {
	Temp     *Temp
	Producer Stmt
	Consumer Stmt
}

// Workspace runs Producers, which accumulate into Tensor in any order, then
// Consumer, which reads it in the order of its coordinates. Tensor lives no
// longer than that, is empty at first, and is a coordinate list to its readers.
type Workspace struct {
	Tensor    *Tensor
	Producers []Stmt
	Consumer  Stmt
	// Mask, when not nil, is an access of Consumer outside whose entries the
	// workspace need not hold anything.
	Mask *Access
}

// Tabulate enters the entries that Access stores along Index, at the values of the
// variables bound outside, into a table by coordinate, for Body, whose loops over
// Index may look them up there instead of going through them again.
type Tabulate struct {
	Access *Access
	Index  *Index
	Body   Stmt
}

// Assign is the leaf: it sets or accumulates one element of the result (Temp
// nil), accumulates one of a workspace (LHS is one), or folds Value into Temp.
type Assign struct {
	LHS   *Access
	Temp  *Temp
	Value Expr
}

func (*Forall) stmt()    {}
func (*Where) stmt()     {}
func (*Workspace) stmt() {}
func (*Tabulate) stmt()  {}
func (*Sequence) stmt()  {}
func (*Assign) stmt()    {}

// Parts are the statements directly in another, in the order in which they run.
func Parts(st Stmt) []Stmt {
	switch st := st.(type) {
	case *Forall:
		return []Stmt{st.Body}
	case *Where:
		return []Stmt{st.Producer, st.Consumer}
	case *Workspace:
		return append(slices.Clip(st.Producers), st.Consumer)
	case *Tabulate:
		return []Stmt{st.Body}
	case *Sequence:
		return st.Stmts
	}
	return nil
}

// LeafOf is the assignment that a nest ends in.
func LeafOf(st Stmt) *Assign {
	list := Parts(st)
	if len(list) == 0 {
		return st.(*Assign)
	}
	return LeafOf(list[len(list)-1])
}

// EachStmt calls f for a statement and for every one in it, from the outside in.
func EachStmt(st Stmt, f func(Stmt)) {
	f(st)
	for _, x := range Parts(st) {
		EachStmt(x, f)
	}
}

// FirstLeaf is the assignment that a nest ends in, the first of several; nil of what ends in none.
func FirstLeaf(st Stmt) *Assign {
	for ; st != nil; st = towardsLeaf(st) {
		if leaf, ok := st.(*Assign); ok {
			return leaf
		}
	}
	return nil
}

// towardsLeaf is the statement one level down on the way to the first leaf, nil of a leaf.
func towardsLeaf(st Stmt) Stmt {
	list := Parts(st)
	if len(list) == 0 {
		return nil
	}
	if _, ok := st.(*Sequence); ok {
		return list[0]
	}
	return list[len(list)-1]
}

// HasLoop reports whether there are loops on the way to the first leaf.
func HasLoop(st Stmt) bool {
	for ; st != nil; st = towardsLeaf(st) {
		if _, ok := st.(*Forall); ok {
			return true
		}
	}
	return false
}

// Depth is the depth of the loops in a statement.
func Depth(st Stmt) int {
	deepest := 0
	for _, x := range Parts(st) {
		deepest = max(deepest, Depth(x))
	}
	if _, ok := st.(*Forall); ok {
		deepest++
	}
	return deepest
}

// Cuttable reports whether chunks of an outermost loop write different elements of the result, and of a sparse one
// different parts of every level.
func Cuttable(lhs *Access, t *Tensor, f *Forall) bool {
	if !t.Format.IsDense() {
		return lhs.Indices[t.Format.Order()[0]].Plain() == f.Index
	}
	for _, leaf := range Effects(f) {
		if leaf.Temp == nil && !slices.ContainsFunc(leaf.LHS.Indices, func(x IndexExpr) bool { return x.Plain() == f.Index }) {
			return false
		}
	}
	return true
}

// Effects lists the assignments of a nest that are seen outside it: the one that it
// ends in, and those that accumulate into the result beside it.
func Effects(st Stmt) []*Assign {
	switch st := st.(type) {
	case *Forall:
		return Effects(st.Body)
	case *Where:
		return append(sideEffects(st.Producer), Effects(st.Consumer)...)
	case *Workspace:
		return Effects(st.Consumer)
	case *Tabulate:
		return Effects(st.Body)
	case *Sequence:
		var list []*Assign
		for _, x := range st.Stmts {
			list = append(list, Effects(x)...)
		}
		return list
	case *Assign:
		return []*Assign{st}
	}
	panic("BUG: unknown plan statement")
}

// sideEffects lists the assignments to the result in the producer of a temporary.
func sideEffects(st Stmt) []*Assign {
	return slices.DeleteFunc(Effects(st), func(a *Assign) bool { return a.Temp != nil || a.LHS.Tensor.Work != nil })
}

// assignments lists all assignments of a nest, those into workspaces and temporaries too.
func assignments(st Stmt) []*Assign {
	if a, ok := st.(*Assign); ok {
		return []*Assign{a}
	}
	return AssignmentsOf(Parts(st))
}

// AssignmentsOf lists all assignments of several nests.
func AssignmentsOf(stmts []Stmt) []*Assign {
	var list []*Assign
	for _, st := range stmts {
		list = append(list, assignments(st)...)
	}
	return list
}

// StmtSet is the set of values of a loop's index for which st has an effect
// beyond its known background.
func (g Algebra) StmtSet(st Stmt, leaves Leaves) SetExpr {
	switch st := st.(type) {
	case *Forall:
		return g.StmtSet(st.Body, leaves)
	case *Where:
		// The temporary's own support enters through the consumer.
		sets := []SetExpr{g.StmtSet(st.Consumer, leaves)}
		for _, x := range sideEffects(st.Producer) {
			sets = append(sets, g.StmtSet(x, leaves))
		}
		return Union(sets...)
	case *Sequence:
		var sets []SetExpr
		for _, x := range st.Stmts {
			sets = append(sets, g.StmtSet(x, leaves))
		}
		return Union(sets...)
	case *Workspace:
		return g.StmtSet(st.Consumer, leaves)
	case *Tabulate:
		return g.StmtSet(st.Body, leaves)
	case *Assign:
		b := g.behaviour(st.Value, leaves)
		s := b.Value
		if st.LHS != nil && !st.LHS.Tensor.Format.IsDense() {
			s = b.State
		}
		if st.LHS != nil && st.LHS.Tensor.Work != nil {
			if WorkOf(st.LHS.Tensor).Fold.IsNeutral(s.Background) {
				return s.Set
			}
			return All()
		}
		if st.Temp != nil && st.Temp.Reduce.In != nil {
			return Intersect(s.Set, StoredSet(leaves.Access(st.Temp.Reduce.In)))
		}
		if s.Background == nil {
			return All()
		}
		return s.Set
	}
	panic("BUG: unknown plan statement")
}

// TempBehaviour is the behaviour of a reduction's result along a loop outside the
// reduction, given how its body behaves there: it is stored where an element of the body is.
func (g Algebra) TempBehaviour(t *Temp, leaves Leaves) Behaviour {
	r := t.Reduce
	var in SetExpr
	if r.In != nil {
		in = StoredSet(leaves.Access(r.In))
	}
	return g.behaviour(r.Body, leaves).each(func(s Support) Support {
		neutral := r.Fold.IsNeutral(s.Background)
		switch {
		case r.In != nil && neutral && len(r.Vars) > 0:
			return Support{Set: Intersect(in, s.Set), Background: g.EmptyFold(r)}
		case r.In != nil:
			return Support{Set: in, Background: g.EmptyFold(r)}
		case r.Partial && !neutral:
			return Everywhere()
		}
		return Support{Set: s.Set, Background: g.Repeat(r.Fold, s.Background, r.Vars, r.Typ)}
	})
}

// StoredSet is where along a loop an access may name a stored element, given the
// access's support: an access that does not depend on the loop, or on loops
// further inside too, may do so everywhere, unless it is known to be absent.
func StoredSet(s Support) SetExpr {
	if _, absent := ConstValue(s.Background); s.Set.IsNone() && !absent {
		return All()
	}
	return s.Set
}

// EmptyFold is what a reduction over stored coordinates gives where there are none, which is a gap.
func (g Algebra) EmptyFold(r *Reduce) Expr {
	switch r.Fold {
	case FoldLogSumExp:
		return &Literal{Value: Lowest(r.Typ), Gap: true}
	case FoldArgMin, FoldArgMax:
		return &Literal{Value: tensor.Int(r.Typ, -1), Gap: true}
	}
	return &Literal{Value: r.Fold.Identity(r.Typ), Gap: true}
}

// MustFormat is [tensor.Stack] of parts and an order that go together.
func MustFormat(order []int, parts ...tensor.Format) tensor.Format {
	f, err := tensor.Stack(order, parts...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}
