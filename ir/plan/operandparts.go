package plan

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file reads operands that are stored as several pieces. An access of one
// becomes an expression of accesses of its pieces, and a fold over it becomes a
// fold over each piece, where the algebra shows that pieces that store nothing
// add nothing: y(i) = sum_j A(i,j)*x(j) becomes a sum of products of A's pieces
// with x, so that each piece is walked as it is stored. Elsewhere the pieces are
// merged, as sparse operands of any expression are.

// form is a Form with the plan's tensors.
type form struct {
	ir.Form
	pieces []*ir.Tensor
}

// spreading is what a builder knows of operands in pieces.
type spreading struct {
	alg ir.Algebra
	// form is that of a tensor, nil for one that is stored as itself.
	form func(*lang.Tensor) *form
	// crowded are operands with more pieces than can be told apart in a statement.
	crowded []*lang.Tensor
}

// addend is one of the expressions whose union an access in pieces is. Where cond,
// when not nil, does not hold it stores nothing.
type addend struct{ cond, value ir.Expr }

// maxAddends bounds the folds that one fold becomes: trying loop orders for more takes too
// long. Operands of folds that would become more are made one tensor.
const maxAddends = 9

// spread is an access of an operand in pieces. The builder remembers what it is
// the union of.
func (b *builder) spread(a *lang.Access, f *form) (ir.Expr, error) {
	key := b.key(a)
	if same := b.spreads[key]; same != nil {
		return same, nil
	}
	typ := ir.ComputeType(a.Tensor.DType)
	fill := &ir.Literal{Value: a.Tensor.Fill.Convert(typ)}
	var union ir.Expr
	var addends []addend
	for k := len(f.pieces) - 1; k >= 0; k-- {
		x, parts, err := b.piece(a, f.pieces[k], f.Pieces[k].Mirror)
		if err != nil {
			return nil, err
		}
		addends = append(parts, addends...)
		switch {
		case union == nil:
			union = x
		case typ == tensor.Bool && fill.Value.IsZero():
			union = b.call("or", typ, x, union)
		case fill.Value.IsZero():
			union = b.call("+", typ, x, union)
		default:
			// Where x stores the fill itself, no other piece stores anything.
			union = &ir.Select{Cond: b.differs(x, fill), Then: x, Else: union}
		}
	}
	if len(addends) > 1 {
		b.addends[union] = addends
	}
	b.spreads[key] = union
	b.spreadOf[union] = a.Tensor
	return union, nil
}

// differs says where x is not v, which may be a NaN.
func (b *builder) differs(x ir.Expr, v *ir.Literal) ir.Expr {
	if v.Value.IsNaN() {
		return b.call("==", tensor.Bool, x, x)
	}
	return b.call("!=", tensor.Bool, x, v)
}

// piece is what one piece contributes: as one expression, and as addends.
func (b *builder) piece(a *lang.Access, t *ir.Tensor, m ir.Mirror) (ir.Expr, []addend, error) {
	stored, err := b.accessOf(t, a)
	if err != nil {
		return nil, nil, err
	}
	if m.Kind == ir.NoMirror {
		return stored, []addend{{value: stored}}, nil
	}
	across, err := b.accessOf(t, &lang.Access{Pos: a.Pos, Tensor: a.Tensor, Indices: []lang.IndexExpr{a.Indices[1], a.Indices[0]}})
	if err != nil {
		return nil, nil, err
	}
	mirrored := ir.Expr(across)
	switch {
	case m.Kind == ir.Skew:
		mirrored = b.call("neg", ir.TypeOf(across), across)
	case m.Kind == ir.Hermitian && ir.TypeOf(across).IsComplex():
		mirrored = b.call("conj", ir.TypeOf(across), across)
	}
	row, col := b.coordinate(stored.Indices[0]), b.coordinate(stored.Indices[1])
	side, other := ">=", "<"
	if m.Upper {
		side, other = "<=", ">"
	}
	inside := b.call(side, tensor.Bool, row, col)
	direct := addend{value: stored}
	if t.Format.HasBlocks() {
		direct.cond = inside // blocks on the diagonal reach beyond it
	}
	return &ir.Select{Cond: inside, Then: stored, Else: mirrored},
		[]addend{direct, {cond: b.call(other, tensor.Bool, row, col), value: mirrored}}, nil
}

// coordinate is an index as a number.
func (b *builder) coordinate(x ir.IndexExpr) ir.Expr {
	if x.Gather != nil {
		return b.cast(tensor.Int64, x.Gather)
	}
	var sum ir.Expr
	for _, t := range x.Terms {
		v := ir.Expr(&ir.IndexValue{Var: t.Var})
		if t.Coef != 1 {
			v = b.call("*", tensor.Int64, v, &ir.Literal{Value: tensor.Int(tensor.Int64, t.Coef)})
		}
		if sum == nil {
			sum = v
		} else {
			sum = b.call("+", tensor.Int64, sum, v)
		}
	}
	if sum == nil || x.Const != 0 {
		c := &ir.Literal{Value: tensor.Int(tensor.Int64, x.Const)}
		if sum == nil {
			return c
		}
		sum = b.call("+", tensor.Int64, sum, c)
	}
	return sum
}

// accessOf is an access of t with the indices of a.
func (b *builder) accessOf(t *ir.Tensor, a *lang.Access) (*ir.Access, error) {
	piece := *a
	key := fmt.Sprintf("piece %d of %s", t.ID, b.key(&piece))
	if same, ok := b.accesses[key]; ok {
		return same, nil
	}
	return b.newAccess(key, t, a)
}

// distribute writes a fold's body as a list of bodies, the folds of which are to be
// folded: one for each piece of the operands in pieces that occur in it. An
// operand is left as it is where the body is more than the fold's identity if the
// operand stores nothing.
//
// No two pieces store one coordinate, so at each the body is what it is for the one
// piece that does, whatever function of it the body is.
func (b *builder) distribute(f ir.Fold, body ir.Expr) []ir.Expr {
	if len(b.addends) == 0 || f.Facts().Pair {
		return []ir.Expr{body}
	}
	var list []ir.Expr
	ir.Walk(body, func(x ir.Expr) {
		addends := b.addends[x]
		if list != nil || addends == nil || !b.needs(f, body, x) {
			return
		}
		list = b.distributeOver(f, body, x, addends)
	})
	if len(list) > maxAddends {
		ir.Walk(body, func(x ir.Expr) {
			if t := b.spreadOf[x]; t != nil && !slices.Contains(b.crowded, t) {
				b.crowded = append(b.crowded, t)
			}
		})
		list = nil
	}
	if list == nil {
		return []ir.Expr{body}
	}
	return list
}

// distributeOver distributes a body over the addends of one operand, and what comes
// of it over those of others.
func (b *builder) distributeOver(f ir.Fold, body, operand ir.Expr, addends []addend) []ir.Expr {
	var list []ir.Expr
	for _, x := range addends {
		e := b.replace(body, operand, x.value)
		if x.cond != nil {
			e = &ir.Select{Cond: x.cond, Then: e, Else: &ir.Literal{Value: f.Identity(ir.TypeOf(e))}}
		}
		if list = append(list, b.distribute(f, e)...); len(list) > maxAddends {
			break
		}
	}
	return list
}

// needs reports whether a fold's body is the fold's identity where one operand in it
// stores nothing, whatever the others are.
func (b *builder) needs(f ir.Fold, body, operand ir.Expr) bool {
	fill := b.fillOf(operand)
	if fill == nil {
		return false
	}
	s := b.alg.Stored(b.replace(body, operand, fill), maskLeaves{})
	return s.Set.IsNone() && f.IsNeutral(s.Background)
}

// fillOf is the value of an operand in pieces where it stores nothing.
func (b *builder) fillOf(operand ir.Expr) ir.Expr {
	s := b.alg.Of(operand, ir.GlobalLeaves(b.alg))
	if _, ok := ir.ConstValue(s.Background); ok {
		return s.Background
	}
	return nil
}

// replace copies e with another expression in place of a part of it.
func (b *builder) replace(e, part, by ir.Expr) ir.Expr {
	if e == part {
		return by
	}
	switch e := e.(type) {
	case *ir.Call:
		args := make([]ir.Expr, len(e.Args))
		same := true
		for i, a := range e.Args {
			args[i] = b.replace(a, part, by)
			same = same && args[i] == a
		}
		if same {
			return e
		}
		return &ir.Call{Fn: e.Fn, Args: args, Typ: e.Typ}
	case *ir.Select:
		c, t, f := b.replace(e.Cond, part, by), b.replace(e.Then, part, by), b.replace(e.Else, part, by)
		if c == e.Cond && t == e.Then && f == e.Else {
			return e
		}
		return &ir.Select{Cond: c, Then: t, Else: f}
	case *ir.Cast:
		if x := b.replace(e.X, part, by); x != e.X {
			return &ir.Cast{To: e.To, X: x}
		}
	}
	return e
}

// combiners are the functions that fold two values, by fold.
var combiners = map[ir.Fold]string{ir.FoldSum: "+", ir.FoldProd: "*", ir.FoldMin: "min", ir.FoldMax: "max", ir.FoldOr: "or", ir.FoldAnd: "and"}
