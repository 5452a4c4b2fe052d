package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// overlay plans the second half of an assignment to part of a sparse tensor: the
// result is part where the left side of nf reaches, and old elsewhere. That is a
// choice by a condition on indices, which decides about patterns too, over
// variables of its own, since those of the statement do not reach every element.
func (p *planner) overlay(nf *normalForm, s *lang.Stmt, region *ir.Access, part, old, result *ir.Tensor) {
	b := &builder{names: map[string]bool{}, ev: p.alg.Eval}
	b.builder = b
	b.stmt, b.indices = s, slices.Clone(nf.indices)
	for _, v := range b.indices {
		b.names[v.Name] = true
	}
	step := &ir.Compute{Covers: true, Stmt: s}
	all := make([]ir.IndexExpr, result.Rank)
	var vars []*ir.Index
	for axis := range all {
		v := &ir.Index{ID: len(b.indices), Name: b.freshName("e"), Free: true}
		b.indices, vars = append(b.indices, v), append(vars, v)
		all[axis], step.Axes = plainIndex(v), append(step.Axes, axis)
	}
	b.lhs = &ir.Access{Tensor: result, Indices: all}
	b.value = &ir.Select{Cond: b.inside(region, vars), Then: &ir.Access{Tensor: part, Indices: all}, Else: &ir.Access{Tensor: old, Indices: all}}
	step.Background = p.alg.Of(b.value, ir.GlobalLeaves(p.alg)).Background
	best, err := b.schedule(p.alg, p.Options, nil)
	if err != nil {
		panic("BUG: no loops without a schedule")
	}
	p.emit(&b.normalForm, best, step, result)
}

// inside is the condition that a left side names the element at vars: for some
// values of its variables each axis has the coordinate of its index. An axis of a left
// side has at most one variable.
func (b *builder) inside(region *ir.Access, vars []*ir.Index) ir.Expr {
	var conds []ir.Expr
	also := func(c ir.Expr) { conds = append(conds, c) }
	known := map[*ir.Index]ir.Expr{} // values of the variables
	for axis, x := range region.Indices {
		at := ir.Expr(&ir.IndexValue{Var: vars[axis]})
		if len(x.Terms) == 0 {
			also(b.call("==", tensor.Bool, at, integer(x.Const)))
			continue
		}
		t := x.Terms[0]
		value := at
		switch distance := b.call("-", tensor.Int64, at, integer(x.Const)); {
		case t.Coef == -1:
			value = b.call("-", tensor.Int64, integer(x.Const), at)
		case t.Coef != 1:
			also(b.call("==", tensor.Bool, b.call("mod", tensor.Int64, distance, integer(t.Coef)), integer(0)))
			value = b.call("floordiv", tensor.Int64, distance, integer(t.Coef))
		case x.Const != 0:
			value = distance
		}
		if x.Plain() == nil {
			also(b.call(">=", tensor.Bool, value, integer(0)))
			also(b.call("<", tensor.Bool, value, &ir.Extent{Var: t.Var}))
		}
		if first := known[t.Var]; first != nil {
			also(b.call("==", tensor.Bool, value, first))
		} else {
			known[t.Var] = value
		}
	}
	cond := ir.Expr(&ir.Literal{Value: tensor.One(tensor.Bool)})
	for i, c := range conds {
		if i == 0 {
			cond = c
			continue
		}
		cond = b.call("and", tensor.Bool, cond, c)
	}
	return cond
}

func integer(n int64) ir.Expr { return &ir.Literal{Value: tensor.Int(tensor.Int64, n)} }
