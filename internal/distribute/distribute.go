// Package distribute turns matrices by rows that are larger than memory into matrices by columns, and the other way round. Entries are dealt out
// to buckets of neighbouring columns, which are written one after the other and fit in memory each; then the entries of a bucket are
// counted into their places, which are next to each other in the result. So the matrix is read and written twice, from end to end each time, which is the least that can be done
// as long as a buffer for every bucket fits in memory (Aggarwal and Vitter, "The Input/Output Complexity of Sorting and Related Problems",
// CACM 31(9), 1988).
package distribute

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Turns reports whether Turn brings a matrix into a format: from rows to columns, or back.
func Turns(t *tensor.Tensor, format tensor.Format) bool {
	from := t.Format()
	other, err := tensor.CSR.WithOrder(format.Order())
	return err == nil && t.Structure() == tensor.General && (from == tensor.CSR && format == tensor.CSC || from == tensor.CSC && format == tensor.CSR) && other == format &&
		max(t.Shape()[0], t.Shape()[1]) < math.MaxUint32 && slices.Contains([]tensor.DType{tensor.Uint32, tensor.Uint64, tensor.Int32, tensor.Int64}, t.LevelAt(1).Crd.DType())
}

// Turn stores a matrix in the other order, in about so many bytes of memory, with the result in files.
func Turn(ctx context.Context, files *spill.Files, t *tensor.Tensor, format tensor.Format, memory int64) (*tensor.Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	switch t.DType().Size() {
	case 1:
		return turn[uint8](ctx, files, t, format, memory)
	case 2:
		return turn[uint16](ctx, files, t, format, memory)
	case 4:
		return turn[uint32](ctx, files, t, format, memory)
	case 8:
		return turn[uint64](ctx, files, t, format, memory)
	}
	return turn[[2]uint64](ctx, files, t, format, memory)
}

// turning is one matrix on its way. Majors are the coordinates by which it was stored, minors those by which it will be.
type turning[V any] struct {
	ctx   context.Context
	files *spill.Files
	t     *tensor.Tensor

	entries int
	width   int   // of a value
	room    int   // entries of a bucket that fit in memory
	bounds  []int // of the buckets' minors
	chunk   int   // entries of a chunk
	temp    *os.File
	end     int64
	buckets []bucket

	pos, crd, values []byte // of the result, in files
	wide             bool   // pos is of 64 bits
}

// bucket is the entries at some minors: chunks in the file, of which the last need not be full.
type bucket struct {
	chunks  []int64 // where they begin
	entries int     // in all
	buffer  []byte  // the chunk that is being filled
	filled  int
}

const record = 4 + 4 // bytes of an entry in a bucket, without its value: what is left of the minor, and the major

func turn[V any](ctx context.Context, files *spill.Files, t *tensor.Tensor, format tensor.Format, memory int64) (_ *tensor.Tensor, err error) {
	d := &turning[V]{ctx: ctx, files: files, t: t, entries: int(t.NNZ()), width: t.DType().Size()}
	// In the second pass there are a bucket that is read, one that is placed, and its places, which may be written still.
	d.room = max(64, int(memory/8)/(record+d.width))
	if d.temp, err = files.Temp(); err != nil {
		return nil, err
	}
	defer d.temp.Close() // it has no name
	d.divide(memory)
	if err := d.deal(); err != nil {
		return nil, err
	}
	out, err := d.place(format)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// minors is the extent along which the result is stored first.
func (d *turning[V]) minors() int { return int(d.t.LevelAt(1).Size) }

// divide takes bounds of the buckets from a sample of minors, such that they are about as large.
func (d *turning[V]) divide(memory int64) {
	const spots, length = 256, 1024
	crd := d.t.LevelAt(1).Crd
	var sample []int
	step := max(1, d.entries/spots)
	for lo := 0; lo < d.entries; lo += step {
		for i := lo; i < min(lo+min(length, step), d.entries); i++ {
			sample = append(sample, int(crd.At64(i)))
		}
	}
	slices.Sort(sample)
	n := d.entries/(d.room-d.room/4) + 1 // a quarter for what the sample does not tell
	d.bounds = []int{0}
	for k := 1; k < n && len(sample) > 0; k++ {
		if x := sample[len(sample)*k/n]; x > d.bounds[len(d.bounds)-1] {
			d.bounds = append(d.bounds, x)
		}
	}
	d.bounds = append(d.bounds, d.minors())
	d.buckets = make([]bucket, len(d.bounds)-1)
	const largest = 1 << 20
	d.chunk = max(64, min(largest, int(memory/4)/len(d.buckets))/(record+d.width))
}

// The arrays of a chunk: minors, from the bucket's first on, majors and values.

func (d *turning[V]) split(b []byte, n int) (minors, majors []uint32, values []V) {
	return view[uint32](b, n), view[uint32](b[4*n:], n), view[V](b[record*n:], n)
}

// view takes n elements of aligned bytes.
func view[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// aligned are bytes for elements of any type.
func aligned(n int) []byte { return view[byte](view16(make([][2]uint64, n/16+1)), n) }

func view16(a [][2]uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), 16*len(a))
}

// Entries are dealt out in stretches: some of those that come next have been asked for, and what is done is let go of.
const (
	stretch = 1 << 19
	ahead   = 3
)

// deal deals the entries out to the buckets, in their order.
func (d *turning[V]) deal() error {
	l := d.t.LevelAt(1)
	raw, width := l.Crd.Raw(), l.Crd.DType().Size()
	values := d.t.Values().Raw()
	all := view[V](values, d.entries)
	minors := make([]uint32, stretch)
	major, until := -1, 0
	for lo := 0; lo < d.entries; lo += stretch {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+stretch, d.entries)
		from, next := min(hi+(ahead-1)*stretch, d.entries), min(hi+ahead*stretch, d.entries)
		d.files.Ahead(raw[from*width : next*width])
		d.files.Ahead(values[from*d.width : next*d.width])
		list := minors[:hi-lo]
		take(list, l.Crd, lo)
		b := 0
		for i, x := range list {
			for lo+i >= until {
				major++
				until, b = int(l.Pos.At64(major+1)), 0
			}
			if int(x) < d.bounds[b] {
				b = 0
			}
			for int(x) >= d.bounds[b+1] {
				b++
			}
			if err := d.add(b, x-uint32(d.bounds[b]), uint32(major), all[lo+i]); err != nil {
				return err
			}
		}
		d.files.Behind(raw[lo*width : hi*width])
		d.files.Behind(values[lo*d.width : hi*d.width])
	}
	for k := range d.buckets {
		b := &d.buckets[k]
		if b.filled > 0 {
			if err := d.flush(b); err != nil {
				return err
			}
		}
		b.buffer = nil
	}
	debug.FreeOSMemory() // the buckets' buffers are gone, and the next pass has others
	return nil
}

// take copies coordinates from one on.
func take(to []uint32, crd tensor.Array, lo int) {
	part := crd.Slice(lo, lo+len(to))
	switch crd.DType() {
	case tensor.Uint32, tensor.Int32:
		copy(to, view[uint32](part.Raw(), len(to)))
	default:
		for i, x := range view[uint64](part.Raw(), len(to)) {
			to[i] = uint32(x)
		}
	}
}

// add puts an entry into a bucket.
func (d *turning[V]) add(k int, minor, major uint32, value V) error {
	b := &d.buckets[k]
	if b.buffer == nil {
		b.buffer = aligned(d.chunk * (record + d.width))
	}
	minors, majors, values := d.split(b.buffer, d.chunk)
	minors[b.filled], majors[b.filled], values[b.filled] = minor, major, value
	b.entries++
	if b.filled++; b.filled < d.chunk {
		return nil
	}
	return d.flush(b)
}

// flush writes a bucket's chunk.
func (d *turning[V]) flush(b *bucket) error {
	b.filled = 0
	b.chunks = append(b.chunks, d.end)
	_, err := d.temp.WriteAt(b.buffer, d.end)
	d.end += int64(len(b.buffer))
	return err
}
