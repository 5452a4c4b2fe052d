package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// source is where a tensor comes from.
type source interface {
	// load makes the tensor, stored and typed as q says. A fill that is not nil
	// is the value of the coordinates that it does not store.
	load(ctx context.Context, a *app, q qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error)
	// String is the source as it was written.
	String() string
}

// diskFile is a source on disk: its path.
type diskFile string

func (f diskFile) String() string { return string(f) }

// load implements source by reading the file.
func (f diskFile) load(ctx context.Context, a *app, q qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	opts := q.options()
	if fill != nil {
		// The fill comes before the format: which elements of a dense file are
		// stored depends on it.
		plain := q
		plain.format = ""
		opts = plain.options()
	}
	t, err := a.read(ctx, string(f), opts)
	if err != nil || fill == nil {
		return t, err
	}
	return refill(ctx, a, f.String(), t, q, *fill)
}

// read reads a file, showing how far it is.
func (a *app) read(ctx context.Context, path string, opts []file.Option) (*tensor.Tensor, error) {
	large := outOfCoreIn(ctx)
	opts = append(append(opts, file.BuildWith(builder{ctx})), large.options()...)
	if a.maxBytes > 0 {
		opts = append(opts, file.MaxBytes(int64(a.maxBytes)))
	}
	return await(ctx, func() (*tensor.Tensor, error) {
		if path == standard {
			return file.ReadFrom("standard input", os.Stdin, opts...)
		}
		f, err := os.Open(path)
		if err != nil {
			_, err := file.Read(path, opts...) // which says it better
			return nil, withSimilar(path, err)
		}
		defer f.Close() // only read from
		st, err := f.Stat()
		if err == nil && st.IsDir() {
			return file.Read(path, opts...)
		}
		if err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
			return file.ReadFrom(path, f, opts...)
		}
		if st.Size() >= large.from() && mappable(path) {
			m, err := file.Open(path, opts...)
			if err != nil {
				return nil, err
			}
			return m.Tensor(), nil // stays mapped until the end
		}
		task := a.begin("reading "+path, st.Size())
		defer task.end()
		return file.ReadFrom(path, &meter{SectionReader: io.NewSectionReader(f, 0, st.Size()), task: task}, opts...)
	})
}

// withSimilar adds to the error of a file that is not there what may have been meant.
func withSimilar(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if generatorKeys[path] != nil {
		return fmt.Errorf("%w; did you mean %s(10)?", err, path)
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // without a folder there is nothing to propose
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return fmt.Errorf("%w%s", err, didYouMean(filepath.Base(path), names))
}

// mapFrom is the size in bytes from which on a file is mapped rather than read: reading
// takes long then, and a smaller one may well change while it is used.
const mapFrom = 64 << 20

// mappable reports whether arrays of a file may be used where they lie.
func mappable(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return slices.Contains([]string{".npy", ".npz", ".h5", ".hdf5", ".h5ad"}, ext)
}

// refill states that the coordinates that a tensor does not store hold fill,
// and stores it as q says. Elements of dense blocks are all stored.
func refill(ctx context.Context, a *app, name string, t *tensor.Tensor, q qualifiers, fill tensor.Scalar) (*tensor.Tensor, error) {
	return a.making(ctx, "storing "+name, func() (*tensor.Tensor, error) {
		format, given, err := q.formatFor(t.Rank())
		if err != nil {
			return nil, err
		}
		if !given {
			format = t.Format()
		}
		if t.Format().IsDense() {
			// A change of the fill is a matter of the same format.
			if t, err = t.Convert(t.Format(), tensor.WithFill(fill)); err != nil {
				return nil, err
			}
			return store(ctx, t, format)
		}
		if t, err = t.Canonical(); err != nil {
			return nil, err
		}
		coords, values, err := t.ToCoords()
		if err != nil {
			return nil, err
		}
		return storeCoords(ctx, t.Shape(), format, columns(coords), values, tensor.WithFill(fill))
	})
}

// making runs f, which computes a tensor, with progress of unknown length.
func (a *app) making(ctx context.Context, label string, f func() (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	task := a.begin(label, -1)
	defer task.end()
	return await(ctx, f)
}

// write writes a tensor to a file. It is not abandoned when the context ends: a
// file is complete or untouched.
func (a *app) write(ctx context.Context, d destination, t *tensor.Tensor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.qual.dims != nil || d.qual.base != "" || d.qual.coords != nil {
		return usagef("-o %s: dims, base and coords are for files that are read", d.path)
	}
	if d.path == standard {
		if d.qual.kind == "" {
			return usagef("-o -: say what to write to standard output, such as -:kind=mtx")
		}
		return file.WriteTo("standard output", a.stdout, t, append(d.options(), file.BuildWith(builder{ctx}))...)
	}
	task := a.begin("writing "+d.path, -1)
	defer task.end()
	opts := append(d.options(), file.BuildWith(builder{ctx}), file.Progress(task.reach))
	if d.last {
		opts = append(opts, outOfCoreIn(ctx).writing()...)
	}
	return file.Write(d.path, t, opts...)
}
