package file

import (
	"io"
	"os"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// adopted makes a binsparse file of a file that has the arrays already.
type adopted struct {
	cfg    *config
	text   []byte
	arrays []binsparse.Array
	at     []int64 // where they begin; nil: they are written after all
	end    int64
}

// adopt is the file of a tensor's arrays, nil if there are none to be had; writing the tensor tells why.
func adopt(cfg *config, t *tensor.Tensor) *adopted {
	text, arrays, err := encodeBinsparse(cfg, t)
	if err != nil {
		return nil
	}
	return &adopted{cfg: cfg, text: text, arrays: arrays}
}

// create gives the file that has the arrays a name, or makes one to write them to.
func (a *adopted) create(path string) (*os.File, error) {
	raw := make([][]byte, len(a.arrays))
	for k, x := range a.arrays {
		raw[k] = x.Data.Raw()
	}
	at, end, err := a.cfg.held.Adopt(path, raw)
	if err != nil {
		return createNew(path)
	}
	a.at, a.end = at, end
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		os.Remove(path)
	}
	return f, err
}

// emit writes what is not there.
func (a *adopted) emit(f io.Writer) error {
	w := hdf5.Create(f.(newFile))
	w.After(a.end)
	group := strings.Trim(a.cfg.entry, "/")
	if group != "" {
		if err := w.Group(group); err != nil {
			return err
		}
	}
	for k, x := range a.arrays {
		name, shape := group+"/"+x.Name, []int64{int64(x.Data.Len())}
		if a.at == nil || a.at[k] < 0 {
			if err := writeArray(w, name, shape, x.Data); err != nil {
				return err
			}
			continue
		}
		typ, ok := h5TypeOf(x.Data.DType())
		if !ok {
			return writeArray(w, name, shape, x.Data) // which tells
		}
		if err := w.Placed(name, typ, []uint64{uint64(shape[0])}, a.at[k]); err != nil {
			return err
		}
	}
	if err := w.Attr(group, binsparseAttr, string(a.text)); err != nil {
		return err
	}
	return w.Close()
}
