package file

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// readNPZ reads a tensor of a NumPy archive, a zip file of .npy files: the array that
// the caller names, the sparse tensor that the arrays are together, or the only one.
func readNPZ(in *input) (*tensor.Tensor, error) {
	at, size, err := in.random()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, &FileError{Path: in.name, Msg: "not a readable .npz archive: " + err.Error(), Err: err}
	}
	if in.cfg.entry == "" {
		c := newNPZContainer(in, z)
		for _, kind := range sparseArchives {
			if kind.recognise(c) {
				return kind.read(in, c)
			}
		}
	}
	f, err := npzEntry(in.cfg, z)
	if err != nil {
		return nil, err
	}
	t, err := readNPZArray(in, f)
	if err != nil {
		return nil, arrayError(in, npzName(f), err)
	}
	return t, nil
}

// random returns the contents for reading at any place. A stream is read whole.
func (in *input) random() (io.ReaderAt, int64, error) {
	if in.file != nil {
		return in.file, in.size, nil
	}
	all, err := io.ReadAll(in.r)
	return bytes.NewReader(all), int64(len(all)), err
}

// sparseArchives is the table of sparse tensors that are kept as several arrays of an
// archive.
var sparseArchives = [...]struct {
	recognise func(*npzContainer) bool
	read      func(*input, *npzContainer) (*tensor.Tensor, error)
}{
	{func(c *npzContainer) bool { return c.has(binsparseEntry) }, readBinsparseNPZ},
	{func(c *npzContainer) bool { return c.has("format", "shape", "data") }, readSciPy},
	{func(c *npzContainer) bool { return c.has("data", "shape", "fill_value") }, readPyData},
}

// newNPZContainer names the arrays of an archive, the first of several that have one
// name.
func newNPZContainer(in *input, z *zip.Reader) *npzContainer {
	c := &npzContainer{in: in, files: map[string]*zip.File{}}
	for _, f := range z.File {
		if name, ok := strings.CutSuffix(f.Name, ".npy"); ok && c.files[name] == nil {
			c.files[name] = f
		}
	}
	return c
}

// readNPZArray reads one array of an archive.
func readNPZArray(in *input, f *zip.File) (*tensor.Tensor, error) {
	if in.mapped != nil {
		if f.Method == zip.Store {
			return mapNPZArray(in, f)
		}
		in.mapped.copied("values", "the archive is compressed")
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// The sizes in the archive's directory are promises like any other: the array is
	// read as a stream of unknown length.
	return readArray(in, stream{in.limited(r), -1, packedMost(in, f), -1})
}

// mapNPZArray takes an array that the archive stores as it is in place.
func mapNPZArray(in *input, f *zip.File) (*tensor.Tensor, error) {
	at, r, err := mappedEntry(in, f)
	if err != nil {
		return nil, err
	}
	return readArray(in, stream{in.limited(r), r.Size(), r.Size(), at})
}

// mappedEntry finds an entry that the archive stores as it is in the mapped file, once
// its checksum is found right, as package zip does on reading.
func mappedEntry(in *input, f *zip.File) (at int64, r *io.SectionReader, err error) {
	if at, r, err = storedEntry(in, f); err != nil {
		return at, r, err
	}
	end := at + r.Size()
	follow := f.Flags&sizesFollow != 0
	if follow && !sumFollows(in.mapped.bytes[end:], f.CRC32) {
		return at, r, zip.ErrChecksum
	}
	if (follow || f.CRC32 != 0) && crc32.ChecksumIEEE(in.mapped.bytes[at:end]) != f.CRC32 {
		return at, r, zip.ErrChecksum
	}
	return at, r, nil
}

// sumFollows reports whether an entry's checksum stands after its data, with or without a
// signature.
func sumFollows(after []byte, sum uint32) bool {
	after = bytes.TrimPrefix(after, []byte("PK\x07\x08"))
	return len(after) >= 12 && binary.LittleEndian.Uint32(after) == sum // and two sizes
}

// storedEntry finds an entry that the archive stores as it is in the file.
func storedEntry(in *input, f *zip.File) (at int64, r *io.SectionReader, err error) {
	if at, err = f.DataOffset(); err != nil {
		return 0, nil, err
	}
	size := int64(f.UncompressedSize64)
	if f.CompressedSize64 != f.UncompressedSize64 || size < 0 || size > in.size-at {
		return 0, nil, zip.ErrFormat
	}
	return at, io.NewSectionReader(in.file, at, size), nil
}

// packedMost is the most that an entry of an archive unpacks to.
func packedMost(in *input, f *zip.File) int64 {
	packed := int64(min(f.CompressedSize64, math.MaxInt64))
	if in.size >= 0 {
		packed = min(packed, in.size)
	}
	return inflated(packed)
}

// limited applies the caller's limit to what an archive's entry unpacks to.
func (in *input) limited(r io.Reader) io.Reader {
	if most := in.cfg.maxBytes; most > 0 {
		return &limitReader{r: r, left: most, most: most}
	}
	return r
}

// npzName is the name of an array as np.load shows it.
func npzName(f *zip.File) string { return strings.TrimSuffix(f.Name, ".npy") }

// npzEntry finds the array to read.
func npzEntry(cfg *config, z *zip.Reader) (*zip.File, error) {
	name := cfg.entry
	var arrays []*zip.File
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".npy") {
			continue
		}
		if name != "" && npzName(f) == name {
			return f, nil
		}
		arrays = append(arrays, f)
	}
	switch {
	case len(arrays) == 0 && slices.ContainsFunc(z.File, ofZarr):
		return nil, errors.New("the archive is a Zarr hierarchy, which is read from a directory only: unpack it into one, such as unzip x.zarr.zip -d x.zarr")
	case len(arrays) == 0:
		return nil, errors.New("the archive holds no arrays (entries whose names end in .npy)")
	case name != "":
		return nil, fmt.Errorf("the archive has no array %q; it has %s", name, listArrays(arrays))
	case len(arrays) > 1:
		return nil, fmt.Errorf("the archive holds %d arrays, so one must be named (%s): %s", len(arrays), cfg.spell("Entry"), listArrays(arrays))
	}
	return arrays[0], nil
}

// ofZarr reports whether an entry is what Zarr keeps of a group or an array beside its chunks.
func ofZarr(f *zip.File) bool {
	return slices.Contains([]string{".zgroup", ".zarray", ".zmetadata", "zarr.json"}, path.Base(f.Name))
}

// listArrays names the arrays of an archive, the first few if there are many.
func listArrays(arrays []*zip.File) string {
	const most = 8
	var names []string
	for _, f := range arrays[:min(most, len(arrays))] {
		names = append(names, quote([]byte(npzName(f))))
	}
	if len(arrays) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
