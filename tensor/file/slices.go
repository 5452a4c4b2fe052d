package file

import (
	"errors"
	"math"
	"os"
	"sort"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// Slices is a matrix by rows or columns in an HDF5 file, such as the X of an AnnData file, of which some rows (or
// columns) are read at a time: the file may be larger than memory.
type Slices struct {
	in      *input
	file    *os.File
	format  string // csr or csc
	shape   []int64
	pos     []int64 // where rows begin
	indices *hdf5.Dataset
	data    *hdf5.Dataset
}

// ErrNoSlices is what OpenSlices says of a file that is not read in slices.
var ErrNoSlices = errors.New("not a matrix by rows or columns in an HDF5 file")

// OpenSlices opens the matrix that [Read] would read whole. Where rows begin is read, and checked, at once. Options other than
// Entry, As and MaxBytes are ignored.
func OpenSlices(path string, opts ...Option) (_ *Slices, err error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() { // to open a pipe takes what is in it
		return nil, ErrNoSlices
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer func() {
		if err != nil {
			f.Close() // only read from
		}
	}()
	in, err := open(path, f, cfg)
	if err != nil {
		return nil, wrapError(path, err)
	}
	kind, err := in.recognise()
	if err != nil || kind.Name != "hdf5" || in.file == nil {
		return nil, ErrNoSlices
	}
	s, err := openSlices(in)
	if err != nil {
		return nil, wrapError(path, err)
	}
	s.file = f
	return s, nil
}

func openSlices(in *input) (*Slices, error) {
	h, obj, err := openHDF5(in, in.file, in.size)
	if err != nil {
		return nil, err
	}
	g, ok := obj.(*hdf5.Group)
	if !ok {
		return nil, ErrNoSlices
	}
	format, shape, err := h.sparseMatrix(g)
	if err != nil || format != "csr" && format != "csc" {
		return nil, ErrNoSlices
	}
	s := &Slices{in: in, format: format, shape: shape}
	if s.indices, err = g.Dataset("indices"); err != nil {
		return nil, err
	}
	if s.data, err = g.Dataset("data"); err != nil {
		return nil, err
	}
	if !h5Type(s.indices.Type()).IsInteger() || !h5Type(s.data.Type()).Valid() || s.indices.Len() != s.data.Len() || len(s.data.Dims()) != 1 || len(s.indices.Dims()) != 1 {
		return nil, in.errorf(0, "%s: indices and data must be as many numbers", g.Path())
	}
	if err := errors.Join(s.indices.Check(), s.data.Check()); err != nil {
		return nil, err
	}
	s.pos, err = loadedInts(h5Container{h, g}, "indptr")
	if err != nil {
		return nil, err
	}
	return s, s.check(g.Path())
}

// check makes sure that rows follow each other in the arrays.
func (s *Slices) check(path string) error {
	n := len(s.pos) - 1
	if int64(n) != s.outer() {
		return s.in.errorf(0, "%s: indptr has %d elements, expected %d", path, n+1, s.outer()+1)
	}
	if s.pos[0] != 0 || s.pos[n] != s.data.Len() {
		return s.in.errorf(0, "%s: indptr runs from %d to %d, expected 0 to %d", path, s.pos[0], s.pos[n], s.data.Len())
	}
	for i := range n {
		if s.pos[i] > s.pos[i+1] {
			return s.in.errorf(0, "%s: indptr falls at row %d", path, i)
		}
	}
	return nil
}

// Axis is the axis along which slices are cut.
func (s *Slices) Axis() int {
	if s.format == "csc" {
		return 1
	}
	return 0
}

func (s *Slices) outer() int64 { return s.shape[s.Axis()] }

// Shape is that of the whole matrix.
func (s *Slices) Shape() []int64 { return append([]int64(nil), s.shape...) }

// Bytes is what the whole matrix takes in memory, about.
func (s *Slices) Bytes() int64 {
	if s.file == nil {
		return 0
	}
	each := int64(h5Type(s.indices.Type()).Size() + h5Type(s.data.Type()).Size())
	if s.data.Len() > math.MaxInt64/2/each {
		return math.MaxInt64
	}
	return s.data.Len()*each + 4*s.outer()
}

// Contiguous reports whether the arrays lie in the file in one piece each, so that [Open] need not read them.
func (s *Slices) Contiguous() bool {
	if s.file == nil {
		return false
	}
	_, _, indices := s.indices.Contiguous()
	_, _, data := s.data.Contiguous()
	return indices && data
}

// Close closes the file.
func (s *Slices) Close() error {
	if s == nil || s.file == nil {
		return errNoSlices
	}
	return s.file.Close()
}

// errNoSlices is the error of slices that nobody has opened.
var errNoSlices = errors.New("the slices are nil or a zero value: open some with file.OpenSlices")

// Next reads the rows (or columns) from first on that have about so many entries together: one at least. It returns the
// first that is left. The error names a first row that there is none of.
func (s *Slices) Next(first, entries int64) (t *tensor.Tensor, next int64, err error) {
	if s == nil || s.file == nil {
		return nil, first, errNoSlices
	}
	if first < 0 || first >= s.outer() {
		return nil, first, s.in.errorf(0, "slice from %d of %d rows or columns", first, s.outer())
	}
	start := s.pos[first]
	count := sort.Search(int(s.outer()-first)-1, func(k int) bool { return s.pos[first+int64(k)+2]-start > entries }) + 1
	next = first + int64(count)
	t, err = s.slice(first, next)
	return t, next, wrapError(s.in.name, err)
}

// slice reads some rows.
func (s *Slices) slice(first, next int64) (*tensor.Tensor, error) {
	start, end := s.pos[first], s.pos[next]
	shape := s.Shape()
	shape[s.Axis()] = next - first
	part := func(d *hdf5.Dataset) binsparse.Dataset {
		return binsparse.Dataset{Type: h5Type(d.Type()), Dims: []int64{end - start},
			Load: func() (tensor.Array, error) { return s.in.readSpan(d, start, end) }}
	}
	pos := make([]int64, next-first+1)
	for i := range pos {
		pos[i] = s.pos[first+int64(i)] - start
	}
	c := arraysInMemory{"indices": part(s.indices), "data": part(s.data), "indptr": {Type: tensor.Int64, Dims: []int64{int64(len(pos))},
		Load: func() (tensor.Array, error) { return tensor.ArrayOf(pos), nil }}}
	return readCompressed(s.in, c, s.format, shape)
}

// arraysInMemory is a container of arrays by name.
type arraysInMemory map[string]binsparse.Dataset

// Dataset implements binsparse.Container.
func (a arraysInMemory) Dataset(name string) (binsparse.Dataset, bool, error) {
	d, ok := a[name]
	return d, ok, nil
}
