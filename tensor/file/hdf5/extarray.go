package hdf5

import "math/bits"

// extArray is an extensible array (III.H, "Extensible Array Index"), the index of datasets with one dimension
// that may grow without end. The first elements are in the index block. The next are in data blocks that the
// index block lists, and all others in data blocks that secondary blocks list. In secondary block u there
// are 2^(u/2) data blocks of 2^((u+1)/2) times the smallest size; large data blocks are cut into pages.
type extArray struct {
	arrayPages
	f          *File
	seen       visited
	inIndex    uint64 // elements in the index block
	minBlock   uint64 // elements of the smallest data block
	page       uint64 // elements of a page
	blockWidth int    // of offsets of blocks in the array
}

func (r *indexReader) extArray() error {
	const what = "an extensible array of chunks"
	f := r.d.f
	c, err := f.sealed(r.d.layout.addr, uint64(16+6*f.lengthSize+f.offsetSize), "EAHD", what)
	if err != nil {
		return err
	}
	if v := c.u8(); v != 0 {
		return unsupported("%s has version %d; 0 is read", what, v)
	}
	client, width := c.u8(), int(c.u8())
	countBits, inIndex, minBlock, minPointers, pageBits := int(c.u8()), c.u8(), uint64(c.u8()), uint64(c.u8()), c.u8()
	for range 6 {
		c.length() // statistics
	}
	index := c.addr()
	if err := r.checkElement(client, width); err != nil {
		return err
	}
	if bits.OnesCount64(minBlock) != 1 || bits.OnesCount64(minPointers) != 1 || countBits < bits.Len64(minBlock)-1 || countBits > 64 || pageBits > 32 {
		return errorf("%s cannot have %d bits, blocks of %d, %d pointers and pages of 2^%d", what, countBits, minBlock, minPointers, pageBits)
	}
	if index == undefined {
		return nil
	}
	slow := -1
	for i, most := range r.d.space.max {
		if most == undefined && slow >= 0 {
			return errorf("%s needs one dimension without a maximum, there are more", what)
		}
		if most == undefined {
			slow = i
		}
	}
	a := extArray{
		arrayPages: arrayPages{r: r, width: width, numbering: newNumbering(r.maxGrid(), slow)},
		f:          f,
		seen:       visited{},
		inIndex:    uint64(inIndex),
		minBlock:   minBlock,
		page:       1 << pageBits,
		blockWidth: (countBits + 7) / 8,
	}
	return a.indexBlock(index, countBits, minPointers)
}

// indexBlock reads the index block and all that it lists.
func (a *extArray) indexBlock(addr uint64, countBits int, minPointers uint64) error {
	const what = "the index block of an extensible array"
	secondaries := 1 + countBits - (bits.Len64(a.minBlock) - 1)
	direct := min(2*(bits.Len64(minPointers)-1), secondaries) // whose data blocks are listed here
	blocks := 2 * (minPointers - 1)
	n := uint64(6+a.f.offsetSize) + a.inIndex*uint64(a.width) + (blocks+uint64(secondaries-direct))*uint64(a.f.offsetSize) + 4
	c, err := a.f.sealed(addr, n, "EAIB", what)
	if err != nil {
		return err
	}
	c.skip(uint64(2 + a.f.offsetSize))
	a.elements(c, 0, a.inIndex)
	first := a.inIndex
	for u := range direct {
		count, held := a.sizes(u)
		for range count {
			if err := a.dataBlock(c.addr(), first, held, nil); err != nil {
				return err
			}
			first += held
		}
	}
	for u := direct; u < secondaries; u++ {
		count, held := a.sizes(u)
		if err := a.secondary(c.addr(), first, count, held); err != nil {
			return err
		}
		first += count * held
	}
	return c.err(what)
}

// sizes returns how many data blocks secondary block u has, and how many elements each of them.
func (a *extArray) sizes(u int) (blocks, elements uint64) {
	return 1 << (u / 2), a.minBlock << ((u + 1) / 2)
}

// secondary reads a secondary block and the data blocks that it lists.
func (a *extArray) secondary(addr, first, count, held uint64) error {
	const what = "a secondary block of an extensible array"
	if addr == undefined {
		return nil
	}
	if err := a.seen.add(addr, what); err != nil {
		return err
	}
	pages := uint64(0) // of a data block
	if held > a.page {
		pages = held / a.page
	}
	over, bitmap := bits.Mul64(count, (pages+7)/8)
	if count > uint64(a.f.size) || over != 0 || bitmap > uint64(a.f.size) {
		return errorf("%s lists %d blocks of %d elements, more than the file holds", what, count, held)
	}
	head := uint64(6 + a.f.offsetSize + a.blockWidth)
	c, err := a.f.sealed(addr, head+bitmap+count*uint64(a.f.offsetSize)+4, "EASB", what)
	if err != nil {
		return err
	}
	c.skip(head - 4)
	written := c.take(bitmap)
	for i := range count {
		// The bits of the pages of all blocks follow each other without gaps.
		if err := a.dataBlock(c.addr(), first, held, bitsFrom(written, i*pages, pages)); err != nil {
			return err
		}
		first += held
	}
	return c.err(what)
}

// bitsFrom returns n bits of a bitmap, the highest of a byte first, from one on.
func bitsFrom(bitmap []byte, from, n uint64) []byte {
	out := make([]byte, (n+7)/8)
	for i := range n {
		if at := from + i; bitmap[at/8]&(0x80>>(at%8)) != 0 {
			out[i/8] |= 0x80 >> (i % 8)
		}
	}
	return out
}

// dataBlock reads a data block of elements, from number first on, in pages if a bitmap says which were written.
func (a *extArray) dataBlock(addr, first, held uint64, written []byte) error {
	const what = "a data block of an extensible array"
	if addr == undefined {
		return nil
	}
	if err := a.seen.add(addr, what); err != nil {
		return err
	}
	head := uint64(6 + a.f.offsetSize + a.blockWidth)
	if len(written) > 0 {
		c, err := a.f.sealed(addr, head+4, "EADB", what)
		if err != nil {
			return err
		}
		c.skip(head - 4)
		return a.pages(addr+head+4, written, first, held, a.page)
	}
	if held > uint64(a.f.size) {
		return errorf("%s has %d elements, more than the file holds", what, held)
	}
	c, err := a.f.sealed(addr, head+held*uint64(a.width)+4, "EADB", what)
	if err != nil {
		return err
	}
	c.skip(head - 4)
	a.elements(c, first, held)
	return c.err(what)
}
