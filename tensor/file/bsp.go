package file

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// The places of a binsparse descriptor: an entry of an archive, an attribute of a
// group, a file of a directory.
const (
	binsparseEntry = "binsparse"
	binsparseFile  = "binsparse.json"
)

// readBinsparse makes the tensor that a descriptor describes.
func readBinsparse(in *input, text []byte, c binsparse.Container) (*tensor.Tensor, error) {
	d, err := binsparse.Parse(text)
	if err != nil {
		return nil, err
	}
	if in.cfg.descriptor != nil {
		*in.cfg.descriptor = *d
	}
	return readDescribed(in, d, c)
}

// readDescribed makes a tensor of a descriptor, of the type and in the format that the
// caller asks for.
func readDescribed(in *input, d *binsparse.Descriptor, c binsparse.Container) (*tensor.Tensor, error) {
	t, err := binsparse.Read(d, c, in.cfg.builder.FromColumns)
	if err != nil {
		return nil, err
	}
	return finish(in, t)
}

// finish gives a tensor the name of its file, and the structure, the type and the
// format that the caller asks for.
func finish(in *input, t *tensor.Tensor) (*tensor.Tensor, error) {
	structure := t.Structure()
	if !in.cfg.keepStructure {
		structure = tensor.General
	}
	if t.Structure() != structure {
		var err error
		if t, err = t.Expand(); err != nil {
			return nil, err
		}
	}
	values, fill := t.Values(), t.Fill()
	if dt := in.cfg.dtype; dt != 0 && dt != t.DType() {
		if t.DType().IsComplex() && !dt.IsComplex() {
			return nil, errComplexAs(dt)
		}
		in.mapped.copied("values", fmt.Sprintf("converted from %v to %v", t.DType(), dt))
		var err error
		if values, err = values.Convert(dt); err != nil {
			return nil, err
		}
		fill = fill.Convert(dt)
	}
	// The arrays have been checked, and values of another type are as many.
	t, err := tensor.NewTrusted(t.Shape(), t.Format(), t.Levels(), values, fill).WithStructure(structure)
	if err == nil {
		t, err = t.Convert(t.Format(), tensor.WithName(in.name))
	}
	if err != nil {
		return nil, err
	}
	format, err := in.format(t.Rank(), t.Format())
	switch {
	case err != nil || format == t.Format():
		return t, err
	case structure != tensor.General:
		return t.Convert(format)
	}
	return in.cfg.builder.Convert(t, format)
}

// errComplexAs refuses to read complex values as real ones.
func errComplexAs(dt tensor.DType) error {
	return fmt.Errorf("values are complex; reading them as %v would lose their imaginary parts (ask for c64 or c128)", dt)
}

// readBinsparseNPZ reads a binsparse tensor from an archive.
func readBinsparseNPZ(in *input, c *npzContainer) (*tensor.Tensor, error) {
	text, err := c.text(binsparseEntry)
	if err != nil {
		return nil, err
	}
	return readBinsparse(in, []byte(text), c)
}

// readBinsparseDir reads a binsparse tensor from a directory of .npy files.
func readBinsparseDir(in *input) (*tensor.Tensor, error) {
	f, err := os.Open(filepath.Join(in.name, binsparseFile))
	if err != nil {
		return nil, pathError(in.name, fmt.Errorf("%s: %w", binsparseFile, errors.Unwrap(err)))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", binsparseFile, err)
	case len(text) > longestText:
		return nil, fmt.Errorf("%s is longer than %d bytes", binsparseFile, longestText)
	}
	return readBinsparse(in, text, &dirContainer{in, in.name})
}

// encodeBinsparse returns the descriptor and the arrays to write.
func encodeBinsparse(cfg *config, t *tensor.Tensor) ([]byte, []binsparse.Array, error) {
	return binsparse.Encode(t, binsparse.Options{Header: cfg.header})
}

// writeBinsparseNPZ writes an archive with the descriptor and the arrays. They are not
// compressed, so that they can be used in place.
func writeBinsparseNPZ(out *output, t *tensor.Tensor) error {
	text, arrays, err := encodeBinsparse(out.cfg, t)
	if err != nil {
		return err
	}
	z := newNPZWriter(out, zip.Store)
	if err := z.text(binsparseEntry, string(text)); err != nil {
		return err
	}
	for _, a := range arrays {
		if err := z.array(a.Name, a.Data, []int64{int64(a.Data.Len())}); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeBinsparseDir writes the descriptor and the arrays into an empty directory.
func writeBinsparseDir(cfg *config, dir string, t *tensor.Tensor) error {
	text, arrays, err := encodeBinsparse(cfg, t)
	if err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(dir, binsparseFile), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	}); err != nil {
		return err
	}
	for _, a := range arrays {
		err := writeSynced(filepath.Join(dir, a.Name+".npy"), func(w io.Writer) error {
			return writeNPYArray(w, a.Data, []int64{int64(a.Data.Len())}, cfg.progress)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSynced writes a new file and makes sure that it is on disk.
func writeSynced(path string, emit func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = emit(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
