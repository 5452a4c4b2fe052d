package file

import (
	"archive/zip"
	"errors"
	"os"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// Item is something in a file that holds several things.
type Item struct {
	Entry  string  // what the option Entry takes
	Holds  string  // "CSR", "array", "categories", "text", …
	Shape  []int64 // nil where that is not known
	DType  tensor.DType
	Stored int64  // entries of a sparse tensor; -1 of anything else
	Note   string // why it cannot be read, or what else there is to know
}

// List tells what is in a file of several: an HDF5 or AnnData file, an .npz archive, a Zarr
// hierarchy, a table of columns. Nothing but descriptions is read. Of a file that holds one
// tensor and no more, and of other kinds, the list is empty.
func List(path string, opts ...Option) ([]Item, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if isDirectory(path) {
		if zarrRoot(path) {
			items, err := listZarr(&input{name: path, cfg: cfg, size: -1, most: -1})
			return items, wrapError(path, err)
		}
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer f.Close() // only read from
	in, err := open(path, f, cfg)
	if err != nil {
		return nil, wrapError(path, err)
	}
	kind, err := in.recognise()
	if err != nil || kind.list == nil {
		return nil, wrapError(path, err)
	}
	items, err := kind.list(in)
	return items, wrapError(path, err)
}

// IsTensor reports whether a directory holds a tensor, by the names in it.
func IsTensor(dir string) bool {
	return isDirectory(dir) && (zarrRoot(dir) || isFile(dir, binsparseFile))
}

// listNPZ lists the arrays of an archive.
func listNPZ(in *input) ([]Item, error) {
	at, size, err := in.random()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, err
	}
	c := newNPZContainer(in, z)
	for _, kind := range sparseArchives {
		if kind.recognise(c) { // one tensor
			return nil, nil
		}
	}
	var items []Item
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok || c.files[name] != f {
			continue
		}
		items = append(items, datasetItem(c, name, name))
	}
	return items, nil
}

// datasetItem describes an array of a container.
func datasetItem(c binsparse.Container, name, entry string) Item {
	item := Item{Entry: entry, Holds: "array", Stored: -1}
	d, _, err := c.Dataset(name)
	if err != nil {
		item.Note = shortError(err)
		return item
	}
	item.Shape, item.DType = d.Dims, d.Type
	return item
}

// shortError is an error without the path that stands before it.
func shortError(err error) string {
	var fe *FileError
	if errors.As(err, &fe) {
		return fe.Msg
	}
	return err.Error()
}

// listHDF5 lists tensors, columns and arrays of an HDF5 file.
func listHDF5(in *input) ([]Item, error) {
	at, size, err := in.random()
	if err != nil {
		return nil, err
	}
	f, err := hdf5.Open(at, size)
	if err != nil {
		return nil, err
	}
	h := &h5Reader{in: in, file: f}
	if kind, err := recogniseGroup(f.Root()); err != nil || kind != nil {
		return nil, err
	}
	l := &h5Lister{h: h, left: maxObjects}
	err = errors.Join(l.walk(f.Root(), 0), l.full())
	return l.items, err
}

// h5Lister gathers what is in a file.
type h5Lister struct {
	h     *h5Reader
	left  int
	items []Item
}

// full says that there was more than is listed.
func (l *h5Lister) full() error {
	if l.left < 0 {
		return errors.New("the file holds too many objects to list them all")
	}
	return nil
}

func (l *h5Lister) walk(g *hdf5.Group, depth int) error {
	names, err := g.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if l.left--; l.left < 0 || depth == maxDepth {
			return nil
		}
		entry := strings.TrimPrefix(g.Path()+"/"+name, "/")
		entry = strings.TrimPrefix(entry, "/")
		obj, err := g.Lookup(name)
		if err != nil {
			l.items = append(l.items, Item{Entry: entry, Stored: -1, Note: shortError(err)})
			continue
		}
		switch obj := obj.(type) {
		case *hdf5.Dataset:
			l.items = append(l.items, l.h.datasetItem(obj, entry))
		case *hdf5.Group:
			kind, err := recogniseGroup(obj)
			switch {
			case err != nil:
				l.items = append(l.items, Item{Entry: entry, Stored: -1, Note: shortError(err)})
			case kind != nil:
				l.items = append(l.items, kind.describe(l.h, obj, entry))
			default:
				if err := l.walk(obj, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// datasetItem describes a dataset.
func (h *h5Reader) datasetItem(d *hdf5.Dataset, entry string) Item {
	item := Item{Entry: entry, Holds: "array", Stored: -1, DType: h5Type(d.Type())}
	for _, n := range d.Dims() {
		item.Shape = append(item.Shape, int64(n))
	}
	if item.Shape == nil {
		item.Holds = "number"
	}
	switch {
	case isText(d.Type()):
		item.Holds = "text"
	case !item.DType.Valid():
		item.Note = "its elements are " + d.Type().String()
	}
	return item
}

// describeBinsparse describes a binsparse tensor.
func describeBinsparse(h *h5Reader, g *hdf5.Group, entry string) Item {
	item := Item{Entry: entry, Holds: "binsparse", Stored: -1}
	text, _, err := textAttr(g, binsparseAttr)
	if err == nil {
		var d *binsparse.Descriptor
		if d, err = binsparse.Parse([]byte(text)); err == nil {
			item.Shape, item.Stored, item.DType = d.Shape, d.Stored, d.DataTypes["values"].Elem
			if f, err := d.Format.Tensor(); err == nil {
				item.Holds = f.String()
			}
		}
	}
	if err != nil {
		item.Note = shortError(err)
	}
	return item
}

// describeAnnData describes a sparse matrix of AnnData.
func describeAnnData(h *h5Reader, g *hdf5.Group, entry string) Item {
	item := datasetItem(h5Container{h, g}, "data", entry)
	if item.Note != "" {
		return item
	}
	item.Stored = binsparse.Dataset{Dims: item.Shape}.Len()
	format, shape, err := h.sparseMatrix(g)
	if err != nil {
		item.Note = shortError(err)
		return item
	}
	item.Holds, item.Shape = strings.ToUpper(format), shape
	return item
}

// describeCategories describes a column of categories.
func describeCategories(h *h5Reader, g *hdf5.Group, entry string) Item {
	item := datasetItem(h5Container{h, g}, "codes", entry)
	item.Holds = "categories"
	return item
}

// someOf are names in a message: the first few.
func someOf(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ", ")
}
