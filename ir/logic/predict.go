package logic

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file estimates what a program costs in the order in which it is given, statement by statement: for a program that was optimised, what was
// expected of each intermediate.

// Estimate is what a statement, or a part of one, is expected to cost.
type Estimate struct {
	// Result names the tensor that is made, Text is the statement.
	Result, Text string
	// Iterations are those of innermost loops, Entries the elements of the result that are not its fill, Bytes what is read and written at
	// least, Time about how many nanoseconds one thread takes, by the built-in costs.
	Iterations, Entries, Bytes, Time float64
}

// Predict estimates each statement of a checked program.
func Predict(prog *lang.Program, opts Options) []Estimate {
	o := newOptimiser(prog, opts)
	o.predicts = true
	var list []Estimate
	for _, s := range prog.Stmts {
		st := o.statement(s)
		st.sparseResult = o.sparseResult(s)
		list = append(list, st.predict())
		o.assigned(st)
	}
	return list
}

// Expected are the statistics of operands and, as far as they can be estimated, of what statements make, for who chooses loops (package ir/plan).
func Expected(prog *lang.Program, opts Options) map[string]*tensor.Statistics {
	o := newOptimiser(prog, opts)
	o.predicts = true
	for _, s := range prog.Stmts {
		st := o.statement(s)
		st.sparseResult = o.sparseResult(s)
		o.assigned(st)
	}
	known := map[string]*tensor.Statistics{}
	for t, f := range o.facts {
		if t.StoredOf != nil || len(f.at) != t.Rank || len(f.extents) != t.Rank {
			continue
		}
		s := &tensor.Statistics{Entries: f.n, Band: f.band}
		for k, a := range f.at {
			s.Axes = append(s.Axes, tensor.AxisStatistics{Extent: f.extents[k], NonEmpty: a.distinct, Longest: a.longest, Squares: a.squares})
		}
		known[t.Name] = s
	}
	return known
}

// sparseResult reports whether a statement's result is known to be stored sparsely.
func (o *optimiser) sparseResult(s *lang.Stmt) bool {
	how, known := o.storedAs(s.LHS.Tensor)
	return known && !how.Format.IsDense()
}

// predict estimates the statement.
func (s *statement) predict() Estimate {
	e := Estimate{Result: s.stmt.LHS.Tensor.Name, Text: s.stmt.String()}
	_, s.alone = s.stmt.RHS.(*lang.Reduce)
	vars, plain := plainIndices(s.stmt.LHS)
	z := s.sizer(vars, s.stmt.RHS)
	if z == nil || !plain {
		return e
	}
	stored := z.whole(s.stmt.RHS)
	if len(reductions(s.stmt.RHS)) == 0 { // no reduction: the loops are those of the result
		z.visit(stored)
	}
	e.Iterations, e.Time, e.Bytes = z.iterations, z.time, z.bytes
	e.Entries = stored.n
	if cells := z.cells(z.free); !s.sparseResult {
		e.Time += cost.Cell * cells
		e.Bytes += 8 * cells
		return e
	}
	e.Time += cost.Entry*stored.n + z.inserted*(builtin.Insert-builtin.Step)
	e.Bytes += 12 * stored.n
	return e
}

// reductions lists those of an expression.
func reductions(e lang.Expr) []*lang.Reduce {
	var list []*lang.Reduce
	lang.Walk(e, func(x lang.Expr) bool {
		if r, ok := x.(*lang.Reduce); ok {
			list = append(list, r)
		}
		return true
	})
	return list
}

// sizer estimates the sizes of the parts of an expression.
type sizer struct {
	*search
	iterations, time, bytes float64
	inserted                float64   // iterations of reductions
	read                    []*node   // tensors that the loops at hand read
	around                  *relation // what the loops around them run over; nil for nothing
}

// sizer numbers the variables of an expression, and those of the result first; nil if they are too many.
func (s *statement) sizer(vars []*lang.Index, e lang.Expr) *sizer {
	z := &sizer{search: &search{query: &query{statement: s}, number: map[*lang.Index]int{}}}
	for _, v := range vars {
		z.numbered(v)
	}
	lang.Walk(e, func(x lang.Expr) bool {
		switch x := x.(type) {
		case *lang.Access:
			for _, i := range x.Indices {
				if v := i.Plain(); v != nil {
					z.numbered(v)
				}
			}
		case *lang.Reduce:
			for _, v := range x.Vars {
				z.numbered(v.Var)
			}
		}
		return true
	})
	if len(z.vars) > cost.MostVars {
		return nil
	}
	for v := range vars {
		z.free.add(v)
	}
	return z
}

// whole estimates what an expression stores, over the variables of the result.
func (z *sizer) whole(e lang.Expr) *relation {
	r := z.size(e)
	if missing := z.free.without(r.vars); missing != (varset{}) { // the same for all of these
		r = join(r, z.denseRelation(missing))
	}
	return project(r, z.free)
}

// size estimates what an expression stores over its variables, and counts the loops in it.
func (z *sizer) size(e lang.Expr) *relation {
	switch e := e.(type) {
	case *lang.Access:
		if r := z.access(e); r != nil {
			z.bytes += r.bytes()
			z.read = append(z.read, &node{rel: r})
			return r
		}
	case *lang.Cast:
		return z.size(e.X)
	case *lang.Select:
		if a, ok := e.Cond.(*lang.Access); ok && a.Tensor.StoredOf != nil && isZero(e.Else) {
			return z.within([]*relation{z.size(a)}, e.Then)
		}
	case *lang.Call:
		switch name := e.Fn; {
		case name == "*" || name == "and":
			return z.product(e)
		case name == "/" || slices.Contains(sparsity, name):
			return z.size(e.Args[0])
		case len(e.Args) == 2 && slices.Contains(unions, name):
			a, b := z.size(e.Args[0]), z.size(e.Args[1])
			if a.vars == b.vars && a.order != nil && b.order != nil {
				return z.union(a, b)
			}
		}
	case *lang.Reduce:
		return z.fold(e)
	}
	set := varset{}
	for _, a := range lang.Accesses(e) {
		vars, _ := plainIndices(a)
		for _, v := range vars {
			set.add(z.number[v])
		}
	}
	for _, r := range reductions(e) { // what is bound inside is no variable of the whole
		z.fold(r)
		for _, v := range r.Vars {
			k := z.number[v.Var]
			set[k/64] &^= 1 << (k % 64)
		}
	}
	return z.denseRelation(set)
}

// unions are the operators that store where either operand does.
var unions = []string{"+", "-", "min", "max", "or"}

// union is what either of two operands stores, over the same variables.
func (z *sizer) union(a, b *relation) *relation {
	r := merged(a, b)
	r.n = max(a.n, b.n, min(r.n-joinSize(a, b), z.cells(r.vars)))
	return r
}

// product is the join of the factors, the smallest first.
func (z *sizer) product(e *lang.Call) *relation {
	var list []*relation
	var folds []lang.Expr
	for _, x := range factors(e, e.Fn) {
		if len(reductions(x)) > 0 {
			folds = append(folds, x)
		} else {
			list = append(list, z.size(x))
		}
	}
	if len(list) == 0 {
		list, folds = append(list, z.size(folds[0])), folds[1:]
	}
	return z.within(list, folds...)
}

// factors are those of a product: e alone, if it is none.
func factors(e lang.Expr, product string) (list []lang.Expr) {
	if c, ok := e.(*lang.Call); ok && c.Fn == product {
		for _, a := range c.Args {
			list = append(list, factors(a, product)...)
		}
		return list
	}
	return []lang.Expr{e}
}

// within is the join of what loops run over with parts that are computed inside these loops.
func (z *sizer) within(list []*relation, parts ...lang.Expr) *relation {
	outer := z.around
	defer func() { z.around = outer }()
	if z.around = joined(list); outer != nil {
		z.around = join(outer, z.around)
	}
	for _, x := range parts {
		list = append(list, z.size(x))
	}
	return joined(list)
}

// joined is the join of several relations, in the order in which it grows least.
func joined(list []*relation) *relation {
	list = slices.Clone(list)
	least := 0
	for i, r := range list {
		if r.n < list[least].n {
			least = i
		}
	}
	all := list[least]
	for list = slices.Delete(list, least, least+1); len(list) > 0; {
		next, size := 0, math.Inf(1)
		for i, r := range list {
			if n := joinSize(all, r); n < size {
				next, size = i, n
			}
		}
		all = join(all, list[next])
		list = slices.Delete(list, next, next+1)
	}
	return all
}

// fold is the result of a reduction, whose loops run over what its body stores.
func (z *sizer) fold(e *lang.Reduce) *relation {
	outer := z.read
	z.read = nil
	body := z.size(e.Body)
	bound := varset{}
	for _, v := range e.Vars {
		k := z.number[v.Var]
		bound.add(k)
		if !body.vars.has(k) { // the body does not depend on it
			body = join(body, z.denseRelation(single(k)))
		}
	}
	visited := *body
	if z.around != nil && z.around.vars.common(body.vars) != (varset{}) { // else it is computed once, before
		visited.n = join(z.around, body).n
	}
	z.visit(&visited)
	z.read = outer
	r := project(body, body.vars.without(bound))
	if r.n < cost.Fullness*z.cells(r.vars) {
		r.order = z.listed(r.vars)
	}
	if z.around == nil || z.free.without(z.around.vars) != (varset{}) { // else it is inside of the loops over the result
		z.inserted += visited.n
	}
	return r
}

// listed are the variables of a set.
func (s *search) listed(set varset) []int {
	var list []int
	for v := range s.vars {
		if set.has(v) {
			list = append(list, v)
		}
	}
	return list
}

// visit counts the iterations of a loop over what a relation stores.
func (z *sizer) visit(r *relation) {
	z.iterations += r.n
	z.time += r.n * r.weight * z.step(z.read)
}

// single is the set of one variable.
func single(v int) varset {
	var s varset
	s.add(v)
	return s
}
