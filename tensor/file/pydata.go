package file

import (
	"archive/zip"
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// readPyData reads an archive of sparse.save_npz of pydata/sparse: a COO array, which has
// coordinates, or a GCXS array, whose axes are compressed in two groups.
func readPyData(in *input, c *npzContainer) (*tensor.Tensor, error) {
	shape, err := shapeOf(c.copying())
	if err != nil {
		return nil, err
	}
	switch {
	case c.has("coords"):
		return readCoordsArray(in, c, shape)
	case c.has("indices", "indptr", "compressed_axes"):
		return readGCXS(in, c, shape)
	}
	return nil, in.errorf(0, "the archive has data, shape and fill_value, but neither coords (a COO array of pydata/sparse) nor indices, indptr and compressed_axes (GCXS)")
}

// readGCXS reads an array stored like a CSR matrix whose rows are the compressed axes,
// taken together in row-major order, and whose columns are the others.
func readGCXS(in *input, c *npzContainer, shape []int64) (*tensor.Tensor, error) {
	compressed, err := loadedInts(c.copying(), "compressed_axes")
	if err != nil {
		return nil, err
	}
	rowAxes, colAxes, err := splitAxes(compressed, len(shape))
	if err != nil {
		return nil, in.errorf(0, "array %q is %v: %v", "compressed_axes", compressed, err)
	}
	if len(shape) == 2 && len(rowAxes) == 1 {
		return readCompressed(in, c, []string{"csr", "csc"}[rowAxes[0]], shape)
	}
	rows, okRows := sizeOf(shape, rowAxes)
	cols, okCols := sizeOf(shape, colAxes)
	if !okRows || !okCols {
		return nil, in.errorf(0, "a GCXS array of shape %v has more than 2^63-1 rows or columns", shape)
	}
	indices, indptr, err := rowArrays(c)
	if err != nil {
		return nil, err
	}
	_, values, err := loaded(c, "data", 1)
	if err != nil {
		return nil, err
	}
	_, fill, err := loaded(c, "fill_value", -1)
	if err != nil {
		return nil, err
	}
	if fill.Len() != 1 || values.Len() != len(indices) {
		return nil, in.errorf(0, "expected one %q and as many %q as %q, but there are %d, %d and %d", "fill_value", "data", "indices", fill.Len(), values.Len(), len(indices))
	}
	rowOf, err := rowsOf(in, indptr, rows, len(indices))
	if err != nil {
		return nil, err
	}
	for i, j := range indices {
		if j < 0 || j >= cols {
			return nil, in.errorf(0, "array %q: element %d is %d, out of range of the %d columns", "indices", i, j, cols)
		}
	}
	coords := make([][]int64, len(shape))
	unravel(coords, shape, rowAxes, rowOf)
	unravel(coords, shape, colAxes, indices)
	return fromCoords(in, shape, coords, values, fill.Scalar(0))
}

// splitAxes returns the compressed axes, in the order given, and the others, ascending.
func splitAxes(compressed []int64, rank int) (in, out []int, err error) {
	isIn := make([]bool, rank)
	for _, axis := range compressed {
		if axis < 0 || axis >= int64(rank) || isIn[axis] {
			return nil, nil, fmt.Errorf("expected distinct axes of 0 to %d", rank-1)
		}
		isIn[axis] = true
		in = append(in, int(axis))
	}
	for axis := range rank {
		if !isIn[axis] {
			out = append(out, axis)
		}
	}
	return in, out, nil
}

// sizeOf is the product of the sizes of axes.
func sizeOf(shape []int64, axes []int) (int64, bool) {
	sizes := make([]int64, len(axes))
	for i, axis := range axes {
		sizes[i] = shape[axis]
	}
	n, ok := product(sizes)
	return n, ok && n < math.MaxInt64
}

// unravel writes the coordinates of axes, of which linear is the place in row-major
// order, and spends it.
func unravel(coords [][]int64, shape []int64, axes []int, linear []int64) {
	for k := len(axes) - 1; k >= 0; k-- {
		size := shape[axes[k]]
		list := make([]int64, len(linear))
		for i, n := range linear {
			list[i], linear[i] = n%size, n/size
		}
		coords[axes[k]] = list
	}
}

// writePyData writes a COO array as sparse.save_npz of pydata/sparse does.
func writePyData(out *output, t *tensor.Tensor) error {
	rank := t.Rank()
	if rank == 0 {
		return fmt.Errorf("a sparse array of pydata/sparse has at least one dimension, but this tensor has none")
	}
	t, err := t.Canonical()
	if err != nil {
		return err
	}
	if t, err = out.cfg.builder.Convert(t, tensor.Coordinates(rank)); err != nil {
		return err
	}
	n := int(t.NNZ())
	coords, err := tensor.MakeArray(tensor.Int64, rank*n)
	if err != nil {
		return err
	}
	all := tensor.View[int64](coords)
	for axis := range rank {
		crd := t.LevelAt(axis).Crd
		for i := range n {
			all[axis*n+i] = crd.At64(i)
		}
	}
	fill, err := tensor.MakeArray(t.DType(), 1)
	if err != nil {
		return err
	}
	fill.SetScalar(0, t.Fill())
	z := newNPZWriter(out, zip.Deflate)
	for _, a := range []struct {
		name  string
		array tensor.Array
		shape []int64
	}{
		{"data", t.Values(), []int64{t.NNZ()}},
		{"shape", tensor.ArrayOf(t.Shape()), []int64{int64(rank)}},
		{"fill_value", fill, nil},
		{"coords", coords, []int64{int64(rank), t.NNZ()}},
	} {
		if err := z.array(a.name, a.array, a.shape); err != nil {
			return err
		}
	}
	return z.Close()
}
