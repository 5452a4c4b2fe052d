package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// zarrRoot reports whether a directory is a group or an array of Zarr, version 2 or 3.
func zarrRoot(dir string) bool {
	return isFile(dir, "zarr.json") || isFile(dir, ".zgroup") || isFile(dir, ".zarray")
}

// zarrNode is a group or an array of a hierarchy of directories.
type zarrNode struct {
	in    *input
	dir   string
	name  string // the path within the hierarchy
	attrs map[string]any
	array *zarrArray // nil: a group
}

// openZarr finds a node; a path that does not exist is fs.ErrNotExist.
func openZarr(in *input, name string) (*zarrNode, error) {
	if name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, in.errorf(0, "%q is not a path within the hierarchy", name)
	}
	n := &zarrNode{in: in, dir: filepath.Join(in.name, filepath.FromSlash(name)), name: name}
	text, err := readSmall(filepath.Join(n.dir, "zarr.json"))
	if err == nil {
		return n, n.parse3(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return n, n.open2()
}

// readSmall reads a file of metadata.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	text, err := io.ReadAll(io.LimitReader(f, longestText+1))
	if err == nil && len(text) > longestText {
		err = fmt.Errorf("%s is longer than %d bytes", filepath.Base(path), longestText)
	}
	return text, err
}

// open2 reads the metadata of version 2.
func (n *zarrNode) open2() error {
	attrs, err := readSmall(filepath.Join(n.dir, ".zattrs"))
	if err == nil {
		err = json.Unmarshal(attrs, &n.attrs)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return n.errorf(".zattrs: %v", err)
	}
	text, err := readSmall(filepath.Join(n.dir, ".zarray"))
	switch {
	case err == nil:
		n.array, err = parseZarr2(text)
		if err != nil {
			return n.errorf("%v", err)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case isFile(n.dir, ".zgroup"):
		return nil
	}
	return fmt.Errorf("there is no group or array %q: %w", n.name, fs.ErrNotExist)
}

// errorf is an error about a node.
func (n *zarrNode) errorf(format string, args ...any) error {
	where := n.name
	if where == "" {
		where = "the root"
	}
	return n.in.errorf(0, "%s: %s", where, fmt.Sprintf(format, args...))
}

// child finds a node below.
func (n *zarrNode) child(name string) (*zarrNode, error) {
	return openZarr(n.in, strings.TrimPrefix(n.name+"/"+name, "/"))
}

// text is an attribute of text, or "".
func (n *zarrNode) text(name string) string {
	s, _ := n.attrs[name].(string)
	return s
}

// Dataset implements binsparse.Container.
func (n *zarrNode) Dataset(name string) (binsparse.Dataset, bool, error) {
	if name == "" {
		return binsparse.Dataset{}, false, nil
	}
	c, err := n.child(name)
	if errors.Is(err, fs.ErrNotExist) {
		return binsparse.Dataset{}, false, nil
	}
	if err != nil {
		return binsparse.Dataset{}, false, err
	}
	d, err := c.dataset()
	return d, true, err
}

// dataset describes an array of numbers.
func (n *zarrNode) dataset() (binsparse.Dataset, error) {
	switch {
	case n.array == nil:
		return binsparse.Dataset{}, n.errorf("it is a group: expected an array")
	case !n.array.dtype.Valid():
		return binsparse.Dataset{}, n.errorf("its elements are text: expected numbers")
	}
	return binsparse.Dataset{Type: n.array.dtype, Dims: n.array.shape, Load: n.load}, nil
}

// readZarr reads a matrix, a column or an array of a hierarchy: the one that the caller names, the root, or X.
func readZarr(in *input) (*tensor.Tensor, error) {
	name := strings.Trim(in.cfg.entry, "/")
	n, err := openZarr(in, name)
	if errors.Is(err, fs.ErrNotExist) && name != "" {
		return nil, missingZarr(in, name, err)
	}
	if err != nil {
		return nil, err
	}
	if name == "" && n.array == nil && n.text(encodingAttr) != "csr_matrix" && n.text(encodingAttr) != "csc_matrix" {
		x, err := n.child("X")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, in.errorf(0, "the hierarchy has no X: name what to read (%s)", in.cfg.spell("Entry"))
		}
		if err != nil {
			return nil, err
		}
		n = x
	}
	return n.tensor()
}

// missingZarr says what there is where there is not what was named.
func missingZarr(in *input, name string, err error) error {
	msg := fmt.Sprintf("there is no %s in the hierarchy", name)
	if items, listErr := listZarr(in); listErr == nil && len(items) > 0 {
		var names []string
		for _, i := range items {
			names = append(names, i.Entry)
		}
		msg += "; there is " + someOf(names)
	}
	return &FileError{Path: in.name, Msg: msg, Err: err}
}

// tensor reads a node.
func (n *zarrNode) tensor() (*tensor.Tensor, error) {
	if n.array != nil && !n.array.dtype.Valid() {
		all, err := n.strings()
		if err != nil {
			return nil, err
		}
		return readTexts(n.in, len(all), func(i int) string { return all[i] })
	}
	if n.array != nil {
		if len(n.array.shape) > tensor.MaxRank {
			return nil, n.errorf("%d dimensions: at most %d are supported", len(n.array.shape), tensor.MaxRank)
		}
		values, err := n.load()
		if err != nil {
			return nil, err
		}
		t, err := tensor.FromDense(n.array.shape, tensor.Dense(len(n.array.shape)), values)
		if err != nil {
			return nil, err
		}
		return finish(n.in, t)
	}
	switch kind := n.text(encodingAttr); kind {
	case "csr_matrix", "csc_matrix":
		shape, err := n.shape()
		if err != nil {
			return nil, err
		}
		return readCompressed(n.in, n, strings.TrimSuffix(kind, "_matrix"), shape)
	case categorical:
		return n.categories()
	default:
		return nil, n.errorf("it is a group that is not a tensor: its %s is %q, expected csr_matrix, csc_matrix or categorical", encodingAttr, kind)
	}
}

// shape is the attribute of that name: two sizes.
func (n *zarrNode) shape() ([]int64, error) {
	list, _ := n.attrs["shape"].([]any)
	var shape []int64
	for _, v := range list {
		if x, ok := v.(float64); ok && x >= 0 && x == math.Trunc(x) && x < 1<<53 {
			shape = append(shape, int64(x))
		}
	}
	if len(shape) != 2 || len(list) != 2 {
		return nil, n.errorf("attribute %q is %v: expected two sizes", "shape", n.attrs["shape"])
	}
	return shape, nil
}

// categories reads a column of labels.
func (n *zarrNode) categories() (*tensor.Tensor, error) {
	return readLabels(n.in, n, func() ([]string, bool, error) {
		c, err := n.child("categories")
		if err != nil || c.array == nil || c.array.dtype.Valid() {
			return nil, false, err
		}
		labels, err := c.strings()
		return labels, true, err
	})
}

// listZarr lists matrices, columns and arrays of a hierarchy.
func listZarr(in *input) ([]Item, error) {
	root, err := openZarr(in, "")
	if err != nil {
		return nil, err
	}
	if root.array != nil || strings.HasSuffix(root.text(encodingAttr), "_matrix") {
		return nil, nil
	}
	var items []Item
	left := maxObjects
	err = root.list(&items, &left, 0)
	return items, err
}

// list appends what is below a group.
func (n *zarrNode) list(items *[]Item, left *int, depth int) error {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !zarrRoot(filepath.Join(n.dir, e.Name())) {
			continue
		}
		if *left--; *left < 0 || depth == maxDepth {
			return errors.New("the hierarchy holds too many objects to list them all")
		}
		c, err := n.child(e.Name())
		if err != nil {
			*items = append(*items, Item{Entry: strings.TrimPrefix(n.name+"/"+e.Name(), "/"), Stored: -1, Note: shortError(err)})
			continue
		}
		if item, ok := c.item(); ok {
			*items = append(*items, item)
		} else if err := c.list(items, left, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// item describes a node; a group of others is none.
func (n *zarrNode) item() (Item, bool) {
	item := Item{Entry: n.name, Holds: "array", Stored: -1}
	if n.array != nil {
		if item.Shape, item.DType = n.array.shape, n.array.dtype; !item.DType.Valid() {
			item.Holds = "text"
		}
		return item, true
	}
	switch kind := n.text(encodingAttr); kind {
	case "csr_matrix", "csc_matrix":
		return matrixItem(n, n.name, func() (string, []int64, error) {
			shape, err := n.shape()
			return strings.TrimSuffix(kind, "_matrix"), shape, err
		}), true
	case categorical:
		return categoriesItem(n, n.name), true
	}
	return item, false
}

// shapeElements is the number of elements of a shape; -1 if that is more than an int64 holds.
func shapeElements(shape []int64) int64 {
	if slices.Contains(shape, 0) {
		return 0
	}
	if n := (binsparse.Dataset{Dims: shape}).Len(); n < math.MaxInt64 {
		return n
	}
	return -1
}
