package hdf5

import "sort"

// ReadRange reads n elements of a dataset of one dimension, from first on, into dst, which holds exactly as many. Chunks that
// lie partly in the range are decoded whole.
func (d *Dataset) ReadRange(dst []byte, first, n int64) error {
	size := int64(d.typ.Size)
	switch {
	case len(d.space.dims) != 1:
		return at(d.path, errorf("has %d dimensions: parts are read of datasets of one", len(d.space.dims)))
	case first < 0 || n < 0 || first > d.n-n:
		return at(d.path, errorf("has %d elements: there are no %d from %d on", d.n, n, first))
	case int64(len(dst)) != n*size:
		return at(d.path, errorf("the buffer has %d bytes, expected %d", len(dst), n*size))
	}
	if err := d.typ.readable(); err != nil {
		return at(d.path, err)
	}
	if n == 0 {
		return nil
	}
	return at(d.path, d.readRange(dst, first, n))
}

func (d *Dataset) readRange(dst []byte, first, n int64) error {
	size := int64(d.typ.Size)
	switch {
	case d.layout.class == layoutChunked:
		return d.readChunkRange(dst, uint64(first), uint64(n))
	case d.layout.class == layoutCompact:
		copy(dst, d.layout.compact[first*size:])
	case d.layout.addr == undefined:
		fillWith(dst, d.fill)
	default:
		place, err := d.f.within(d.layout.addr+uint64(first*size), uint64(n*size), "the data")
		if err != nil {
			return err
		}
		if err := d.f.readAt(dst, place, "the data"); err != nil {
			return err
		}
	}
	d.typ.toNative(dst)
	return nil
}

// readChunkRange decodes the chunks of a range; where there are none it puts the fill value.
func (d *Dataset) readChunkRange(dst []byte, first, n uint64) error {
	all, err := d.index()
	if err != nil {
		return err
	}
	per := d.layout.chunk[0]
	from, to := first/per, (first+n-1)/per
	begin := sort.Search(len(all), func(i int) bool { return all[i].number >= from })
	end := sort.Search(len(all), func(i int) bool { return all[i].number > to })
	if chunks := all[begin:end]; uint64(len(chunks)) < to-from+1 {
		fill := append([]byte(nil), d.fill...)
		d.typ.toNative(fill)
		fillWith(dst, fill)
	}
	size := uint64(d.typ.Size)
	return d.eachChunk(all[begin:end], func(r *chunkReader, c *chunk) error {
		box := d.box(c.number)
		r.whole = grow(r.whole, d.layout.chunkBytes)
		got, err := r.decode(r.whole, c, d.filtersOf(box))
		if err != nil {
			return inChunk(c.number, err)
		}
		d.typ.toNative(got)
		start := box.start[0]
		lo, hi := max(start, first), min(start+box.extent[0], first+n)
		copy(dst[(lo-first)*size:], got[(lo-start)*size:(hi-start)*size])
		return nil
	})
}
