package gonum

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// FromMatrix is a matrix as a tensor. A *mat.Dense without gaps between its rows, a *mat.VecDense without gaps between its elements (a
// matrix of one column) and transposes of such are not copied. Matrices that list their non-zero elements (mat.NonZeroDoer: bands, diagonals and
// triangles, and the sparse matrices of other packages) become CSR, with what they list; all others are dense copies.
func FromMatrix(m mat.Matrix) (*tensor.Tensor, error) {
	if m == nil {
		return nil, fmt.Errorf("the matrix is nil")
	}
	rows, cols := m.Dims()
	shape := []int64{int64(rows), int64(cols)}
	switch m := m.(type) {
	case mat.Untransposer:
		t, err := FromMatrix(m.Untranspose())
		if err != nil {
			return nil, err
		}
		return t.Transpose([]int{1, 0})
	case *mat.Dense:
		if raw := m.RawMatrix(); raw.Stride == cols || rows <= 1 {
			return tensor.NewDense(raw.Data[:rows*cols], shape...)
		}
	case *mat.VecDense:
		if raw := m.RawVector(); raw.Inc == 1 {
			return tensor.NewDense(raw.Data[:rows], shape...)
		}
	case mat.NonZeroDoer:
		return listed(shape, m.DoNonZero)
	case *mat.DiagDense:
		return listed(shape, func(f func(i, j int, v float64)) {
			for i := range rows {
				f(i, i, m.At(i, i))
			}
		})
	}
	all := make([]float64, 0, rows*cols)
	for i := range rows {
		for j := range cols {
			all = append(all, m.At(i, j))
		}
	}
	return tensor.NewDense(all, shape...)
}

// listed is the matrix of what each calls a function with.
func listed(shape []int64, each func(f func(i, j int, v float64))) (*tensor.Tensor, error) {
	coords, values := make([][]int64, 2), []float64{}
	each(func(i, j int, v float64) {
		coords[0], coords[1], values = append(coords[0], int64(i)), append(coords[1], int64(j)), append(values, v)
	})
	return tensor.FromCoords(shape, tensor.CSR, coords, tensor.ArrayOf(values))
}

// FromVector is a vector as a tensor of rank 1, without copying a *mat.VecDense that has no gaps between its elements.
func FromVector(v mat.Vector) (*tensor.Tensor, error) {
	if v == nil {
		return nil, fmt.Errorf("the vector is nil")
	}
	if dense, ok := v.(*mat.VecDense); ok && dense.RawVector().Inc == 1 {
		return tensor.NewDense(dense.RawVector().Data[:v.Len()])
	}
	all := make([]float64, v.Len())
	for i := range all {
		all[i] = v.AtVec(i)
	}
	return tensor.NewDense(all)
}

// Dense is a matrix of real numbers as gonum stores it, with the fill where nothing is stored: without copying if it is dense, in
// row-major order, of type f64. Gonum has no matrices without elements.
func Dense(t *tensor.Tensor) (*mat.Dense, error) {
	if err := fits(t, 2); err != nil {
		return nil, err
	}
	all, err := tensor.Elements[float64](t)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%v has no elements, and gonum no such matrices", t)
	}
	shape := t.Shape()
	return mat.NewDense(int(shape[0]), int(shape[1]), all), nil
}

// VecDense is a vector of real numbers as gonum stores it: see [Dense].
func VecDense(t *tensor.Tensor) (*mat.VecDense, error) {
	if err := fits(t, 1); err != nil {
		return nil, err
	}
	all, err := tensor.Elements[float64](t)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%v has no elements, and gonum no such vectors", t)
	}
	return mat.NewVecDense(len(all), all), nil
}

// fits reports tensors that are no matrices or vectors of real numbers.
func fits(t *tensor.Tensor, rank int) error {
	switch {
	case t == nil:
		return fmt.Errorf("the tensor is nil")
	case t.Rank() != rank:
		return fmt.Errorf("%v has rank %d, and %d is wanted", t, t.Rank(), rank)
	case t.DType().IsComplex():
		return fmt.Errorf("%v is complex: gonum's matrices are real", t)
	}
	return nil
}

// Matrix is a tensor as a mat.Matrix that is read where it is stored. Like gonum's own it panics with one of gonum's errors where an index
// is out of range.
type Matrix struct{ t *tensor.Tensor }

var (
	_ mat.Matrix      = Matrix{}
	_ mat.NonZeroDoer = Matrix{}
)

// NewMatrix returns a matrix of real numbers, in any format, for functions that take a mat.Matrix. [Dense] is faster for those that read
// all elements.
func NewMatrix(t *tensor.Tensor) (Matrix, error) {
	if err := fits(t, 2); err != nil {
		return Matrix{}, err
	}
	plain, err := t.Canonical()
	if err != nil {
		return Matrix{}, err
	}
	return Matrix{plain}, plain.Fetch()
}

// Tensor is what the matrix reads.
func (m Matrix) Tensor() *tensor.Tensor { return m.t }

// Dims is the number of rows and of columns.
func (m Matrix) Dims() (rows, cols int) {
	if m.t == nil {
		return 0, 0
	}
	shape := m.t.Dims()
	return int(shape[0]), int(shape[1])
}

// At is one element.
func (m Matrix) At(i, j int) float64 {
	rows, cols := m.Dims()
	switch {
	case i < 0 || i >= rows:
		panic(mat.ErrRowAccess)
	case j < 0 || j >= cols:
		panic(mat.ErrColAccess)
	}
	return m.t.At(int64(i), int64(j)).Float64()
}

// T is the transpose.
func (m Matrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// DoNonZero calls f for every element that is not 0, in storage order.
func (m Matrix) DoNonZero(f func(i, j int, v float64)) {
	if m.t == nil {
		return
	}
	if !m.t.Fill().IsZero() {
		rows, cols := m.Dims()
		for i := range rows {
			for j := range cols {
				if v := m.At(i, j); v != 0 {
					f(i, j, v)
				}
			}
		}
		return
	}
	for at, v := range tensor.Entries[float64](m.t) {
		if v != 0 {
			f(int(at[0]), int(at[1]), v)
		}
	}
}
