package file

import (
	"archive/zip"
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// readSciPy reads an archive of scipy.sparse.save_npz: csr, csc, coo, bsr or dia.
// Indices may come in any order; values at equal places are summed.
func readSciPy(in *input, c *npzContainer) (*tensor.Tensor, error) {
	format, err := c.text("format")
	if err != nil {
		return nil, err
	}
	shape, err := shapeOf(c.copying())
	if err != nil {
		return nil, err
	}
	switch {
	case format == "coo":
		return readSciPyCOO(in, c, shape)
	case (format == "csr" || format == "csc") && len(shape) == 2:
		return readCompressed(in, c, format, shape)
	case format == "csr" && len(shape) == 1:
		return readSciPyVector(in, c, shape)
	case format == "bsr" && len(shape) == 2:
		return readBSR(in, c, shape)
	case format == "dia" && len(shape) == 2:
		return readDIA(in, c, shape)
	}
	return nil, in.errorf(0, "a SciPy matrix of format %.20q and shape %v: expected csr, csc, coo, bsr or dia, and two dimensions", format, shape)
}

// loaded loads an array that has to be there. A count of dimensions of -1 is any.
func loaded(c binsparse.Container, name string, dims int) (binsparse.Dataset, tensor.Array, error) {
	d, ok, err := c.Dataset(name)
	switch {
	case err != nil:
		return d, tensor.Array{}, err
	case !ok:
		return d, tensor.Array{}, fmt.Errorf("array %q is missing", name)
	case dims >= 0 && len(d.Dims) != dims:
		return d, tensor.Array{}, fmt.Errorf("array %q has the shape %v: expected %d dimensions", name, d.Dims, dims)
	}
	a, err := d.Load()
	return d, a, err
}

// loadedInts loads an array of integers, of one dimension, as int64.
func loadedInts(c binsparse.Container, name string) ([]int64, error) {
	d, a, err := loaded(c, name, 1)
	if err != nil {
		return nil, err
	}
	if !d.Type.IsInteger() {
		return nil, fmt.Errorf("array %q holds %v: expected integers", name, d.Type)
	}
	if a.DType() == tensor.Uint64 {
		for i, v := range tensor.View[uint64](a) {
			if v > math.MaxInt64 {
				return nil, fmt.Errorf("array %q: element %d is %d, more than 2^63-1", name, i, v)
			}
		}
	}
	wide, err := a.Convert(tensor.Int64)
	if err != nil {
		return nil, err
	}
	return append([]int64{}, tensor.View[int64](wide)...), nil // not the file's memory
}

// shapeOf reads the array "shape".
func shapeOf(c binsparse.Container) ([]int64, error) {
	shape, err := loadedInts(c, "shape")
	if err != nil {
		return nil, err
	}
	if len(shape) > tensor.MaxRank {
		return nil, fmt.Errorf("a tensor of %d dimensions: at most %d are supported", len(shape), tensor.MaxRank)
	}
	for axis, n := range shape {
		if n < 0 {
			return nil, fmt.Errorf("shape[%d] is %d: sizes are 0 or more", axis, n)
		}
	}
	return shape, nil
}

// renamed is a container whose arrays go by binsparse's names.
type renamed struct {
	binsparse.Container
	names map[string]string // by binsparse's
}

// Dataset implements binsparse.Container.
func (r renamed) Dataset(name string) (binsparse.Dataset, bool, error) {
	return r.Container.Dataset(r.names[name])
}

// compressedNames are the names of the arrays of a compressed matrix in SciPy, AnnData
// and pydata/sparse.
var compressedNames = map[string]string{"pointers_to_1": "indptr", "indices_1": "indices", "values": "data", "fill_value": "fill_value"}

// readCompressed reads a matrix by rows (csr) or columns (csc), whose indices may be
// unsorted and repeat.
func readCompressed(in *input, c binsparse.Container, format string, shape []int64) (*tensor.Tensor, error) {
	order := []int{0, 1}
	if format == "csc" {
		order = []int{1, 0}
	}
	d := &binsparse.Descriptor{Shape: shape, DataTypes: map[string]binsparse.DataType{}, Format: binsparse.Format{
		Levels: []binsparse.Level{
			{Kind: binsparse.DenseLevel, Rank: 1},
			{Kind: binsparse.SparseLevel, Rank: 1, Unsorted: true, Duplicates: true},
		},
		Order: order,
	}}
	return readLoose(in, d, renamed{c, compressedNames})
}

// readLoose completes a descriptor by what the arrays say of themselves, and reads it.
func readLoose(in *input, d *binsparse.Descriptor, c renamed) (*tensor.Tensor, error) {
	for _, name := range []string{"values", "fill_value"} {
		data, ok, err := c.Dataset(name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		d.DataTypes[name] = binsparse.DataType{Elem: data.Type}
		if name == "values" {
			d.Stored = data.Len()
		} else {
			d.Fill = true
		}
	}
	return readDescribed(in, d, c)
}

// readSciPyVector reads a vector that is stored as the only row of a csr array.
func readSciPyVector(in *input, c *npzContainer, shape []int64) (*tensor.Tensor, error) {
	d := &binsparse.Descriptor{Shape: shape, DataTypes: map[string]binsparse.DataType{}, Format: binsparse.Format{
		Levels: []binsparse.Level{{Kind: binsparse.SparseLevel, Rank: 1, Unsorted: true, Duplicates: true}}, Order: []int{0},
	}}
	return readLoose(in, d, renamed{c, map[string]string{"indices_0": "indices", "values": "data"}})
}

// readSciPyCOO reads coordinates: row and col, or coords with a row for each axis.
func readSciPyCOO(in *input, c *npzContainer, shape []int64) (*tensor.Tensor, error) {
	if c.has("coords") {
		return readCoordsArray(in, c, shape)
	}
	d := &binsparse.Descriptor{Shape: shape, DataTypes: map[string]binsparse.DataType{}, Format: binsparse.Format{
		Levels: []binsparse.Level{{Kind: binsparse.SparseLevel, Rank: 2, Unsorted: true, Duplicates: true}}, Order: []int{0, 1},
	}}
	if len(shape) != 2 {
		return nil, in.errorf(0, "coordinates %q and %q, but the shape is %v: expected two dimensions", "row", "col", shape)
	}
	return readLoose(in, d, renamed{c, map[string]string{"indices_0": "row", "indices_1": "col", "values": "data"}})
}

// readCoordsArray reads the array "coords", which has a row of coordinates for each axis.
func readCoordsArray(in *input, c *npzContainer, shape []int64) (*tensor.Tensor, error) {
	rank := len(shape)
	if rank == 0 {
		return nil, in.errorf(0, "a sparse array of rank 0: expected at least one dimension")
	}
	d := &binsparse.Descriptor{Shape: shape, DataTypes: map[string]binsparse.DataType{}, Format: binsparse.FormatOf(tensor.Coordinates(rank))}
	level := &d.Format.Levels[0]
	level.Contiguous, level.Unsorted, level.Duplicates = true, true, true
	return readLoose(in, d, renamed{c, map[string]string{
		fmt.Sprintf("indices_from0_to%d", rank-1): "coords", "values": "data", "fill_value": "fill_value",
	}})
}

// readBSR reads a matrix of dense blocks, every element of which is stored.
func readBSR(in *input, c *npzContainer, shape []int64) (*tensor.Tensor, error) {
	d, data, err := loaded(c, "data", 3)
	if err != nil {
		return nil, err
	}
	indices, indptr, err := rowArrays(c)
	if err != nil {
		return nil, err
	}
	height, width := d.Dims[1], d.Dims[2]
	if height == 0 || width == 0 || shape[0]%height != 0 || shape[1]%width != 0 {
		return nil, in.errorf(0, "blocks of %dx%d do not divide a matrix of %dx%d", height, width, shape[0], shape[1])
	}
	if d.Dims[0] != int64(len(indices)) {
		return nil, in.errorf(0, "array %q has %d blocks, but %q has %d elements", "data", d.Dims[0], "indices", len(indices))
	}
	rowOf, err := rowsOf(in, indptr, shape[0]/height, len(indices))
	if err != nil {
		return nil, err
	}
	rows, cols := make([]int64, 0, data.Len()), make([]int64, 0, data.Len())
	for b, j := range indices {
		if j < 0 || j >= shape[1]/width {
			return nil, in.errorf(0, "array %q: element %d is %d, out of range of the %d columns of blocks", "indices", b, j, shape[1]/width)
		}
		for r := range height {
			for q := range width {
				rows, cols = append(rows, rowOf[b]*height+r), append(cols, j*width+q)
			}
		}
	}
	return fromCoords(in, shape, [][]int64{rows, cols}, data, tensor.Zero(data.DType()))
}

// rowArrays are the columns of entries, row by row, and where rows begin.
func rowArrays(c *npzContainer) (indices, indptr []int64, err error) {
	if indices, err = loadedInts(c, "indices"); err == nil {
		indptr, err = loadedInts(c, "indptr")
	}
	return indices, indptr, err
}

// rowsOf returns the row of each of n entries that indptr divides among rows.
func rowsOf(in *input, indptr []int64, rows int64, n int) ([]int64, error) {
	if int64(len(indptr))-1 != rows {
		return nil, in.errorf(0, "array %q has %d elements: expected one more than the %d rows", "indptr", len(indptr), rows)
	}
	if indptr[0] != 0 || indptr[len(indptr)-1] != int64(n) || !slices.IsSorted(indptr) {
		return nil, in.errorf(0, "array %q must begin with 0, never fall, and end with %d, the length of %q", "indptr", n, "indices")
	}
	list := make([]int64, n)
	for row := range indptr[1:] {
		for p := indptr[row]; p < indptr[row+1]; p++ {
			list[p] = int64(row)
		}
	}
	return list, nil
}

// readDIA reads a matrix by diagonals: data[k,j] is the element (j-offsets[k], j). Zeros
// in it are padding and are not stored, as in SciPy.
func readDIA(in *input, c *npzContainer, shape []int64) (*tensor.Tensor, error) {
	d, data, err := loaded(c, "data", 2)
	if err != nil {
		return nil, err
	}
	offsets, err := loadedInts(c, "offsets")
	if err != nil {
		return nil, err
	}
	if d.Dims[0] != int64(len(offsets)) {
		return nil, in.errorf(0, "array %q has %d diagonals, but %q has %d elements", "data", d.Dims[0], "offsets", len(offsets))
	}
	var rows, cols []int64
	var kept []int
	for k, offset := range offsets {
		for j := range min(d.Dims[1], shape[1]) {
			// offset may be any number, but j-offset does not wrap round into the matrix.
			if i := j - offset; i >= 0 && i < shape[0] && offset > math.MinInt64/2 {
				if at := int(int64(k)*d.Dims[1] + j); !data.Scalar(at).IsZero() {
					rows, cols, kept = append(rows, i), append(cols, j), append(kept, at)
				}
			}
		}
	}
	values, err := tensor.MakeArray(data.DType(), len(kept))
	if err != nil {
		return nil, err
	}
	for i, at := range kept {
		values.SetScalar(i, data.Scalar(at))
	}
	return fromCoords(in, shape, [][]int64{rows, cols}, values, tensor.Zero(values.DType()))
}

// fromCoords makes a tensor of coordinates, in the format that the caller asks for.
func fromCoords(in *input, shape []int64, coords [][]int64, values tensor.Array, fill tensor.Scalar) (*tensor.Tensor, error) {
	columns := make([]tensor.Array, len(coords))
	for axis, list := range coords {
		columns[axis] = tensor.ArrayOf(list)
	}
	t, err := in.cfg.builder.FromColumns(shape, tensor.Coordinates(len(shape)), columns, values, tensor.WithFill(fill))
	if err != nil {
		return nil, err
	}
	return finish(in, t)
}

// writeSciPy writes a matrix as scipy.sparse.save_npz does: by rows, columns or
// coordinates, as it is stored.
func writeSciPy(out *output, t *tensor.Tensor) error {
	if t.Rank() != 2 {
		return fmt.Errorf("a SciPy matrix has two dimensions, but this tensor has %d", t.Rank())
	}
	if err := zeroFill(t, "a SciPy matrix"); err != nil {
		return err
	}
	t, err := t.Canonical()
	if err != nil {
		return err
	}
	format := t.Format()
	if format != tensor.CSR && format != tensor.CSC && format != tensor.COO {
		format = tensor.COO
		if t, err = out.cfg.builder.Convert(t, format); err != nil {
			return err
		}
	}
	z := newNPZWriter(out, zip.Deflate)
	name := "coo"
	if format == tensor.COO {
		err = z.indexArrays(t, []string{"row", "col"}, []tensor.Array{t.LevelAt(0).Crd, t.LevelAt(1).Crd})
	} else {
		if name = "csr"; format == tensor.CSC {
			name = "csc"
		}
		err = z.indexArrays(t, []string{"indptr", "indices"}, []tensor.Array{t.LevelAt(1).Pos, t.LevelAt(1).Crd})
	}
	if err != nil {
		return err
	}
	if err := z.bytes("format", name); err != nil {
		return err
	}
	if err := z.array("shape", tensor.ArrayOf(t.Shape()), []int64{2}); err != nil {
		return err
	}
	if err := z.array("data", t.Values(), []int64{t.NNZ()}); err != nil {
		return err
	}
	return z.Close()
}

// zeroFill reports a tensor whose gaps are not zero.
func zeroFill(t *tensor.Tensor, what string) error {
	if !t.Fill().IsZero() {
		return fmt.Errorf("what %s leaves out is 0, but what this tensor leaves out is %v", what, t.Fill())
	}
	return nil
}

// indexArrays writes index arrays in one signed type, as SciPy wants them: int32 where
// sizes and counts allow, else int64.
func (z *npzWriter) indexArrays(t *tensor.Tensor, names []string, arrays []tensor.Array) error {
	dt := indexType(t)
	for i, name := range names {
		a, err := arrays[i].Convert(dt)
		if err != nil {
			return err
		}
		if err := z.array(name, a, []int64{int64(a.Len())}); err != nil {
			return err
		}
	}
	return nil
}

// indexType is the signed type that holds sizes and counts of a tensor: int32 where it does.
func indexType(t *tensor.Tensor) tensor.DType {
	for _, n := range append(t.Shape(), t.NNZ()) {
		if n > math.MaxInt32 {
			return tensor.Int64
		}
	}
	return tensor.Int32
}
