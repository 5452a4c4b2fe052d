package file

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// npyFile is one .npy file among those that make up a tensor: an entry of an
// archive, or a file of a directory.
type npyFile interface {
	// open returns the contents, and what is known of them beside.
	open(in *input) (r io.ReadCloser, s stream, err error)
}

// npyDataset describes an array in a .npy file.
func npyDataset(in *input, name string, f npyFile) (binsparse.Dataset, error) {
	r, _, err := f.open(in)
	if err != nil {
		return binsparse.Dataset{}, arrayError(in, name, err)
	}
	defer r.Close()
	h, err := readNPYHeader(r)
	if err != nil {
		return binsparse.Dataset{}, arrayError(in, name, err)
	}
	return binsparse.Dataset{Type: h.typ.dtype, Dims: h.shape, Load: func() (tensor.Array, error) {
		a, err := loadNPY(in, name, f)
		if err != nil {
			return a, arrayError(in, name, err)
		}
		return a, nil
	}}, nil
}

// loadNPY reads the array in a .npy file, its last index the fastest.
func loadNPY(in *input, name string, f npyFile) (tensor.Array, error) {
	r, s, err := f.open(in)
	if err != nil {
		return tensor.Array{}, err
	}
	if s.at < 0 {
		in.mapped.copied(name, "the archive is compressed")
	}
	s.r = in.limited(r)
	h, a, err := readElements(in, name, s)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil || !h.fortran {
		return a, err
	}
	return rowMajorArray(a, h.shape)
}

// arrayError says which array of a file is wrong.
func arrayError(in *input, name string, err error) error {
	msg := err.Error()
	var fe *FileError
	if errors.As(err, &fe) {
		msg = fe.Msg
	}
	return &FileError{Path: in.name, Msg: fmt.Sprintf("array %q: %s", name, msg), Err: err}
}

// npzEntryFile is an entry of an archive.
type npzEntryFile struct{ *zip.File }

func (f npzEntryFile) open(in *input) (io.ReadCloser, stream, error) {
	switch {
	case f.Method == zip.Store && in.mapped != nil:
		at, bytes, err := mappedEntry(in, f.File)
		if err != nil {
			return nil, stream{}, err
		}
		return io.NopCloser(bytes), stream{size: bytes.Size(), most: bytes.Size(), at: at}, nil
	case f.Method == zip.Store && in.file != nil && f.Flags&sizesFollow == 0:
		_, bytes, err := storedEntry(in, f.File)
		if err != nil {
			return nil, stream{}, err
		}
		return &sumReader{r: bytes, left: bytes.Size(), want: f.CRC32}, stream{size: bytes.Size(), most: bytes.Size(), at: -1}, nil
	}
	r, err := f.File.Open()
	return r, stream{size: -1, most: packedMost(in, f.File), at: -1}, err
}

// sizesFollow is the flag of an entry whose sizes stand after its data, where package zip
// checks them.
const sizesFollow = 0x8

// sumReader reads an entry of an archive; Close fails if all of it was read and the
// checksum is not right.
type sumReader struct {
	r         io.Reader
	left      int64
	sum, want uint32
}

func (s *sumReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.sum = crc32.Update(s.sum, crc32.IEEETable, p[:n])
	s.left -= int64(n)
	return n, err
}

func (s *sumReader) Close() error {
	if s.left == 0 && s.sum != s.want && s.want != 0 { // 0: there is none
		return zip.ErrChecksum
	}
	return nil
}

// npzContainer holds the arrays of an archive by their names.
type npzContainer struct {
	in    *input
	files map[string]*zip.File
}

// Dataset implements binsparse.Container.
func (c *npzContainer) Dataset(name string) (binsparse.Dataset, bool, error) {
	f, ok := c.files[name]
	if !ok {
		return binsparse.Dataset{}, false, nil
	}
	d, err := npyDataset(c.in, name, npzEntryFile{f})
	return d, true, err
}

// copying is the container without use of a mapped file, for small arrays that do not
// become part of the tensor.
func (c *npzContainer) copying() *npzContainer {
	in := *c.in
	in.mapped = nil
	return &npzContainer{&in, c.files}
}

// text reads an array that is one string.
func (c *npzContainer) text(name string) (string, error) {
	r, err := c.files[name].Open()
	if err != nil {
		return "", arrayError(c.in, name, err)
	}
	defer r.Close()
	text, err := readText(c.in.limited(r))
	if err != nil {
		return "", arrayError(c.in, name, err)
	}
	return text, nil
}

// has reports whether all these arrays are there.
func (c *npzContainer) has(names ...string) bool {
	for _, name := range names {
		if c.files[name] == nil {
			return false
		}
	}
	return true
}

// diskFile is a .npy file of its own, at a path.
type diskFile string

func (f diskFile) open(*input) (io.ReadCloser, stream, error) {
	r, err := os.Open(string(f))
	if err != nil {
		return nil, stream{}, err
	}
	st, err := r.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		r.Close() // it was not read from
		return nil, stream{}, err
	}
	return r, stream{size: st.Size(), most: st.Size(), at: -1}, nil
}

// dirContainer holds the arrays of a directory of .npy files.
type dirContainer struct {
	in  *input
	dir string
}

// Dataset implements binsparse.Container.
func (c *dirContainer) Dataset(name string) (binsparse.Dataset, bool, error) {
	path := filepath.Join(c.dir, name+".npy")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return binsparse.Dataset{}, false, nil
	}
	d, err := npyDataset(c.in, name, diskFile(path))
	return d, true, err
}
