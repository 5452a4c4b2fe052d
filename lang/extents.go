package lang

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/overflow"
)

// ExtentArithmetic is what extents are computed in, and what is made of the conditions on them:
// numbers, which Bind checks, or expressions over shapes that only a run knows, which
// codegen/aot makes code of. Which extent follows from which does not depend on them.
type ExtentArithmetic[N any] interface {
	Const(int64) N
	Add(x, y N) N
	Sub(x, y N) N
	Mul(x, y N) N
	Min(x, y N) N
	Max(x, y N) N
	// Ceil is x/n rounded up, for x that is not negative and n that is positive.
	Ceil(x N, n int64) N
	// Steps is how many coordinates 0, step, 2*step, … are at most room: none if that is negative.
	Steps(room N, step int64) N
	// Where is n if all of some are positive, and else 0.
	Where(some []N, n N) N
	// Require takes a condition. It reports whether the rules may go on as if it held.
	Require(Condition[N]) bool
}

// A Rule is what a condition on extents is about.
type Rule uint8

// The rules.
const (
	RuleStart     Rule = iota // an open slice starts inside its dimension
	RuleAgree                 // uses of an index have one extent
	RuleFits                  // an extent fits 64 bits
	RuleWrap                  // coordinates fit 64 bits
	RuleLow                   // coordinates are not negative
	RuleHigh                  // coordinates are inside
	RuleOrders                // a quantile has orders
	RulePositions             // what an argmin counts fits 63 bits
	RuleEmpty                 // a reduction that has no value over nothing is over something
	RuleNothing               // no mistake: a mean or variance that is NaN otherwise
)

// Condition is one on extents: X is at most Y, or equal to it, if all of If are positive.
// One of which a side does not fit 64 bits does not hold.
type Condition[N any] struct {
	Rule  Rule
	If    []N
	X, Y  N
	Equal bool

	Stmt   *Stmt
	Use    *Use[N] // where, of the rules to RuleHigh
	Other  *Use[N] // what Use agrees with; nil: constant bounds
	Index  *Index
	Reduce *Reduce
}

// Use is one index expression of a statement.
type Use[N any] struct {
	Access *Access
	Index  IndexExpr
	Dim    int  // which dimension
	Extent *N   // of the dimension; nil when the left side does not know it yet
	Left   bool // written
	like   bool // gives extents only: nothing is read
}

// ExtentsOf computes how far every index of a program runs, by statement and index ID, and
// the shapes of all tensors, from those of the operands. See Bind for the rules. The
// error is for an index whose extent nothing tells. It is nil, and the results are of no
// use, after a check that stopped the rules.
func ExtentsOf[N any](p *Program, operands map[*Tensor][]N, a ExtentArithmetic[N]) (index [][]N, shapes map[*Tensor][]N, err *Error) {
	b := &extentRules[N]{ExtentArithmetic: a, shapes: operands, ok: true}
	for _, s := range p.Stmts {
		if err := b.statement(s); err != nil || !b.ok {
			return nil, nil, err
		}
	}
	return b.index, b.shapes, nil
}

// extentRules applies the rules to a program.
type extentRules[N any] struct {
	ExtentArithmetic[N]
	index  [][]N
	shapes map[*Tensor][]N
	ok     bool // no check has stopped them
}

// stmtRules applies them to a statement.
type stmtRules[N any] struct {
	*extentRules[N]
	stmt   *Stmt
	uses   []*Use[N]
	extent []*N      // by index ID; nil: unknown
	from   []*Use[N] // the use that gave an extent
}

// check takes a condition of the statement.
func (sb *stmtRules[N]) check(c Condition[N]) bool {
	c.Stmt = sb.stmt
	ok := sb.Require(c)
	sb.ok = sb.ok && ok
	return ok
}

func (b *extentRules[N]) statement(s *Stmt) *Error {
	sb := &stmtRules[N]{extentRules: b, stmt: s, extent: make([]*N, len(s.Indices)), from: make([]*Use[N], len(s.Indices))}
	for i, x := range s.Indices {
		if x.Length >= 0 {
			sb.extent[i] = sb.number(x.Length)
		}
	}
	sb.addUses()
	sb.plainUses()
	sb.affineUses()
	for i, x := range s.Indices { // those that share one
		sb.extent[i] = sb.extent[root(x).ID]
	}
	if !b.ok {
		return nil
	}
	if err := sb.checkKnown(); err != nil {
		return err
	}
	if sb.checkRanges(); b.ok {
		sb.checkEmpty()
		sb.finish()
	}
	return nil
}

func (b *extentRules[N]) number(n int64) *N {
	x := b.Const(n)
	return &x
}

// addUses lists the uses of indices in the statement: on the right, in what gives shapes
// only, in gathers on the left, on the left.
func (sb *stmtRules[N]) addUses() {
	add := func(a *Access, template Use[N]) {
		shape := sb.shapes[a.Tensor]
		if shape == nil && a.Tensor.Rank > 0 && !template.Left {
			panic("BUG: " + a.Tensor.Name + " is read before it has a shape")
		}
		for k, x := range a.Indices {
			u := template
			u.Access, u.Index, u.Dim = a, x, k
			switch {
			case shape != nil:
				u.Extent = &shape[k]
			case a.Tensor.Shape != nil && a.Tensor.Shape[k] >= 0:
				u.Extent = sb.number(a.Tensor.Shape[k])
			}
			sb.uses = append(sb.uses, &u)
		}
	}
	for _, a := range Accesses(sb.stmt.RHS) {
		add(a, Use[N]{})
	}
	Walk(sb.stmt.RHS, func(e Expr) bool {
		if l, ok := e.(*Like); ok {
			for _, a := range l.Accesses {
				add(a, Use[N]{like: true})
			}
		}
		return true
	})
	for _, a := range Accesses(sb.stmt.LHS)[1:] { // gathers
		add(a, Use[N]{})
	}
	add(sb.stmt.LHS, Use[N]{Left: true})
}

// root is the index that shares its extent with x and holds it.
func root(x *Index) *Index {
	for x.Like != nil {
		x = x.Like
	}
	return x
}

func (sb *stmtRules[N]) extentOf(x *Index) N { return *sb.extent[root(x).ID] }

// plainUses takes the extents that plain indices and open slices give, which must agree.
func (sb *stmtRules[N]) plainUses() {
	for _, u := range sb.uses {
		if u.Extent == nil {
			continue
		}
		if v := u.Index.Plain(); v != nil {
			sb.agree(root(v), u, *u.Extent)
			continue
		}
		if u.Index.Slice && u.Index.Open {
			first, t := sb.Const(u.Index.Const), u.Index.Terms[0]
			if sb.check(Condition[N]{Rule: RuleStart, X: first, Y: *u.Extent, Use: u}) {
				sb.agree(root(t.Var), u, sb.Ceil(sb.Sub(*u.Extent, first), t.Coef))
			}
		}
	}
}

// agree sets the extent of v, or has it compared with the one it has.
func (sb *stmtRules[N]) agree(v *Index, u *Use[N], n N) {
	if sb.extent[v.ID] == nil {
		sb.extent[v.ID], sb.from[v.ID] = &n, u
		return
	}
	sb.check(Condition[N]{Rule: RuleAgree, X: n, Y: *sb.extent[v.ID], Equal: true, Use: u, Other: sb.from[v.ID], Index: v})
}

// affineUses derives the extents that no plain use gives, in as many rounds as one
// depends on another.
func (sb *stmtRules[N]) affineUses() {
	byVar := make([][]*Use[N], len(sb.extent))
	for _, u := range sb.uses {
		if u.Extent == nil || u.Index.Slice || u.Index.Plain() != nil {
			continue
		}
		for _, t := range u.Index.Terms {
			id := root(t.Var).ID
			byVar[id] = append(byVar[id], u)
		}
	}
	for sb.settleSome(byVar) {
	}
}

// settleSome gives extents to indices and says whether there was any to give. First
// come those whose uses hold no other open index. When there is none, an index
// takes its extent from the uses that hold no other, if those that do can still be
// kept inside by the other index, which has no other use to follow.
func (sb *stmtRules[N]) settleSome(byVar [][]*Use[N]) bool {
	progress := false
	for id, uses := range byVar {
		if sb.extent[id] == nil && len(uses) > 0 && len(sb.decidable(id, uses)) == len(uses) {
			sb.extent[id] = sb.largest(id, uses)
			progress = true
		}
	}
	if progress {
		return true
	}
	for id, uses := range byVar {
		if sb.extent[id] != nil {
			continue
		}
		decidable := sb.decidable(id, uses)
		if len(decidable) > 0 && sb.othersFollow(id, uses, byVar) {
			sb.extent[id] = sb.largest(id, decidable)
			return true
		}
	}
	return false
}

// decidable returns the uses of an index that hold no other open index.
func (sb *stmtRules[N]) decidable(id int, uses []*Use[N]) []*Use[N] {
	var list []*Use[N]
	for _, u := range uses {
		if len(sb.openOthers(id, u)) == 0 {
			list = append(list, u)
		}
	}
	return list
}

// openOthers returns the indices without an extent beside id in a use.
func (sb *stmtRules[N]) openOthers(id int, u *Use[N]) []int {
	var list []int
	for _, t := range u.Index.Terms {
		if other := root(t.Var).ID; other != id && sb.extent[other] == nil {
			list = append(list, other)
		}
	}
	return list
}

// othersFollow says whether every open index beside id in its uses has only uses
// that hold another open index.
func (sb *stmtRules[N]) othersFollow(id int, uses []*Use[N], byVar [][]*Use[N]) bool {
	for _, u := range uses {
		for _, other := range sb.openOthers(id, u) {
			if len(sb.decidable(other, byVar[other])) > 0 {
				return false
			}
		}
	}
	return true
}

// largest returns the largest extent of an index for which all uses stay inside.
// Every other index in them has an extent.
func (sb *stmtRules[N]) largest(id int, uses []*Use[N]) *N {
	n := sb.Const(math.MaxInt64)
	for _, u := range uses {
		some := sb.inside(id, u)
		if !sb.check(Condition[N]{Rule: RuleFits, X: some, Y: sb.Const(math.MaxInt64), Use: u, Index: sb.stmt.Indices[id]}) {
			return sb.number(0)
		}
		n = sb.Min(n, some)
	}
	return &n
}

// inside returns the largest extent of an index for which one use stays inside.
func (sb *stmtRules[N]) inside(id int, u *Use[N]) N {
	coef, fits := int64(0), true
	low, high := sb.Const(u.Index.Const), sb.Const(u.Index.Const)
	for _, t := range u.Index.Terms {
		if root(t.Var).ID == id {
			coef = checked(overflow.Add, coef, t.Coef, &fits)
			continue
		}
		last := sb.Max(sb.Sub(sb.extentOf(t.Var), sb.Const(1)), sb.Const(0))
		low, high = sb.stretch(t.Coef, last, low, high)
	}
	switch {
	case !fits || coef == math.MinInt64:
		return sb.Mul(sb.Const(math.MaxInt64), sb.Const(2)) // which does not fit either
	case coef == 0:
		return sb.Const(math.MaxInt64)
	case coef < 0:
		return sb.Steps(low, -coef)
	}
	return sb.Steps(sb.Sub(sb.Sub(*u.Extent, sb.Const(1)), high), coef)
}

// stretch moves the ends of a range by coef times what is 0 to last.
func (sb *stmtRules[N]) stretch(coef int64, last, low, high N) (N, N) {
	end := sb.Mul(sb.Const(coef), last)
	if coef < 0 {
		return sb.Add(low, end), high
	}
	return low, sb.Add(high, end)
}

// checkKnown reports an index without an extent.
func (sb *stmtRules[N]) checkKnown() *Error {
	for i, x := range sb.stmt.Indices {
		if sb.extent[i] != nil {
			continue
		}
		name, t := x.Name, sb.stmt.LHS.Tensor.Name
		inGo := shapeInGo(sb.stmt.LHS.Tensor)
		switch {
		case name == "":
			return &Error{Code: ErrFreeExtent, Pos: x.Pos, Hint: "give the slice an end, or declare the shape of " + t, InGo: inGo, Msg: "nothing tells how long the slice is"}
		case x.Free && !sb.onRight(x):
			return &Error{Code: ErrFreeExtent, Pos: x.Pos, Hint: fmt.Sprintf("declare the shape of %s, or take the extent of a tensor: like(…, A(%s))", t, name), InGo: inGo,
				Msg: fmt.Sprintf("the index %s occurs on the left only, so %s is broadcast along it, but nothing tells how far it runs", name, t)}
		}
		return &Error{Code: ErrFreeExtent, Pos: x.Pos, Hint: "use the index plainly once, or declare the shape of " + t, InGo: inGo,
			Msg: fmt.Sprintf("the extent of the index %s cannot be determined: it occurs only in affine indices with others that are as open", name)}
	}
	return nil
}

func (sb *stmtRules[N]) onRight(x *Index) bool {
	return slices.ContainsFunc(sb.uses, func(u *Use[N]) bool {
		return !u.Left && slices.ContainsFunc(u.Index.Terms, func(t Term) bool { return t.Var == x })
	})
}

// checkRanges has constant indices, slices and coordinates on the left checked to lie
// inside their dimensions, and affine indices for coordinates that would wrap.
func (sb *stmtRules[N]) checkRanges() {
	for _, u := range sb.uses {
		x := u.Index
		if x.Gather != nil || x.Plain() != nil || u.like {
			continue
		}
		low, high, some := sb.reach(x)
		most := sb.Const(math.MaxInt64 - 1) // an extent is one more
		if len(x.Terms) > 0 && !x.Slice && !u.Left {
			// Outside is the fill.
			if sb.check(Condition[N]{Rule: RuleWrap, If: some, X: low, Y: most, Use: u}) {
				sb.check(Condition[N]{Rule: RuleWrap, If: some, X: high, Y: most, Use: u})
			}
			continue
		}
		if u.Extent != nil {
			most = sb.Sub(*u.Extent, sb.Const(1))
		}
		if sb.check(Condition[N]{Rule: RuleLow, If: some, X: sb.Const(0), Y: low, Use: u}) {
			sb.check(Condition[N]{Rule: RuleHigh, If: some, X: high, Y: most, Use: u})
		}
	}
}

// reach returns the least and the largest coordinate of an index, if the extents in some
// are positive.
func (sb *stmtRules[N]) reach(x IndexExpr) (low, high N, some []N) {
	low, high = sb.Const(x.Const), sb.Const(x.Const)
	for _, t := range x.Terms {
		n := sb.extentOf(t.Var)
		some = append(some, n)
		low, high = sb.stretch(t.Coef, sb.Sub(n, sb.Const(1)), low, high)
	}
	return low, high, some
}

// finish records the extents of a statement and the shape of its target.
func (sb *stmtRules[N]) finish() {
	extents := make([]N, len(sb.extent))
	for i, n := range sb.extent {
		extents[i] = *n
	}
	sb.index = append(sb.index, extents)
	shape := make([]N, len(sb.stmt.LHS.Indices))
	for k, u := range sb.uses[len(sb.uses)-len(shape):] { // the left side's
		switch v := u.Index.Plain(); {
		case u.Extent != nil:
			shape[k] = *u.Extent
		case v != nil:
			shape[k] = sb.extentOf(v)
		default:
			_, high, some := sb.reach(u.Index)
			shape[k] = sb.Where(some, sb.Add(high, sb.Const(1)))
		}
	}
	sb.shapes[sb.stmt.LHS.Tensor] = shape
}
