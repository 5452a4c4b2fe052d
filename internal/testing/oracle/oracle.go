// Package oracle evaluates checked programs by brute force: every tensor is
// written out densely and every index variable runs over its whole dimension.
// It shares nothing with the compiler behind the checker, and uses Go's own
// arithmetic and math library, so that it can judge both engines.
//
// Each value carries a bound on how far another right answer may be from it
// (bound.go), so that a judgement is exact wherever arithmetic is.
//
// What a tensor stores is known of operands only: `in A` of a tensor that the
// program itself makes is refused, because its pattern is the compiler's to
// choose and modelling it would repeat the compiler.
package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Dense is a tensor written out: row-major values.
type Dense struct {
	Shape  []int64
	Values []Value
	// stored tells which coordinates an operand stores, for `in`; nil for results.
	stored []bool
	dense  bool // every element is stored, or for a result may be
}

// Eval runs a program on operands and returns its results. The extents are
// those that lang.Bind found for the operands' shapes.
func Eval(p *lang.Program, operands map[string]*tensor.Tensor, ext *lang.Extents, how Arithmetic) (map[string]*Dense, error) {
	e := &evaluator{tensors: map[*lang.Tensor]*Dense{}, arithmetic: how}
	for _, t := range p.Tensors {
		if of := t.StoredOf; of != nil {
			e.tensors[t] = e.tensors[of].pattern()
			continue
		}
		if t.Operand {
			d, err := writeOut(operands[t.Name])
			if err != nil {
				return nil, err
			}
			e.tensors[t] = d
		}
	}
	results := map[string]*Dense{}
	for i, s := range p.Stmts {
		d, err := e.statement(s, ext.Index[i], ext.Shapes[s.LHS.Tensor.Name])
		if err != nil {
			return nil, err
		}
		results[s.LHS.Tensor.Name] = d
		e.tensors[s.LHS.Tensor] = d.kept(s.LHS.Tensor)
	}
	return results, nil
}

// ErrEmpty is the value of a minimum, maximum, argmin or argmax over nothing.
var ErrEmpty = errors.New("reduction over nothing")

// ErrOrder is the value of a quantile whose order lies outside 0 to 1.
var ErrOrder = errors.New("order of a quantile outside 0 to 1")

func writeOut(t *tensor.Tensor) (*Dense, error) {
	t, err := t.Canonical()
	if err != nil {
		return nil, err
	}
	dense, err := t.ToDense()
	if err != nil {
		return nil, err
	}
	d := &Dense{Shape: t.Shape(), dense: t.Format().IsDense()}
	for i := 0; i < dense.Len(); i++ {
		v := FromScalar(dense.Scalar(i))
		v.State = Gap
		d.Values = append(d.Values, v)
	}
	coords, _, err := t.ToCoords()
	if err != nil {
		return nil, err
	}
	d.stored = make([]bool, len(d.Values))
	n := t.NNZ()
	c := make([]int64, t.Rank())
	for k := int64(0); k < n; k++ {
		for a := range c {
			c[a] = coords[a][k]
		}
		p := d.offset(c)
		d.stored[p], d.Values[p].State = true, Stored
	}
	return d, nil
}

// kept is a result as later statements read it: what it stores depends on its format, which may
// be the compiler's choice.
func (d *Dense) kept(t *lang.Tensor) *Dense {
	dense := t.HasFormat && t.Format.IsDense()
	k := &Dense{Shape: d.Shape, Values: slices.Clone(d.Values), dense: dense || !t.HasFormat}
	sparse := t.HasFormat && !t.Format.HasBlocks()
	// Where all is stored, it may be the fill that only a run can tell; where gaps have
	// different values, the compiler stores them.
	whole, gaps := true, -1
	for i, v := range k.Values {
		whole = whole && v.State == Stored
		if v.State != Stored && gaps >= 0 && distance(t.DType, v, k.Values[gaps]) != 0 {
			sparse = false
		}
		if v.State != Stored {
			gaps = i
		}
	}
	for i := range k.Values {
		switch v := &k.Values[i]; {
		case dense:
			v.State = Stored
		case !sparse || whole || v.Omissible || v.State != Stored && v.Varies || t.FillKnown && v.State != Stored && distance(t.DType, *v, FromScalar(t.Fill.Convert(t.DType))) != 0:
			v.State = Unknown
		case v.State == Uniform:
			v.State = Gap
		}
	}
	return k
}

// pattern is true at the coordinates that an operand stores, and stores those.
func (d *Dense) pattern() *Dense {
	p := &Dense{Shape: d.Shape, stored: d.stored, dense: d.dense, Values: make([]Value, len(d.Values))}
	for i, stored := range d.stored {
		p.Values[i].B, p.Values[i].State = stored, d.Values[i].State
	}
	return p
}

// offset is the row-major position of a coordinate, -1 outside the shape.
func (d *Dense) offset(coord []int64) int64 {
	p := int64(0)
	for a, c := range coord {
		if c < 0 || c >= d.Shape[a] {
			return -1
		}
		p = p*d.Shape[a] + c
	}
	return p
}

type evaluator struct {
	tensors map[*lang.Tensor]*Dense
	extents []int64 // of the statement
	env     []int64 // values of its indices
	err     error

	arithmetic Arithmetic
}

func (e *evaluator) statement(s *lang.Stmt, extents, shape []int64) (*Dense, error) {
	e.extents, e.env, e.err = extents, make([]int64, len(extents)), nil
	lhs := s.LHS.Tensor
	size := int64(1)
	for _, n := range shape {
		size *= n
	}
	out := &Dense{Shape: shape, Values: make([]Value, size)}
	for i := range out.Values {
		out.Values[i].State = Gap
	}
	old := e.tensors[lhs]
	switch {
	case old != nil && (s.Op != lang.Set || !reachesAll(s.LHS)):
		copy(out.Values, old.Values)
	case lhs.FillKnown:
		for i := range out.Values {
			out.Values[i] = FromScalar(lhs.Fill.Convert(lhs.DType))
			out.Values[i].State = Gap
		}
	}
	var free []*lang.Index
	for _, x := range s.Indices {
		if x.Free {
			free = append(free, x)
		}
	}
	scattered := map[int64][]Value{} // by element
	scatters := slices.ContainsFunc(s.LHS.Indices, func(x lang.IndexExpr) bool { return x.Gather != nil })
	e.each(free, func() {
		coord := e.coordinates(s.LHS)
		p := out.offset(coord)
		if p < 0 {
			e.fail(fmt.Errorf("result coordinate %v outside shape %v", coord, shape))
			return
		}
		v := e.expr(s.RHS)
		if scatters {
			scattered[p] = append(scattered[p], v)
			return
		}
		if s.Op != lang.Set {
			v = e.update(s.Op, lhs.DType, out.Values[p], v)
		}
		out.Values[p] = cast(compute(lhs.DType), lhs.DType, v)
	})
	// What is scattered to one element is folded in any order, and rounded once.
	dt := compute(lhs.DType)
	for p, list := range scattered {
		fold := folding{op: updateFolds[s.Op], in: dt, out: dt, list: list}
		all := fold
		all.list = append([]Value{out.Values[p]}, list...)
		v, err := all.value()
		if err != nil {
			return nil, err
		}
		added, err := fold.value()
		if err != nil {
			return nil, err
		}
		// Whether what is added overflows before the old value joins depends on the order.
		if inexact(dt) && (!finite(added.C) || math.IsInf(added.Err, 1)) {
			v.Err = math.Inf(1)
		}
		// What is added counts as stored, as the statement names the element. An old value that is
		// not stored may annihilate it.
		touched := v.State
		added.State = Stored
		if u := e.update(s.Op, dt, out.Values[p], added); u.Disputed || u.State == Gap {
			v, touched = u, u.State
		}
		if v.State = touched; v.State != Stored {
			v.Varies, v.State = true, Unknown // the result may store what equals the fold of nothing
		}
		out.Values[p] = cast(dt, lhs.DType, v)
	}
	return out, e.err
}

// updateFolds are the reductions that assignment operators repeat.
var updateFolds = map[lang.AssignOp]lang.Reduction{
	lang.AddTo: lang.Sum, lang.MulTo: lang.Prod, lang.MinTo: lang.Min, lang.MaxTo: lang.Max, lang.OrTo: lang.Any, lang.AndTo: lang.All,
}

// reachesAll reports whether a left side names every element: each dimension
// has a variable of its own, or is a slice from the first to the last.
func reachesAll(a *lang.Access) bool {
	seen := map[*lang.Index]bool{}
	for _, x := range a.Indices {
		if len(x.Terms) != 1 || x.Const != 0 || x.Terms[0].Coef != 1 || x.Slice && !x.Open || seen[x.Terms[0].Var] {
			return false
		}
		seen[x.Terms[0].Var] = true
	}
	return true
}

// update applies an assignment operator.
func (e *evaluator) update(op lang.AssignOp, dt tensor.DType, x, y Value) Value {
	names := map[lang.AssignOp]string{
		lang.AddTo: "+", lang.MulTo: "*", lang.MinTo: "min", lang.MaxTo: "max", lang.OrTo: "or", lang.AndTo: "and",
	}
	return e.operation(names[op], dt, dt, x, y)
}

func (e *evaluator) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// each runs f for every combination of values of the given indices, the last
// one fastest.
func (e *evaluator) each(vars []*lang.Index, f func()) {
	if e.err != nil {
		return
	}
	if len(vars) == 0 {
		f()
		return
	}
	for i := int64(0); i < e.extents[vars[0].ID]; i++ {
		e.env[vars[0].ID] = i
		e.each(vars[1:], f)
	}
}

func (e *evaluator) coordinates(a *lang.Access) []int64 {
	coord := make([]int64, len(a.Indices))
	for k, x := range a.Indices {
		if x.Gather != nil {
			coord[k] = e.access(x.Gather).I
			if coord[k] < 0 || coord[k] >= e.tensors[a.Tensor].Shape[k] {
				e.fail(fmt.Errorf("gathered index %d outside axis %d of %s", coord[k], k, a.Tensor.Name))
			}
			continue
		}
		coord[k] = x.Const
		for _, t := range x.Terms {
			coord[k] += t.Coef * e.env[t.Var.ID]
		}
	}
	return coord
}

func (e *evaluator) access(a *lang.Access) Value {
	d := e.tensors[a.Tensor]
	p := d.offset(e.coordinates(a))
	if p < 0 {
		v := FromScalar(a.Tensor.Fill.Convert(a.Tensor.DType))
		v.State = Gap
		return v
	}
	v := d.Values[p]
	if len(a.Indices) == 0 {
		v.State = Uniform
	}
	v.Varies = v.State != Gap
	return v
}

func (e *evaluator) expr(x lang.Expr) Value {
	if e.err != nil {
		return Value{}
	}
	switch x := x.(type) {
	case *lang.Literal:
		return FromScalar(x.Value)
	case *lang.Access:
		return e.access(x)
	case *lang.IndexValue:
		return Value{I: e.env[x.Var.ID], Varies: true}
	case *lang.Cast:
		return cast(x.X.DType(), x.To, e.expr(x.X))
	case *lang.Select:
		return e.where(x)
	case *lang.Call:
		args := make([]Value, len(x.Args))
		for i, a := range x.Args {
			args[i] = e.expr(a)
		}
		return e.operation(x.Fn, x.Args[0].DType(), x.Typ, args...)
	case *lang.Like:
		return e.expr(x.X)
	case *lang.Reduce:
		return e.reduce(x)
	case *lang.Scan:
		if x.Op == lang.Sort || x.Op == lang.ArgSort {
			return e.sort(x)
		}
		return e.scan(x)
	}
	e.fail(fmt.Errorf("oracle: unknown expression %T", x))
	return Value{}
}

func (e *evaluator) where(x *lang.Select) Value {
	cond := e.expr(x.Cond)
	branch := x.Else
	if cond.B {
		branch = x.Then
	}
	v := e.expr(branch)
	v.Disputed = v.Disputed || cond.Disputed
	v.Omissible = v.Omissible || v.State != Stored && cond.State == Stored && !e.mayBeGap(x.Cond)
	v.State, v.Varies = max(v.State, cond.State), v.Varies || cond.Varies
	if cond.Err > 0 {
		v.Err = math.Inf(1)
	}
	return v
}

// reduce collects the values of the body and folds them.
func (e *evaluator) reduce(r *lang.Reduce) Value {
	var vars []*lang.Index
	var in []*lang.Access
	for _, v := range r.Vars {
		vars = append(vars, v.Var)
		if v.In != nil {
			in = append(in, v.InAccess)
		}
	}
	saved := make([]int64, len(vars))
	for i, v := range vars {
		saved[i] = e.env[v.ID]
	}
	f := folding{op: r.Op, in: r.Body.DType(), out: r.Typ, stored: len(in) > 0}
	if r.Op >= lang.Median {
		f.q, f.method = number(0.5), "linear"
		if len(r.Options) > 0 {
			f.method = r.Options[0]
		}
	}
	if r.Q != nil {
		f.q = e.expr(r.Q)
		if q := real(f.q.C); e.err == nil && !(q >= 0 && q <= 1) {
			e.fail(ErrOrder)
		}
	}
	k := int64(-1)
	e.each(vars, func() {
		k++
		for _, a := range in {
			if !e.stores(a) {
				return
			}
		}
		f.list = append(f.list, e.expr(r.Body))
		f.flat = append(f.flat, k)
	})
	for i, v := range vars {
		e.env[v.ID] = saved[i]
	}
	if e.err != nil {
		return Value{}
	}
	v, err := f.value()
	if err != nil {
		e.fail(err)
	}
	switch {
	case r.Op >= lang.Median:
		v.State = Stored
	case len(in) > 0 && len(f.list) > 0 && v.State != Stored:
		v.State = Unknown // another value than that over nothing is stored
	case len(in) == 0 && len(f.list) == 0 && reads(r.Body):
		v.State = Unknown // a gap if something that is read may be one
	case v.State == Uniform && (len(in) > 0 || reads(r.Body)):
		v.State = Gap
	}
	return v
}

// mayBeGap reports whether an expression reads a tensor that is not dense, or may read outside one.
func (e *evaluator) mayBeGap(x lang.Expr) bool {
	found := false
	lang.Walk(x, func(x lang.Expr) bool {
		if a, ok := x.(*lang.Access); ok && len(a.Indices) > 0 {
			outside := slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return !x.Slice && x.Plain() == nil && len(x.Terms) > 0 })
			found = found || outside || !e.tensors[a.Tensor].dense
		}
		return true
	})
	return found
}

// reads reports whether an expression reads a tensor that may store its elements.
func reads(x lang.Expr) bool {
	found := false
	lang.Walk(x, func(x lang.Expr) bool {
		a, ok := x.(*lang.Access)
		found = found || ok && len(a.Indices) > 0
		return true
	})
	return found
}

// stores reports whether an operand stores the element that the access names.
func (e *evaluator) stores(a *lang.Access) bool {
	d := e.tensors[a.Tensor]
	if d.stored == nil {
		e.fail(fmt.Errorf("oracle: what %s stores is not known: the program makes it", a.Tensor.Name))
		return false
	}
	p := d.offset(e.coordinates(a))
	return p >= 0 && d.stored[p]
}
