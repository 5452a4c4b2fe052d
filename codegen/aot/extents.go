package aot

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
)

// lang.Bind computes, for operands of given shapes, how far every index runs and
// what shape every result has. Here the shapes are not given but scalars of a
// program: by the same rules, lang.ExtentsOf, what Bind would compute becomes expressions
// over them, and what it would refuse becomes checks.

// Check is a condition that a run makes sure of before its first stage.
type Check struct {
	Code Status
	// Tensor is the place of the tensor that it is about in Program.Tensors, or -1.
	Tensor  int
	Message string
	// If lists sizes; the check is made if all are positive.
	If []loop.SizeExpr
	// X must be equal to Y if Equal is set, and at most Y if not.
	X, Y  loop.SizeExpr
	Equal bool
}

// extents are those of a program, as expressions.
type extents struct {
	index  [][]loop.SizeExpr // by statement, then by index ID
	shapes map[*lang.Tensor][]loop.SizeExpr
	checks []Check
	// place is where a tensor stands in Program.Tensors, -1 if nowhere.
	place func(*lang.Tensor) int
}

// bindExtents works out the extents of a program from the shapes of its operands.
func bindExtents(p *lang.Program, operands map[*lang.Tensor][]loop.SizeExpr, place func(*lang.Tensor) int) (*extents, error) {
	x := &extents{place: place}
	shapes := map[*lang.Tensor][]loop.SizeExpr{}
	for _, t := range p.Tensors {
		switch {
		case !t.Operand:
			continue
		case t.StoredOf != nil:
			shapes[t] = shapes[t.StoredOf]
			continue
		}
		shapes[t] = operands[t]
		for k, n := range t.Shape {
			if n >= 0 && !sameSize(shapes[t][k], loop.SizeConst(n)) {
				x.checks = append(x.checks, Check{Code: ErrShape, Tensor: place(t), X: shapes[t][k], Y: loop.SizeConst(n), Equal: true,
					Message: fmt.Sprintf("extent %d of %s must be %d, as declared", k, t.Name, n)})
			}
		}
	}
	var err *lang.Error
	if x.index, x.shapes, err = lang.ExtentsOf(p, shapes, x); err != nil {
		return nil, err.WithSource(p.Source)
	}
	return x, nil
}

// Const is a size.
func (*extents) Const(n int64) loop.SizeExpr { return loop.SizeConst(n) }

// Add is a sum.
func (*extents) Add(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Add, x, y) }

// Sub is a difference.
func (*extents) Sub(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Sub, x, y) }

// Mul is a product.
func (*extents) Mul(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Mul, x, y) }

// Min is the lesser one.
func (*extents) Min(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Min, x, y) }

// Max is the greater one.
func (*extents) Max(x, y loop.SizeExpr) loop.SizeExpr { return sizeOp(loop.Max, x, y) }

// Ceil is a quotient rounded up.
func (*extents) Ceil(x loop.SizeExpr, n int64) loop.SizeExpr {
	return sizeDiv(sizeAdd(x, loop.SizeConst(n-1)), loop.SizeConst(n))
}

// Steps is room/step + 1, and 0 where room is negative.
func (*extents) Steps(room loop.SizeExpr, step int64) loop.SizeExpr {
	return sizeOp(loop.Max, loop.SizeConst(0), sizeDiv(sizeAdd(room, loop.SizeConst(step)), loop.SizeConst(step)))
}

// Where multiplies by 0 or 1.
func (*extents) Where(some []loop.SizeExpr, n loop.SizeExpr) loop.SizeExpr {
	for _, s := range some {
		n = sizeMul(n, sizeOp(loop.Min, s, loop.SizeConst(1)))
	}
	return n
}

// Require makes a check. Sizes that do not fit 63 bits are refused where they are computed, and
// reductions that are NaN over nothing are the plan's.
func (x *extents) Require(c lang.Condition[loop.SizeExpr]) bool {
	if c.Rule == lang.RuleFits || c.Rule == lang.RuleNothing || c.Equal && sameSize(c.X, c.Y) {
		return true
	}
	about := -1
	if c.Use != nil {
		about = x.place(c.Use.Access.Tensor)
	}
	x.checks = append(x.checks, Check{Code: ErrShape, Tensor: about, Message: explain(c), If: slices.Clone(c.If), X: c.X, Y: c.Y, Equal: c.Equal})
	return true
}

// explain says what is wrong where a condition does not hold.
func explain(c lang.Condition[loop.SizeExpr]) string {
	switch c.Rule {
	case lang.RuleStart:
		return fmt.Sprintf("a slice starts at %d, outside dimension %d of %s", c.Use.Index.Const, c.Use.Dim, c.Use.Access.Tensor.Name)
	case lang.RuleAgree:
		name, other := "index "+c.Index.Name, "constant bounds"
		if c.Index.Name == "" {
			name = "slice"
		}
		if c.Other != nil {
			other = c.Stmt.Format(c.Other.Access)
		}
		return fmt.Sprintf("the %s has one extent in %s and another in %s", name, c.Stmt.Format(c.Use.Access), other)
	case lang.RuleWrap:
		return fmt.Sprintf("the coordinates of %s do not fit 64 bits", c.Use.Access.Tensor.Name)
	case lang.RuleLow, lang.RuleHigh:
		verb := "read"
		if c.Use.Left {
			verb = "written"
		}
		return fmt.Sprintf("a coordinate that is %s in dimension %d of %s is out of range", verb, c.Use.Dim, c.Use.Access.Tensor.Name)
	case lang.RuleOrders:
		return fmt.Sprintf("%s has no orders: the index %s takes no value", c.Reduce.Op, c.Index.Name)
	case lang.RulePositions:
		return fmt.Sprintf("the positions that %s counts over its indices do not fit 63 bits", c.Reduce.Op)
	case lang.RuleEmpty:
		return fmt.Sprintf("%s over index %s, which takes no value: its dimension has size 0", c.Reduce.Op, c.Index.Name)
	}
	panic(fmt.Sprintf("BUG: rule %d", c.Rule))
}
