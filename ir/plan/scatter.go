package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file plans scatters, y(p(i)) += x(i): assignments whose left side takes
// coordinates from tensors. Every value is folded into the element that its
// coordinates name. Into a dense tensor that is done in place, in the order of the
// loops, unless its type is computed in a wider one. Into others values go through a workspace, and what it holds is
// folded into the old elements.

// scatters reports whether the left side takes a coordinate from a tensor.
func (nf *normalForm) scatters() bool {
	return slices.ContainsFunc(nf.lhs.Indices, func(x ir.IndexExpr) bool { return x.Gather != nil })
}

// accumulatingFold gives the fold of each assignment operator.
var accumulatingFold = map[lang.AssignOp]ir.Fold{
	lang.AddTo: ir.FoldSum, lang.MulTo: ir.FoldProd, lang.MinTo: ir.FoldMin, lang.MaxTo: ir.FoldMax, lang.OrTo: ir.FoldOr, lang.AndTo: ir.FoldAnd,
}

// foldOf is the fold of an assignment operator in type typ.
func foldOf(op lang.AssignOp, typ tensor.DType) ir.Fold { return foldIn(accumulatingFold[op], typ) }

// foldIn is the fold of values of type typ: the sum and product of truth values are or and and.
func foldIn(f ir.Fold, typ tensor.DType) ir.Fold {
	switch {
	case typ == tensor.Bool && f == ir.FoldSum:
		return ir.FoldOr
	case typ == tensor.Bool && f == ir.FoldProd:
		return ir.FoldAnd
	}
	return f
}

// scatter plans a statement that scatters into old.
func (p *planner) scatter(nf *normalForm, s *lang.Stmt, result, old *ir.Tensor) error {
	if !s.LHS.Tensor.HasFormat {
		result.Format = old.Format
	}
	if !old.FillKnown {
		return lang.Unsupported("scattering into a tensor whose fill is known only at run time", s.Pos)
	}
	result.Fill, result.FillKnown = old.Fill, true
	step := &ir.Compute{Stmt: s}
	sched := nf.scheduler(p.alg, p.Options)
	fold := foldOf(s.Op, ir.TypeOf(nf.value))
	narrow := ir.ComputeType(result.DType) != result.DType // rounded once, so not in place
	if result.Format.IsDense() && !narrow {
		step.Base = p.base(old, result)
		sched.eachOrder(nf.lhs.Vars(nil), sched.accesses, sched.tryGather)
		p.emit(nf, sched.best, step, result)
		step.Scatter, step.Fold = true, fold
	} else {
		target := result
		if result.Format.IsDense() {
			target = p.tensor(&ir.Tensor{Name: p.temporary(result), Rank: result.Rank, DType: result.DType,
				Format: tensor.CSF(result.Rank), Fill: result.Fill, FillKnown: true})
			nf.lhs.Tensor = target
		}
		step.Axes = sched.scatterSparse(s.Op, fold, old, p.alg.Eval)
		step.Covers = true
		step.Background = p.alg.Of(sched.best.split.value, ir.GlobalLeaves(p.alg)).Background
		p.emit(nf, sched.best, step, target)
		if target != result {
			p.Steps = append(p.Steps, &ir.Convert{From: target, To: result, Why: "its elements are rounded once"})
		}
	}
	p.current[s.LHS.Tensor] = p.tensor(result)
	return nil
}

// scatterSparse finds the loops of a scatter into a sparse result. Its outermost
// levels are bound by their own variables as long as those are plain; the rest of its
// axes get new variables, over which the workspace is read. It returns the axes that
// the new variables run over.
func (s *scheduler) scatterSparse(op lang.AssignOp, f ir.Fold, old *ir.Tensor, ev ir.Evaluator) []int {
	place := s.lhs
	outer := leading(place)
	target := &ir.Access{Pos: place.Pos, Tensor: place.Tensor, Indices: slices.Clone(place.Indices)}
	var tail []*ir.Index
	var axes []int
	w := &work{lhs: &ir.Access{}}
	for _, axis := range place.Tensor.Format.Order()[len(outer):] {
		v := &ir.Index{ID: len(s.indices), Name: s.builder.freshName("e"), Free: true}
		s.indices = append(s.indices, v)
		tail, axes = append(tail, v), append(axes, axis)
		target.Indices[axis] = plainIndex(v)
		w.lhs.Indices = append(w.lhs.Indices, place.Indices[axis])
	}
	typ := ir.TypeOf(s.value)
	w.lhs.Tensor = workTensor(f, typ, len(tail))
	var loops []*ir.Index
	for _, v := range place.Vars(nil) {
		if !slices.Contains(outer, v) {
			loops = append(loops, v)
		}
	}
	w.terms = []term{{value: s.value, loops: loops, inner: s.reduces}}
	w.hold(&ir.Reduce{Fold: f, Vars: loops, Body: s.value, Typ: typ, Partial: true}, len(s.reduces))
	w.reads = w.read(tail)
	s.lhs = target
	read := &ir.Access{Tensor: old, Indices: target.Indices}
	value := updated(accumulating[op], typ, read, w.reads, ev)
	if f == ir.FoldProd && typ.IsComplex() {
		// An element that nothing names stays: the product of an infinity with 1+0i is NaN.
		one := &ir.Literal{Value: w.lhs.Tensor.Fill}
		changes := &ir.Call{Fn: "!=", Args: []ir.Expr{w.reads, one}, Typ: tensor.Bool}
		value = &ir.Select{Cond: changes, Then: value, Else: ev.Fold(&ir.Cast{To: typ, X: read})}
	}
	sp := &split{outer: outer, tail: tail, works: []*work{w}, value: value}
	s.eachOrder(loops, s.accesses, func(order []*ir.Index) {
		order = slices.Clone(order)
		s.eachReduceOrder(nil, func() float64 {
			return s.consider(&candidate{body: sp.nest(target, [][][]*ir.Index{{order}}), order: slices.Concat(outer, tail), split: sp})
		})
	})
	return axes
}

// leading are the variables of the outermost levels that a left side binds by plain
// indices: for each of their values, other elements are named.
func leading(a *ir.Access) []*ir.Index {
	var vars []*ir.Index
	for _, axis := range a.Tensor.Format.Order() {
		v := a.Indices[axis].Plain()
		if v == nil || slices.Contains(vars, v) {
			break
		}
		vars = append(vars, v)
	}
	return vars
}

// workTensor is a workspace of the given rank for results of a fold.
func workTensor(f ir.Fold, typ tensor.DType, rank int) *ir.Tensor {
	return &ir.Tensor{Rank: rank, DType: typ, Format: tensor.Coordinates(rank), Fill: f.Identity(typ), FillKnown: true}
}
