package hdf5

import "io"

// Writer writes a file. Its methods must not be called concurrently.
type Writer struct{}

// Options say how a dataset is stored. The zero value is one contiguous piece,
// aligned to 64 bytes, or 4096 if it is that large, so that it can be mapped into memory.
type Options struct {
	// Chunk is the shape of a chunk, of the dataset's rank and at most 4 GiB. If it is
	// nil and a filter is asked for, chunks of about 1 MiB are made.
	Chunk []uint64
	// Deflate is the level of compression, 1 (fast) to 9 (small); 0 is none.
	Deflate int
	// Shuffle groups the bytes of elements by their significance before compression.
	Shuffle bool
	// Fletcher32 adds a checksum to each chunk.
	Fletcher32 bool
}

// Create begins a file. Data are written as they come; nothing is a file before Close.
// What w holds already, beyond what is overwritten, is not removed.
func Create(w io.WriterAt) *Writer { panic("todo") }

// Group makes a group, and those above it that are not there yet.
func (w *Writer) Group(path string) error { panic("todo") }

// Dataset writes an array of elements of type t, packed, little-endian, last dimension
// fastest; data must hold exactly as many as dims say, and is not used after the call.
// No dims make a scalar. Groups on the way are made.
func (w *Writer) Dataset(path string, t Type, dims []uint64, data []byte, o Options) error {
	panic("todo")
}

// Attr attaches an attribute to a group or dataset that was made before. value is one of
// string, []string (of variable length, UTF-8), bool, int64, uint64, float64, []int64, []uint64,
// []float64; a slice makes an array of rank 1, the others a scalar.
func (w *Writer) Attr(path, name string, value any) error { panic("todo") }

// Close writes the tree and the superblock. It does not close the io.WriterAt. After an
// error of any method, Close returns that error.
func (w *Writer) Close() error { panic("todo") }

// Buffer is a file in memory, for Create and Open.
type Buffer struct{ data []byte }

// WriteAt implements io.WriterAt.
func (b *Buffer) WriteAt(p []byte, off int64) (int, error) { panic("todo") }

// ReadAt implements io.ReaderAt.
func (b *Buffer) ReadAt(p []byte, off int64) (int, error) { panic("todo") }

// Bytes returns what was written.
func (b *Buffer) Bytes() []byte { return b.data }
