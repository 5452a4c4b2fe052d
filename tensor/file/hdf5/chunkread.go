package hdf5

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// readChunks decodes all chunks into dst, in parallel; where there are none it puts the fill value.
// Numbers are in native byte order afterwards.
func (d *Dataset) readChunks(dst []byte) error {
	chunks, err := d.index()
	if err != nil {
		return err
	}
	if uint64(len(chunks)) < d.layout.gridTotal {
		fill := slices.Clone(d.fill)
		d.typ.toNative(fill)
		fillWith(dst, fill)
	}
	return d.eachChunk(chunks, func(r *chunkReader, c *chunk) error {
		r.dst = dst
		return r.read(c)
	})
}

// eachChunk reads chunks in parallel. Each worker has a reader with buffers of its own.
func (d *Dataset) eachChunk(chunks []chunk, read func(*chunkReader, *chunk) error) error {
	var next atomic.Int64
	workers := min(runtime.GOMAXPROCS(0), len(chunks))
	failed := make([]chunkError, workers)
	var wg sync.WaitGroup
	var stop atomic.Bool
	for w := range workers {
		wg.Go(func() {
			r := chunkReader{d: d}
			for !stop.Load() {
				i := next.Add(1) - 1
				if i >= int64(len(chunks)) {
					return
				}
				if err := read(&r, &chunks[i]); err != nil {
					failed[w] = chunkError{i, err}
					stop.Store(true)
				}
			}
		})
	}
	wg.Wait()
	// Chunks are begun in order, so that of the first bad one is always among the errors.
	var first chunkError
	for _, f := range failed {
		if f.err != nil && (first.err == nil || f.chunk < first.chunk) {
			first = f
		}
	}
	return first.err
}

// chunkError is what was wrong with a chunk.
type chunkError struct {
	chunk int64
	err   error
}

// chunkReader reads chunks one after the other, in buffers of its own.
type chunkReader struct {
	d       *Dataset
	dst     []byte
	raw     []byte // as in the file
	whole   []byte // decoded, of chunks that are not one piece of dst
	decoder decoder
}

// read puts a chunk where it belongs in dst.
func (r *chunkReader) read(c *chunk) error {
	l := &r.d.layout
	box := r.d.box(c.number)
	var target []byte
	if box.whole {
		target = r.dst[box.offset:][:l.chunkBytes]
	} else {
		r.whole = grow(r.whole, l.chunkBytes)
		target = r.whole
	}
	got, err := r.decode(target, c, r.d.filtersOf(box))
	if err != nil {
		return inChunk(c.number, err)
	}
	r.d.typ.toNative(got)
	if box.whole {
		if &got[0] != &target[0] {
			copy(target, got)
		}
		return nil
	}
	r.d.scatter(r.dst, got, box)
	return nil
}

// inChunk says which chunk an error is about.
func inChunk(number uint64, err error) error {
	msg, cause := err.Error(), err
	var e *Error
	if errors.As(err, &e) {
		msg, cause = e.Msg, e.Err
	}
	return &Error{Msg: fmt.Sprintf("chunk %d: %s", number, msg), Err: cause}
}

// filtersOf returns the filters that the chunk of a box went through.
func (d *Dataset) filtersOf(b box) []filter {
	if b.edge && d.layout.rawEdges {
		return nil
	}
	return d.filters
}

// decode reads a chunk and undoes its filters, into target if it can.
func (r *chunkReader) decode(target []byte, c *chunk, filters []filter) ([]byte, error) {
	place, err := r.d.f.within(c.addr, c.size, "a chunk")
	if err != nil {
		return nil, err
	}
	if len(filters) == 0 {
		if c.size != uint64(len(target)) {
			return nil, errorf("it has %d bytes, expected %d", c.size, len(target))
		}
		return target, r.d.f.readAt(target, place, "a chunk")
	}
	r.raw = grow(r.raw, c.size)
	if err := r.d.f.readAt(r.raw, place, "a chunk"); err != nil {
		return nil, err
	}
	return r.decoder.decode(target, r.raw, filters, c.mask)
}

// grow returns a buffer of n bytes, b if it is large enough.
func grow(b []byte, n uint64) []byte {
	if uint64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// box is the part of the dataset that a chunk holds.
type box struct {
	start, extent []uint64 // elements along each dimension
	offset        uint64   // of its first element, in bytes
	edge          bool     // the chunk reaches over the edge of the dataset
	whole         bool     // its bytes are one piece of the dataset, in the same order
}

// box returns where the chunk of some number belongs.
func (d *Dataset) box(number uint64) box {
	l := &d.layout
	rank := len(l.chunk)
	b := box{start: make([]uint64, rank), extent: make([]uint64, rank), whole: true}
	for i := rank - 1; i >= 0; i-- {
		b.start[i] = number % l.grid[i] * l.chunk[i]
		number /= l.grid[i]
		b.extent[i] = min(l.chunk[i], d.space.dims[i]-b.start[i])
		b.edge = b.edge || b.extent[i] < l.chunk[i]
	}
	b.whole = !b.edge
	within := false // a slower dimension has more than one element in the chunk
	for i := range rank {
		if within && l.chunk[i] != d.space.dims[i] {
			b.whole = false
		}
		within = within || l.chunk[i] > 1
		b.offset = b.offset*d.space.dims[i] + b.start[i]
	}
	b.offset *= uint64(d.typ.Size)
	return b
}

// scatter copies what of a decoded chunk is in the dataset to its place.
func (d *Dataset) scatter(dst, src []byte, b box) {
	size := uint64(d.typ.Size)
	n := b.extent[len(b.extent)-1] * size
	forRows(d.space.dims, d.layout.chunk, b, func(to, from uint64) {
		copy(dst[to*size:to*size+n], src[from*size:from*size+n])
	})
}

// forRows calls do for each row (along the last dimension) of a box, with the number of its first
// element in an array of some dimensions and in a chunk.
func forRows(dims, chunk []uint64, b box, do func(inDataset, inChunk uint64)) {
	rank := len(dims)
	at := make([]uint64, rank)
	for {
		to, from := uint64(0), uint64(0)
		for i := range rank {
			to = to*dims[i] + b.start[i] + at[i]
			from = from*chunk[i] + at[i]
		}
		do(to, from)
		i := rank - 2
		for ; i >= 0; i-- {
			if at[i]++; at[i] < b.extent[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}
