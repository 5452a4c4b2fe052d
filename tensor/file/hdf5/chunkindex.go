package hdf5

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// chunk is a part of a dataset that is stored in the file.
type chunk struct {
	number uint64 // in the grid of chunks, last dimension fastest
	addr   uint64
	size   uint64 // in the file
	mask   uint32 // filters that were not applied, by their places in the pipeline
}

// maxRatio is the most that a filter compresses: deflate stores 258 bytes in 2 bits.
const maxRatio = 1032

// readIndex returns the chunks that are stored, ordered by number, each of them within the file.
func (d *Dataset) readIndex() ([]chunk, error) {
	l := &d.layout
	if d.n == 0 || l.addr == undefined {
		return nil, nil
	}
	r := indexReader{d: d, filtered: len(d.filters) > 0}
	var err error
	switch l.index {
	case indexBTree1:
		err = r.btree1()
	case indexSingle:
		if l.gridTotal != 1 {
			return nil, errorf("the dataset says it has a single chunk, but needs %d", l.gridTotal)
		}
		r.add(0, l.addr, l.singleSize, l.singleMask)
	case indexImplicit:
		err = r.implicit()
	case indexFixedArray:
		err = r.fixedArray()
	case indexExtArray:
		err = r.extArray()
	case indexBTree2:
		err = r.btree2()
	}
	if err == nil {
		err = r.check()
	}
	return r.chunks, err
}

// indexReader gathers the chunks of a dataset.
type indexReader struct {
	d        *Dataset
	filtered bool
	chunks   []chunk
}

// add notes a chunk. One without an address is not stored.
func (r *indexReader) add(number, addr, size uint64, mask uint32) {
	if addr != undefined {
		r.chunks = append(r.chunks, chunk{number, addr, size, mask})
	}
}

// addAt notes a chunk at a place in the grid, unless that is outside the dataset, as
// chunks may be that remain from a larger one.
func (r *indexReader) addAt(place []uint64, addr, size uint64, mask uint32) {
	number := uint64(0)
	for i, p := range place {
		if p >= r.d.layout.grid[i] {
			return
		}
		number = number*r.d.layout.grid[i] + p
	}
	r.add(number, addr, size, mask)
}

// check orders the chunks and makes sure that none is there twice, that each lies in the
// file, and that they decode to no more than their stored bytes can.
func (r *indexReader) check() error {
	slices.SortFunc(r.chunks, func(a, b chunk) int { return cmp.Compare(a.number, b.number) })
	stored := uint64(0)
	for i, c := range r.chunks {
		if i > 0 && c.number == r.chunks[i-1].number {
			return errorf("chunk %d is stored twice", c.number)
		}
		if _, err := r.d.f.within(c.addr, c.size, "a chunk"); err != nil {
			return err
		}
		if stored += c.size; stored > uint64(r.d.f.size) {
			return errorf("the chunks overlap: together they are larger than the file")
		}
		if c.size > math.MaxInt {
			return unsupported("chunk %d has %d bytes, more than this machine can address", c.number, c.size)
		}
		want := r.d.layout.chunkBytes
		if !r.filtered && c.size != want {
			return errorf("chunk %d has %d bytes, expected %d", c.number, c.size, want)
		}
		if want > c.size*maxRatio+maxRatio {
			return errorf("chunk %d cannot hold %d bytes in %d", c.number, want, c.size)
		}
	}
	return nil
}

// btree1 reads the index of layouts before version 4 (III.A.1, node type 1).
func (r *indexReader) btree1() error {
	rank := len(r.d.layout.chunk)
	place := make([]uint64, rank)
	return r.d.f.btree1(r.d.layout.addr, btreeChunk, 8+8*(rank+1), func(key *cursor, child uint64) error {
		size, mask := key.u32(), key.u32()
		for i, n := range r.d.layout.chunk {
			at := key.uint(8)
			if at%n != 0 {
				return errorf("a chunk begins at %d along dimension %d, which is no multiple of %d", at, i, n)
			}
			place[i] = at / n
		}
		r.addAt(place, child, uint64(size), mask)
		return nil
	})
}

// implicit lists chunks that lie one after the other.
func (r *indexReader) implicit() error {
	l := &r.d.layout
	hi, total := bits.Mul64(l.gridTotal, l.chunkBytes)
	if hi != 0 {
		return errorf("%d chunks of %d bytes are more than the file holds", l.gridTotal, l.chunkBytes)
	}
	if _, err := r.d.f.within(l.addr, total, "the chunks"); err != nil {
		return err
	}
	for i := range l.gridTotal {
		r.add(i, l.addr+i*l.chunkBytes, l.chunkBytes, 0)
	}
	return nil
}

// maxGrid returns how many chunks there may be along each dimension when the dataset has grown to its
// maximum, by which arrays number chunks; 0 where there is no maximum.
func (r *indexReader) maxGrid() []uint64 {
	grid := make([]uint64, len(r.d.layout.chunk))
	for i, n := range r.d.layout.chunk {
		if most := r.d.space.max[i]; most != undefined {
			grid[i] = chunksAlong(most, n)
		}
	}
	return grid
}

// element reads an element of a fixed or extensible array, which has some width, and notes its
// chunk. place is where the chunk is in the grid.
func (r *indexReader) element(c *cursor, width int, place []uint64) {
	addr := c.addr()
	if !r.filtered {
		r.addAt(place, addr, r.d.layout.chunkBytes, 0)
		return
	}
	size := c.uint(width - r.d.f.offsetSize - 4)
	r.addAt(place, addr, size, c.u32())
}

// checkElement makes sure that the elements of an array have the width that they should.
func (r *indexReader) checkElement(client byte, width int) error {
	want := byte(0)
	low, high := r.d.f.offsetSize, r.d.f.offsetSize
	if r.filtered {
		want = 1
		low, high = low+4+1, high+4+8
	}
	if client != want || width < low || width > high {
		return errorf("the chunk index has elements of kind %d and %d bytes, expected kind %d and %d to %d", client, width, want, low, high)
	}
	return nil
}

// fixedArray reads a fixed array (III.H, "Fixed Array Index").
func (r *indexReader) fixedArray() error {
	const what = "a fixed array of chunks"
	f := r.d.f
	c, err := f.sealed(r.d.layout.addr, uint64(12+f.lengthSize+f.offsetSize), "FAHD", what)
	if err != nil {
		return err
	}
	if v := c.u8(); v != 0 {
		return unsupported("%s has version %d; 0 is read", what, v)
	}
	client, width, pageBits := c.u8(), int(c.u8()), c.u8()
	n, addr := c.length(), c.addr()
	if err := r.checkElement(client, width); err != nil {
		return err
	}
	if addr == undefined {
		return nil
	}
	if n > uint64(f.size)/uint64(f.offsetSize) || pageBits > 63 {
		return errorf("%s of %d elements is larger than the file", what, n)
	}
	a := arrayPages{r: r, width: width, numbering: newNumbering(r.maxGrid(), -1)}
	head := uint64(6 + f.offsetSize)
	page := uint64(1) << pageBits
	if n <= page {
		c, err := f.sealed(addr, head+n*uint64(width)+4, "FADB", what)
		if err != nil {
			return err
		}
		c.skip(head - 4)
		a.elements(c, 0, n)
		return c.err(what)
	}
	pages := (n-1)/page + 1
	bitmap := (pages + 7) / 8
	if c, err = f.sealed(addr, head+bitmap+4, "FADB", what); err != nil {
		return err
	}
	c.skip(head - 4)
	return a.pages(addr+head+bitmap+4, c.b, 0, n, page)
}

// arrayPages reads elements of an array, be they in pages or not.
type arrayPages struct {
	r         *indexReader
	width     int
	numbering numbering
}

// elements reads n elements from number first on.
func (a *arrayPages) elements(c *cursor, first, n uint64) {
	for i := range n {
		b := c.take(uint64(a.width))
		if b == nil {
			return
		}
		if place, ok := a.numbering.place(first + i); ok {
			a.r.element(&cursor{b: b, f: c.f}, a.width, place)
		}
	}
}

// pages reads n elements, from number first on, in pages that lie one after the other. Those whose
// bit in the bitmap is not set were never written.
func (a *arrayPages) pages(addr uint64, bitmap []byte, first, n, page uint64) error {
	const what = "a page of an array of chunks"
	for i := uint64(0); i*page < n; i++ {
		if i/8 >= uint64(len(bitmap)) {
			return errorf("the bitmap of the pages of an array of chunks is cut short")
		}
		if bitmap[i/8]&(0x80>>(i%8)) == 0 {
			continue
		}
		held := min(page, n-i*page)
		b, err := a.r.d.f.read(addr+i*(page*uint64(a.width)+4), held*uint64(a.width)+4, what)
		if err != nil {
			return err
		}
		if b, err = a.r.d.f.unseal(b, what); err != nil {
			return err
		}
		a.elements(&cursor{b: b, f: a.r.d.f}, first+i*page, held)
	}
	return nil
}

// numbering translates the numbers of the elements of an array into places in the grid. The
// dimension that has no maximum, if there is one, is the slowest.
type numbering struct {
	grid  []uint64 // by speed, slowest first
	order []int    // the dimension that each is
	at    []uint64
}

// newNumbering makes the numbering of a grid whose dimension slow (-1: none) comes first.
func newNumbering(grid []uint64, slow int) numbering {
	m := numbering{at: make([]uint64, len(grid))}
	if slow >= 0 {
		m.order = append(m.order, slow)
	}
	for i := range grid {
		if i != slow {
			m.order = append(m.order, i)
		}
	}
	for _, i := range m.order {
		m.grid = append(m.grid, grid[i])
	}
	return m
}

// place returns where in the grid an element is. The result is valid until the next call.
func (m *numbering) place(number uint64) (place []uint64, ok bool) {
	for k := len(m.order) - 1; k > 0; k-- {
		n := m.grid[k]
		if n == 0 {
			return nil, false
		}
		m.at[m.order[k]] = number % n
		number /= n
	}
	m.at[m.order[0]] = number
	return m.at, true
}

// btree2 reads an index that is a B-tree of version 2, for datasets with more than one
// dimension that may grow.
func (r *indexReader) btree2() error {
	kind := byte(btreeChunks)
	if r.filtered {
		kind = btreeFilteredChunks
	}
	rank := len(r.d.layout.chunk)
	place := make([]uint64, rank)
	f := r.d.f
	return f.btree2(r.d.layout.addr, kind, func(c *cursor) error {
		addr, size, mask := c.addr(), r.d.layout.chunkBytes, uint32(0)
		if r.filtered {
			width := len(c.b) - 4 - 8*rank
			if width < 1 || width > 8 {
				return errorf("a record of a B-tree of chunks has sizes of %d bytes", width)
			}
			size, mask = c.uint(width), c.u32()
		}
		for i := range place {
			place[i] = c.uint(8)
		}
		r.addAt(place, addr, size, mask)
		return nil
	})
}
