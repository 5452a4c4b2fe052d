package hdf5

import "math/bits"

// Types of B-tree version 1 (III.A.1).
const (
	btreeGroup = 0
	btreeChunk = 1
)

// btree1 calls visit for each child of the leaves of a B-tree of version 1, in order, with
// the key before it, of keySize bytes.
func (f *File) btree1(addr uint64, kind byte, keySize int, visit func(key *cursor, child uint64) error) error {
	t := btree1{f: f, kind: kind, keySize: keySize, visit: visit, seen: visited{}}
	return t.node(addr, -1)
}

type btree1 struct {
	f       *File
	kind    byte
	keySize int
	visit   func(key *cursor, child uint64) error
	seen    visited
}

// node reads a node, which must be on a level, or any if it is negative. Levels fall by one
// from a node to its children, so there are at most 256 of them.
func (t *btree1) node(addr uint64, level int) error {
	const what = "a node of a B-tree"
	if err := t.seen.add(addr, what); err != nil {
		return err
	}
	head := uint64(8 + 2*t.f.offsetSize)
	c, err := t.f.block(addr, head, "TREE", what)
	if err != nil {
		return err
	}
	kind, at, used := c.u8(), int(c.u8()), uint64(c.u16())
	if kind != t.kind {
		return errorf("%s has type %d, expected %d", what, kind, t.kind)
	}
	if level >= 0 && at != level {
		return errorf("%s is on level %d, expected %d", what, at, level)
	}
	size := used * uint64(t.keySize+t.f.offsetSize)
	if t.kind != btreeChunk { // an index of chunks is not kept, but read as often as the data
		if err := t.f.charge(size); err != nil {
			return err
		}
	}
	b, err := t.f.read(addr+head, size, what)
	if err != nil {
		return err
	}
	c = &cursor{b: b, f: t.f}
	for range used {
		key := &cursor{b: c.take(uint64(t.keySize)), f: t.f}
		child := c.addr()
		if at > 0 {
			err = t.node(child, at-1)
		} else {
			err = t.visit(key, child)
		}
		if err != nil {
			return err
		}
	}
	return c.err(what)
}

// Types of B-tree version 2 (III.A.2).
const (
	btreeHuge            = 1  // objects of a fractal heap that are kept outside it
	btreeLinkNames       = 5  // links by the hash of their names
	btreeAttrNames       = 8  // attributes by the hash of their names
	btreeChunks          = 10 // chunks without filters
	btreeFilteredChunks  = 11 // chunks with filters
	btree2NodeOverhead   = 10 // signature, version, type and checksum of a node
	btree2MaxDepth       = 32
	btree2HeaderOverhead = 22 // the header without its address and length
)

// btree2 calls visit for each record of a B-tree of version 2, in order.
func (f *File) btree2(addr uint64, kind byte, visit func(record *cursor) error) error {
	const what = "the header of a B-tree"
	c, err := f.sealed(addr, uint64(btree2HeaderOverhead+f.offsetSize+f.lengthSize), "BTHD", what)
	if err != nil {
		return err
	}
	if v := c.u8(); v != 0 {
		return unsupported("%s has version %d; 0 is read", what, v)
	}
	if k := c.u8(); k != kind {
		return errorf("%s has type %d, expected %d", what, k, kind)
	}
	nodeSize, recordSize, depth := uint64(c.u32()), uint64(c.u16()), int(c.u16())
	c.skip(2)
	root, records := c.addr(), uint64(c.u16())
	if recordSize == 0 || nodeSize <= btree2NodeOverhead || depth > btree2MaxDepth {
		return errorf("a B-tree cannot have nodes of %d bytes, records of %d bytes and depth %d", nodeSize, recordSize, depth)
	}
	if records == 0 {
		return nil
	}
	t := btree2{f: f, kind: kind, recordSize: recordSize, visit: visit, seen: visited{}}
	t.widths(nodeSize, depth)
	return t.node(root, records, depth)
}

type btree2 struct {
	f          *File
	kind       byte
	recordSize uint64
	countWidth int   // of the number of records of a child
	totalWidth []int // of the number of records below a child, by the child's depth; 0 for leaves
	visit      func(record *cursor) error
	seen       visited
}

// widths computes how wide the numbers in child pointers are: as wide as the most records
// that nodes can have (III.A.2, as H5B2__hdr_init of the HDF5 library does it).
func (t *btree2) widths(nodeSize uint64, depth int) {
	most := (nodeSize - btree2NodeOverhead) / t.recordSize
	t.countWidth = encodedSize(most)
	t.totalWidth = []int{0}
	total := most
	for d := 1; d <= depth; d++ {
		pointer := uint64(t.f.offsetSize + t.countWidth + t.totalWidth[d-1])
		var most uint64
		if nodeSize > btree2NodeOverhead+pointer {
			most = (nodeSize - btree2NodeOverhead - pointer) / (t.recordSize + pointer)
		}
		hi, lo := bits.Mul64(most+1, total)
		sum, carry := bits.Add64(lo, most, 0)
		if hi != 0 || carry != 0 {
			sum = ^uint64(0)
		}
		total = sum
		t.totalWidth = append(t.totalWidth, encodedSize(total))
	}
}

// encodedSize is the number of bytes in which numbers up to limit are stored.
func encodedSize(limit uint64) int {
	if limit == 0 {
		return 1
	}
	return (bits.Len64(limit)-1)/8 + 1
}

func (t *btree2) node(addr, records uint64, depth int) error {
	const what = "a node of a B-tree"
	if err := t.seen.add(addr, what); err != nil {
		return err
	}
	signature, size := "BTLF", btree2NodeOverhead+records*t.recordSize
	if depth > 0 {
		signature = "BTIN"
		size += (records + 1) * uint64(t.f.offsetSize+t.countWidth+t.totalWidth[depth-1])
	}
	if t.kind != btreeChunks && t.kind != btreeFilteredChunks {
		if err := t.f.charge(min(size, uint64(t.f.size))); err != nil {
			return err
		}
	}
	c, err := t.f.sealed(addr, size, signature, what)
	if err != nil {
		return err
	}
	if v, k := c.u8(), c.u8(); v != 0 || k != t.kind {
		return errorf("%s has version %d and type %d, expected 0 and %d", what, v, k, t.kind)
	}
	held := &cursor{b: c.take(records * t.recordSize), f: t.f}
	for i := uint64(0); ; i++ {
		if depth > 0 {
			child, n := c.addr(), c.uint(t.countWidth)
			c.skip(uint64(t.totalWidth[depth-1]))
			if c.bad || n > uint64(t.f.size) {
				return errorf("a child of %s has %d records, more than the file can hold", what, n)
			}
			if err := t.node(child, n, depth-1); err != nil {
				return err
			}
		}
		if i == records {
			return nil
		}
		record := &cursor{b: held.take(t.recordSize), f: t.f}
		if err := t.visit(record); err != nil {
			return err
		}
		if err := record.err("a record of a B-tree"); err != nil {
			return err
		}
	}
}
