package hdf5

import "sync"

// globalHeap reads the collections of objects that elements of variable length refer to (III.E).
type globalHeap struct {
	f           *File
	mu          sync.Mutex // guards what follows
	collections map[uint64]result[map[uint32]string]
	total       uint64 // bytes of collections
}

func newGlobalHeap(f *File) *globalHeap {
	return &globalHeap{f: f, collections: make(map[uint64]result[map[uint32]string])}
}

// text returns the string that an element of variable length refers to.
func (g *globalHeap) text(element []byte) (string, error) {
	c := &cursor{b: element, f: g.f}
	n, addr, index := c.u32(), c.addr(), c.u32()
	if err := c.err("a reference to a string"); err != nil {
		return "", err
	}
	if n == 0 || addr == undefined || addr == 0 {
		return "", nil
	}
	g.mu.Lock()
	objects, ok := g.collections[addr]
	if !ok {
		objects.value, objects.err = g.collection(addr)
		g.collections[addr] = objects
	}
	g.mu.Unlock()
	if objects.err != nil {
		return "", objects.err
	}
	s, ok := objects.value[index]
	if !ok {
		return "", errorf("a string is object %d of a global heap that has none of that number", index)
	}
	if uint64(n) > uint64(len(s)) {
		return "", errorf("a string of %d bytes is in an object of %d", n, len(s))
	}
	return trim(s[:n], padNullTerm), nil
}

// collection reads the objects of a collection. They share one string, so
// that many references to one object cost no more than one.
func (g *globalHeap) collection(addr uint64) (map[uint32]string, error) {
	const what = "a collection of the global heap"
	head := uint64(8+g.f.lengthSize+7) &^ 7 // of the collection, and of an object: padded
	c, err := g.f.block(addr, head, "GCOL", what)
	if err != nil {
		return nil, err
	}
	if v := c.u8(); v != 1 {
		return nil, unsupported("%s has version %d; 1 is read", what, v)
	}
	c.skip(3)
	size := c.length()
	if size < head {
		return nil, errorf("%s has %d bytes, fewer than its header", what, size)
	}
	if g.total += min(size, uint64(g.f.size)); g.total > uint64(g.f.size) {
		return nil, errorf("collections of the global heap overlap")
	}
	b, err := g.f.read(addr, size, what)
	if err != nil {
		return nil, err
	}
	text := string(b)
	objects := make(map[uint32]string)
	for at := head; size-at >= head; {
		c := &cursor{b: b[at:], f: g.f}
		index := c.u16()
		c.skip(6)
		n := c.length()
		if index == 0 { // what is left is free
			break
		}
		at += head
		if n > size-at {
			return nil, errorf("an object of %d bytes reaches beyond %s", n, what)
		}
		objects[uint32(index)] = text[at : at+n]
		at += min((n+7)&^7, size-at)
	}
	return objects, nil
}
