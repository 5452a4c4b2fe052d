package hdf5

import (
	"math"
	"math/bits"
)

// Classes of layouts (IV.A.2.i).
const (
	layoutCompact    = 0
	layoutContiguous = 1
	layoutChunked    = 2
	layoutVirtual    = 3
)

// Kinds of chunk index (IV.A.2.i, version 4; the first is that of older versions).
const (
	indexBTree1     = 0
	indexSingle     = 1
	indexImplicit   = 2
	indexFixedArray = 3
	indexExtArray   = 4
	indexBTree2     = 5
)

// layout says where the elements of a dataset are.
type layout struct {
	class   byte
	addr    uint64 // of the data, or the index of chunks; may be undefined
	compact []byte // the data of a compact dataset

	chunk      []uint64 // shape of a chunk
	chunkBytes uint64   // of a whole chunk, decoded; less than 2^32
	grid       []uint64 // chunks along each dimension
	gridTotal  uint64   // chunks that there can be
	index      byte
	pageBits   byte   // fixed and extensible arrays: log2 of the elements in a page
	singleSize uint64 // single chunk with filters: its stored size
	singleMask uint32 // and its filter mask
	rawEdges   bool   // chunks that reach over the edge have no filters
}

// readLayout reads a layout message, versions 1 to 4.
func (d *Dataset) readLayout(c *cursor) error {
	const what = "the layout message"
	version := c.u8()
	l := &d.layout
	var err error
	switch version {
	case 1, 2:
		err = d.oldLayout(c)
	case 3, 4:
		l.class = c.u8()
		switch l.class {
		case layoutCompact:
			l.compact = c.take(uint64(c.u16()))
		case layoutContiguous:
			l.addr = c.addr()
			if n := c.length(); l.addr != undefined && n < uint64(d.size) {
				return errorf("%s has %d bytes for a dataset of %d", what, n, d.size)
			}
		case layoutChunked:
			if version == 3 {
				rank := int(c.u8())
				l.addr = c.addr()
				err = d.chunkDims(c, rank, 4)
			} else {
				err = d.chunkLayout4(c)
			}
		case layoutVirtual:
			return unsupported("the dataset is virtual: its data are in other datasets")
		default:
			return unsupported("%s has class %d; 0 to 2 are read", what, l.class)
		}
	default:
		return unsupported("%s has version %d; 1 to 4 are read", what, version)
	}
	if err == nil {
		err = c.err(what)
	}
	if err != nil {
		return err
	}
	return d.checkLayout()
}

// checkLayout holds the layout against the dataset and the file.
func (d *Dataset) checkLayout() error {
	l := &d.layout
	if l.chunkBytes > math.MaxInt {
		return unsupported("chunks have %d bytes, more than this machine can address", l.chunkBytes)
	}
	switch l.class {
	case layoutCompact:
		if uint64(len(l.compact)) < uint64(d.size) {
			return errorf("the dataset has %d bytes, but its compact layout %d", d.size, len(l.compact))
		}
	case layoutContiguous:
		if l.addr != undefined {
			if _, err := d.f.within(l.addr, uint64(d.size), "the data"); err != nil {
				return err
			}
		}
	}
	if l.class != layoutChunked && len(d.filters) > 0 {
		return errorf("the dataset has filters, but no chunks")
	}
	return nil
}

// oldLayout reads versions 1 and 2.
func (d *Dataset) oldLayout(c *cursor) error {
	l := &d.layout
	rank := int(c.u8())
	l.class = c.u8()
	c.skip(5)
	if l.class != layoutCompact {
		l.addr = c.addr()
	}
	switch l.class {
	case layoutChunked:
		return d.chunkDims(c, rank, 4)
	case layoutCompact, layoutContiguous:
		c.skip(4 * uint64(rank))
		if l.class == layoutCompact {
			l.compact = c.take(uint64(c.u32()))
		}
		return nil
	}
	return unsupported("the layout message has class %d; 0 to 2 are read", l.class)
}

// chunkLayout4 reads the rest of version 4 of a chunked layout.
func (d *Dataset) chunkLayout4(c *cursor) error {
	l := &d.layout
	flags, rank, width := c.u8(), int(c.u8()), int(c.u8())
	if width < 1 || width > 8 {
		return errorf("the layout message has sizes of %d bytes", width)
	}
	if err := d.chunkDims(c, rank, width); err != nil {
		return err
	}
	l.rawEdges = flags&1 != 0
	l.index = c.u8()
	switch l.index {
	case indexSingle:
		l.singleSize = l.chunkBytes
		if flags&2 != 0 {
			l.singleSize, l.singleMask = c.length(), c.u32()
		}
	case indexImplicit:
	case indexFixedArray:
		l.pageBits = c.u8()
	case indexExtArray:
		c.skip(4)
		l.pageBits = c.u8()
	case indexBTree2:
		c.skip(6)
	default:
		return unsupported("the chunks have an index of type %d; 1 to 5 are read", l.index)
	}
	l.addr = c.addr()
	return nil
}

// chunkDims reads the shape of chunks: n sizes, the last of which is that of an element.
func (d *Dataset) chunkDims(c *cursor, n, width int) error {
	l := &d.layout
	rank := len(d.space.dims)
	if d.space.null || rank == 0 || n != rank+1 {
		return errorf("chunks have %d dimensions, the dataset has %d", n-1, rank)
	}
	l.gridTotal, l.chunkBytes = 1, 1
	for i := range n {
		size := c.uint(width)
		if size == 0 {
			return errorf("chunks have size 0 along dimension %d", i)
		}
		hi, lo := bits.Mul64(l.chunkBytes, size)
		if l.chunkBytes = lo; hi != 0 || lo >= 1<<32 {
			return errorf("chunks have 4 GiB or more")
		}
		if i == rank {
			if size != uint64(d.typ.Size) {
				return errorf("chunks have elements of %d bytes, the dataset of %d", size, d.typ.Size)
			}
			break
		}
		l.chunk = append(l.chunk, size)
		along := chunksAlong(d.space.dims[i], size)
		l.grid = append(l.grid, along)
		l.gridTotal *= along // no more than there are elements, if there are any
	}
	return nil
}

// chunksAlong returns how many chunks cover a dimension.
func chunksAlong(dim, chunk uint64) uint64 {
	if dim == 0 {
		return 0
	}
	return (dim-1)/chunk + 1
}
