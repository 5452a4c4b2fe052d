package aot

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
)

// lang.Bind computes, for operands of given shapes, how far every index runs and
// what shape every result has. Here the shapes are not given but scalars of a
// program, and what Bind would compute becomes expressions over them, and
// what it would refuse becomes checks. Which extent follows from which does not
// depend on the numbers, so the two follow the same rules in the same order.

// Check is a condition that a run makes sure of before its first stage.
type Check struct {
	Code Status
	// Tensor is the place of the tensor that it is about in Program.Tensors, or -1.
	Tensor  int
	Message string
	// If lists sizes; the check is made if all are positive.
	If []loop.SizeExpr
	// X must be equal to Y if Equal is set, and at most Y if not.
	X, Y  loop.SizeExpr
	Equal bool
}

// extents are those of a program, as expressions.
type extents struct {
	index  [][]loop.SizeExpr // by statement, then by index ID
	shapes map[*lang.Tensor][]loop.SizeExpr
	checks []Check
}

// extentBinder is the symbolic counterpart of lang's binder.
type extentBinder struct {
	prog *lang.Program
	out  *extents
	// place is where a tensor stands in Program.Tensors, -1 if nowhere.
	place func(*lang.Tensor) int
}

// bindExtents works out the extents of a program from the shapes of its operands.
func bindExtents(p *lang.Program, operands map[*lang.Tensor][]loop.SizeExpr, place func(*lang.Tensor) int) (*extents, error) {
	b := &extentBinder{prog: p, out: &extents{shapes: map[*lang.Tensor][]loop.SizeExpr{}}, place: place}
	for _, t := range p.Tensors {
		if !t.Operand {
			continue
		}
		if t.StoredOf != nil {
			b.out.shapes[t] = b.out.shapes[t.StoredOf]
			continue
		}
		shape := operands[t]
		b.out.shapes[t] = shape
		for k, n := range t.Shape {
			if n >= 0 {
				b.equal(shape[k], loop.SizeConst(n), b.place(t), "extent %d of %s must be %d, as declared", k, t.Name, n)
			}
		}
	}
	for _, s := range p.Stmts {
		if err := b.statement(s); err != nil {
			return nil, err
		}
	}
	return b.out, nil
}

func (b *extentBinder) check(c Check) { b.out.checks = append(b.out.checks, c) }

func (b *extentBinder) equal(x, y loop.SizeExpr, tensor int, format string, args ...any) {
	if !sameSize(x, y) {
		b.check(Check{Code: ErrShape, Tensor: tensor, Message: fmt.Sprintf(format, args...), X: x, Y: y, Equal: true})
	}
}

// extentUse is one index expression with the extent of its dimension; nil when the
// left side does not know it yet.
type extentUse struct {
	access *lang.Access
	index  lang.IndexExpr
	dim    int
	extent loop.SizeExpr
	left   bool
	like   bool
}

type extentStmt struct {
	*extentBinder
	stmt   *lang.Stmt
	uses   []extentUse
	extent []loop.SizeExpr // by index ID; nil: unknown
	from   []string        // what gave an extent
}

func (b *extentBinder) statement(s *lang.Stmt) error {
	sb := &extentStmt{extentBinder: b, stmt: s, extent: make([]loop.SizeExpr, len(s.Indices)), from: make([]string, len(s.Indices))}
	for i, x := range s.Indices {
		if x.Length >= 0 {
			sb.extent[i], sb.from[i] = loop.SizeConst(x.Length), "constant bounds"
		}
	}
	target := b.leftShape(s.LHS.Tensor)
	for _, a := range lang.Accesses(s.RHS) {
		sb.addUses(a, b.out.shapes[a.Tensor])
	}
	lang.Walk(s.RHS, func(e lang.Expr) bool {
		if l, ok := e.(*lang.Like); ok {
			for _, a := range l.Accesses {
				from := len(sb.uses)
				sb.addUses(a, b.out.shapes[a.Tensor])
				for i := range sb.uses[from:] {
					sb.uses[from+i].like = true
				}
			}
		}
		return true
	})
	for _, a := range lang.Accesses(s.LHS)[1:] { // gathers
		sb.addUses(a, b.out.shapes[a.Tensor])
	}
	from := len(sb.uses)
	sb.addUses(s.LHS, target)
	for i := range sb.uses[from:] {
		sb.uses[from+i].left = true
	}
	sb.plainUses()
	sb.affineUses()
	for i, x := range s.Indices {
		sb.extent[i] = sb.extentOf(x)
	}
	for i, n := range sb.extent {
		if n == nil {
			return (&lang.Error{Code: lang.ErrFreeExtent, Pos: s.Indices[i].Pos,
				Msg:  fmt.Sprintf("the extent of the index %s of %s cannot be determined", s.Indices[i].Name, s.LHS.Tensor.Name),
				Hint: "use it plainly once, or declare the shape of " + s.LHS.Tensor.Name}).WithSource(b.prog.Source)
		}
	}
	sb.checkRanges()
	sb.checkEmpty()
	sb.finish(target)
	return nil
}

func (b *extentBinder) leftShape(t *lang.Tensor) []loop.SizeExpr {
	if known := b.out.shapes[t]; known != nil {
		return known
	}
	shape := make([]loop.SizeExpr, t.Rank)
	for k, n := range t.Shape {
		if n >= 0 {
			shape[k] = loop.SizeConst(n)
		}
	}
	return shape
}

func (sb *extentStmt) addUses(a *lang.Access, shape []loop.SizeExpr) {
	for k, x := range a.Indices {
		sb.uses = append(sb.uses, extentUse{access: a, index: x, dim: k, extent: shape[k]})
	}
}

// rootIndex is the index that shares its extent with x and holds it.
func rootIndex(x *lang.Index) *lang.Index {
	for x.Like != nil {
		x = x.Like
	}
	return x
}

func (sb *extentStmt) extentOf(x *lang.Index) loop.SizeExpr { return sb.extent[rootIndex(x).ID] }

func (sb *extentStmt) plainUses() {
	for _, u := range sb.uses {
		if u.extent == nil {
			continue
		}
		if v := u.index.Plain(); v != nil {
			sb.agree(rootIndex(v), u, u.extent)
			continue
		}
		if u.index.Slice && u.index.Open {
			first := loop.SizeConst(u.index.Const)
			sb.check(Check{Code: ErrShape, Tensor: sb.place(u.access.Tensor), X: first, Y: u.extent,
				Message: fmt.Sprintf("a slice starts at %d, outside dimension %d of %s", u.index.Const, u.dim, u.access.Tensor.Name)})
			t := u.index.Terms[0]
			// Rounded up; the extent is at least the first coordinate.
			span := sizeAdd(sizeSub(u.extent, first), loop.SizeConst(t.Coef-1))
			sb.agree(rootIndex(t.Var), u, sizeDiv(span, loop.SizeConst(t.Coef)))
		}
	}
}

func (sb *extentStmt) agree(v *lang.Index, u extentUse, n loop.SizeExpr) {
	where := sb.stmt.Format(u.access)
	if sb.extent[v.ID] == nil {
		sb.extent[v.ID], sb.from[v.ID] = n, where
		return
	}
	name := "index " + v.Name
	if v.Name == "" {
		name = "slice"
	}
	sb.equal(n, sb.extent[v.ID], sb.place(u.access.Tensor), "the %s has one extent in %s and another in %s", name, where, sb.from[v.ID])
}

// affineUses is lang's: see there.
func (sb *extentStmt) affineUses() {
	byVar := make([][]extentUse, len(sb.extent))
	for _, u := range sb.uses {
		if u.extent == nil || u.index.Slice || u.index.Plain() != nil {
			continue
		}
		for _, t := range u.index.Terms {
			id := rootIndex(t.Var).ID
			byVar[id] = append(byVar[id], u)
		}
	}
	for sb.settleSome(byVar) {
	}
}

func (sb *extentStmt) settleSome(byVar [][]extentUse) bool {
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

func (sb *extentStmt) decidable(id int, uses []extentUse) []extentUse {
	var list []extentUse
	for _, u := range uses {
		if len(sb.openOthers(id, u)) == 0 {
			list = append(list, u)
		}
	}
	return list
}

func (sb *extentStmt) openOthers(id int, u extentUse) []int {
	var list []int
	for _, t := range u.index.Terms {
		if other := rootIndex(t.Var).ID; other != id && sb.extent[other] == nil {
			list = append(list, other)
		}
	}
	return list
}

func (sb *extentStmt) othersFollow(id int, uses []extentUse, byVar [][]extentUse) bool {
	for _, u := range uses {
		for _, other := range sb.openOthers(id, u) {
			if len(sb.decidable(other, byVar[other])) > 0 {
				return false
			}
		}
	}
	return true
}

// largest is the largest extent of an index for which all uses stay inside.
func (sb *extentStmt) largest(id int, uses []extentUse) loop.SizeExpr {
	var n loop.SizeExpr = loop.SizeConst(math.MaxInt64)
	for _, u := range uses {
		n = sizeMin(n, sb.inside(id, u))
	}
	return n
}

func (sb *extentStmt) inside(id int, u extentUse) loop.SizeExpr {
	var coef int64
	var low, high loop.SizeExpr = loop.SizeConst(u.index.Const), loop.SizeConst(u.index.Const)
	for _, t := range u.index.Terms {
		if rootIndex(t.Var).ID == id {
			coef += t.Coef
			continue
		}
		last := sizeMax(sizeSub(sb.extentOf(t.Var), loop.SizeConst(1)), loop.SizeConst(0))
		end := sizeMul(loop.SizeConst(t.Coef), last)
		if t.Coef < 0 {
			low = sizeAdd(low, end)
		} else {
			high = sizeAdd(high, end)
		}
	}
	room, step := low, -coef
	switch {
	case coef == 0:
		return loop.SizeConst(math.MaxInt64)
	case coef > 0:
		room, step = sizeSub(sizeSub(u.extent, loop.SizeConst(1)), high), coef
	}
	// room/step + 1, and 0 where room is negative.
	return sizeMax(loop.SizeConst(0), sizeDiv(sizeAdd(room, loop.SizeConst(step)), loop.SizeConst(step)))
}

// reach is the least and the largest coordinate of an index, if the extents in some
// are positive.
func (sb *extentStmt) reach(x lang.IndexExpr) (low, high loop.SizeExpr, some []loop.SizeExpr) {
	low, high = loop.SizeConst(x.Const), loop.SizeConst(x.Const)
	for _, t := range x.Terms {
		n := sb.extentOf(t.Var)
		some = append(some, n)
		end := sizeMul(loop.SizeConst(t.Coef), sizeSub(n, loop.SizeConst(1)))
		if t.Coef < 0 {
			low = sizeAdd(low, end)
		} else {
			high = sizeAdd(high, end)
		}
	}
	return low, high, some
}

func (sb *extentStmt) checkRanges() {
	for _, u := range sb.uses {
		x := u.index
		if x.Gather != nil || x.Plain() != nil || u.like {
			continue
		}
		low, high, some := sb.reach(x)
		c := Check{Code: ErrShape, Tensor: sb.place(u.access.Tensor), If: some}
		if len(x.Terms) > 0 && !x.Slice && !u.left {
			// Outside is the fill, but no coordinate may wrap.
			c.Message = fmt.Sprintf("the coordinates of %s do not fit 64 bits", u.access.Tensor.Name)
			c.X, c.Y = low, sizeSub(loop.SizeConst(math.MaxInt64), loop.SizeConst(1))
			sb.check(c)
			c.X = high
			sb.check(c)
			continue
		}
		verb := "read"
		if u.left {
			verb = "written"
		}
		c.Message = fmt.Sprintf("a coordinate that is %s in dimension %d of %s is out of range", verb, u.dim, u.access.Tensor.Name)
		low0 := c
		low0.X, low0.Y = loop.SizeConst(0), low
		sb.check(low0)
		c.X, c.Y = high, loop.SizeConst(math.MaxInt64-1)
		if u.extent != nil {
			c.Y = sizeSub(u.extent, loop.SizeConst(1))
		}
		sb.check(c)
	}
}

// checkEmpty is lang's: reductions that have no value.
func (sb *extentStmt) checkEmpty() {
	lang.Walk(sb.stmt.RHS, func(e lang.Expr) bool {
		if r, ok := e.(*lang.Reduce); ok && r.Q != nil {
			own, all := lang.IndexUses(r.Q), lang.IndexUses(sb.stmt.RHS)
			for _, x := range sb.stmt.Indices {
				if own[x] > 0 && own[x] == all[x] {
					sb.check(Check{Code: ErrShape, Tensor: -1, X: loop.SizeConst(1), Y: sb.extentOf(x),
						Message: fmt.Sprintf("%s has no orders: the index %s takes no value", r.Op, x.Name)})
				}
			}
		}
		return true
	})
	var free []loop.SizeExpr
	for _, x := range sb.stmt.Indices {
		if x.Free {
			free = append(free, sb.extentOf(x))
		}
	}
	sb.emptyBelow(sb.stmt.RHS, free)
}

// emptyBelow checks the reductions in an expression that is evaluated if some
// extents are positive.
func (sb *extentStmt) emptyBelow(e lang.Expr, some []loop.SizeExpr) {
	lang.Walk(e, func(e lang.Expr) bool {
		r, ok := e.(*lang.Reduce)
		if !ok {
			return true
		}
		if r.Op == lang.ArgMin || r.Op == lang.ArgMax {
			var size loop.SizeExpr = loop.SizeConst(1)
			for _, v := range r.Vars {
				size = sizeMul(size, sizeMax(sb.extentOf(v.Var), loop.SizeConst(1)))
			}
			sb.check(Check{Code: ErrShape, Tensor: -1, If: some, X: size, Y: loop.SizeConst(math.MaxInt64),
				Message: fmt.Sprintf("the positions that %s counts over its indices do not fit 63 bits", r.Op)})
		}
		inner := slices.Clone(some)
		for _, v := range r.Vars {
			n := sb.extentOf(v.Var)
			if r.Op.UndefinedOverNothing() && v.In == nil {
				sb.check(Check{Code: ErrShape, Tensor: -1, If: inner, X: loop.SizeConst(1), Y: n,
					Message: fmt.Sprintf("%s over index %s, which takes no value: its dimension has size 0", r.Op, v.Var.Name)})
			}
			inner = append(slices.Clone(inner), n)
		}
		sb.emptyBelow(r.Body, inner)
		if r.Q != nil {
			sb.emptyBelow(r.Q, inner)
		}
		return false
	})
}

func (sb *extentStmt) finish(known []loop.SizeExpr) {
	sb.out.index = append(sb.out.index, sb.extent)
	shape := slices.Clone(known)
	for k, x := range sb.stmt.LHS.Indices {
		if shape[k] != nil {
			continue
		}
		if v := x.Plain(); v != nil {
			shape[k] = sb.extentOf(v)
			continue
		}
		// One more than the largest coordinate, or 0 if there is none.
		_, high, some := sb.reach(x)
		n := sizeAdd(high, loop.SizeConst(1))
		for _, s := range some {
			n = sizeMul(n, sizeMin(s, loop.SizeConst(1)))
		}
		shape[k] = n
	}
	sb.out.shapes[sb.stmt.LHS.Tensor] = shape
}
