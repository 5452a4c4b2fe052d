package lang

import (
	"fmt"
	"math"
	"slices"
)

// Extents says how far every index of a program runs for given operands.
type Extents struct {
	// Index holds the extent of each index: by statement, then by index ID.
	Index [][]int64
	// Shapes holds the shape of every tensor of the program, operands and results.
	Shapes map[string][]int64
	// Nothing lists the means and variances over nothing, which are NaN: their indices take no
	// value. A plan that does not know cannot tell, since zero entries add up to 0.
	Nothing []*Reduce
}

// Bind computes the extents of a program for operands of the given shapes.
//
// All plain uses of an index, and open slices, must agree. An index without one
// gets the largest extent whose last coordinate stays inside the dimension in
// every affine use, given the other indices at the end of their ranges; 0 if
// there is none. A dimension of a result is the extent of its plain index, else
// one more than the largest coordinate that is assigned, unless the shape is
// declared or known. Affine reads may leave a dimension: they give the fill. Constant indices
// and slices, and everything on the left, must not.
//
// The error, of type Errors, has one of the codes E301 to E306.
func Bind(p *Program, shapes map[string][]int64) (*Extents, error) {
	b := &binder{prog: p, shapes: make(map[*Tensor][]int64), out: &Extents{Shapes: make(map[string][]int64)}}
	for _, t := range p.Tensors {
		if t.Operand {
			b.operand(t, shapes)
		}
	}
	for _, s := range p.Stmts {
		if len(b.errs) > 0 {
			break
		}
		b.statement(s)
	}
	if err := b.errs.asError(p.Source); err != nil {
		return nil, err
	}
	return b.out, nil
}

type binder struct {
	prog   *Program
	shapes map[*Tensor][]int64
	out    *Extents
	errs   Errors
}

func (b *binder) fail(code Code, pos Pos, hint, format string, args ...any) *Error {
	e := &Error{Code: code, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
	b.errs = append(b.errs, e)
	return e
}

// operand takes the shape of an operand.
func (b *binder) operand(t *Tensor, shapes map[string][]int64) {
	if t.StoredOf != nil {
		b.shapes[t] = b.shapes[t.StoredOf]
		return
	}
	shape, ok := shapes[t.Name]
	switch {
	case !ok:
		b.fail(ErrMissingShape, t.Pos, "pass a value for "+t.Name, "the operand %s is missing", t.Name)
		return
	case len(shape) != t.Rank:
		b.fail(ErrShape, t.Pos, "", "%s has shape %v, but the program was compiled for %s", t.Name, shape, plural(t.Rank, "dimension", "dimensions"))
		return
	}
	for k, n := range shape {
		if n < 0 {
			b.fail(ErrShape, t.Pos, "", "dimension %d of %s has the negative extent %d", k, t.Name, n)
			return
		}
		if t.Shape != nil && t.Shape[k] >= 0 && t.Shape[k] != n {
			b.fail(ErrShape, t.Pos, "", "%s has shape %v, but %v is declared", t.Name, shape, t.Shape)
			return
		}
	}
	b.shapes[t] = slices.Clone(shape)
	b.out.Shapes[t.Name] = b.shapes[t]
}

// dimUse is one index expression of a statement with the extent of its dimension.
type dimUse struct {
	access *Access
	index  IndexExpr
	dim    int   // which dimension
	extent int64 // of the dimension; -1 when the left side does not know it yet
	left   bool
	like   bool // gives extents only: nothing is read
}

// stmtBinder binds one statement.
type stmtBinder struct {
	*binder
	stmt   *Stmt
	uses   []dimUse
	extent []int64  // by index ID; -1 unknown
	from   []dimUse // the use that gave an extent
}

func (b *binder) statement(s *Stmt) {
	sb := &stmtBinder{binder: b, stmt: s, extent: make([]int64, len(s.Indices)), from: make([]dimUse, len(s.Indices))}
	for i, x := range s.Indices {
		sb.extent[i] = x.Length
	}
	target := b.leftShape(s.LHS.Tensor)
	for _, a := range Accesses(s.RHS) {
		shape := b.shapes[a.Tensor]
		if shape == nil && a.Tensor.Rank > 0 {
			panic("BUG: " + a.Tensor.Name + " is read before it has a shape")
		}
		sb.addUses(a, shape, false)
	}
	Walk(s.RHS, func(e Expr) bool {
		if l, ok := e.(*Like); ok {
			for _, a := range l.Accesses {
				from := len(sb.uses)
				sb.addUses(a, b.shapes[a.Tensor], false)
				for i := range sb.uses[from:] {
					sb.uses[from+i].like = true
				}
			}
		}
		return true
	})
	for _, a := range Accesses(s.LHS)[1:] { // gathers
		sb.addUses(a, b.shapes[a.Tensor], false)
	}
	sb.addUses(s.LHS, target, true)
	sb.plainUses()
	sb.affineUses()
	sb.spread()
	if sb.checkKnown() && sb.checkRanges() {
		sb.checkEmpty()
		b.finish(sb, target)
	}
}

// leftShape is what is known of the shape of a statement's target, -1 where nothing is.
func (b *binder) leftShape(t *Tensor) []int64 {
	switch {
	case b.shapes[t] != nil:
		return b.shapes[t]
	case t.Shape != nil:
		return t.Shape
	}
	return slices.Repeat([]int64{-1}, t.Rank)
}

func (sb *stmtBinder) addUses(a *Access, shape []int64, left bool) {
	for k, x := range a.Indices {
		sb.uses = append(sb.uses, dimUse{access: a, index: x, dim: k, extent: shape[k], left: left})
	}
}

// root is the index that shares its extent with x and holds it.
func root(x *Index) *Index {
	for x.Like != nil {
		x = x.Like
	}
	return x
}

func (sb *stmtBinder) extentOf(x *Index) int64 { return sb.extent[root(x).ID] }

// plainUses takes the extents that plain indices and open slices give and reports
// those that disagree.
func (sb *stmtBinder) plainUses() {
	for _, u := range sb.uses {
		if u.extent < 0 {
			continue
		}
		if v := u.index.Plain(); v != nil {
			sb.agree(root(v), u, u.extent)
			continue
		}
		if u.index.Slice && u.index.Open {
			if u.index.Const > u.extent {
				sb.outOfRange(u, u.index.Const)
				continue
			}
			t := u.index.Terms[0]
			sb.agree(root(t.Var), u, ceilDiv(u.extent-u.index.Const, t.Coef))
		}
	}
}

// agree sets the extent of v, or reports that it has another.
func (sb *stmtBinder) agree(v *Index, u dimUse, n int64) {
	old := sb.extent[v.ID]
	if old < 0 {
		sb.extent[v.ID], sb.from[v.ID] = n, u
		return
	}
	if old == n {
		return
	}
	what := "the index " + v.Name
	if v.Name == "" {
		what = "the slice"
	}
	first := sb.from[v.ID]
	if first.access == nil { // the length comes from constant bounds
		sb.fail(ErrDisagree, u.index.Pos, "", "%s has length %d here, but constant bounds elsewhere in the statement give %d", what, n, old)
		return
	}
	e := sb.fail(ErrDisagree, u.index.Pos, "the dimensions that one index runs over must have one extent",
		"%s has extent %d in %s, but %d in %s", what, n, sb.stmt.Format(u.access), old, sb.stmt.Format(first.access))
	e.Related = []Note{{first.index.Pos, fmt.Sprintf("extent %d here", old)}}
}

// affineUses derives the extents that no plain use gives, in as many rounds as one
// depends on another.
func (sb *stmtBinder) affineUses() {
	byVar := make([][]dimUse, len(sb.extent))
	for _, u := range sb.uses {
		if u.extent < 0 || u.index.Slice || u.index.Plain() != nil {
			continue
		}
		for _, t := range u.index.Terms {
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
func (sb *stmtBinder) settleSome(byVar [][]dimUse) bool {
	progress := false
	for id, uses := range byVar {
		if sb.extent[id] < 0 && len(uses) > 0 && len(sb.decidable(id, uses)) == len(uses) {
			sb.extent[id] = sb.largest(id, uses)
			progress = true
		}
	}
	if progress {
		return true
	}
	for id, uses := range byVar {
		if sb.extent[id] >= 0 {
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
func (sb *stmtBinder) decidable(id int, uses []dimUse) []dimUse {
	var list []dimUse
	for _, u := range uses {
		if len(sb.openOthers(id, u)) == 0 {
			list = append(list, u)
		}
	}
	return list
}

// openOthers returns the indices without an extent beside id in a use.
func (sb *stmtBinder) openOthers(id int, u dimUse) []int {
	var list []int
	for _, t := range u.index.Terms {
		if other := root(t.Var).ID; other != id && sb.extent[other] < 0 {
			list = append(list, other)
		}
	}
	return list
}

// othersFollow says whether every open index beside id in its uses has only uses
// that hold another open index.
func (sb *stmtBinder) othersFollow(id int, uses []dimUse, byVar [][]dimUse) bool {
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
func (sb *stmtBinder) largest(id int, uses []dimUse) int64 {
	n := int64(math.MaxInt64)
	for _, u := range uses {
		some, ok := sb.inside(id, u)
		if !ok {
			sb.fail(ErrShape, u.index.Pos, "use smaller numbers in the index", "how far %s runs to stay inside %s does not fit 64 bits",
				sb.stmt.Indices[id].Name, u.access.Tensor.Name)
			return 0
		}
		n = min(n, some)
	}
	return n
}

// inside returns the largest extent of an index for which one use stays inside,
// and whether it and all that it follows from fit 64 bits.
func (sb *stmtBinder) inside(id int, u dimUse) (int64, bool) {
	ok := true
	add := func(a, b int64) int64 { return checked(addInt64, a, b, &ok) }
	mul := func(a, b int64) int64 { return checked(mulInt64, a, b, &ok) }
	coef, low, high := int64(0), u.index.Const, u.index.Const
	for _, t := range u.index.Terms {
		if root(t.Var).ID == id {
			coef = add(coef, t.Coef)
			continue
		}
		end := mul(t.Coef, max(sb.extentOf(t.Var)-1, 0))
		low, high = add(low, min(end, 0)), add(high, max(end, 0))
	}
	room, step := low, mul(coef, -1)
	if coef > 0 {
		room, step = add(u.extent-1, mul(high, -1)), coef
	}
	switch {
	case coef == 0:
		return math.MaxInt64, ok
	case room < 0:
		return 0, ok
	}
	return add(room/step, 1), ok
}

// spread copies extents to the indices that share them.
func (sb *stmtBinder) spread() {
	for i, x := range sb.stmt.Indices {
		sb.extent[i] = sb.extentOf(x)
	}
}

// checkKnown reports indices without an extent.
func (sb *stmtBinder) checkKnown() bool {
	if len(sb.errs) > 0 {
		return false
	}
	for i, x := range sb.stmt.Indices {
		if sb.extent[i] >= 0 {
			continue
		}
		name, t := x.Name, sb.stmt.LHS.Tensor.Name
		switch {
		case name == "":
			sb.fail(ErrFreeExtent, x.Pos, "give the slice an end, or declare the shape of "+t, "nothing tells how long the slice is")
		case x.Free && !sb.onRight(x):
			sb.fail(ErrFreeExtent, x.Pos, "declare the shape of "+t,
				"the index %s occurs on the left only, so %s is broadcast along it, but nothing tells how far it runs", name, t)
		default:
			sb.fail(ErrFreeExtent, x.Pos, "use the index plainly once, or declare the shape of "+t,
				"the extent of the index %s cannot be determined: it occurs only in affine indices with others that are as open", name)
		}
		return false
	}
	return true
}

func (sb *stmtBinder) onRight(x *Index) bool {
	return slices.ContainsFunc(sb.uses, func(u dimUse) bool {
		return !u.left && slices.ContainsFunc(u.index.Terms, func(t Term) bool { return t.Var == x })
	})
}

// checkRanges reports constant indices, slices and coordinates on the left that lie
// outside their dimensions, and affine indices whose coordinates would wrap.
func (sb *stmtBinder) checkRanges() bool {
	for _, u := range sb.uses {
		x := u.index
		if x.Gather != nil || x.Plain() != nil || u.like {
			continue
		}
		low, high, some, fits := sb.reach(x)
		switch {
		case !some:
		case !fits:
			sb.fail(ErrShape, x.Pos, "", "the coordinates of %s do not fit 64 bits", u.access.Tensor.Name)
		case len(x.Terms) > 0 && !x.Slice && !u.left: // outside is the fill
		case low < 0:
			sb.outOfRange(u, low)
		case u.extent >= 0 && high >= u.extent:
			sb.outOfRange(u, high)
		}
	}
	return len(sb.errs) == 0
}

// reach returns the least and the largest coordinate of an index, whether there is
// any, and whether they and all that they follow from fit 64 bits.
func (sb *stmtBinder) reach(x IndexExpr) (low, high int64, some, fits bool) {
	fits = true
	low, high = x.Const, x.Const
	for _, t := range x.Terms {
		n := sb.extentOf(t.Var)
		if n == 0 {
			return 0, 0, false, true
		}
		end := checked(mulInt64, t.Coef, n-1, &fits)
		low, high = checked(addInt64, low, min(end, 0), &fits), checked(addInt64, high, max(end, 0), &fits)
	}
	return low, high, true, fits && high < math.MaxInt64 // an extent is one more
}

func (sb *stmtBinder) outOfRange(u dimUse, coordinate int64) {
	verb, hint := "read", "coordinates count from 0"
	if u.left {
		verb, hint = "written", "declare a larger shape for the result, or shift the index"
	}
	if u.extent < 0 {
		sb.fail(ErrOutOfRange, u.index.Pos, hint, "coordinate %d of %s is %s: coordinates count from 0", coordinate, u.access.Tensor.Name, verb)
		return
	}
	sb.fail(ErrOutOfRange, u.index.Pos, hint, "coordinate %d is %s in dimension %d of %s, which has extent %d",
		coordinate, verb, u.dim, u.access.Tensor.Name, u.extent)
}

// finish records the extents of a statement and the shape of its target.
func (b *binder) finish(sb *stmtBinder, known []int64) {
	b.out.Index = append(b.out.Index, sb.extent)
	shape := slices.Clone(known)
	for k, x := range sb.stmt.LHS.Indices {
		if shape[k] >= 0 {
			continue
		}
		shape[k] = 0
		if _, high, some, _ := sb.reach(x); some {
			shape[k] = high + 1
		}
	}
	t := sb.stmt.LHS.Tensor
	b.shapes[t] = shape
	b.out.Shapes[t.Name] = shape
}
