package tensor

// NewCSR makes a matrix of compressed rows, without copying: row i has the column coordinates
// indices[indptr[i]:indptr[i+1]], which ascend, and the values at the same places. The slices are
// checked in one pass and shared from then on, so they must not be written to. Rows that are not sorted, or that
// repeat a coordinate, are errors: [FromCoords] sorts and sums, and [New] takes a format that allows either.
func NewCSR[I Index, T Element](shape []int64, indptr, indices []I, values []T, opts ...Option) (*Tensor, error) {
	return newCompressed(shape, CSR, indptr, indices, values, opts)
}

// NewCSC is [NewCSR] for compressed columns: column j has the row coordinates indices[indptr[j]:indptr[j+1]].
func NewCSC[I Index, T Element](shape []int64, indptr, indices []I, values []T, opts ...Option) (*Tensor, error) {
	return newCompressed(shape, CSC, indptr, indices, values, opts)
}

func newCompressed[I Index, T Element](shape []int64, f Format, indptr, indices []I, values []T, opts []Option) (*Tensor, error) {
	levels := []Level{{}, {Pos: ArrayOf(indptr), Crd: ArrayOf(indices)}}
	return New(shape, f, levels, ArrayOf(values), opts...)
}

// NewCOO makes a tensor of sorted entries without copying: coords has a slice for each axis, of which the first varies
// slowest, and no coordinates occur twice. The slices are checked in one pass and shared from then on.
// [FromCoords] takes entries in any order, and sums what repeats.
func NewCOO[I Index, T Element](shape []int64, coords [][]I, values []T, opts ...Option) (*Tensor, error) {
	levels := make([]Level, len(coords))
	for axis, list := range coords {
		levels[axis].Crd = ArrayOf(list)
	}
	return New(shape, Coordinates(len(shape)), levels, ArrayOf(values), opts...)
}

// NewVector makes a sparse vector of the given length without copying: values[k] stands at indices[k], which ascend.
func NewVector[I Index, T Element](length int64, indices []I, values []T, opts ...Option) (*Tensor, error) {
	return NewCOO([]int64{length}, [][]I{indices}, values, opts...)
}

// NewDense makes a tensor of all its elements in row-major order, without copying. Without a shape it is a vector.
func NewDense[T Element](values []T, shape ...int64) (*Tensor, error) {
	if len(shape) == 0 {
		shape = []int64{int64(len(values))}
	}
	return FromDense(shape, Dense(len(shape)), ArrayOf(values))
}

// Vector is a dense vector of the slice, without copying: an operand such as lacuna.Args{"x": tensor.Vector(x)}.
func Vector[T Element](values []T) *Tensor {
	a := ArrayOf(values)
	return NewTrusted([]int64{int64(a.n)}, Dense(1), nil, a, Zero(a.dt))
}

// Number is a number as an operand of rank 0.
func Number[T Element](x T) *Tensor {
	a := ArrayOf([]T{x})
	return NewTrusted(nil, Dense(0), nil, a, Zero(a.dt))
}
