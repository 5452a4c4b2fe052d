package lang

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/overflow"
)

// Extents says how far every index of a program runs for given operands.
type Extents struct {
	// Index holds the extent of each index: by statement, then by index ID.
	Index [][]int64
	// Shapes holds the shape of every tensor of the program, operands and results.
	Shapes map[string][]int64
	// Nothing lists the means and variances over nothing, which are NaN: their indices take no
	// value. A plan that does not know cannot tell, since zero entries add up to 0.
	Nothing []*Reduce
}

// Bind computes the extents of a program for operands of the given shapes.
//
// All plain uses of an index, and open slices, must agree. An index without one
// gets the largest extent whose last coordinate stays inside the dimension in
// every affine use, given the other indices at the end of their ranges; 0 if
// there is none. A dimension of a result is the extent of its plain index, else
// one more than the largest coordinate that is assigned, unless the shape is
// declared or known. Affine reads may leave a dimension: they give the fill. Constant indices
// and slices, and everything on the left, must not.
//
// The error, of type Errors, has one of the codes E301 to E306.
func Bind(p *Program, shapes map[string][]int64) (*Extents, error) {
	b := &binder{shapes: make(map[*Tensor][]number), out: &Extents{Shapes: make(map[string][]int64)}}
	for _, t := range p.Tensors {
		if t.Operand {
			b.operand(t, shapes)
		}
	}
	if len(b.errs) == 0 {
		index, all, err := ExtentsOf(p, b.shapes, b)
		if err != nil {
			b.errs = append(b.errs, err)
		}
		for _, extents := range index {
			b.out.Index = append(b.out.Index, plainNumbers(extents))
		}
		for t, shape := range all {
			if t.StoredOf == nil {
				b.out.Shapes[t.Name] = plainNumbers(shape)
			}
		}
	}
	if err := b.errs.asError(p.Source); err != nil {
		return nil, err
	}
	return b.out, nil
}

// number is an extent that is known, if it fits 64 bits.
type number struct {
	n       int64
	tooLong bool
}

func plainNumbers(list []number) []int64 {
	out := make([]int64, len(list))
	for i, x := range list {
		out[i] = x.n
	}
	return out
}

// binder is the ExtentArithmetic of numbers.
type binder struct {
	shapes map[*Tensor][]number // of operands
	out    *Extents
	errs   Errors
}

func (b *binder) fail(code Code, pos Pos, hint, format string, args ...any) *Error {
	e := &Error{Code: code, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
	b.errs = append(b.errs, e)
	return e
}

// operand takes the shape of an operand.
func (b *binder) operand(t *Tensor, shapes map[string][]int64) {
	if t.StoredOf != nil {
		b.shapes[t] = b.shapes[t.StoredOf]
		return
	}
	shape, ok := shapes[t.Name]
	switch {
	case !ok:
		b.fail(ErrMissingShape, t.Pos, "pass a value for "+t.Name, "the operand %s is missing", t.Name)
		return
	case len(shape) != t.Rank:
		b.fail(ErrShape, t.Pos, "", "%s has shape %v, but the program was compiled for %s", t.Name, shape, plural(t.Rank, "dimension", "dimensions"))
		return
	}
	for k, n := range shape {
		if n < 0 {
			b.fail(ErrShape, t.Pos, "", "dimension %d of %s has the negative extent %d", k, t.Name, n)
			return
		}
		if t.Shape != nil && t.Shape[k] >= 0 && t.Shape[k] != n {
			b.fail(ErrShape, t.Pos, "", "%s has shape %v, but %v is declared", t.Name, shape, t.Shape)
			return
		}
	}
	b.shapes[t] = make([]number, len(shape))
	for k, n := range shape {
		b.shapes[t][k] = b.Const(n)
	}
}

func numberOf(op func(x, y int64) (int64, bool), x, y number) number {
	fits := !x.tooLong && !y.tooLong
	n := checked(op, x.n, y.n, &fits)
	return number{n, !fits}
}

// Const is a number.
func (b *binder) Const(n int64) number { return number{n: n} }

// Add is the sum of x and y.
func (b *binder) Add(x, y number) number { return numberOf(overflow.Add, x, y) }

// Sub is x less y.
func (b *binder) Sub(x, y number) number { return numberOf(overflow.Sub, x, y) }

// Mul is the product of x and y.
func (b *binder) Mul(x, y number) number { return numberOf(overflow.Mul, x, y) }

// Min is the lesser one of x and y.
func (b *binder) Min(x, y number) number { return number{min(x.n, y.n), x.tooLong || y.tooLong} }

// Max is the greater one of x and y.
func (b *binder) Max(x, y number) number { return number{max(x.n, y.n), x.tooLong || y.tooLong} }

// Ceil is x/n rounded up.
func (b *binder) Ceil(x number, n int64) number { return number{ceilDiv(x.n, n), x.tooLong} }

// Steps is room/step + 1, or 0.
func (b *binder) Steps(room number, step int64) number {
	if room.n < 0 {
		return number{0, room.tooLong}
	}
	return b.Add(number{room.n / step, room.tooLong}, b.Const(1))
}

// Where is n or 0.
func (b *binder) Where(some []number, n number) number {
	if slices.Contains(some, number{}) {
		return number{}
	}
	return n
}

// Require reports what is wrong where a condition does not hold.
func (b *binder) Require(c Condition[number]) bool {
	fits := !c.X.tooLong && !c.Y.tooLong
	if slices.ContainsFunc(c.If, func(n number) bool { return n.n <= 0 }) || fits && (c.X == c.Y || !c.Equal && c.X.n < c.Y.n) {
		return true
	}
	switch c.Rule {
	case RuleStart:
		b.outOfRange(c.Use, c.X.n)
	case RuleAgree:
		b.disagree(c)
	case RuleFits:
		b.fail(ErrShape, c.Use.Index.Pos, "use smaller numbers in the index", "how far %s runs to stay inside %s does not fit 64 bits",
			c.Index.Name, c.Use.Access.Tensor.Name)
	case RuleWrap, RuleLow, RuleHigh:
		switch {
		case !fits || c.Rule == RuleWrap || c.Rule == RuleHigh && c.Use.Extent == nil:
			b.fail(ErrShape, c.Use.Index.Pos, "", "the coordinates of %s do not fit 64 bits", c.Use.Access.Tensor.Name)
		case c.Rule == RuleLow:
			b.outOfRange(c.Use, c.Y.n)
		default:
			b.outOfRange(c.Use, c.X.n)
		}
	case RuleOrders:
		b.fail(ErrEmptyReduction, c.Reduce.Q.Position(), "give at least one order, from 0 to 1",
			"%s has no orders: the index %s takes no value", c.Reduce.Op, c.Index.Name)
	case RulePositions:
		b.fail(ErrOutOfRange, c.Reduce.Pos, "take "+c.Reduce.Op.String()+" over fewer indices",
			"the positions that %s counts over its indices do not fit 63 bits", c.Reduce.Op)
	case RuleEmpty:
		b.fail(ErrEmptyReduction, c.Reduce.Pos, "", "%s over index %s, which takes no value: its dimension has size 0", c.Reduce.Op, c.Index.Name)
	case RuleNothing:
		b.out.Nothing = append(b.out.Nothing, c.Reduce)
		return true
	}
	return false
}

// disagree reports that an index has two extents.
func (b *binder) disagree(c Condition[number]) {
	what := "the index " + c.Index.Name
	if c.Index.Name == "" {
		what = "the slice"
	}
	if c.Other == nil {
		b.fail(ErrDisagree, c.Use.Index.Pos, "", "%s has length %d here, but constant bounds elsewhere in the statement give %d", what, c.X.n, c.Y.n)
		return
	}
	e := b.fail(ErrDisagree, c.Use.Index.Pos, "the dimensions that one index runs over must have one extent",
		"%s has extent %d in %s, but %d in %s", what, c.X.n, c.Stmt.Format(c.Use.Access), c.Y.n, c.Stmt.Format(c.Other.Access))
	e.Related = []Note{{c.Other.Index.Pos, fmt.Sprintf("extent %d here", c.Y.n)}}
}

// outOfRange reports a coordinate.
func (b *binder) outOfRange(u *Use[number], coordinate int64) {
	verb, hint := "read", "coordinates count from 0"
	if u.Left {
		verb, hint = "written", "declare a larger shape for the result, or shift the index"
	}
	if u.Extent == nil {
		b.fail(ErrOutOfRange, u.Index.Pos, hint, "coordinate %d of %s is %s: coordinates count from 0", coordinate, u.Access.Tensor.Name, verb)
		return
	}
	e := b.fail(ErrOutOfRange, u.Index.Pos, hint, "coordinate %d is %s in dimension %d of %s, which has extent %d",
		coordinate, verb, u.Dim, u.Access.Tensor.Name, u.Extent.n)
	if u.Left {
		e.InGo = shapeInGo(u.Access.Tensor)
	}
}
