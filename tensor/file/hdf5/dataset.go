package hdf5

import (
	"math"
	"slices"
	"sync"
)

// Dataset is an array of elements of one type.
type Dataset struct {
	*object
	space   space
	typ     Type
	n       int64 // elements
	size    int64 // bytes
	layout  layout
	filters []filter
	fill    []byte // an element, in the byte order of the file; nil for zeros

	index func() ([]chunk, error) // the chunks, read once
}

// maxFill is how many bytes of elements that are not in the file Check lets pass.
const maxFill = 64 << 20

// newDataset reads what the messages of a dataset say.
func newDataset(o *object, msgs []message) (*Dataset, error) {
	d := &Dataset{object: o}
	f := o.f
	data, ok, err := f.find(msgs, msgDataspace)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errorf("the dataset has no dataspace message")
	}
	if d.space, err = parseSpace(&cursor{b: data, f: f}); err != nil {
		return nil, err
	}
	if data, ok, err = f.find(msgs, msgDatatype); err != nil {
		return nil, err
	}
	if !ok {
		return nil, errorf("the dataset has no datatype message")
	}
	if d.typ, err = parseType(&cursor{b: data, f: f}, 0); err != nil {
		return nil, err
	}
	if d.n, d.size, err = d.space.count(d.typ.Size); err != nil {
		return nil, err
	}
	if _, ok, _ := f.find(msgs, msgExternal); ok {
		return nil, unsupported("the data are in external files, which are not read")
	}
	if data, ok, err = f.find(msgs, msgFilters); err != nil {
		return nil, err
	} else if ok {
		if d.filters, err = parseFilters(&cursor{b: data, f: f}); err != nil {
			return nil, err
		}
	}
	if err := d.readFill(msgs); err != nil {
		return nil, err
	}
	if data, _, err = f.find(msgs, msgLayout); err != nil {
		return nil, err
	}
	if err := d.readLayout(&cursor{b: data, f: f}); err != nil {
		return nil, err
	}
	d.index = sync.OnceValues(d.readIndex)
	return d, nil
}

// readFill reads the fill value from either of its messages (IV.A.2.e and f).
func (d *Dataset) readFill(msgs []message) error {
	data, ok, err := d.f.find(msgs, msgFill)
	if err != nil {
		return err
	}
	c := &cursor{b: data, f: d.f}
	switch {
	case ok:
		version := c.u8()
		var defined bool
		switch version {
		case 1, 2:
			c.skip(2)
			defined = c.u8() == 1
		case 3:
			defined = c.u8()&(1<<5) != 0
		default:
			return unsupported("the fill value message has version %d; 1 to 3 are read", version)
		}
		if !defined {
			return c.err("the fill value message")
		}
	default:
		if data, ok, err = d.f.find(msgs, msgOldFill); !ok || err != nil {
			return err
		}
		c = &cursor{b: data, f: d.f}
	}
	n := uint64(c.u32())
	fill := c.take(n)
	if err := c.err("the fill value message"); err != nil {
		return err
	}
	if n != 0 && n != uint64(d.typ.Size) {
		return errorf("the fill value has %d bytes, an element %d", n, d.typ.Size)
	}
	if slices.ContainsFunc(fill, func(b byte) bool { return b != 0 }) {
		d.fill = fill
	}
	return nil
}

// Dims returns the shape. A scalar has no dimensions and one element; a null
// dataset (IsNull) has no dimensions and none.
func (d *Dataset) Dims() []uint64 { return slices.Clone(d.space.dims) }

// IsNull reports whether the dataset has a null dataspace: a type, but no elements.
func (d *Dataset) IsNull() bool { return d.space.null }

// Type returns the type of the elements.
func (d *Dataset) Type() Type { return d.typ }

// Len returns the number of elements.
func (d *Dataset) Len() int64 { return d.n }

// Size returns the number of bytes of all elements, Len times Type().Size.
func (d *Dataset) Size() int64 { return d.size }

// Check returns an error if the dataset has more elements than the file can account for.
// Call it before allocating Size bytes for ReadInto. A dataset passes whose elements are
// stored in the file, compressed or not; those that are not stored, and so have the fill
// value, count up to a limit of 64 MiB.
func (d *Dataset) Check() error {
	if d.size > math.MaxInt {
		return at(d.path, unsupported("has %d bytes, more than this machine can address", d.size))
	}
	stored := int64(0)
	switch d.layout.class {
	case layoutCompact:
		stored = d.size
	case layoutContiguous:
		if d.layout.addr != undefined {
			stored = d.size
		}
	case layoutChunked:
		chunks, err := d.index()
		if err != nil {
			return at(d.path, err)
		}
		// Chunks are smaller than 2^32 bytes and fewer than the bytes of the file.
		stored = min(d.size, int64(len(chunks))*int64(d.layout.chunkBytes))
	}
	if missing := d.size - stored; missing > maxFill {
		return at(d.path, errorf("%d of its %d bytes are not stored in the file and have the fill value; more than %d are refused", missing, d.size, maxFill))
	}
	return nil
}

// ReadInto reads all elements into dst, whose length must be Size. Chunks are
// decoded in parallel, by as many goroutines as GOMAXPROCS says.
// After an error, dst holds anything.
func (d *Dataset) ReadInto(dst []byte) error {
	if int64(len(dst)) != d.size {
		return at(d.path, errorf("the buffer has %d bytes, expected %d", len(dst), d.size))
	}
	if err := d.typ.readable(); err != nil {
		return at(d.path, err)
	}
	if err := d.readRaw(dst); err != nil {
		return at(d.path, err)
	}
	if d.layout.class != layoutChunked { // the bytes of chunks are in order by now
		d.typ.toNative(dst)
	}
	return nil
}

// readRaw reads all elements; those of chunks in native byte order, others in that of the file.
func (d *Dataset) readRaw(dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	switch d.layout.class {
	case layoutCompact:
		copy(dst, d.layout.compact)
		return nil
	case layoutChunked:
		return d.readChunks(dst)
	}
	if d.layout.addr == undefined {
		fillWith(dst, d.fill)
		return nil
	}
	place, err := d.f.within(d.layout.addr, uint64(d.size), "the data")
	if err != nil {
		return err
	}
	return d.f.readAt(dst, place, "the data")
}

// fillWith repeats an element, or zeros if it is nil, all over dst.
func fillWith(dst, element []byte) {
	if element == nil {
		clear(dst)
		return
	}
	for n := copy(dst, element); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// ReadAll is Check and ReadInto into a new slice.
func (d *Dataset) ReadAll() ([]byte, error) {
	if err := d.typ.readable(); err != nil {
		return nil, at(d.path, err)
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	dst := make([]byte, d.size)
	if err := d.ReadInto(dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// Strings returns the elements of a dataset of strings, of fixed or variable length.
func (d *Dataset) Strings() ([]string, error) {
	if c := d.typ.Class; c != String && c != VarString {
		return nil, at(d.path, errorf("elements are %v, expected strings", d.typ))
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	b := make([]byte, d.size)
	if err := d.readRaw(b); err != nil {
		return nil, at(d.path, err)
	}
	all, err := d.typ.texts(newGlobalHeap(d.f), b)
	return all, at(d.path, err)
}

// Contiguous returns where in the file (as given to Open) the elements lie, if they lie there in one piece, unfiltered.
// They are in the byte order of the file: see Type().BigEndian.
func (d *Dataset) Contiguous() (offset, length int64, ok bool) {
	if d.layout.class != layoutContiguous || d.layout.addr == undefined {
		return 0, 0, false
	}
	return int64(d.f.base + d.layout.addr), d.size, true // within the file, as readLayout made sure
}
