package hdf5

import "math/bits"

// fractalHeap holds the links or attributes of an object that has many (III.G).
type fractalHeap struct {
	f           *File
	addr        uint64
	idLength    int
	checksummed bool   // direct blocks have a checksum
	offsetWidth int    // of offsets in the heap
	lengthWidth int    // of lengths of its objects
	width       uint64 // blocks in a row
	start       uint64 // size of blocks in the first two rows; doubles from there
	maxDirect   uint64 // size of the largest direct blocks
	root        uint64
	rootRows    int    // rows of the root if it is an indirect block, else 0
	hugeTree    uint64 // B-tree of objects outside the heap

	blocks map[uint64][]byte // direct blocks by address
	huge   map[uint64]span   // objects outside the heap by their ids, once they were needed
}

// fractalHeap reads the header of the heap at an address. f.treeMu must be held.
func (f *File) fractalHeap(addr uint64) (*fractalHeap, error) {
	if h, ok := f.heaps[addr]; ok {
		return h, nil
	}
	const what = "the header of a fractal heap"
	c, err := f.sealed(addr, uint64(26+12*f.lengthSize+3*f.offsetSize), "FRHP", what)
	if err != nil {
		// A header with filters is longer, and its checksum elsewhere.
		if plain, e := f.block(addr, 9, "FRHP", what); e == nil {
			if plain.skip(3); plain.u16() != 0 {
				return nil, unsupported("a heap of links or attributes is compressed")
			}
		}
		return nil, err
	}
	if v := c.u8(); v != 0 {
		return nil, unsupported("%s has version %d; 0 is read", what, v)
	}
	h := &fractalHeap{f: f, addr: addr, blocks: make(map[uint64][]byte)}
	h.idLength = int(c.u16())
	if c.u16() != 0 {
		return nil, unsupported("a heap of links or attributes is compressed")
	}
	h.checksummed = c.u8()&2 != 0
	maxManaged := uint64(c.u32())
	c.length() // next id of a huge object
	h.hugeTree = c.addr()
	c.length() // free space
	c.addr()   // its manager
	for range 8 {
		c.length() // statistics
	}
	h.width, h.start, h.maxDirect = uint64(c.u16()), c.length(), c.length()
	heapBits, _ := int(c.u16()), c.u16()
	h.root, h.rootRows = c.addr(), int(c.u16())
	if err := c.err(what); err != nil {
		return nil, err
	}
	for _, n := range []uint64{h.width, h.start, h.maxDirect} {
		if bits.OnesCount64(n) != 1 {
			return nil, errorf("%s has a width or block size of %d, expected a power of 2", what, n)
		}
	}
	if h.maxDirect < h.start || h.start > 1<<32 || h.maxDirect > 1<<32 || heapBits == 0 || heapBits > 64 || h.rootRows > 64 {
		return nil, errorf("%s cannot have blocks of %d to %d bytes, %d rows and offsets of %d bits", what, h.start, h.maxDirect, h.rootRows, heapBits)
	}
	h.offsetWidth = (heapBits + 7) / 8
	h.lengthWidth = min((bits.Len64(h.maxDirect)-1+7)/8, encodedSize(maxManaged))
	f.heaps[addr] = h
	return h, nil
}

// object returns the object of an id (III.G, "Heap ID").
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	if len(id) == 0 {
		return nil, errorf("an id of a fractal heap is missing")
	}
	if id[0]>>6 != 0 {
		return nil, unsupported("an id of a fractal heap has version %d; 0 is read", id[0]>>6)
	}
	c := &cursor{b: id[1:], f: h.f}
	switch id[0] >> 4 & 3 {
	case 0:
		offset, n := c.uint(h.offsetWidth), c.uint(h.lengthWidth)
		if err := c.err("an id of a fractal heap"); err != nil {
			return nil, err
		}
		return h.managed(offset, n)
	case 1:
		return h.outside(c)
	case 2:
		n := uint64(id[0]&15) + 1
		if h.idLength-1 > 16 {
			n = uint64(id[0]&15)<<8 | uint64(c.u8()) + 1
		}
		b := c.take(n)
		return b, c.err("an object in an id of a fractal heap")
	}
	return nil, errorf("an id of a fractal heap has type 3, expected 0 to 2")
}

// managed returns n bytes at an offset of the heap's own space, which is cut into blocks
// by a doubling table: rows of as many blocks each, whose size doubles from the third row on.
func (h *fractalHeap) managed(offset, n uint64) ([]byte, error) {
	if h.rootRows == 0 {
		return h.inBlock(h.root, h.start, 0, offset, n)
	}
	block, rows, begin := h.root, h.rootRows, uint64(0)
	// Each step goes to a smaller block, so there are few of them.
	for range 64 {
		rel := offset - begin
		row, size, rowBegin := 0, h.start, uint64(0)
		if rel >= h.start*h.width {
			row = bits.Len64(rel / (h.start * h.width))
			if row >= 64-bits.Len64(h.start) {
				break
			}
			size = h.start << (row - 1)
			rowBegin = size * h.width
		}
		if row >= rows {
			break
		}
		col := (rel - rowBegin) / size
		child, err := h.entry(block, rows, row, col)
		if err != nil {
			return nil, err
		}
		begin += rowBegin + col*size
		if size <= h.maxDirect {
			return h.inBlock(child, size, begin, offset, n)
		}
		block, rows = child, bits.Len64(size/(h.start*h.width))
	}
	return nil, errorf("an offset of %d is beyond the end of a fractal heap", offset)
}

// entry returns the address of a block that an indirect block with some rows lists.
func (h *fractalHeap) entry(addr uint64, rows, row int, col uint64) (uint64, error) {
	const what = "an indirect block of a fractal heap"
	head := uint64(5 + h.f.offsetSize + h.offsetWidth)
	entries := uint64(rows) * h.width
	b, err := h.block(addr, head+entries*uint64(h.f.offsetSize)+4, "FHIB", what)
	if err != nil {
		return 0, err
	}
	c := &cursor{b: b[head:], f: h.f}
	c.skip((uint64(row)*h.width + col) * uint64(h.f.offsetSize))
	child := c.addr()
	return child, c.err(what)
}

// inBlock returns n bytes at an offset of the heap from a direct block that begins at another.
func (h *fractalHeap) inBlock(addr, size, begin, offset, n uint64) ([]byte, error) {
	const what = "a direct block of a fractal heap"
	if rel := offset - begin; rel > size || n > size-rel {
		return nil, errorf("an object of a fractal heap reaches beyond its block: %d bytes at %d of %d", n, rel, size)
	}
	b, err := h.block(addr, size, "FHDB", what)
	if err != nil {
		return nil, err
	}
	return b[offset-begin:][:n], nil
}

// block reads a block, which names the heap it belongs to, and verifies its checksum.
func (h *fractalHeap) block(addr, size uint64, signature, what string) ([]byte, error) {
	if b, ok := h.blocks[addr]; ok {
		if uint64(len(b)) != size || string(b[:4]) != signature {
			return nil, errorf("%s at address %d is two blocks at once", what, addr)
		}
		return b, nil
	}
	if err := h.f.charge(min(size, uint64(h.f.size))); err != nil {
		return nil, err
	}
	c, err := h.f.block(addr, size, signature, what)
	if err != nil {
		return nil, err
	}
	whole := make([]byte, 0, size)
	whole = append(append(whole, signature...), c.b...)
	if v := c.u8(); v != 0 {
		return nil, unsupported("%s has version %d; 0 is read", what, v)
	}
	if owner := c.addr(); owner != h.addr {
		return nil, errorf("%s at address %d belongs to another heap", what, addr)
	}
	switch {
	case signature == "FHIB":
		if _, err := h.f.unseal(whole, what); err != nil {
			return nil, err
		}
	case h.checksummed:
		// The checksum stands after the block's offset and counts as zeros in itself.
		at := uint64(5 + h.f.offsetSize + h.offsetWidth)
		if size < at+4 {
			return nil, errorf("%s of %d bytes has no room for its checksum", what, size)
		}
		sum := (&cursor{b: whole[at:], f: h.f}).u32()
		clear(whole[at : at+4])
		if err := h.f.verify(sum, whole, what); err != nil {
			return nil, err
		}
	}
	h.blocks[addr] = whole
	return whole, nil
}

// outside returns a huge object, which lies in the file by itself. Its id has its
// address and length if they fit, else a number that a B-tree translates.
func (h *fractalHeap) outside(id *cursor) ([]byte, error) {
	const what = "a huge object of a fractal heap"
	var at span
	if h.idLength-1 >= h.f.offsetSize+h.f.lengthSize {
		at = span{id.addr(), id.length()}
		if err := id.err("an id of a fractal heap"); err != nil {
			return nil, err
		}
	} else {
		if err := h.readHuge(); err != nil {
			return nil, err
		}
		number := id.uint(min(h.idLength-1, h.f.lengthSize, len(id.b)))
		var ok bool
		if at, ok = h.huge[number]; !ok {
			return nil, errorf("a fractal heap has no huge object %d", number)
		}
	}
	if err := h.f.charge(min(at.n, uint64(h.f.size))); err != nil {
		return nil, err
	}
	return h.f.read(at.addr, at.n, what)
}

// readHuge reads the B-tree of huge objects.
func (h *fractalHeap) readHuge() error {
	if h.huge != nil {
		return nil
	}
	huge := make(map[uint64]span)
	err := h.f.btree2(h.hugeTree, btreeHuge, func(c *cursor) error {
		at := span{c.addr(), c.length()}
		huge[c.length()] = at
		return nil
	})
	h.huge = huge
	return err
}
