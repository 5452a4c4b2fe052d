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
	// Sizes say what operands store, and what intermediates are expected to, by name; of others it is guessed. Statistics are
	// rounded, so that plans do not depend on every entry.
	Sizes map[string]*tensor.Statistics
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

// Step is one step of a plan: *Convert, *Join, *Compute, *Scan, *Statistic or *Sort.
type Step interface{ step() }

// Convert stores From again in To's format.
type Convert struct {
	From, To *Tensor
	// Axes, when not nil, says which axis of From each axis of To is.
	Axes []int
	Why  string // for explain
	// Restores says that To is what a statement assigns, which only stores From again.
	Restores bool
	// Stored says that a reduction runs over what is stored: also all elements of a dense tensor.
	Stored bool
}

// Compute is one assignment as a loop nest.
type Compute struct {
	Result *Tensor
	LHS    *Access
	Body   Stmt
	// Scatter says that reduction loops enclose result loops: Assign
	// accumulates into a result that starts as the identity of Fold. It is
	// dense, or dense below the levels that the outermost loops bind.
	Scatter bool
	Fold    Fold
	// Gap, when not nil, is what Assign has to fold at coordinates that the loops
	// of a Scatter do not visit: a constant that is not the identity of Fold. Loops
	// visit entries only and count them for each element of the result; the copies
	// of Gap that are missing, of as many as Over runs through, are folded in the end.
	Gap  *Literal
	Over *Index
	// Indices lists the index variables of the statement by ID, without the
	// copies that planning made of some of them.
	Indices []*Index
	// Value is the right-hand side with reductions as Temp references.
	Value Expr
	// Covers says that LHS reaches every coordinate of the result.
	Covers bool
	// Base, when not nil, has the elements that LHS does not reach, in a dense
	// tensor of the result's format.
	Base *Tensor
	// Background is the value of Value where no operand stores anything, nil
	// when it has no one value there.
	Background Expr
	Stmt       *lang.Stmt
	// Axes are the axes of the result that the last of Indices run over, which the
	// statement does not have.
	Axes []int
	// Shape, when not nil, has the variables of the axes of Result, which is not the
	// statement's but a temporary's.
	Shape []*Index
	// Workspaces are the workspaces of Body, as their consumers read them.
	Workspaces []*Access
	// Tables are the tables of Body.
	Tables []*Tabulate
	// Converts are the conversions that its loops need.
	Converts []*Convert
	// Nests are the loops that were weighed, as arguments of order, the cheapest first; only if Options.Alternatives.
	Nests []Nest
	// Main says that this is the step of the statement that its schedule speaks of.
	Main bool
	// Directives are what the statement's schedule says about lowering.
	Directives Directives
	// Ways are the kinds of plans that were compared, the one chosen first; none where
	// there is nothing but loops.
	Ways []WayCost
}

func (*Convert) step() {}
func (*Compute) step() {}

// Index is an index variable of the checked tree. Every loop has one of its own: copies
// of a variable of the statement share its ID, and with it the extent.
type Index = lang.Index

// Pos is a place in the text of a program.
type Pos = lang.Pos

// Sequence runs statements one after the other. Around the loops of each they
// accumulate into one result; inside loops all of them do at each leaf.
type Sequence struct{ Stmts []Stmt }

// Stmt is a statement of concrete index notation: *Forall, *Where, *Workspace,
// *Tabulate,
// *Sequence or *Assign.
type Stmt interface{ stmt() }

// Forall runs Body for each value of Index.
type Forall struct {
	Index *Index
	Body  Stmt
}

// Where computes the scalar Temp by Producer, then runs Consumer, which reads it.
type Where struct {
	Temp     *Temp
	Producer Stmt
	Consumer Stmt
}

// Workspace runs Producers, which accumulate into Tensor in any order, then
// Consumer, which reads it in the order of its coordinates. Tensor lives no
// longer than that, is empty at first, and is a coordinate list to its readers.
type Workspace struct {
	Tensor    *Tensor
	Producers []Stmt
	Consumer  Stmt
	// Mask, when not nil, is an access of Consumer outside whose entries the
	// workspace need not hold anything.
	Mask *Access
}

// Tabulate enters the entries that Access stores along Index, at the values of the
// variables bound outside, into a table by coordinate, for Body, whose loops over
// Index may look them up there instead of going through them again.
type Tabulate struct {
	Access *Access
	Index  *Index
	Body   Stmt
}

// Assign is the leaf: it sets or accumulates one element of the result (Temp
// nil), accumulates one of a workspace (LHS is one), or folds Value into Temp.
type Assign struct {
	LHS   *Access
	Temp  *Temp
	Value Expr
}

func (*Forall) stmt()    {}
func (*Where) stmt()     {}
func (*Workspace) stmt() {}
func (*Tabulate) stmt()  {}
func (*Sequence) stmt()  {}
func (*Assign) stmt()    {}

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
