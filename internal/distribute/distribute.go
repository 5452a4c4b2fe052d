// Package distribute turns matrices by rows that are larger than memory into matrices by columns, and the other way round. Entries are dealt out
// to buckets of neighbouring columns, which are written one after the other and fit in memory each; then the entries of a bucket are
// counted into their places, which are next to each other in the result. So the matrix is read and written twice, from end to end each time, which is the least that can be done
// as long as a buffer for every bucket fits in memory (Aggarwal and Vitter, "The Input/Output Complexity of Sorting and Related Problems",
// CACM 31(9), 1988).
package distribute

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Turns reports whether Turn brings a matrix into a format: from rows to columns, or back.
func Turns(t *tensor.Tensor, format tensor.Format) bool {
	from := t.Format()
	other, err := tensor.CSR.WithOrder(format.Order())
	return err == nil && t.Structure() == tensor.General && (from == tensor.CSR && format == tensor.CSC || from == tensor.CSC && format == tensor.CSR) && other == format &&
		max(t.Shape()[0], t.Shape()[1]) < math.MaxUint32 && indexes(t.LevelAt(1).Crd)
}

// indexes reports whether an array has indices of 32 or 64 bits.
func indexes(a tensor.Array) bool { return a.DType().IsInteger() && a.DType().Size() >= 4 }

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
	end     atomic.Int64
	buckets []bucket[V]

	pos, crd, values []byte // of the result, in files
	wide             bool   // pos is of 64 bits
}

// bucket is the entries at some minors, as chunks in the file, of which the last of each dealer need not be full.
type bucket[V any] struct {
	chunks []chunk
	total  int // entries
	open   chunk
	bytes  []byte // of the chunk that is being filled, and its arrays: minors from the bucket's first on, majors and values
	minors []uint32
	majors []uint32
	values []V
}

// chunk is some entries in the file.
type chunk struct {
	at      int64
	entries int
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
	const largest = 1 << 20
	n = len(d.bounds) - 1
	d.chunk = max(64, min(largest, int(memory/4)/(n*dealers))/(record+d.width))
}

// split are the arrays of a chunk.
func (d *turning[V]) split(b []byte) (minors, majors []uint32, values []V) {
	n := d.chunk
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

// dealers deal out a part of the rows each: while one waits for the disk the other works.
const dealers = 2

// deal deals the entries out to the buckets, in their order.
func (d *turning[V]) deal() error {
	var lists [dealers][]bucket[V]
	var errs [dealers]error
	var wg sync.WaitGroup
	pos, rows := d.t.LevelAt(1).Pos, int(d.t.LevelAt(0).Size)
	from := 0
	for k := range dealers {
		half := d.entries / dealers * (k + 1)
		to := sort.Search(rows, func(row int) bool { return int(pos.At64(row)) >= half })
		if k == dealers-1 {
			to = rows
		}
		lo, hi := from, max(from, to)
		wg.Go(func() { lists[k], errs[k] = d.dealRows(lo, hi) })
		from = hi
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	d.buckets = lists[0]
	for _, list := range lists[1:] {
		for k := range list {
			b := &d.buckets[k]
			b.chunks, b.total = append(b.chunks, list[k].chunks...), b.total+list[k].total
		}
	}
	debug.FreeOSMemory() // the buckets' buffers are gone, and the next pass has others
	return nil
}

// dealRows deals out the entries of some majors.
func (d *turning[V]) dealRows(major, rows int) (buckets []bucket[V], err error) {
	l := d.t.LevelAt(1)
	raw, width := l.Crd.Raw(), l.Crd.DType().Size()
	values := d.t.Values().Raw()
	all := view[V](values, d.entries)
	buckets = make([]bucket[V], len(d.bounds)-1)
	minors := make([]uint32, stretch)
	first, entries := int(l.Pos.At64(major)), int(l.Pos.At64(rows))
	major--
	until := first
	for lo := first; lo < entries; lo += stretch {
		if err := d.ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+stretch, entries)
		from, next := min(hi+(ahead-1)*stretch, entries), min(hi+ahead*stretch, entries)
		d.files.Ahead(raw[from*width : next*width])
		d.files.Ahead(values[from*d.width : next*d.width])
		list := minors[:hi-lo]
		take(list, l.Crd, lo)
		k := 0
		for i, x := range list {
			for lo+i >= until {
				major++
				until, k = int(l.Pos.At64(major+1)), 0
			}
			if int(x) < d.bounds[k] {
				k = 0
			}
			for int(x) >= d.bounds[k+1] {
				k++
			}
			b := &buckets[k]
			at := b.open.entries
			if at == len(b.minors) {
				if err := d.flush(b); err != nil {
					return nil, err
				}
				at = 0
			}
			b.minors[at], b.majors[at], b.values[at] = x-uint32(d.bounds[k]), uint32(major), all[lo+i]
			b.open.entries = at + 1
		}
		d.files.Behind(raw[lo*width : hi*width])
		d.files.Behind(values[lo*d.width : hi*d.width])
	}
	for k := range buckets {
		b := &buckets[k]
		if err := d.flush(b); err != nil {
			return nil, err
		}
		*b = bucket[V]{chunks: b.chunks, total: b.total}
	}
	return buckets, nil
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

// flush writes a bucket's chunk and begins another.
func (d *turning[V]) flush(b *bucket[V]) error {
	if b.bytes == nil {
		b.bytes = aligned(d.chunk * (record + d.width))
		b.minors, b.majors, b.values = d.split(b.bytes)
	}
	if b.open.entries == 0 {
		return nil
	}
	b.open.at = d.end.Add(int64(len(b.bytes))) - int64(len(b.bytes))
	b.chunks, b.total = append(b.chunks, b.open), b.total+b.open.entries
	b.open = chunk{}
	_, err := d.temp.WriteAt(b.bytes, b.chunks[len(b.chunks)-1].at)
	return err
}
