package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Step is one step of a plan: *Convert, *Join, *Compute, *Scan, *Statistic or *Sort.
type Step interface{ step() }

// Convert stores From again in To's format.
type Convert struct {
	From, To *Tensor
	// Axes, when not nil, says which axis of From each axis of To is.
	Axes []int
	Why  string // for explain
	// Assigns says that To is what a statement assigns, which only stores From again.
	Assigns bool
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

// Scan is a step of a plan: running folds along some axes of a tensor. The order is
// row-major over the axes, from the first coordinate to the last.
type Scan struct {
	// From and To have the same shape. From holds lines along Axes in planes or in
	// segments. To is dense with From's axis order; or has From's levels down to
	// the segments and dense ones below, where a line without entries keeps the
	// fill; or, if Stored, has From's pattern.
	From, To *Tensor
	Axes     []int
	Op       lang.ScanOp
	Fold     Fold
	// Cast, unless invalid, is what elements are converted to first.
	Cast tensor.DType
	// Typ is the type of elements, then, and of the result.
	Typ tensor.DType
	// Exclusive leaves an element's own value out of it.
	Exclusive bool
	// Reverse runs from the last coordinate to the first.
	Reverse bool
	// Stored runs over stored elements only.
	Stored bool
	Pos    lang.Pos // of the operator
}

func (*Scan) step() {}

// Sort is a step of a plan: every line of a tensor in order. Equal elements stay in the
// order of their coordinates; NaN is greater than every number.
type Sort struct {
	// From and To have the same shape. From holds lines along Axes in segments, or as
	// the innermost axes of a dense tensor. To is as in Scan.
	From, To *Tensor
	Axes     []int
	// Cast, unless invalid, is what elements are converted to first.
	Cast tensor.DType
	// First, unless 0, is how many elements of a line are kept: To stores these, at the
	// first coordinates, and the others are 0.
	First int64
	// Descending has the greatest element first.
	Descending bool
	// Positions gives where along its line an element was, rather than its value.
	Positions bool
	Op        lang.ScanOp
	Pos       lang.Pos // of the operator
}

func (*Sort) step() {}

// Statistic is a step of a plan: order statistics of every line of a tensor.
type Statistic struct {
	// From holds lines along Axes in segments, or as the innermost axes of a dense
	// tensor. To has an axis for each other one, in the order in which From stores
	// them, and behind those (OrdersFirst: before) an axis for each variable of the orders
	// that the lines do not have. It is dense or, of sparse segments, has From's
	// levels above them, and dense ones for the orders.
	From, To *Tensor
	Axes     []int
	// Cast, unless invalid, is what elements are converted to first.
	Cast tensor.DType
	// Order is the order of the statistic, from 0 to 1, unless Orders holds them: in
	// a dense tensor with an axis for each variable of the orders or, if PerLine,
	// before them one for each axis of the lines, as To has them.
	Order       float64
	Orders      *Tensor
	PerLine     bool
	OrdersFirst bool
	// Own is the number of To's axes that lines do not have.
	Own    int
	Method string // of lang's quantiles
	// SkipNaN leaves NaN out of the lines; otherwise a line with one gives NaN.
	SkipNaN bool
	// Stored takes stored elements only; a line without any gives NaN.
	Stored bool
	Name   string   // the operator, for messages
	Pos    lang.Pos // of the operator
}

func (*Statistic) step() {}

// Join makes one tensor of an operand that is stored as several pieces, or as one
// triangle.
type Join struct {
	Operand *Operand
	To      *Tensor
	Why     string // for explain
}

func (*Join) step() {}

// Keeps reports whether all that the source stores stays stored, also what its dense blocks hold beyond
// the fill. Of a dense tensor only what a reduction runs over does.
func (c *Convert) Keeps() bool {
	return c.From.Format.HasBlocks() && (c.Stored || !c.From.Format.IsDense())
}

// View is the source of a conversion with its axes in the order of the target's: it has
// the same arrays.
func (c *Convert) View() *Tensor {
	if c.Axes == nil {
		return c.From
	}
	view := *c.From
	order := view.Format.Order()
	for l, axis := range order {
		order[l] = slices.Index(c.Axes, axis)
	}
	view.Format = MustFormat(order, view.Format)
	return &view
}

// Lines says how a tensor holds the lines along some of its axes, outermost first.
type Lines uint8

// The ways to hold lines.
const (
	// Apart: nothing of the below.
	Apart Lines = iota
	// Planes: a dense tensor in which the axes are next to each other, in order.
	Planes
	// Segments: for every coordinate of the other axes, dense levels, there is a
	// segment of entries, ordered by the axes.
	Segments
	// SparseSegments: there are segments for some of those coordinates only; the
	// level above them has an entry for each.
	SparseSegments
)

// LinesOf tells how a tensor of the given format holds lines along axes.
func LinesOf(f tensor.Format, axes []int) Lines {
	order, levels := f.Order(), f.Physical()
	if f.IsDense() {
		first := slices.Index(order, axes[0])
		if first+len(axes) <= len(order) && slices.Equal(order[first:first+len(axes)], axes) {
			return Planes
		}
		return Apart
	}
	top := len(order) - len(axes)
	list := levels[top].Walked() && !slices.ContainsFunc(levels[top+1:], func(l tensor.LevelType) bool { return !l.Branchless() })
	switch {
	case !list || !slices.Equal(order[top:], axes):
		return Apart
	case !slices.ContainsFunc(levels[:top], func(l tensor.LevelType) bool { return !l.Full() }):
		return Segments
	case levels[top].Ranges() && levels[top-1].Walked():
		return SparseSegments
	}
	return Apart
}

// String describes the scan for readers of a plan.
func (s *Scan) String() string {
	var words []string
	if s.Exclusive {
		words = append(words, "exclusive")
	}
	if s.Reverse {
		words = append(words, "reverse")
	}
	if s.Stored {
		words = append(words, "stored elements only")
	}
	text := fmt.Sprintf("%s along %s", s.Op, axesText(s.Axes))
	if len(words) > 0 {
		text += ", " + strings.Join(words, ", ")
	}
	return text
}

// String describes the sort for readers of a plan.
func (s *Sort) String() string {
	text := fmt.Sprintf("%s along %s", s.Op, axesText(s.Axes))
	if s.Descending {
		text += ", descending"
	}
	if s.First > 0 {
		text += fmt.Sprintf(", the first %d", s.First)
	}
	return text
}

// String describes the statistic for readers of a plan.
func (s *Statistic) String() string {
	text := fmt.Sprintf("%s (%s) over %s", s.Name, s.Method, axesText(s.Axes))
	switch {
	case s.Orders != nil:
		text += ", orders " + s.Orders.Name
	case s.Name != lang.Median.String():
		text += fmt.Sprintf(", order %v", s.Order)
	}
	if s.Stored {
		text += ", stored elements only"
	}
	return text
}

// axesText is "axis 1" or "axes 0, 2".
func axesText(axes []int) string {
	if len(axes) == 1 {
		return fmt.Sprintf("axis %d", axes[0])
	}
	return "axes " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(axes)), ", "), "[]")
}

// StatisticShape is the shape of an order statistic, by what the shapes of tensors are made of.
func StatisticShape[T any](s *Statistic, dims func(*Tensor) []T) []T {
	var lines, own []T
	order, from := s.From.Format.Order(), dims(s.From)
	for _, axis := range order[:len(order)-len(s.Axes)] {
		lines = append(lines, from[axis])
	}
	if s.Orders != nil {
		orders := dims(s.Orders)
		own = orders[len(orders)-s.Own:]
	}
	if s.OrdersFirst {
		return slices.Concat(own, lines)
	}
	return slices.Concat(lines, own)
}
