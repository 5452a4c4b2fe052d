package file

import (
	"bufio"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// output is where a writer puts a tensor.
type output struct {
	name string
	cfg  *config
	w    *bufio.Writer
	at   io.WriterAt // the new file itself, for formats that are not written in one go; nil for a stream
}

// newFile is a file that is written from its beginning and nothing else writes to.
type newFile struct{ *os.File }

// Write writes t to the file at path, whose extension tells the kind of file; a
// name that ends in .gz is compressed. The file is complete or untouched: the data
// go to a temporary file in the same directory, which is synced and renamed. A
// path that names a device or a pipe is written to directly.
func Write(path string, t *tensor.Tensor, opts ...Option) error {
	cfg, err := newConfig(opts)
	if err != nil {
		return err
	}
	kind, t, err := prepareWrite(path, t, cfg)
	if err != nil {
		return err
	}
	if kind.writeDir != nil {
		return writeDirectory(path, func(dir string) error {
			if err := t.Pin(); err != nil {
				return err
			}
			defer t.Unpin()
			return kind.writeDir(cfg, dir, t)
		})
	}
	emit, create := emitter(kind, path, cfg, t), createNew
	target, perm, regular, err := destination(path)
	switch {
	case err != nil:
		return err
	case !regular:
		return writeDevice(target, emit)
	}
	if _, compression := splitCompression(path); cfg.held != nil && kind.Name == "hdf5" && compression == "" {
		if err := t.Pin(); err != nil {
			return wrapError(path, err)
		}
		defer t.Unpin()
		if h := adopt(cfg, t); h != nil {
			create, emit = h.create, h.emit
		}
	}
	return writeAtomically(target, perm, create, emit)
}

// createNew makes a new file.
func createNew(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// destination is the file that a path names, and the permissions of the one that is replaced, 0 if there is none. What is not
// regular is not replaced.
func destination(path string) (target string, perm fs.FileMode, regular bool, err error) {
	if isDevice(path) {
		return path, 0, false, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace what a link points to, not the link
	}
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return path, 0, false, &FileError{Path: path, Msg: "is a directory"}
	case err == nil && !st.Mode().IsRegular():
		return path, 0, false, nil
	case err == nil:
		return path, st.Mode().Perm(), true, nil
	case errors.Is(err, fs.ErrNotExist):
		return path, 0, true, nil
	}
	return path, 0, false, pathError(path, err)
}

// isDevice reports whether a path names a device, or an open file by way of one:
// /dev/stdout may lead to a regular file that others write to as well. Under /dev/shm
// there are files like any other.
func isDevice(path string) bool {
	path = filepath.Clean(path)
	return strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/")
}

// WriteTo writes t to w as a file of that name would hold it.
func WriteTo(name string, w io.Writer, t *tensor.Tensor, opts ...Option) error {
	cfg, err := newConfig(opts)
	if err != nil {
		return err
	}
	kind, t, err := prepareWrite(name, t, cfg)
	if err != nil {
		return err
	}
	if kind.writeDir != nil {
		return &FileError{Path: name, Msg: "a tensor of kind " + kind.Name + " is a directory: it cannot be written to a stream"}
	}
	return wrapError(name, emitter(kind, name, cfg, t)(w))
}

// prepareWrite decides what kind of file to write, and brings t into the format that it
// is to be written in.
func prepareWrite(name string, t *tensor.Tensor, cfg *config) (*Kind, *tensor.Tensor, error) {
	kind := cfg.kindToWrite(name)
	_, compression := splitCompression(name)
	switch {
	case kind == nil:
		return nil, nil, &FileError{Path: name, Msg: fmt.Sprintf("the extension does not say what kind of file to write: use one of %s, each also with .gz", extensions(true))}
	case compression == ".bz2":
		return nil, nil, &FileError{Path: name, Msg: "bzip2 can only be read; to compress what is written use .gz"}
	case !kind.Writable():
		return nil, nil, &FileError{Path: name, Msg: fmt.Sprintf("files of kind %s (%s) can only be read", kind.Name, kind.Title)}
	case kind.writeDir != nil && compression != "":
		return nil, nil, &FileError{Path: name, Msg: fmt.Sprintf("a tensor of kind %s is a directory, which is not compressed", kind.Name)}
	}
	if err := t.Pin(); err != nil {
		return nil, nil, &FileError{Path: name, Msg: err.Error(), Err: err}
	}
	defer t.Unpin()
	f, err := t.Format(), error(nil)
	switch {
	case cfg.format != nil:
		f, err = cfg.format(t.Rank())
	case cfg.header != nil:
		f, err = cfg.header.Format.Tensor()
	}
	if err == nil && f != t.Format() {
		t, err = cfg.builder.Convert(t, f)
	}
	if err != nil {
		return nil, nil, &FileError{Path: name, Msg: err.Error(), Err: err}
	}
	return kind, t, nil
}

// emitter returns what writes t to an open file of the given name.
func emitter(kind *Kind, name string, cfg *config, t *tensor.Tensor) func(io.Writer) error {
	_, compression := splitCompression(name)
	return func(w io.Writer) error {
		if compression == "" {
			return emitKind(kind, name, cfg, w, t)
		}
		z := gzip.NewWriter(w)
		if err := emitKind(kind, name, cfg, z, t); err != nil {
			return err
		}
		return z.Close()
	}
}

func emitKind(kind *Kind, name string, cfg *config, w io.Writer, t *tensor.Tensor) error {
	if err := t.Pin(); err != nil { // which keeps what its values are in, also where that is a mapped file
		return err
	}
	defer t.Unpin()
	out := &output{name: name, cfg: cfg, w: bufio.NewWriterSize(w, 256<<10)}
	if f, ok := w.(newFile); ok {
		out.at = f
	}
	if err := kind.write(out, t); err != nil {
		return err
	}
	return out.w.Flush()
}

// writeDevice writes to something that cannot be replaced by a rename.
func writeDevice(path string, emit func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return pathError(path, err)
	}
	err = emit(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return wrapError(path, err)
}

// writeAtomically has a new file made and written, and renames it to path once it is safely on
// disk. perm is that of the file it replaces; 0 leaves it to the umask.
func writeAtomically(path string, perm fs.FileMode, create func(path string) (*os.File, error), emit func(io.Writer) error) (err error) {
	temp := beside(path)
	f, err := create(temp)
	if err != nil {
		return pathError(path, err)
	}
	defer func() {
		if err != nil {
			f.Close() // after the first error no other is worth reporting
			os.Remove(temp)
			err = wrapError(path, err)
		}
	}()
	if perm != 0 {
		if err := f.Chmod(perm); err != nil {
			return pathError(path, err)
		}
	}
	if err := emit(newFile{f}); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return pathError(path, err)
	}
	if err := f.Close(); err != nil {
		return pathError(path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return pathError(path, err)
	}
	syncDir(filepath.Dir(path))
	return nil
}

// writeDirectory fills a new directory and renames it to path once it is safely on disk.
// A directory that is there already must be a tensor of the same kind. It is moved aside
// and removed after the new one is in its place: for a moment there is none.
func writeDirectory(path string, fill func(dir string) error) (err error) {
	path = filepath.Clean(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace what a link points to, not the link
	}
	old, err := replaceable(path)
	if err != nil {
		return err
	}
	temp := beside(path)
	if err := os.Mkdir(temp, 0o777); err != nil {
		return pathError(path, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(temp) // after the first error no other is worth reporting
			if fe := (*FileError)(nil); !errors.As(err, &fe) {
				err = pathError(path, err)
			}
		}
	}()
	if err := fill(temp); err != nil {
		return wrapError(path, err)
	}
	syncDir(temp)
	if !old {
		if err := os.Rename(temp, path); err != nil {
			return err
		}
		syncDir(filepath.Dir(path))
		return nil
	}
	aside := beside(path)
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Rename(aside, path))
	}
	syncDir(filepath.Dir(path))
	os.RemoveAll(aside) // it is out of the way
	return nil
}

// replaceable reports whether a directory is at path, which must not hold anything but a
// tensor.
func replaceable(path string) (bool, error) {
	files, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, pathError(path, err)
	}
	described := len(files) == 0
	for _, f := range files {
		described = described || f.Name() == binsparseFile
		if f.Name() != binsparseFile && filepath.Ext(f.Name()) != ".npy" || !f.Type().IsRegular() {
			return false, &FileError{Path: path, Msg: fmt.Sprintf("the directory holds %q, which is no part of a tensor: it is not replaced", f.Name())}
		}
	}
	if !described {
		return false, &FileError{Path: path, Msg: "the directory has no " + binsparseFile + ", so it is not a tensor: it is not replaced"}
	}
	return true, nil
}

// beside returns the name of a temporary file in the directory of path.
func beside(path string) string {
	dir, base := filepath.Split(path)
	return filepath.Join(dir, fmt.Sprintf(".%.100s.%s.tmp", base, rand.Text()[:10]))
}

// syncDir makes the rename itself durable where the file system can; the file is
// complete either way.
func syncDir(dir string) {
	if dir == "" {
		dir = "."
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync() // some file systems refuse; see above
		d.Close()
	}
}
