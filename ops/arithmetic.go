package ops

import (
	"context"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Add is A + B, element by element, with the shapes broadcast as NumPy does: they are aligned at
// their last axes, and extents of 1 are repeated. Types meet as in expressions. What the
// result stores, and how, follows from the operands unless [StoredAs] says: a sum of sparse
// tensors stores what either of them stores.
func Add(ctx context.Context, A, B *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return binary(ctx, "Add", "+", A, B, opts)
}

// Sub is A - B; see [Add].
func Sub(ctx context.Context, A, B *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return binary(ctx, "Sub", "-", A, B, opts)
}

// Mul is A*B, element by element; see [Add]. A product of sparse tensors stores what both of them store.
func Mul(ctx context.Context, A, B *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return binary(ctx, "Mul", "*", A, B, opts)
}

// Div is A/B, element by element; see [Add]. Integers are divided in f64.
func Div(ctx context.Context, A, B *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return binary(ctx, "Div", "/", A, B, opts)
}

func binary(ctx context.Context, name, operator string, A, B *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := beginElements(ctx, name, opts, A, B)
	if err != nil {
		return nil, err
	}
	names, read, err := op.broadcast(A, B)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s = %s %s %s", access("R", names), op.cast(access("A", read[0])), operator, op.cast(access("B", read[1])))
	return op.run(text, lacuna.Args{"A": A, "B": B})
}

// Where is A where cond is not zero and B elsewhere, with the shapes broadcast; see [Add].
func Where(ctx context.Context, cond, A, B *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginElements(ctx, "Where", opts, cond, A, B)
	if err != nil {
		return nil, err
	}
	names, read, err := op.broadcast(cond, A, B)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s = where(%s, %s, %s)", access("R", names),
		access("C", read[0]), op.cast(access("A", read[1])), op.cast(access("B", read[2])))
	return op.run(text, lacuna.Args{"C": cond, "A": A, "B": B})
}

// broadcast names the axes of the result and says how each tensor is read.
func (op *operation) broadcast(tensors ...*tensor.Tensor) (names []string, read [][]string, err error) {
	rank := 0
	for _, t := range tensors {
		rank = max(rank, t.Rank())
	}
	names = indices(rank)
	extents := make([]int64, rank)
	for i := range extents {
		extents[i] = 1
	}
	for _, t := range tensors {
		for axis, n := range t.Shape() {
			at := axis + rank - t.Rank()
			if n != 1 && extents[at] != 1 && extents[at] != n {
				return nil, nil, op.failf("the shapes %s do not fit together: extents that differ must be 1", shapesOf(tensors))
			}
			if n != 1 {
				extents[at] = n
			}
		}
	}
	for _, t := range tensors {
		var list []string
		for axis, n := range t.Shape() {
			at := axis + rank - t.Rank()
			if n == 1 && extents[at] != 1 {
				list = append(list, "0")
				continue
			}
			list = append(list, names[at])
		}
		read = append(read, list)
	}
	return names, read, nil
}

// shapesOf lists shapes for an error.
func shapesOf(tensors []*tensor.Tensor) string {
	var list []string
	for _, t := range tensors {
		list = append(list, fmt.Sprint(t.Shape()))
	}
	return strings.Join(list, " and ")
}

// MatMul is the matrix product, as NumPy's matmul: of the last two axes, with the axes before them
// broadcast; a vector stands for a row on the left and for a column on the right, and its axis is
// not in the result. Integers and bool are multiplied and added as i64, those of u64 as u64; [As] converts
// the elements first, and the result is of its type.
func MatMul(ctx context.Context, A, B *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginElements(ctx, "MatMul", opts, A, B)
	if err != nil {
		return nil, err
	}
	a, b := A.Shape(), B.Shape()
	if len(a) == 0 || len(b) == 0 {
		return nil, op.failf("a number is no matrix: use Mul")
	}
	inner := len(b) - 1
	if len(b) > 1 {
		inner--
	}
	if n := a[len(a)-1]; n != b[inner] {
		return nil, op.failf("shapes %v and %v: the last axis of the first has extent %d, and axis %d of the second, which is summed with it, %d",
			a, b, n, inner, b[inner])
	}
	batchA, batchB := a[:max(len(a)-2, 0)], b[:max(len(b)-2, 0)]
	rank := max(len(batchA), len(batchB))
	names := indices(rank)
	read := func(batch []int64) (list []string) {
		for axis, n := range batch {
			name := names[axis+rank-len(batch)]
			if n == 1 {
				name = "0" // repeated, or the only one
			}
			list = append(list, name)
		}
		return list
	}
	for axis := range rank {
		na, nb := extent(batchA, axis, rank), extent(batchB, axis, rank)
		if na != nb && na != 1 && nb != 1 {
			return nil, op.failf("the shapes %v and %v do not fit together: extents before the last two axes that differ must be 1", a, b)
		}
	}
	left, right := read(batchA), read(batchB)
	out := make([]string, rank)
	for axis := range out {
		out[axis] = names[axis]
		if extent(batchA, axis, rank) == 1 && extent(batchB, axis, rank) == 1 {
			out[axis] = "0"
		}
	}
	if len(a) > 1 {
		left, out = append(left, "r"), append(out, "r")
	}
	left = append(left, "s")
	right = append(right, "s")
	if len(b) > 1 {
		right, out = append(right, "c"), append(out, "c")
	}
	work := addedType(op.productType(A, B))
	text := fmt.Sprintf("%s = sum_s (%s*%s)", access("R", out), op.factor(access("A", left), A, work), op.factor(access("B", right), B, work))
	return op.run(text, lacuna.Args{"A": A, "B": B}, op.wished()...)
}

// productType is the type in which elements of tensors are multiplied: the one in which all of them
// meet, as NumPy's, and not two after two.
func (op *operation) productType(tensors ...*tensor.Tensor) tensor.DType {
	work := op.elementType(tensors[0])
	for _, t := range tensors[1:] {
		work = tensor.Promote(work, op.elementType(t))
	}
	return work
}

// addedType is the type of a product that is added up. Narrow integers are multiplied in it too: their
// products would wrap before they are added.
func addedType(product tensor.DType) tensor.DType {
	if product == tensor.Bool || product.IsInteger() && product != tensor.Uint64 {
		return tensor.Int64
	}
	return product
}

// wished declares that the result has the type that the caller wishes.
func (op *operation) wished() []lacuna.Option {
	if op.dtype.Valid() {
		return []lacuna.Option{lacuna.ResultType("R", op.dtype)}
	}
	return nil
}

// factor writes an element of a tensor in the type of a product.
func (op *operation) factor(element string, t *tensor.Tensor, work tensor.DType) string {
	element = op.cast(element)
	if op.elementType(t) != work {
		element = fmt.Sprintf("%s(%s)", work, element)
	}
	return element
}

// extent is that of an axis of the result in a shape that is aligned at its end.
func extent(shape []int64, axis, rank int) int64 {
	if k := axis - (rank - len(shape)); k >= 0 {
		return shape[k]
	}
	return 1
}

// MaskedSelect is the vector of the elements of A where mask is not zero, in row-major order; the
// shape of mask is that of A.
func MaskedSelect(ctx context.Context, A, mask *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginElements(ctx, "MaskedSelect", opts, A, mask)
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(A.Shape()) != fmt.Sprint(mask.Shape()) {
		return nil, op.failf("the mask has shape %v, and the tensor %v", mask.Shape(), A.Shape())
	}
	if A.Rank() == 0 {
		if A, err = A.Reshape([]int64{1}, tensor.Dense(1)); err == nil {
			mask, err = mask.Reshape([]int64{1}, tensor.Dense(1))
		}
		if err != nil {
			return nil, op.fail(err)
		}
	}
	names := indices(A.Rank())
	where := *op
	where.format = nil
	coordinates := tensor.Coordinates(A.Rank())
	// The true elements alone, in row-major order, and then the elements of A at their places.
	truth, err := where.run(access("R", names)+" = bool("+access("M", names)+")", lacuna.Args{"M": mask},
		lacuna.Result("R", coordinates), lacuna.Fill("R", tensor.Truth(false)))
	if err != nil {
		return nil, err
	}
	if truth, err = where.prune(truth); err != nil {
		return nil, err
	}
	chosen, err := where.run(fmt.Sprintf("%s = where(stored(%s), %s, 0)", access("R", names), access("M", names), op.element(names)),
		lacuna.Args{"A": A, "M": truth}, lacuna.Result("R", coordinates), lacuna.ResultType("R", op.elementType(A)))
	if err != nil {
		return nil, err
	}
	return op.finish(vectorOf(chosen.Values()), nil)
}
