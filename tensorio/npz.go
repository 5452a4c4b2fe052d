package tensorio

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// readNPZ reads an array of a NumPy archive: a zip file of .npy files. The archive
// holds one array or the caller names one.
func readNPZ(in *input) (*tensor.Tensor, error) {
	at, size := in.file, in.size
	if at == nil { // the directory is at the end: a stream must be held
		all, err := io.ReadAll(in.r)
		if err != nil {
			return nil, err
		}
		at, size = bytes.NewReader(all), int64(len(all))
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, &FileError{Path: in.name, Msg: "not a readable .npz archive: " + err.Error(), Err: err}
	}
	f, err := npzEntry(z, in.cfg.entry)
	if err != nil {
		return nil, err
	}
	t, err := readNPZArray(in, f)
	if err != nil {
		msg := err.Error()
		var fe *FileError
		if errors.As(err, &fe) {
			msg = fe.Msg
		}
		return nil, &FileError{Path: in.name, Msg: fmt.Sprintf("array %q: %s", npzName(f), msg), Err: err}
	}
	return t, nil
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
	return readArray(in, in.limited(r), -1, -1)
}

// mapNPZArray takes an array that the archive stores as it is in place, once its
// checksum is found right.
func mapNPZArray(in *input, f *zip.File) (*tensor.Tensor, error) {
	at, err := f.DataOffset()
	if err != nil {
		return nil, err
	}
	size := int64(f.UncompressedSize64)
	if f.CompressedSize64 != f.UncompressedSize64 || size < 0 || size > in.size-at {
		return nil, zip.ErrFormat
	}
	bytes := in.mapped.bytes[at : at+size]
	if crc32.ChecksumIEEE(bytes) != f.CRC32 {
		return nil, zip.ErrChecksum
	}
	return readArray(in, in.limited(io.NewSectionReader(in.file, at, size)), size, at)
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
func npzEntry(z *zip.Reader, name string) (*zip.File, error) {
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
	case len(arrays) == 0:
		return nil, errors.New("the archive holds no arrays (entries whose names end in .npy)")
	case name != "":
		return nil, fmt.Errorf("the archive has no array %q; it has %s", name, listArrays(arrays))
	case len(arrays) > 1:
		return nil, fmt.Errorf("the archive holds %d arrays, so one must be named (Entry): %s", len(arrays), listArrays(arrays))
	}
	return arrays[0], nil
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

// writeNPZ writes the tensor as the one array of an archive, compressed.
func writeNPZ(out *output, t *tensor.Tensor) error {
	name := out.cfg.entry
	if name == "" {
		name = "arr_0"
	}
	z := zip.NewWriter(out.w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	// A fixed date, the earliest that zip has: the same tensor gives the same bytes.
	w, err := z.CreateHeader(&zip.FileHeader{
		Name: name + ".npy", Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		return err
	}
	if err := writeArray(out, w, t); err != nil {
		return err
	}
	return z.Close()
}
