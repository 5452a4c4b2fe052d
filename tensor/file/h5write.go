package file

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// writeBinsparseHDF5 writes a binsparse tensor: a group, the root unless the caller names one,
// with an attribute for the descriptor and a dataset for each array, in one piece so that it
// can be used in place.
func writeBinsparseHDF5(out *output, t *tensor.Tensor) error {
	text, arrays, err := encodeBinsparse(out.cfg, t)
	if err != nil {
		return err
	}
	path := strings.Trim(out.cfg.entry, "/")
	return writeHDF5(out, func(w *hdf5.Writer) error {
		if path != "" {
			if err := w.Group(path); err != nil {
				return err
			}
		}
		for _, a := range arrays {
			if err := writeArray(w, path+"/"+a.Name, []int64{int64(a.Data.Len())}, a.Data); err != nil {
				return err
			}
		}
		return w.Attr(path, binsparseAttr, string(text))
	})
}

// writeHDF5 writes a file that fill fills. Sizes stand at its beginning: a stream is written last.
func writeHDF5(out *output, fill func(*hdf5.Writer) error) error {
	var b hdf5.Buffer
	at := out.at
	if at == nil {
		at = &b
	}
	w := hdf5.Create(at)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil || out.at != nil {
		return err
	}
	_, err := out.w.Write(b.Bytes())
	return err
}

// writeArray writes a dataset in one piece.
func writeArray(w *hdf5.Writer, path string, shape []int64, a tensor.Array) error {
	dims := make([]uint64, len(shape))
	for i, n := range shape {
		dims[i] = uint64(n)
	}
	typ, ok := h5TypeOf(a.DType())
	if !ok {
		return fmt.Errorf("%s: elements of type %v cannot be written to HDF5", path, a.DType())
	}
	return w.Dataset(path, typ, dims, a.Raw(), hdf5.Options{})
}

// h5TypeOf is how elements of a type are stored; ok is false where HDF5 has none.
func h5TypeOf(dt tensor.DType) (t hdf5.Type, ok bool) {
	for _, known := range h5Types {
		if known.dtype == dt {
			return known.typ, true
		}
	}
	return t, false
}
