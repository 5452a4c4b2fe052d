// Package ir holds the plan: a checked program rewritten into concrete index
// notation (Kjolstad et al., "Tensor Algebra Compilation with Workspaces",
// CGO 2019). A plan is a list of steps. A compute step is one assignment whose
// loops stand in a chosen order (Forall), with a scalar temporary (Where) for
// each reduction, placed at the outermost loop that has everything it reads; a
// convert step re-stores an operand because the loops need it in another order.
// Scans, order statistics and sorts are steps of their own: they run over lines of a
// tensor, which an earlier step computes if it is no operand.
//
// The package has the tree (ir.go, steps.go, pieces.go, directives.go, nest.go; print.go writes it), the operator table
// (operators.go) and the iteration algebra: which coordinates a loop must visit (support.go, leaves.go, sets.go). Package
// plan makes plans; package lower makes loops of them.
package ir

import (
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Plan is a program ready for lowering.
type Plan struct {
	Source  *lang.Program
	Tensors []*Tensor // operands and results of the program, then what planning added
	Steps   []Step
	Options Options
	// Operands are the program's, in the order of its tensors.
	Operands []*Operand
	// Results maps each result of the program to its last version.
	Results map[*lang.Tensor]*Tensor
}

// Options are the choices that a plan depends on besides its program.
type Options struct {
	// StrictIEEE makes multiplication by an implicit zero honest: 0*inf and
	// 0*nan are nan, so a product must visit every coordinate.
	StrictIEEE bool
	// NarrowWorkspaces keeps every workspace to one dimension, and conversions to the rows
	// that have entries, for operands whose extents multiply to more keys than an integer
	// can count, or that have more rows than an array has places.
	NarrowWorkspaces bool
	// OwnResults has every result computed by loops: none shares arrays with an operand.
	OwnResults bool
	// Nothing lists means and variances that are NaN, because their indices take no value: a plan for
	// operands that are this empty.
	Nothing []*lang.Reduce
	// Grids is for engines that run thousands of threads, where what one thread does
	// alone costs most: loops that can be cut are worth a conversion.
	Grids bool
	// Forms are those of operands that are stored as several pieces, or as a
	// triangle, by name. The format of such an operand is the one that it gets
	// where it has to be stored as one tensor.
	Forms map[string]Form
	// Alternatives keeps with each step the nests that were weighed (Compute.Nests).
	Alternatives bool
	// Wanted names the results that are asked for; statements that none of them follows from are not planned. nil: all.
	Wanted []string
	// Dearest, for tests, takes the dearest of the loops that a schedule admits.
	Dearest bool
}

// Tensor is an operand, a result or a temporary of a plan.
type Tensor = lang.Tensor

// WorkOf is the fold that a workspace holds the results of, nil for other tensors.
func WorkOf(t *Tensor) *Reduce {
	r, _ := t.Work.(*Reduce)
	return r
}

// Index is an index variable of the checked tree. Every loop has one of its own: copies
// of a variable of the statement share its ID, and with it the extent.
type Index = lang.Index

// Pos is a place in the text of a program.
type Pos = lang.Pos

// Temp is the scalar temporary of one reduction.
type Temp struct {
	ID     int
	Reduce *Reduce
}

// Reduce is a fold in normal form: only the primitive folds, with means,
// norms and counts already written through them.
type Reduce struct {
	Fold Fold
	Vars []*Index
	// In, when not nil, restricts the fold to coordinates that this access stores.
	// Without Vars, the fold is Body where In stores something.
	In   *Access
	Body Expr
	Typ  tensor.DType // of the result and of the accumulator (arg folds: i64)
	Temp *Temp
	// Partial says that not every element of the result gets a value: those that nothing
	// is scattered to keep the fold's identity.
	Partial bool
	// Order is the loop order that scheduling chose for Vars.
	Order []*Index
}

// The expressions of a plan are the checked tree's, without reductions and scans, and with the
// three nodes below.
type (
	Expr       = lang.Expr
	Literal    = lang.Literal
	IndexValue = lang.IndexValue
	Call       = lang.Call
	Select     = lang.Select
	Cast       = lang.Cast
)

// TypeOf is the type that e is computed in.
func TypeOf(e Expr) tensor.DType { return ComputeType(e.DType()) }

// madeOf is a constant computed from others: stored if one of them is, else a gap if one is.
func madeOf(v tensor.Scalar, from ...*Literal) *Literal {
	c := &Literal{Value: v}
	for _, o := range from {
		c.Gap, c.Stored = c.Gap || o.Gap, c.Stored || o.Stored
	}
	c.Gap = c.Gap && !c.Stored
	return unsigned(c)
}

// Access reads a tensor element, or names the result's on the left. An element is one
// Access, however often it is read.
type Access = lang.Access

// IndexExpr is the coordinate of one axis. Const is 0 where there is a Literal: plans must
// hold for any from 1 on.
type IndexExpr = lang.IndexExpr

// Term is Coef·Var.
type Term = lang.Term

// Extent is the number of values an index variable takes, as an i64.
type Extent struct{ Var *Index }

// TempRef reads a reduction's result.
type TempRef struct{ Temp *Temp }

// DType is i64.
func (e *Extent) DType() tensor.DType { return tensor.Int64 }

// DType is the reduction's result type.
func (e *TempRef) DType() tensor.DType { return e.Temp.Reduce.Typ }

// Position is nowhere: planning made it.
func (e *Extent) Position() lang.Pos { return lang.Pos{} }

// Position is nowhere: planning made it.
func (e *TempRef) Position() lang.Pos { return lang.Pos{} }

// GapOf is the fill of t, which is known, in the type that it is computed in: a scalar
// has no gap, nor has a tensor whose elements all count as stored.
func GapOf(t *Tensor) *Literal {
	return &Literal{Value: t.Fill.Convert(ComputeType(t.DType)), Gap: t.Rank > 0 && !t.Whole, Stored: t.Whole}
}

// ComputeType is the type in which values of dt are computed: f32 for f16 and
// bf16, which are storage types, and dt otherwise. No expression of a plan has
// a half-precision type; a Cast to one rounds.
func ComputeType(dt tensor.DType) tensor.DType {
	if dt == tensor.Float16 || dt == tensor.BFloat16 {
		return tensor.Float32
	}
	return dt
}

// AddIndex adds a variable to a list that does not have it.
func AddIndex(vars []*Index, v *Index) []*Index {
	for _, w := range vars {
		if w == v {
			return vars
		}
	}
	return append(vars, v)
}

// Walk calls f for e and every expression below it, gathers included but not
// the bodies of reductions.
func Walk(e Expr, f func(Expr)) {
	lang.Walk(e, func(x Expr) bool { f(x); return true })
}

// FreeVars returns the index variables that e reads, those of reductions it
// refers to included (but not the variables those reductions bind).
func FreeVars(e Expr) []*Index {
	var vars []*Index
	Walk(e, func(x Expr) {
		switch x := x.(type) {
		case *Access:
			vars = x.Vars(vars)
		case *IndexValue:
			vars = AddIndex(vars, x.Var)
		case *TempRef:
			for _, v := range x.Temp.Reduce.FreeVars() {
				vars = AddIndex(vars, v)
			}
		}
	})
	return vars
}

// FreeVars returns the index variables that the reduction reads from outside.
func (r *Reduce) FreeVars() []*Index {
	var vars []*Index
	inner := FreeVars(r.Body)
	if r.In != nil {
		inner = r.In.Vars(inner)
	}
	for _, v := range inner {
		if !r.binds(v) {
			vars = AddIndex(vars, v)
		}
	}
	return vars
}

// DType is the type of the result.
func (r *Reduce) DType() tensor.DType { return r.Typ }

// Position is nowhere: a plan's folds are not written in the program.
func (r *Reduce) Position() lang.Pos { return lang.Pos{} }

func (r *Reduce) binds(v *Index) bool {
	for _, w := range r.Vars {
		if w == v {
			return true
		}
	}
	return false
}
