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
	var items []Item
	many := false
	left := maxObjects
	err = walkHDF5(f.Root(), &left, 0, func(entry string, obj hdf5.Object, kind *h5Kind, err error) error {
		d, isDataset := obj.(*hdf5.Dataset)
		switch {
		case err == errManyObjects:
			many = many || left < 0
		case err != nil:
			items = append(items, Item{Entry: entry, Stored: -1, Note: shortError(err)})
		case isDataset:
			items = append(items, h.datasetItem(d, entry))
		default:
			items = append(items, kind.describe(h, obj.(*hdf5.Group), entry))
		}
		return nil
	})
	if many && err == nil {
		err = errors.New("the file holds too many objects to list them all")
	}
	return items, err
}

// errManyObjects says that objects are too many, or within each other too often, to go on with: a group may be linked from within itself.
var errManyObjects = errors.New("the file holds too many objects")

// walkHDF5 visits what is below a group and is no group of others: datasets, groups that are tensors of a kind, and what cannot be looked at, with
// the error. So many are left to visit.
func walkHDF5(g *hdf5.Group, left *int, depth int, visit func(entry string, obj hdf5.Object, kind *h5Kind, err error) error) error {
	names, err := g.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		var obj hdf5.Object
		var kind *h5Kind
		err := errManyObjects
		if *left--; *left >= 0 && depth < maxDepth {
			obj, err = g.Lookup(name)
		}
		group, isGroup := obj.(*hdf5.Group)
		if isGroup && err == nil {
			if kind, err = recogniseGroup(obj); kind == nil && err == nil {
				if err := walkHDF5(group, left, depth+1, visit); err != nil {
					return err
				}
				continue
			}
		}
		if err := visit(strings.TrimLeft(g.Path()+"/"+name, "/"), obj, kind, err); err != nil {
			return err
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
	return matrixItem(h5Container{h, g}, entry, func() (string, []int64, error) { return h.sparseMatrix(g) })
}

// matrixItem describes a sparse matrix as AnnData keeps it, whose format and shape about tells.
func matrixItem(c binsparse.Container, entry string, about func() (format string, shape []int64, err error)) Item {
	item := datasetItem(c, "data", entry)
	if item.Note != "" {
		return item
	}
	item.Stored = binsparse.Dataset{Dims: item.Shape}.Len()
	format, shape, err := about()
	if err != nil {
		item.Note = shortError(err)
		return item
	}
	item.Holds, item.Shape = strings.ToUpper(format), shape
	return item
}

// describeCategories describes a column of categories.
func describeCategories(h *h5Reader, g *hdf5.Group, entry string) Item {
	return categoriesItem(h5Container{h, g}, entry)
}

func categoriesItem(c binsparse.Container, entry string) Item {
	item := datasetItem(c, "codes", entry)
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
