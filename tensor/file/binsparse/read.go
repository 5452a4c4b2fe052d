package binsparse

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Container holds the arrays of a tensor.
type Container interface {
	// Dataset describes the array of that name; ok is false if there is none.
	// Nothing is loaded before [Dataset.Load] is called.
	Dataset(name string) (d Dataset, ok bool, err error)
}

// Dataset is an array in a container.
type Dataset struct {
	Type tensor.DType // Bool for a boolean type of the container's own
	Dims []int64
	// Load returns the elements, the last index fastest. They may be memory of
	// the container, such as a mapped file, and are not written to.
	Load func() (tensor.Array, error)
}

// Len is the number of elements; math.MaxInt64 if it is larger.
func (d Dataset) Len() int64 {
	n := int64(1)
	for _, dim := range d.Dims {
		if dim == 0 {
			return 0
		}
		if n > math.MaxInt64/dim {
			n = math.MaxInt64
			continue
		}
		n *= dim
	}
	return n
}

// Builder makes tensors from coordinates, as tensor.FromColumns does.
type Builder func(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error)

// Read makes the tensor that d describes of the arrays in c, in the format and
// with the structure that d says: of a symmetric matrix it holds one triangle (see
// [tensor.Tensor.Expand]). Levels that are not sorted are sorted by build (nil:
// tensor.FromColumns). The error is an [*Error] if the descriptor or the arrays are wrong, else that
// of the container.
func Read(d *Descriptor, c Container, build Builder) (*tensor.Tensor, error) {
	if build == nil {
		build = tensor.FromColumns
	}
	r := &reader{Descriptor: d, container: c, build: build}
	t, err := r.read()
	if err != nil {
		return nil, err
	}
	if t, err = t.WithStructure(d.Structure); err != nil {
		return nil, tensorError(err)
	}
	return t, nil
}

// reader reads one tensor.
type reader struct {
	*Descriptor
	container Container
	build     Builder
	stored    int64 // indices that were loaded, of all dimensions together
}

// levelArrays are the arrays of a level.
type levelArrays struct {
	Level
	dim       int            // the first dimension it covers
	pos       tensor.Array   // of a sparse level that is not the root
	crd       []tensor.Array // of a sparse level: of each of its dimensions
	parents   int64          // positions of the level before
	positions int64          // of the level itself
}

func (r *reader) read() (*tensor.Tensor, error) {
	format, err := r.Format.Tensor()
	if err != nil {
		return nil, err
	}
	if err := r.checkShape(); err != nil {
		return nil, err
	}
	levels, positions, err := r.levels()
	if err != nil {
		return nil, err
	}
	if positions != r.Stored {
		return nil, errorf("number_of_stored_values is %d, but the arrays hold %d positions", r.Stored, positions)
	}
	values, fill, err := r.values(positions)
	if err != nil {
		return nil, err
	}
	physical := make([]tensor.Level, format.Rank())
	unsorted, duplicates := false, false
	for _, l := range levels {
		for k, crd := range l.crd {
			physical[l.dim+k].Crd = crd
		}
		if l.Kind == SparseLevel {
			physical[l.dim].Pos = l.pos
		}
		unsorted = unsorted || l.Unsorted
		duplicates = duplicates || l.Duplicates
	}
	t, err := tensor.New(r.Shape, format, physical, values, tensor.WithFill(fill))
	switch {
	case err == nil:
		return t, nil
	case !unsorted && !duplicates:
		return nil, tensorError(err)
	}
	// Whatever else is wrong with the arrays, coordinates will find.
	coords, err := r.coordinates(levels)
	if err != nil {
		return nil, err
	}
	t, err = r.build(r.Shape, format, coords, values, tensor.WithFill(fill))
	if err != nil {
		return nil, tensorError(err)
	}
	if !duplicates && t.NNZ() != positions {
		return nil, errorf("coordinates repeat: %d values are stored at %d places", positions, t.NNZ())
	}
	return t, nil
}

// checkShape reports a shape that is not one for the format.
func (d *Descriptor) checkShape() error {
	if len(d.Shape) != d.Format.Rank() {
		return errorf("shape has %d dimensions, but the format is for %d", len(d.Shape), d.Format.Rank())
	}
	for axis, n := range d.Shape {
		if n < 0 {
			return errorf("shape[%d] is %d: it is negative", axis, n)
		}
	}
	return nil
}

// levels loads the arrays of all levels, and checks their lengths.
func (r *reader) levels() (levels []levelArrays, positions int64, err error) {
	dim, positions := 0, int64(1)
	for i, level := range r.Format.Levels {
		l := levelArrays{Level: level, dim: dim, parents: positions}
		if level.Kind == DenseLevel {
			l.positions, err = r.densePositions(l, r.Format.Levels[i+1:])
		} else {
			err = r.sparseLevel(&l)
		}
		if err != nil {
			return nil, 0, err
		}
		levels = append(levels, l)
		dim, positions = dim+level.Rank, l.positions
	}
	return levels, positions, nil
}

// size is the extent of a stored dimension.
func (r *reader) size(dim int) int64 { return r.Shape[r.Format.Order[dim]] }

// densePositions counts the positions of a dense level. They are none if that
// level, or a dense one that follows it, has a dimension of size 0.
func (r *reader) densePositions(l levelArrays, following []Level) (int64, error) {
	n, run := l.parents, l.Rank
	for _, next := range following {
		if next.Kind != DenseLevel {
			break
		}
		run += next.Rank
	}
	for dim := l.dim; dim < l.dim+run; dim++ {
		if r.size(dim) == 0 {
			return 0, nil
		}
	}
	for dim := l.dim; dim < l.dim+l.Rank; dim++ {
		size := r.size(dim)
		if n != 0 && size > math.MaxInt64/n {
			return 0, errorf("the dense levels up to dimension %d of shape %v have more than 2^63-1 positions", dim, r.Shape)
		}
		n *= size
	}
	return n, nil
}

// sparseLevel loads the arrays of a sparse level.
func (r *reader) sparseLevel(l *levelArrays) error {
	if l.dim > 0 {
		want := l.parents + 1
		if l.parents == math.MaxInt64 {
			return errorf("level %d has too many positions", l.dim)
		}
		pos, err := r.index(pointersTo(l.dim), want)
		if err != nil {
			return err
		}
		l.pos = pos
	}
	var err error
	if l.Contiguous {
		err = r.contiguous(l)
	} else {
		err = r.separate(l)
	}
	if err != nil {
		return err
	}
	r.stored += l.positions * int64(l.Rank)
	return nil
}

// separate loads the indices of a sparse level from one array for each
// dimension. The first one's length holds for the others.
func (r *reader) separate(l *levelArrays) error {
	n := int64(-1)
	for k := range l.Rank {
		crd, err := r.index(indices(l.dim+k), n)
		if err != nil {
			return err
		}
		n = int64(crd.Len())
		l.crd = append(l.crd, crd)
	}
	l.positions = n
	return nil
}

// contiguous loads the indices of a sparse level from one array with a row for
// each dimension, which may be written flat.
func (r *reader) contiguous(l *levelArrays) error {
	name := contiguousIndices(l.dim, l.Rank)
	d, ok, err := r.container.Dataset(name)
	if err != nil {
		return err
	}
	if ok && len(d.Dims) == 2 && d.Dims[0] != int64(l.Rank) {
		return datasetErrorf(name, "it has %d rows: expected %d, one for each dimension of the level", d.Dims[0], l.Rank)
	}
	all, err := r.index(name, -1)
	if err != nil {
		return err
	}
	if all.Len()%l.Rank != 0 {
		return datasetErrorf(name, "it has %d elements: expected a multiple of %d, the rank of the level", all.Len(), l.Rank)
	}
	n := all.Len() / l.Rank
	for k := range l.Rank {
		l.crd = append(l.crd, all.Slice(k*n, (k+1)*n))
	}
	l.positions = int64(n)
	return nil
}

// index loads an array of indices or pointers that count from 0, of want
// elements (-1: any number).
func (r *reader) index(name string, want int64) (tensor.Array, error) {
	d, ok, err := r.container.Dataset(name)
	if err != nil {
		return tensor.Array{}, err
	}
	if !ok {
		if want <= 0 && r.Stored == 0 {
			// Some writers leave empty arrays out.
			return tensor.MakeArray(tensor.Uint64, 0)
		}
		return tensor.Array{}, datasetErrorf(name, "it is missing")
	}
	if !d.Type.IsInteger() {
		return tensor.Array{}, datasetErrorf(name, "its elements are %v: expected an integer type", d.Type)
	}
	if declared, ok := r.DataTypes[name]; ok && (declared.Iso || !declared.Elem.IsInteger()) {
		return tensor.Array{}, datasetErrorf(name, "data_types says %s: expected an integer type", declared)
	}
	if len(d.Dims) != 1 && !strings.HasPrefix(name, contiguousPrefix) {
		return tensor.Array{}, datasetErrorf(name, "it has %d dimensions: expected one", len(d.Dims))
	}
	if n := d.Len(); want >= 0 && n != want {
		return tensor.Array{}, datasetErrorf(name, "it has %d elements: expected %d", n, want)
	}
	a, err := d.Load()
	if err != nil || r.IndexBase == 0 {
		return a, err
	}
	return rebase(name, a)
}

// rebase subtracts 1 from every element.
func rebase(name string, a tensor.Array) (tensor.Array, error) {
	out, err := tensor.MakeArray(tensor.Uint64, a.Len())
	if err != nil {
		return out, err
	}
	to := tensor.View[uint64](out)
	for i := range to {
		v := a.Scalar(i)
		if v.Int64() <= 0 { // or beyond 2^63-1
			return out, datasetErrorf(name, "element %d is %v: expected 1 or more, as index_base is 1", i, v)
		}
		to[i] = v.Uint64() - 1
	}
	return out, nil
}

// values loads the values and the fill.
func (r *reader) values(positions int64) (tensor.Array, tensor.Scalar, error) {
	values, err := r.elements(valuesName, positions)
	if err != nil {
		return values, tensor.Scalar{}, err
	}
	if !r.Fill {
		return values, tensor.Zero(values.DType()), nil
	}
	one, err := r.elements(fillName, 1)
	if err != nil {
		return values, tensor.Scalar{}, err
	}
	fill := one.Scalar(0)
	dt := values.DType()
	if fill.Convert(dt).Convert(fill.DType()).Same(fill) {
		return values, fill.Convert(dt), nil
	}
	// A fill of another type that the values' cannot hold: both are widened as
	// NumPy would.
	dt = tensor.Promote(dt, fill.DType())
	values, err = values.Convert(dt)
	return values, fill.Convert(dt), err
}

// isoFree is how many values an iso array may stand for whatever the indices.
const isoFree = 1 << 20

// elements loads an array of want values of the type that the descriptor
// declares.
func (r *reader) elements(name string, want int64) (tensor.Array, error) {
	d, ok, err := r.container.Dataset(name)
	if err != nil {
		return tensor.Array{}, err
	}
	declared, typed := r.DataTypes[name]
	if !typed {
		return tensor.Array{}, datasetErrorf(name, "data_types has no entry for it")
	}
	if !ok {
		if want == 0 {
			return tensor.MakeArray(declared.Elem, 0)
		}
		return tensor.Array{}, datasetErrorf(name, "it is missing")
	}
	n := want
	if declared.Iso {
		n = 1
		if want == 0 && d.Len() == 0 {
			n = 0
		}
		// A file of a few bytes must not fill the memory.
		if most := max(isoFree, 64*r.stored); want > most {
			return tensor.Array{}, datasetErrorf(name, "one value (iso) stands for %d, but the arrays store no more than %d indices: the file is too small to be so large a tensor", want, r.stored)
		}
	}
	per := int64(1) // stored numbers for each element
	if declared.Elem.IsComplex() && !d.Type.IsComplex() {
		per = 2
	}
	if n > math.MaxInt64/per || d.Len() != n*per {
		return tensor.Array{}, datasetErrorf(name, "it has %d elements of type %v: expected %s of %s", d.Len(), d.Type, numbers(n, per), declared)
	}
	if !storedAs(declared.Elem, d.Type) {
		return tensor.Array{}, datasetErrorf(name, "its elements are %v, but data_types says %s", d.Type, declared)
	}
	a, err := d.Load()
	if err != nil {
		return a, err
	}
	if a, err = reinterpret(a, declared.Elem, int(n)); err != nil {
		return a, err
	}
	if !declared.Iso {
		return a, nil
	}
	return repeat(a, int(want))
}

// numbers says in words how many numbers an array has.
func numbers(n, per int64) string {
	if per == 2 {
		return fmt.Sprintf("%d (real and imaginary parts)", 2*n)
	}
	return fmt.Sprint(n)
}

// storedAs reports whether values declared as elem may be stored as dt. Bools
// are uint8 by the specification; int8 and booleans of the container occur.
func storedAs(elem, dt tensor.DType) bool {
	switch {
	case elem == dt:
		return true
	case elem == tensor.Bool:
		return dt == tensor.Uint8 || dt == tensor.Int8
	case elem.IsComplex():
		return dt == elem.Real()
	}
	return false
}

// reinterpret returns the stored array as n elements of the declared type.
func reinterpret(a tensor.Array, elem tensor.DType, n int) (tensor.Array, error) {
	if a.DType() == elem {
		return a, nil
	}
	if elem.IsComplex() { // pairs of floats, side by side
		return tensor.ArrayAt(elem, a.Pointer(), n), nil
	}
	// Bools: every byte but 0 is true; ours are 0 and 1.
	raw := a.Raw()
	clean := true
	for _, b := range raw {
		clean = clean && b <= 1
	}
	if clean {
		return tensor.ArrayAt(elem, unsafe.Pointer(unsafe.SliceData(raw)), n), nil
	}
	out, err := tensor.MakeArray(elem, n)
	if err != nil {
		return out, err
	}
	for i, b := range raw {
		out.Raw()[i] = min(b, 1)
	}
	return out, nil
}

// repeat returns n copies of the only element of a, which has none if n is 0.
func repeat(a tensor.Array, n int) (tensor.Array, error) {
	out, err := tensor.MakeArray(a.DType(), n)
	if err != nil || n == 0 {
		return out, err
	}
	raw := out.Raw()
	for done := copy(raw, a.Raw()); done < len(raw); done *= 2 {
		copy(raw[done:], raw[:done])
	}
	return out, nil
}
