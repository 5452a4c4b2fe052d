package tensor

import (
	"fmt"
	"slices"
)

// Blocks is a tensor whose axes are stored split in two: the element at (i, j, …) is at
// (i/b0, j/b1, …, i%b0, j%b1, …) of a tensor of twice the rank. It stands for the whole
// in expressions, which are written with i and j. It is immutable.
type Blocks struct {
	blocked *Tensor
	shape   []int64
}

func (*Blocks) operand() {}

// NewBlocks makes a tensor of the given shape of a blocked one, such as
// [Tensor.Blocked] makes: for rank N its shape has the numbers of blocks along each
// axis and then the extents of a block, which are 1 or more. What blocks hold beyond the
// shape does not count. The error is a [*FormatError].
func NewBlocks(blocked *Tensor, shape []int64) (*Blocks, error) {
	if blocked == nil {
		return nil, tensorError("a tensor in blocks needs the blocks")
	}
	if err := blocked.checkBlocks(shape); err != nil {
		return nil, named(err, blocked.name)
	}
	return &Blocks{blocked, slices.Clone(shape)}, nil
}

// Blocked is the tensor of twice the rank that holds the blocks.
func (b *Blocks) Blocked() *Tensor { return b.blocked }

// held is the tensor that holds the blocks; of zero Blocks a zero Tensor, which has no element type.
func (b *Blocks) held() *Tensor {
	if b.blocked == nil {
		var none Tensor
		return &none
	}
	return b.blocked
}

// Name is the name of the tensor that holds the blocks.
func (b *Blocks) Name() string { return b.held().name }

// Shape is the extent of each logical axis.
func (b *Blocks) Shape() []int64 { return slices.Clone(b.shape) }

// Rank is the number of dimensions.
func (b *Blocks) Rank() int { return len(b.shape) }

// DType is the element type.
func (b *Blocks) DType() DType { return b.held().DType() }

// Fill is the value at coordinates that are not stored.
func (b *Blocks) Fill() Scalar { return b.held().fill }

// NNZ is the number of stored values, those beyond the shape included.
func (b *Blocks) NNZ() int64 { return b.held().NNZ() }

// Bytes is the memory that values and index arrays take, in bytes.
func (b *Blocks) Bytes() int64 { return b.held().Bytes() }

// At returns the value at a coordinate as [Tensor.At] does.
func (b *Blocks) At(coord ...int64) Scalar {
	if len(coord) != len(b.shape) {
		return Scalar{}
	}
	split := make([]int64, 2*len(coord))
	for axis, c := range coord {
		if c < 0 || c >= b.shape[axis] {
			return Scalar{}
		}
		size := b.blocked.shape[len(coord)+axis]
		split[axis], split[len(coord)+axis] = c/size, c%size
	}
	return b.held().At(split...)
}

// Expand stores the tensor without blocks: see [Tensor.Unblocked].
func (b *Blocks) Expand(format Format, opts ...Option) (*Tensor, error) {
	if b == nil || b.blocked == nil {
		return nil, errNoTensor
	}
	return b.blocked.Unblocked(b.shape, format, opts...)
}

// String describes the tensor in a few words, such as
// "6x6 f64 in blocks of 2x3, C-S-D-D, 12 stored, fill 0".
func (b *Blocks) String() string {
	return fmt.Sprintf("%s %v in blocks of %s, %v, %d stored, fill %v", shapeString(b.shape), b.DType(),
		shapeString(b.held().shape[len(b.shape):]), b.held().format, b.NNZ(), b.Fill())
}
