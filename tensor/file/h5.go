package file

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// hdf5Magic begins every HDF5 file, unless a block of the user's comes before it.
const hdf5Magic = "\x89HDF\r\n\x1a\n"

// binsparseAttr is the attribute of a group that holds the descriptor.
const binsparseAttr = "binsparse"

// readHDF5 reads the object of an HDF5 file that the caller names, or the only tensor in it:
// a group that is a binsparse tensor or a sparse matrix of AnnData, or a dataset.
func readHDF5(in *input) (*tensor.Tensor, error) {
	at, size, err := in.random()
	if err != nil {
		return nil, err
	}
	h, obj, err := openHDF5(in, at, size)
	if err != nil {
		return nil, err
	}
	if d, ok := obj.(*hdf5.Dataset); ok {
		if isText(d.Type()) {
			return h.texts(d)
		}
		return h.dense(d)
	}
	kind, err := recogniseGroup(obj)
	if err != nil {
		return nil, err
	}
	if kind == nil {
		return nil, in.errorf(0, "group %s is not a tensor: it has neither the attribute %q nor an encoding-type of csr_matrix or csc_matrix", obj.Path(), binsparseAttr)
	}
	return kind.read(h, obj.(*hdf5.Group))
}

// h5Reader reads from one HDF5 file.
type h5Reader struct {
	in   *input
	file *hdf5.File
}

// openHDF5 opens a file, and the object in it that the caller names.
func openHDF5(in *input, at io.ReaderAt, size int64) (*h5Reader, hdf5.Object, error) {
	f, err := hdf5.Open(at, size)
	if err != nil {
		return nil, nil, err
	}
	h := &h5Reader{in: in, file: f}
	obj, err := h.choose()
	return h, obj, err
}

// h5Kind is a way in which a group is a tensor.
type h5Kind struct {
	attr   string   // the attribute that tells
	values []string // what it says; nil: anything
	read   func(*h5Reader, *hdf5.Group) (*tensor.Tensor, error)

	describe func(h *h5Reader, g *hdf5.Group, entry string) Item
}

// h5Kinds is the table of those ways.
var h5Kinds = [...]h5Kind{
	{binsparseAttr, nil, (*h5Reader).binsparse, describeBinsparse},
	{encodingAttr, []string{"csr_matrix", "csc_matrix"}, (*h5Reader).anndata, describeAnnData},
	{"h5sparse_format", []string{"csr", "csc"}, (*h5Reader).anndata, describeAnnData}, // AnnData before 0.7
	{encodingAttr, []string{categorical}, (*h5Reader).categories, describeCategories},
}

// The attribute by which AnnData tells what an object is, and that of a column of labels.
const (
	encodingAttr = "encoding-type"
	categorical  = "categorical"
)

// isText reports whether elements are strings.
func isText(t hdf5.Type) bool { return t.Class == hdf5.String || t.Class == hdf5.VarString }

// recogniseGroup returns how a group is a tensor, or nil if it is none.
func recogniseGroup(obj hdf5.Object) (*h5Kind, error) {
	for i := range h5Kinds {
		kind := &h5Kinds[i]
		if kind.values == nil {
			_, err := obj.Attr(kind.attr)
			if err == nil {
				return kind, nil
			}
			if !errors.Is(err, hdf5.ErrNotFound) {
				return nil, err
			}
			continue
		}
		text, ok, err := textAttr(obj, kind.attr)
		if err != nil {
			return nil, err
		}
		if ok && slices.Contains(kind.values, text) {
			return kind, nil
		}
	}
	return nil, nil
}

// textAttr reads an attribute of text, if there is one of that name.
func textAttr(obj hdf5.Object, name string) (text string, ok bool, err error) {
	a, err := obj.Attr(name)
	if errors.Is(err, hdf5.ErrNotFound) {
		return "", false, nil
	}
	if err == nil {
		text, err = a.Text()
	}
	if err != nil {
		return "", false, fmt.Errorf("attribute %q of %s: %w", name, obj.Path(), err)
	}
	return text, true, nil
}

// choose finds the object to read: the one that is named, the root, X as AnnData calls its
// main matrix, or the only one that is a tensor.
func (h *h5Reader) choose() (hdf5.Object, error) {
	if entry := h.in.cfg.entry; entry != "" {
		obj, err := h.file.Lookup(entry)
		if errors.Is(err, hdf5.ErrNotFound) {
			return nil, h.missing(entry, err)
		}
		return obj, err
	}
	root := h.file.Root()
	if kind, err := recogniseGroup(root); err != nil || kind != nil {
		return root, err
	}
	s, err := h.search()
	if err != nil {
		return nil, err
	}
	for _, obj := range slices.Concat(s.tensors, s.datasets) {
		if obj.Path() == "/X" {
			return obj, nil
		}
	}
	found := s.tensors
	if len(found) == 0 {
		found = s.datasets
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if s.unread != nil {
			return nil, s.unread
		}
		return nil, h.in.errorf(0, "the file holds no tensor: no group with the attribute %q, no sparse matrix of AnnData, no dataset of numbers", binsparseAttr)
	}
	return nil, h.in.errorf(0, "the file holds %d tensors, so one must be named (%s): %s", len(found), h.in.cfg.spell("Entry"), pathsOf(found))
}

// pathsOf lists some objects.
func pathsOf(found []hdf5.Object) string {
	var names []string
	for _, o := range found {
		names = append(names, strings.TrimPrefix(o.Path(), "/"))
	}
	return someOf(names)
}

// missing says what there is where there is not what was named.
func (h *h5Reader) missing(entry string, err error) error {
	msg := fmt.Sprintf("there is no %s in the file", strings.TrimPrefix(entry, "/"))
	if s, err := h.search(); err == nil {
		if found := slices.Concat(s.tensors, s.datasets); len(found) > 0 {
			msg += "; there is " + pathsOf(found)
		}
	}
	return &FileError{Path: h.in.name, Msg: msg, Err: err}
}

// The bounds of a search.
const (
	maxObjects = 10_000
	maxDepth   = 32
)

// h5Search looks for tensors in a file.
type h5Search struct {
	tensors  []hdf5.Object // groups that are sparse tensors
	datasets []hdf5.Object // datasets of numbers that are in no such group
	unread   error         // why the first object that cannot be read cannot
}

// search looks below the root.
func (h *h5Reader) search() (s h5Search, err error) {
	left := maxObjects
	err = walkHDF5(h.file.Root(), &left, 0, func(_ string, obj hdf5.Object, kind *h5Kind, err error) error {
		d, isDataset := obj.(*hdf5.Dataset)
		switch {
		case err == errManyObjects:
			return fmt.Errorf("the file holds too many objects to look for a tensor in all of them: name one (%s)", h.in.cfg.spell("Entry"))
		case obj == nil && errors.Is(err, hdf5.ErrUnsupported): // a link to elsewhere, or a filter that is not read: an error if it is named, or all there is
			s.unread = cmp.Or(s.unread, err)
		case err != nil:
			return err
		case isDataset && !h5Type(d.Type()).Valid():
		case isDataset, slices.Contains(kind.values, categorical):
			s.datasets = append(s.datasets, obj)
		default:
			s.tensors = append(s.tensors, obj)
		}
		return nil
	})
	return s, err
}

// binsparse reads a group that is a binsparse tensor.
func (h *h5Reader) binsparse(g *hdf5.Group) (*tensor.Tensor, error) {
	text, _, err := textAttr(g, binsparseAttr)
	if err != nil {
		return nil, err
	}
	return readBinsparse(h.in, []byte(text), h5Container{h, g})
}

// anndata reads a group that is a sparse matrix as AnnData keeps it: the arrays of
// SciPy, with format and shape in attributes.
func (h *h5Reader) anndata(g *hdf5.Group) (*tensor.Tensor, error) {
	format, shape, err := h.sparseMatrix(g)
	if err != nil {
		return nil, err
	}
	return readCompressed(h.in, h5Container{h, g}, format, shape)
}

// sparseMatrix reads format and shape of a sparse matrix of AnnData.
func (h *h5Reader) sparseMatrix(g *hdf5.Group) (format string, shape []int64, err error) {
	shapeName := "shape"
	text, ok, err := textAttr(g, encodingAttr)
	if err != nil {
		return "", nil, err
	}
	if format = strings.TrimSuffix(text, "_matrix"); !ok {
		shapeName = "h5sparse_shape"
		if format, _, err = textAttr(g, "h5sparse_format"); err != nil {
			return "", nil, err
		}
	}
	attr, err := g.Attr(shapeName)
	if err != nil {
		return "", nil, err
	}
	if shape, err = attr.Ints(); err != nil {
		return "", nil, err
	}
	if len(shape) != 2 || shape[0] < 0 || shape[1] < 0 {
		return "", nil, h.in.errorf(0, "attribute %q of %s is %v: expected two sizes", shapeName, g.Path(), shape)
	}
	return format, shape, nil
}

// categories reads a column of labels.
func (h *h5Reader) categories(g *hdf5.Group) (*tensor.Tensor, error) {
	return readLabels(h.in, h5Container{h, g}, func() ([]string, bool, error) {
		d, err := g.Dataset("categories")
		if err != nil || !isText(d.Type()) {
			return nil, false, err
		}
		labels, err := d.Strings()
		return labels, true, err
	})
}

// texts reads a dataset of strings, numbered.
func (h *h5Reader) texts(d *hdf5.Dataset) (*tensor.Tensor, error) {
	if len(d.Dims()) != 1 {
		return nil, h.in.errorf(0, "dataset %s holds text: only columns of it, of one dimension, are read, as numbers that stand for labels", d.Path())
	}
	all, err := d.Strings()
	if err != nil {
		return nil, err
	}
	return readTexts(h.in, len(all), func(i int) string { return all[i] })
}

// dense reads a dataset.
func (h *h5Reader) dense(d *hdf5.Dataset) (*tensor.Tensor, error) {
	array, err := h.dataset(d)
	if err != nil {
		return nil, err
	}
	if len(array.Dims) > tensor.MaxRank {
		return nil, h.in.errorf(0, "dataset %s has %d dimensions: at most %d are supported", d.Path(), len(array.Dims), tensor.MaxRank)
	}
	values, err := array.Load()
	if err != nil {
		return nil, err
	}
	t, err := tensor.FromDense(array.Dims, tensor.Dense(len(array.Dims)), values)
	if err != nil {
		return nil, err
	}
	return finish(h.in, t)
}

// h5Container holds the datasets of a group.
type h5Container struct {
	h     *h5Reader
	group *hdf5.Group
}

// Dataset implements binsparse.Container.
func (c h5Container) Dataset(name string) (binsparse.Dataset, bool, error) {
	d, err := c.group.Dataset(name)
	if errors.Is(err, hdf5.ErrNotFound) || name == "" {
		return binsparse.Dataset{}, false, nil
	}
	if err != nil {
		return binsparse.Dataset{}, false, err
	}
	array, err := c.h.dataset(d)
	return array, true, err
}

// dataset describes a dataset of numbers. A null dataset is an empty one.
func (h *h5Reader) dataset(d *hdf5.Dataset) (binsparse.Dataset, error) {
	array := binsparse.Dataset{Type: h5Type(d.Type())}
	if !array.Type.Valid() {
		return array, h.in.errorf(0, "dataset %s: its elements are %v: expected numbers", d.Path(), d.Type())
	}
	if d.IsNull() {
		array.Dims = []int64{0}
	}
	for _, n := range d.Dims() {
		if int64(n) < 0 {
			return array, h.in.errorf(0, "dataset %s has a dimension of more than 2^63-1", d.Path())
		}
		array.Dims = append(array.Dims, int64(n))
	}
	array.Load = func() (tensor.Array, error) { return h.load(d, array.Type) }
	return array, nil
}

// load reads the elements of a dataset, or takes them in place.
func (h *h5Reader) load(d *hdf5.Dataset, dt tensor.DType) (tensor.Array, error) {
	if h.in.mapped != nil {
		offset, _, ok := d.Contiguous()
		if ok {
			return h.in.mapped.array(place{name: d.Path(), offset: offset, n: d.Len(), dtype: dt, swap: h5Swap(d.Type())})
		}
		h.in.mapped.copied(d.Path(), "it is stored in chunks")
	}
	if err := d.Check(); err != nil {
		return tensor.Array{}, err
	}
	if most := h.in.cfg.maxBytes; most > 0 && d.Size() > most {
		return tensor.Array{}, fmt.Errorf("dataset %s: more than the allowed %d bytes", d.Path(), most)
	}
	a, err := h.in.cfg.memory.MakeArray(dt, int(d.Len()))
	if err != nil {
		return a, err
	}
	if err := d.ReadInto(a.Raw()); err != nil {
		return a, err
	}
	if dt == tensor.Bool {
		normaliseBools(a.Raw())
	}
	return a, nil
}

// h5Type is the element type of a dataset; Invalid if its elements are not numbers. An
// enum is its numbers, a bit field an unsigned integer.
func h5Type(t hdf5.Type) tensor.DType {
	if !t.IsBool() && t.Class == hdf5.Enum {
		t = *t.Base
	}
	name := t.String()
	if t.Class == hdf5.Bitfield {
		name = fmt.Sprintf("uint%d", 8*t.Size)
	}
	return typeNamed(name)
}

// typeNamed is the element type that NumPy, HDF5 and Zarr call so; Invalid if there is none.
func typeNamed(name string) tensor.DType {
	for _, known := range h5Types {
		if known.typ.String() == name {
			return known.dtype
		}
	}
	return tensor.Invalid
}

// h5Swap is how many bytes of big-endian elements are reversed together; 0 for
// little-endian ones.
func h5Swap(t hdf5.Type) int {
	switch {
	case t.Class == hdf5.Enum:
		t = *t.Base
	case t.Class == hdf5.Compound: // a complex number
		t = t.Members[0].Type
	}
	if !t.BigEndian {
		return 0
	}
	return t.Size
}

// h5Types is the table of element types.
var h5Types = [...]struct {
	typ   hdf5.Type
	dtype tensor.DType
}{
	{hdf5.Bool, tensor.Bool},
	{hdf5.Int8, tensor.Int8}, {hdf5.Int16, tensor.Int16}, {hdf5.Int32, tensor.Int32}, {hdf5.Int64, tensor.Int64},
	{hdf5.Uint8, tensor.Uint8}, {hdf5.Uint16, tensor.Uint16}, {hdf5.Uint32, tensor.Uint32}, {hdf5.Uint64, tensor.Uint64},
	{hdf5.Float16, tensor.Float16}, {hdf5.Float32, tensor.Float32}, {hdf5.Float64, tensor.Float64},
	{hdf5.Complex64, tensor.Complex64}, {hdf5.Complex128, tensor.Complex128},
}
