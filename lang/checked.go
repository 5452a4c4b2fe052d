package lang

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Program is a checked program: every name is resolved, every expression is
// typed, every conversion is explicit and every summation is written out. The
// later stages trust it. Check makes it from the syntax tree.
type Program struct {
	Source  string
	Tensors []*Tensor // every tensor of the program, operands and results, by ID
	Stmts   []*Stmt
}

// Tensor is what a program, or a plan for one, knows of one tensor. Shapes are not part
// of it: programs are generic in extents.
type Tensor struct {
	ID     int
	Name   string
	Rank   int
	DType  tensor.DType
	Pos    Pos  // of its first use
	Result bool // assigned by some statement
	// Operand says that its value is needed from outside: it is read before any
	// statement assigns it whole, or is the target of an accumulation first.
	Operand bool
	// Format is how it is stored. For a result without a declared format,
	// HasFormat is false and the planner chooses.
	Format    tensor.Format
	HasFormat bool
	// Relaxed, of a result, is Format with flags, where it is handed out so; of a tensor of a plan, where it is also made so.
	Relaxed tensor.Format
	// Fill is the value at coordinates that are not stored, when FillKnown: the planner
	// derives that of a result without a declared fill, which may depend on the run.
	Fill      tensor.Scalar
	FillKnown bool
	// Shape, when not nil, is declared (a result's shape that no operand fixes).
	Shape []int64
	// StoredOf, when not nil, is the operand whose stored coordinates the tensor
	// tells: it is tensor.Pattern of that operand, and not passed from outside.
	StoredOf *Tensor

	// The rest is of the tensors of a plan, which are versions of the program's, and
	// temporaries.

	// Source is the program's tensor; nil for what planning added.
	Source *Tensor
	// Whole says that every element counts as stored, whether or not it has its fill: those of
	// scans, sorts and order statistics do.
	Whole bool
	// Work is the fold that a workspace holds the results of; nil for other tensors.
	Work Expr
}

// Stmt is one checked assignment.
type Stmt struct {
	Pos     Pos
	LHS     *Access // its indices are plain, affine with one variable, constants or hidden slice variables
	Op      AssignOp
	RHS     Expr     // of the result's dtype: conversions are explicit
	Indices []*Index // every index variable of the statement, by ID
	// Schedule says how the statement runs.
	Schedule []*Command
}

// AssignOp is the operator of an assignment.
type AssignOp uint8

// The assignment operators.
const (
	Set   AssignOp = iota // =
	AddTo                 // +=
	MulTo                 // *=
	MinTo                 // min=
	MaxTo                 // max=
	OrTo                  // |=
	AndTo                 // &=
)

// Index is an index variable of one statement.
type Index struct {
	ID   int
	Name string // "" for the hidden variable of a slice
	Pos  Pos
	// Free says that it occurs on the left; otherwise exactly one Reduce binds it.
	Free bool
	// Length is the extent when a slice with constant bounds fixes it, else -1.
	Length int64
	// Like, when not nil, is an index with the same extent: one written index that the
	// Einstein convention sums separately in several summands has a variable in
	// each, and Like of the later ones is the first.
	Like *Index
}

// Expr is a checked, typed expression.
type Expr interface {
	DType() tensor.DType
	Position() Pos
}

// Literal is a constant. In a plan it may be, where Gap is set, the value of coordinates that a
// tensor does not store: such a value annihilates, one as written does not. Where Stored is set it
// is that of coordinates which count as stored, so that what is made of it is no gap.
type Literal struct {
	Pos         Pos
	Value       tensor.Scalar
	Gap, Stored bool
}

// Access reads (or, on the left, names) a tensor element.
type Access struct {
	Pos     Pos
	Tensor  *Tensor
	Indices []IndexExpr // one per dimension
}

// Vars appends the index variables that the access depends on, those of gathers included.
func (e *Access) Vars(vars []*Index) []*Index {
	for _, x := range e.Indices {
		vars = x.Vars(vars)
	}
	return vars
}

// IndexExpr is the coordinate used in one dimension: Const + sum of
// Coef*Var, or the value of an integer tensor (Gather; then Terms is empty and
// Const 0). A plain index is one term with coefficient 1 and Const 0.
type IndexExpr struct {
	Pos    Pos
	Terms  []Term
	Const  int64
	Gather *Access
	// Slice says that the term came from lo:hi:step: reading outside the
	// dimension is an error rather than the fill. Const is lo, the coefficient step.
	Slice bool
	// Open says of a slice that it runs to the end of the dimension.
	Open bool
	// Literal, when not 0, says that kernels take Const from the run: see TakeLiterals.
	Literal int
}

// Term is Coef*Var of an affine index; Coef is not 0. Terms of one IndexExpr
// have distinct variables and stand in the order of first use.
type Term struct {
	Var  *Index
	Coef int64
}

// Plain returns the variable of a plain index, or nil.
func (x IndexExpr) Plain() *Index {
	if x.Gather == nil && !x.Slice && x.Const == 0 && x.Literal == 0 && len(x.Terms) == 1 && x.Terms[0].Coef == 1 {
		return x.Terms[0].Var
	}
	return nil
}

// Padded reports whether coordinates outside the dimension read the fill.
func (x IndexExpr) Padded() bool { return !x.Slice && len(x.Terms) > 0 && x.Plain() == nil }

// Vars appends the index variables that x depends on, gathered ones included.
func (x IndexExpr) Vars(vars []*Index) []*Index {
	for _, t := range x.Terms {
		if !slices.Contains(vars, t.Var) {
			vars = append(vars, t.Var)
		}
	}
	if x.Gather != nil {
		vars = x.Gather.Vars(vars)
	}
	return vars
}

// IndexValue is the coordinate of an index variable used as an i64 number.
type IndexValue struct {
	Pos Pos
	Var *Index
}

// Cast converts X to To (rules of loop.Cast; to f16/bf16 rounds).
type Cast struct {
	Pos Pos
	To  tensor.DType
	X   Expr
}

// Call applies Fn, a scalar operator or function of the table Functions: unary
// minus, arithmetic, comparisons, logic, and the named functions. Arguments
// already have the operator's argument types; in a plan the second one of * and / may be
// real where the result is complex.
type Call struct {
	Pos  Pos
	Fn   string
	Args []Expr
	Typ  tensor.DType
}

// Select is Then where Cond holds and Else elsewhere; both have the same dtype.
type Select struct {
	Pos              Pos
	Cond, Then, Else Expr
}

// Reduce folds Body over Vars. Body is already converted to the accumulation
// type (for example i64 for a sum of bool).
type Reduce struct {
	Pos  Pos
	Op   Reduction
	Vars []ReduceVar
	Body Expr
	Typ  tensor.DType
	// Options, Q: of quantile and friends and of scans.
	Options []string
	Q       Expr
	// Implicit says that the user did not write it: the Einstein convention did.
	Implicit bool
}

// ReduceVar is a bound index, running over its whole dimension or, with In,
// over the coordinates that tensor In stores given the indices outside.
type ReduceVar struct {
	Var *Index
	In  *Tensor
	// InAccess is the access of In in the body whose levels decide what is stored.
	InAccess *Access
}

// Scan is a running fold along Vars, which stay visible: in row-major order over
// them or, where one of them has In, over the coordinates that In stores. Sorts are
// scans too: the element at a place depends on the whole line.
type Scan struct {
	Pos     Pos
	Op      ScanOp
	Vars    []ReduceVar
	Options []string // "exclusive", "reverse"; of sorts "descending"
	// First, of sorts, is how many elements of a line are kept; those behind are 0. 0 keeps all.
	First int64
	Body  Expr
	Typ   tensor.DType
}

// Indices are the index variables of Vars.
func (e *Scan) Indices() []*Index {
	var list []*Index
	for _, v := range e.Vars {
		list = append(list, v.Var)
	}
	return list
}

// Stored reports whether the scan runs over stored coordinates only.
func (e *Scan) Stored() bool {
	return slices.ContainsFunc(e.Vars, func(v ReduceVar) bool { return v.In != nil })
}

// Exclusive reports whether an element of the scan leaves out its own value.
func (e *Scan) Exclusive() bool { return slices.Contains(e.Options, "exclusive") }

// Words are the options as they are written in brackets.
func (e *Scan) Words() []Option {
	list := options(e.Options)
	if e.First > 0 {
		list = append(list, Option{Name: firstOption, Number: e.First})
	}
	return list
}

// Descending reports whether a sort has the greatest element first.
func (e *Scan) Descending() bool { return slices.Contains(e.Options, "descending") }

// Reverse reports whether the scan runs from the last coordinate to the first.
func (e *Scan) Reverse() bool { return slices.Contains(e.Options, "reverse") }

func (e *Literal) DType() tensor.DType    { return e.Value.DType() }
func (e *Access) DType() tensor.DType     { return e.Tensor.DType }
func (e *IndexValue) DType() tensor.DType { return tensor.Int64 }
func (e *Cast) DType() tensor.DType       { return e.To }
func (e *Call) DType() tensor.DType       { return e.Typ }
func (e *Select) DType() tensor.DType     { return e.Then.DType() }
func (e *Reduce) DType() tensor.DType     { return e.Typ }
func (e *Scan) DType() tensor.DType       { return e.Typ }

func (e *Literal) Position() Pos    { return e.Pos }
func (e *Access) Position() Pos     { return e.Pos }
func (e *IndexValue) Position() Pos { return e.Pos }
func (e *Cast) Position() Pos       { return e.Pos }
func (e *Call) Position() Pos       { return e.Pos }
func (e *Select) Position() Pos     { return e.Pos }
func (e *Reduce) Position() Pos     { return e.Pos }
func (e *Scan) Position() Pos       { return e.Pos }

// Reduction names a reduction operator.
type Reduction uint8

// The reductions.
const (
	Sum Reduction = iota
	Prod
	Min
	Max
	Any
	All
	Mean
	Var
	Norm
	Count
	LogSumExp
	ArgMin
	ArgMax
	Median
	Quantile
	NanQuantile
)

// ScanOp names a scan operator.
type ScanOp uint8

// The scans.
const (
	CumSum ScanOp = iota
	CumProd
	CumMin
	CumMax
	LogCumSumExp
	Sort
	ArgSort
)
