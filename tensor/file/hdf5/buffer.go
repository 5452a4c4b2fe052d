package hdf5

import "io"

// Buffer is a file in memory, for Create and Open.
type Buffer struct{ data []byte }

// maxBuffer bounds a Buffer, so that a wrong offset is an error.
const maxBuffer = 1 << 40

// WriteAt implements io.WriterAt.
func (b *Buffer) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off > maxBuffer-int64(len(p)) {
		return 0, errorf("cannot write at offset %d of a buffer", off)
	}
	if end := off + int64(len(p)); end > int64(len(b.data)) {
		b.data = append(b.data, make([]byte, end-int64(len(b.data)))...)
	}
	return copy(b.data[off:], p), nil
}

// ReadAt implements io.ReaderAt.
func (b *Buffer) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errorf("cannot read at offset %d of a buffer", off)
	}
	if off >= int64(len(b.data)) {
		return 0, io.EOF
	}
	n := copy(p, b.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Bytes returns what was written.
func (b *Buffer) Bytes() []byte { return b.data }

// Size returns the number of bytes written.
func (b *Buffer) Size() int64 { return int64(len(b.data)) }
