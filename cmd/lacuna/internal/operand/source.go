package operand

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Source is where a tensor comes from.
type Source interface {
	// Load makes the tensor, stored and typed as q says. A fill that is not nil
	// is the value of the coordinates that it does not store.
	Load(ctx context.Context, a *cli.Env, q Qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error)
	// String is the source as it was written.
	String() string
}

// DiskFile is a source on disk: its path.
type DiskFile string

// String implements Source.
func (f DiskFile) String() string { return string(f) }

// Load implements Source by reading the file.
func (f DiskFile) Load(ctx context.Context, a *cli.Env, q Qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	opts := q.Options()
	if fill != nil {
		// The fill comes before the format: which elements of a dense file are
		// stored depends on it.
		plain := q
		plain.Format = ""
		opts = plain.Options()
	}
	t, err := Read(ctx, a, string(f), opts)
	if err != nil || fill == nil {
		return t, err
	}
	return refill(ctx, a, f.String(), t, q, *fill)
}

// Read reads a file, showing how far it is.
func Read(ctx context.Context, a *cli.Env, path string, opts []file.Option) (*tensor.Tensor, error) {
	large := OutOfCoreIn(ctx)
	opts = append(append(opts, file.BuildWith(Builder(ctx))), large.options()...)
	if a.MaxBytes > 0 {
		opts = append(opts, file.MaxBytes(int64(a.MaxBytes)))
	}
	return cli.Await(ctx, func() (*tensor.Tensor, error) {
		if path == Standard {
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
		if st.Size() >= large.From() && Mappable(path) {
			m, err := file.Open(path, opts...)
			if err != nil {
				return nil, err
			}
			return m.Tensor(), nil // stays mapped until the end
		}
		task := a.Begin("reading "+path, st.Size())
		defer task.End()
		return file.ReadFrom(path, task.Reader(f, st.Size()), opts...)
	})
}

// withSimilar adds to the error of a file that is not there what may have been meant.
func withSimilar(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if IsGenerator(path) {
		return fmt.Errorf("%w; did you mean %s(10)?", err, path)
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // without a folder there is nothing to propose
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return fmt.Errorf("%w%s", err, cli.DidYouMean(filepath.Base(path), names))
}

// mapFrom is the size in bytes from which on a file is mapped rather than read: reading
// takes long then, and a smaller one may well change while it is used.
const mapFrom = 64 << 20

// Mappable reports whether arrays of a file may be used where they lie.
func Mappable(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return slices.Contains([]string{".npy", ".npz", ".h5", ".hdf5", ".h5ad"}, ext)
}

// refill states that the coordinates that a tensor does not store hold fill,
// and stores it as q says. Elements of dense blocks are all stored.
func refill(ctx context.Context, a *cli.Env, name string, t *tensor.Tensor, q Qualifiers, fill tensor.Scalar) (*tensor.Tensor, error) {
	return cli.Making(ctx, a, "storing "+name, func() (*tensor.Tensor, error) {
		format, given, err := q.FormatFor(t.Rank())
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
			return Store(ctx, t, format)
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

// Write writes a tensor to a file. It is not abandoned when the context ends: a
// file is complete or untouched.
func Write(ctx context.Context, a *cli.Env, d Destination, t *tensor.Tensor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.OfReading() {
		return cli.Usagef("-o %s: dims, base and coords are for files that are read", d.Path)
	}
	if d.Path == Standard {
		if d.qual.kind == "" {
			return cli.Usagef("-o -: say what to write to standard output, such as -:kind=mtx")
		}
		return file.WriteTo("standard output", a.Stdout, t, append(d.Options(), file.BuildWith(Builder(ctx)))...)
	}
	task := a.Begin("writing "+d.Path, -1)
	defer task.End()
	opts := append(d.Options(), file.BuildWith(Builder(ctx)), file.Progress(task.Reach))
	if d.Last {
		opts = append(opts, OutOfCoreIn(ctx).writing()...)
	}
	return file.Write(d.Path, t, opts...)
}
