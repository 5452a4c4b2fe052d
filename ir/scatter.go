package ir

import (
	"slices"

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
	return slices.ContainsFunc(nf.lhs.Indices, func(x IndexExpr) bool { return x.Gather != nil })
}

// accumulatingFold gives the fold of each assignment operator.
var accumulatingFold = map[lang.AssignOp]Fold{
	lang.AddTo: FoldSum, lang.MulTo: FoldProd, lang.MinTo: FoldMin, lang.MaxTo: FoldMax, lang.OrTo: FoldOr, lang.AndTo: FoldAnd,
}

// foldOf is the fold of an assignment operator in type typ.
func foldOf(op lang.AssignOp, typ tensor.DType) Fold { return accumulatingFold[op].in(typ) }

// in is the fold of values of type typ: the sum and product of truth values are or and and.
func (f Fold) in(typ tensor.DType) Fold {
	switch {
	case typ == tensor.Bool && f == FoldSum:
		return FoldOr
	case typ == tensor.Bool && f == FoldProd:
		return FoldAnd
	}
	return f
}

// scatter plans a statement that scatters into old.
func (p *planner) scatter(nf *normalForm, s *lang.Stmt, result, old *Tensor) error {
	if !s.LHS.Tensor.HasFormat {
		result.Format = old.Format
	}
	if !old.FillKnown {
		return lang.Unsupported("scattering into a tensor whose fill is known only at run time", s.Pos)
	}
	result.Fill, result.FillKnown = old.Fill, true
	step := &Compute{Stmt: s}
	sched := nf.scheduler(p.alg, p.Options)
	fold := foldOf(s.Op, TypeOf(nf.value))
	narrow := ComputeType(result.DType) != result.DType // rounded once, so not in place
	if result.Format.IsDense() && !narrow {
		step.Base = p.base(old, result)
		sched.eachOrder(nf.lhs.Vars(nil), sched.accesses, sched.tryGather)
		p.emit(nf, sched.best, step, result)
		step.Scatter, step.Fold = true, fold
	} else {
		target := result
		if result.Format.IsDense() {
			target = p.tensor(&Tensor{Name: p.temporary(result), Rank: result.Rank, DType: result.DType,
				Format: tensor.CSF(result.Rank), Fill: result.Fill, FillKnown: true})
			nf.lhs.Tensor = target
		}
		step.Axes = sched.scatterSparse(s.Op, fold, old, p.alg.Eval)
		step.Covers = true
		step.Background = p.alg.Of(sched.best.split.value, globalLeaves{p.alg}).Background
		p.emit(nf, sched.best, step, target)
		if target != result {
			p.Steps = append(p.Steps, &Convert{From: target, To: result, Why: "its elements are rounded once"})
		}
	}
	p.current[s.LHS.Tensor] = p.tensor(result)
	return nil
}

// scatterSparse finds the loops of a scatter into a sparse result. Its outermost
// levels are bound by their own variables as long as those are plain; the rest of its
// axes get new variables, over which the workspace is read. It returns the axes that
// the new variables run over.
func (s *scheduler) scatterSparse(op lang.AssignOp, f Fold, old *Tensor, ev Evaluator) []int {
	place := s.lhs
	outer := leading(place)
	target := &Access{Pos: place.Pos, Tensor: place.Tensor, Indices: slices.Clone(place.Indices)}
	var tail []*Index
	var axes []int
	w := &work{lhs: &Access{}}
	for _, axis := range place.Tensor.Format.Order()[len(outer):] {
		v := &Index{ID: len(s.indices), Name: s.builder.freshName("e"), Free: true}
		s.indices = append(s.indices, v)
		tail, axes = append(tail, v), append(axes, axis)
		target.Indices[axis] = plainIndex(v)
		w.lhs.Indices = append(w.lhs.Indices, place.Indices[axis])
	}
	typ := TypeOf(s.value)
	w.lhs.Tensor = workTensor(f, typ, len(tail))
	var loops []*Index
	for _, v := range place.Vars(nil) {
		if !contains(outer, v) {
			loops = append(loops, v)
		}
	}
	w.terms = []term{{value: s.value, loops: loops, inner: s.reduces}}
	w.hold(&Reduce{Fold: f, Vars: loops, Body: s.value, Typ: typ, Partial: true}, len(s.reduces))
	w.reads = w.read(tail)
	s.lhs = target
	read := &Access{Tensor: old, Indices: target.Indices}
	value := updated(accumulating[op], typ, read, w.reads, ev)
	if f == FoldProd && typ.IsComplex() {
		// An element that nothing names stays: the product of an infinity with 1+0i is NaN.
		one := &Literal{Value: w.lhs.Tensor.Fill}
		changes := &Call{Fn: "!=", Args: []Expr{w.reads, one}, Typ: tensor.Bool}
		value = &Select{Cond: changes, Then: value, Else: ev.Fold(&Cast{To: typ, X: read})}
	}
	sp := &split{outer: outer, tail: tail, works: []*work{w}, value: value}
	s.eachOrder(loops, s.accesses, func(order []*Index) {
		order = slices.Clone(order)
		s.eachReduceOrder(nil, func() float64 {
			return s.consider(&candidate{body: sp.nest(target, [][][]*Index{{order}}), order: slices.Concat(outer, tail), split: sp})
		})
	})
	return axes
}

// leading are the variables of the outermost levels that a left side binds by plain
// indices: for each of their values, other elements are named.
func leading(a *Access) []*Index {
	var vars []*Index
	for _, axis := range a.Tensor.Format.Order() {
		v := a.Indices[axis].Plain()
		if v == nil || contains(vars, v) {
			break
		}
		vars = append(vars, v)
	}
	return vars
}

// workTensor is a workspace of the given rank for results of a fold.
func workTensor(f Fold, typ tensor.DType, rank int) *Tensor {
	levels, order := make([]tensor.LevelKind, rank), make([]int, rank)
	for axis := range order {
		levels[axis], order[axis] = tensor.S, axis
	}
	format, err := tensor.FormatOf(levels, order)
	if err != nil {
		panic("BUG: workspace format: " + err.Error())
	}
	return &Tensor{Rank: rank, DType: typ, Format: format, Fill: f.Identity(typ), FillKnown: true}
}
