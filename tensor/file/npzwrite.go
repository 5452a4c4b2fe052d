package file

import (
	"archive/zip"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// writeNPZ writes the tensor as the one array of an archive, compressed.
func writeNPZ(out *output, t *tensor.Tensor) error {
	name := out.cfg.entry
	if name == "" {
		name = "arr_0"
	}
	values, err := denseValues(t)
	if err != nil {
		return err
	}
	z := newNPZWriter(out, zip.Deflate)
	if err := z.array(name, values, t.Shape()); err != nil {
		return err
	}
	return z.Close()
}

// npzWriter writes the arrays of an archive.
type npzWriter struct {
	*zip.Writer
	method  uint16 // zip.Deflate, or zip.Store for arrays that can be used in place
	below   *countWriter
	pending int64 // bytes that the zip writer will put after the last entry

	report func(done, total int64) // is told how far an array is
}

// countWriter counts what passes through it.
type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func newNPZWriter(out *output, method uint16) *npzWriter {
	below := &countWriter{w: out.w}
	z := zip.NewWriter(below)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	return &npzWriter{Writer: z, method: method, below: below, report: out.cfg.progress}
}

// array writes an array of numbers.
func (z *npzWriter) array(name string, a tensor.Array, shape []int64) error {
	a, code, err := npyElements(a)
	if err != nil {
		return err
	}
	return z.entry(name, npyHeaderText(code, shape), a.Raw())
}

// text writes a string as an array without dimensions.
func (z *npzWriter) text(name string, text string) error {
	var data []byte
	for _, c := range text {
		data = binary.LittleEndian.AppendUint32(data, uint32(c))
	}
	return z.entry(name, npyHeaderText(fmt.Sprintf("U%d", utf8.RuneCountInString(text)), nil), data)
}

// bytes writes a string of ASCII as NumPy's type of bytes.
func (z *npzWriter) bytes(name string, text string) error {
	return z.entry(name, npyHeaderText(fmt.Sprintf("S%d", len(text)), nil), []byte(text))
}

// entry writes one .npy file.
func (z *npzWriter) entry(name string, header, data []byte) error {
	h := &zip.FileHeader{Name: name + ".npy", Method: z.method}
	// A fixed date, the earliest that zip has: the same tensor gives the same bytes.
	h.Modified = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	create := z.CreateHeader
	if z.method == zip.Store {
		if err := z.place(h, header, data); err != nil {
			return err
		}
		create = z.CreateRaw
	}
	w, err := create(h)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	return writeSteps(w, data, z.report)
}

// place completes the header of an entry that is stored as it is, and pads it so that
// the elements, which follow a .npy header of a multiple of 64 bytes, are aligned and can
// be used where they lie in the file.
func (z *npzWriter) place(h *zip.FileHeader, header, data []byte) error {
	const (
		localHeader = 30     // bytes of a zip header without name and extra fields
		field       = 4      // bytes of an extra field without its contents
		padding     = 0xd935 // the identifier of padding that Android's zipalign uses
		descriptor  = 24     // bytes of the sizes after an entry
	)
	h.Modified = time.Time{}
	//lint:ignore SA1019 CreateRaw writes this field, not Modified: the same date in zip's own form
	h.ModifiedDate = 1<<5 | 1
	h.CRC32 = crc32.Update(crc32.ChecksumIEEE(header), crc32.IEEETable, data)
	h.UncompressedSize64 = uint64(len(header)) + uint64(len(data))
	h.CompressedSize64 = h.UncompressedSize64
	if err := z.Flush(); err != nil {
		return err
	}
	begin := z.below.n + z.pending + localHeader + int64(len(h.Name)) + field
	z.pending = 0
	if h.UncompressedSize64 >= math.MaxUint32 {
		h.Flags |= sizesFollow // they are too large for the header
		z.pending = descriptor
	}
	n := uint16(-begin & 63)
	h.Extra = binary.LittleEndian.AppendUint16(nil, padding)
	h.Extra = binary.LittleEndian.AppendUint16(h.Extra, n)
	h.Extra = append(h.Extra, make([]byte, n)...)
	return nil
}
