package plan

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Scans and order statistics are not folds: what they give depends on the order or
// the ranks of a whole line of values. They are steps of a plan of their own. Their
// argument is an operand, stored as the step needs it, or a temporary that an
// earlier step computes; the expression around them reads their result like an operand.

// maxLines bounds the scans and order statistics of a statement: each is a kernel.
const maxLines = 64

// argument is what a scan or an order statistic runs over.
type argument struct {
	*builder             // of the argument's own normal form
	value    ir.Expr     // what is folded
	vars     []*ir.Index // of the argument's axes
	axes     []int       // those that are run over, outermost first
	in       *ir.Access  // whose stored coordinates are run over, nil for all
	typ      tensor.DType
	pos      lang.Pos
}

// argument rewrites the body of a scan or order statistic over vars.
func (b *builder) argument(body lang.Expr, vars []lang.ReduceVar, pos lang.Pos) (*argument, error) {
	if b.plan.lines++; b.plan.lines > maxLines {
		return nil, lang.Unsupported(fmt.Sprintf("more than %d scans and quantiles in one statement (split it)", maxLines), pos)
	}
	sub := b.sub()
	over, err := sub.over(vars, pos)
	if err != nil {
		return nil, err
	}
	value, err := sub.expr(body)
	if err != nil {
		return nil, err
	}
	if over.In != nil {
		if err := sub.checkStored(over, body, pos); err != nil {
			return nil, err
		}
	}
	a := &argument{builder: sub, value: value, in: over.In, typ: body.DType(), pos: pos}
	read := append(ir.FreeVars(value), over.Vars...)
	if over.In != nil {
		read = over.In.Vars(read)
	}
	if direct := a.operand(); direct != nil && within(read, direct) {
		a.vars = direct
	} else {
		a.vars = b.inOrder(read)
	}
	if len(a.vars) > tensor.MaxRank {
		return nil, lang.Unsupported(fmt.Sprintf("a scan or quantile of an expression with more than %d indices", tensor.MaxRank), pos)
	}
	for _, v := range over.Vars {
		a.axes = append(a.axes, slices.Index(a.vars, v))
	}
	return a, nil
}

// sub is a builder for a part of the statement that becomes a step of its own.
func (b *builder) sub() *builder {
	sub := &builder{
		normalForm: normalForm{stmt: b.stmt, lhs: b.lhs, indices: b.indices},
		plan:       b.plan, tensors: b.tensors, ev: b.ev, names: b.names,
		accesses: map[string]*ir.Access{}, bound: map[*ir.Index]bool{},
	}
	sub.builder = sub
	return sub
}

// inOrder lists index variables once each, first those of the left side as it has
// them, then the others as the statement numbers them.
func (b *builder) inOrder(vars []*ir.Index) []*ir.Index {
	var list []*ir.Index
	for _, v := range b.lhs.Vars(nil) {
		if slices.Contains(vars, v) {
			list = append(list, v)
		}
	}
	var rest []*ir.Index
	for _, v := range vars {
		if !slices.Contains(list, v) {
			rest = ir.AddIndex(rest, v)
		}
	}
	slices.SortStableFunc(rest, func(v, w *ir.Index) int { return v.ID - w.ID })
	return append(list, rest...)
}

// operand returns the variables of the argument's axes if the argument is nothing
// but an access, or a conversion of one, with an index of its own for each axis.
func (a *argument) operand() []*ir.Index {
	x := a.access()
	if x == nil || a.in != nil && a.in != x || !x.Tensor.FillKnown && !x.Tensor.Format.IsDense() {
		return nil
	}
	var vars []*ir.Index
	for _, index := range x.Indices {
		v := index.Plain()
		if v == nil || slices.Contains(vars, v) {
			return nil
		}
		vars = append(vars, v)
	}
	return vars
}

// access is the access that the argument consists of, or nil.
func (a *argument) access() *ir.Access {
	x := a.value
	if c, ok := x.(*ir.Cast); ok {
		x = c.X
	}
	direct, _ := x.(*ir.Access)
	return direct
}

// cast is the type to which elements of the tensor that materialise gives are to be
// converted, invalid if they have the argument's.
func (a *argument) cast() tensor.DType {
	if c, ok := a.value.(*ir.Cast); ok && a.direct() {
		return c.To
	}
	return tensor.Invalid
}

// direct reports whether the argument is an operand.
func (a *argument) direct() bool {
	vars := a.operand()
	return vars != nil && slices.Equal(vars, a.vars)
}

// kept lists the axes that are not run over.
func (a *argument) kept() []int {
	var list []int
	for axis := range a.vars {
		if !slices.Contains(a.axes, axis) {
			list = append(list, axis)
		}
	}
	return list
}

// stored reports whether the argument stands for stored elements only.
func (a *argument) stored(f tensor.Format) bool { return a.in != nil && !f.IsDense() }

// materialise returns the argument as a tensor in the format that layout chooses,
// given the format and the fill that the argument has by itself.
func (p *planner) materialise(a *argument, layout func(f tensor.Format, fill *tensor.Scalar) tensor.Format) *ir.Tensor {
	if a.direct() {
		t := a.access().Tensor
		format := layout(t.Format, knownFill(t))
		if format == t.Format {
			return t
		}
		to := p.tensor(&ir.Tensor{Name: p.temporary(t), Rank: t.Rank, DType: t.DType, Format: format, Fill: t.Fill, FillKnown: t.FillKnown, Whole: t.Whole})
		p.Steps = append(p.Steps, &ir.Convert{From: t, To: to, Why: "lines are run over one after the other", Stored: a.in != nil})
		return to
	}
	nf := &a.normalForm
	nf.value = a.value
	if a.in != nil {
		nf.value = a.only(a.in, a.value)
	}
	t := &ir.Tensor{Name: p.named("line"), Rank: len(a.vars), DType: ir.ComputeType(a.typ)}
	nf.lhs = accessOf(t, a.vars)
	background := p.alg.Of(nf.value, ir.GlobalLeaves(p.alg)).Background
	t.Format = nf.naturalFormat(p.alg, background)
	if a.in != nil && t.Format.IsDense() && !a.in.Tensor.Format.IsDense() {
		t.Format = tensor.CSF(t.Rank) // what is stored matters, not only values
	}
	p.fill(t, &lang.Tensor{}, p.beyond(nf, t, background), true)
	t.Format = layout(t.Format, knownFill(t))
	p.fill(t, &lang.Tensor{}, p.beyond(nf, t, background), true)
	if err := p.compute(nf, a.stmt, t, &ir.Compute{Covers: true, Background: background, Shape: a.vars}); err != nil {
		panic("BUG: " + err.Error()) // only a schedule is refused, and this has none
	}
	return p.tensor(t)
}

// only is x where in stores something, and elsewhere an element that is not stored.
func (b *builder) only(in *ir.Access, x ir.Expr) ir.Expr {
	fold := ir.FoldSum
	if ir.TypeOf(x) == tensor.Bool {
		fold = ir.FoldOr
	}
	return b.add(fold, &ir.Reduce{In: in}, x, ir.TypeOf(x))
}

// knownFill is the fill of a tensor, nil if it is known only at run time.
func knownFill(t *ir.Tensor) *tensor.Scalar {
	if !t.FillKnown {
		return nil
	}
	return &t.Fill
}

// accessOf is the access of t with a plain index for each axis.
func accessOf(t *ir.Tensor, vars []*ir.Index) *ir.Access {
	a := &ir.Access{Tensor: t}
	for _, v := range vars {
		a.Indices = append(a.Indices, ir.IndexExpr{Terms: []ir.Term{{Var: v, Coef: 1}}})
	}
	return a
}

// segments is the format of lines in segments: sparse ones unless the tensor has
// one other axis, and its outermost level is dense.
func segments(f tensor.Format, kept, axes []int) tensor.Format {
	above := tensor.CSF(len(kept))
	if len(kept) == 1 && f.AllRows() {
		above = tensor.Dense(1)
	}
	return ir.MustFormat(keptFirst(f, kept, axes), above, tensor.Coordinates(len(axes)))
}

// keptFirst is the axis order with kept first, as f stores them, and axes behind.
func keptFirst(f tensor.Format, kept, axes []int) []int {
	var order []int
	for _, axis := range f.Order() {
		if slices.Contains(kept, axis) {
			order = append(order, axis)
		}
	}
	return append(order, axes...)
}

// upper is the format of a tensor with the axes of f that are kept, stored in the
// levels that lie above the segments of sparse lines along the others, and dense
// axes behind them.
func upper(f tensor.Format, kept int, dense int, order []int) tensor.Format {
	return ir.MustFormat(order, f.Outer(kept), tensor.Dense(dense))
}

// planes is a dense format that holds lines along axes as Planes: in the order of
// the axes if that will do.
func planes(f tensor.Format, kept, axes []int) tensor.Format {
	rank := len(kept) + len(axes)
	if dense := tensor.Dense(rank); ir.LinesOf(dense, axes) == ir.Planes {
		return dense
	}
	return ir.MustFormat(keptFirst(f, kept, axes), tensor.Dense(rank))
}

// adopt makes the result of the latest step that of the statement, if that is all
// that the statement asks for, and reports whether it did.
func (p *planner) adopt(nf *normalForm, s *lang.Stmt) bool {
	x, ok := nf.value.(*ir.Access)
	if !ok || len(p.Steps) == 0 || !samePlaces(x, nf.lhs) {
		return false
	}
	made := producedBy(p.Steps[len(p.Steps)-1])
	declared := s.LHS.Tensor
	switch {
	case made == nil || x.Tensor != made || made.Source != nil || // that of a statement before
		made.DType != ir.ComputeType(declared.DType):
		return false
	case declared.HasFormat && declared.Format != made.Format, !slices.IsSorted(made.Format.Order()):
		return false
	case declared.FillKnown && !declared.Fill.Convert(declared.DType).Same(made.Fill):
		return false
	}
	made.Name, made.Source, made.DType = declared.Name, declared, declared.DType
	made.Fill, made.Whole = made.Fill.Convert(made.DType), false
	p.current[declared] = made
	return true
}

// samePlaces reports whether two accesses name the same coordinates by plain indices.
func samePlaces(x, y *ir.Access) bool {
	return slices.EqualFunc(x.Indices, y.Indices, func(a, b ir.IndexExpr) bool {
		v := a.Plain()
		return v != nil && v == b.Plain()
	})
}

// producedBy is the temporary that a scan, order statistic or sort makes, nil for other steps.
func producedBy(s ir.Step) *ir.Tensor {
	switch s := s.(type) {
	case *ir.Scan:
		return s.To
	case *ir.Statistic:
		return s.To
	case *ir.Sort:
		return s.To
	}
	return nil
}
