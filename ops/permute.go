package ops

import (
	"context"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Transpose puts the axes in another order: axis k of the result is axis perm[k] of A, and a nil
// perm reverses them; negative axes count from the end. Without [StoredAs] the arrays are shared and each level stores the axis
// that it stored before, under its new number: the transpose of a CSR matrix is a CSC matrix.
func Transpose(ctx context.Context, A *tensor.Tensor, perm []int, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginMoving(ctx, "Transpose", opts, A)
	if err != nil {
		return nil, err
	}
	perm = slices.Clone(perm)
	for k, a := range perm {
		if perm[k], err = op.axis(a, A.Rank()); err != nil {
			return nil, err
		}
	}
	return op.finish(A.Transpose(perm))
}

// Permute reorders the coordinates of one axis, which counts from the end if it is negative: coordinate i of the result's axis is
// coordinate p[i] of A's, as in R(i,j) = A(p(i),j). p must have each coordinate once. The
// result has the format of A.
func Permute(ctx context.Context, A *tensor.Tensor, axis int, p []int64, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginMoving(ctx, "Permute", opts, A)
	if err != nil {
		return nil, err
	}
	if A, err = op.plain(A); err != nil {
		return nil, err
	}
	if axis, err = op.axis(axis, A.Rank()); err != nil {
		return nil, err
	}
	n := A.Shape()[axis]
	if int64(len(p)) != n {
		return nil, op.failf("p has %d elements: it must have one for each of the %d coordinates of axis %d", len(p), n, axis)
	}
	seen := make([]bool, n)
	for i, c := range p {
		switch {
		case c < 0 || c >= n:
			return nil, op.failf("p[%d] = %d is not a coordinate of axis %d, whose extent is %d", i, c, axis, n)
		case seen[c]:
			return nil, op.failf("p has the coordinate %d twice, the second time at %d: a permutation has each once", c, i)
		}
		seen[c] = true
	}
	order, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(p))
	if err != nil {
		return nil, op.fail(err)
	}
	target := op.target(A.Format())
	gathering := gatheringFormat(A.Format(), axis)
	if A, err = op.convert(A, gathering); err != nil {
		return nil, err
	}
	left := indices(A.Rank())
	right := slices.Clone(left)
	right[axis] = "p(" + left[axis] + ")"
	op.format = &gathering
	out, err := op.eval(access("R", left)+" = "+access("A", right), lacuna.Args{"A": A, "p": order})
	if err != nil {
		return nil, err
	}
	return op.convert(out, target)
}

// gatheringFormat is the format nearest to f from which, and to which, a gather along the
// axis goes entry by entry: one in which coordinates that come in any order do no harm. That is so
// in dense levels and in a first level that is C, whose pointers are no more than the
// elements of the permutation.
func gatheringFormat(f tensor.Format, axis int) tensor.Format {
	order, sparse := f.Order(), f.SparseRank()
	k := slices.Index(order, axis)
	if k >= sparse || sparse == 1 {
		return f
	}
	rest := f.Inner(1)
	if k > 0 {
		copy(order[1:k+1], order[:k])
		order[0] = axis
		rest = mustStack(nil, tensor.CSF(sparse-1), tensor.Dense(f.Rank()-sparse))
	}
	return mustStack(order, tensor.Dense(1), rest)
}
