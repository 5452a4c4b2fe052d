package hdf5

import (
	"bytes"
	"fmt"
)

// link is an entry of a group.
type link struct {
	addr      uint64 // of the object header, for a hard link
	elsewhere string // what another link is: "a soft link to …"
}

// maxName bounds the names of links and attributes. The format has no bound; with
// this one, finding the ends of names cannot take much longer than reading the file.
const maxName = 4096

// links returns the entries of the group by name. They are kept, as paths are looked up again and again.
func (g *Group) links() (map[string]link, error) {
	g.f.treeMu.Lock()
	defer g.f.treeMu.Unlock()
	r, ok := g.f.links[g.addr]
	if !ok {
		r.value, r.err = g.f.readLinks(g.addr)
		g.f.links[g.addr] = r
	}
	return r.value, r.err
}

// readLinks reads the entries of the group whose object header is at an address.
func (f *File) readLinks(addr uint64) (map[string]link, error) {
	msgs, err := f.header(addr)
	if err != nil {
		return nil, err
	}
	l := linkReader{f: f, links: make(map[string]link)}
	return l.links, l.readAll(msgs)
}

// linkReader gathers the links of a group from wherever they are kept.
type linkReader struct {
	f     *File
	links map[string]link
}

func (l *linkReader) readAll(msgs []message) error {
	for _, m := range msgs {
		var err error
		switch m.typ {
		case msgSymbolTable:
			err = l.symbolTable(m.data)
		case msgLink:
			if m.flags&flagShared != 0 {
				return unsupported("a link is kept in the file's table of shared messages, which is not read")
			}
			err = l.message(m.data)
		case msgLinkInfo:
			err = l.dense(m.data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *linkReader) add(name string, to link) error {
	if _, twice := l.links[name]; twice {
		return errorf("the group has two links named %q", name)
	}
	l.links[name] = to
	return l.f.charge(16) // about the least that a link takes
}

// symbolTable reads an old group (III.A.1, III.B, III.C, III.D): a B-tree of nodes of
// entries, whose names are in a local heap.
func (l *linkReader) symbolTable(data []byte) error {
	c := &cursor{b: data, f: l.f}
	tree, heap := c.addr(), c.addr()
	if err := c.err("the symbol table message"); err != nil {
		return err
	}
	names, err := l.f.localHeap(heap)
	if err != nil {
		return err
	}
	return l.f.btree1(tree, btreeGroup, l.f.lengthSize, func(_ *cursor, child uint64) error {
		return l.symbolNode(child, names)
	})
}

// localHeap returns the data of a local heap.
func (f *File) localHeap(addr uint64) ([]byte, error) {
	const what = "the local heap"
	c, err := f.block(addr, uint64(8+2*f.lengthSize+f.offsetSize), "HEAP", what)
	if err != nil {
		return nil, err
	}
	if v := c.u8(); v != 0 {
		return nil, unsupported("%s has version %d; 0 is read", what, v)
	}
	c.skip(3)
	n := c.length()
	c.length() // of the list of free pieces
	if err := f.charge(min(n, uint64(f.size))); err != nil {
		return nil, err
	}
	return f.read(c.addr(), n, "the data of the local heap")
}

// heapName returns the name at an offset in a local heap.
func heapName(heap []byte, offset uint64) (string, error) {
	if offset >= uint64(len(heap)) {
		return "", errorf("a name is at offset %d of a local heap of %d bytes", offset, len(heap))
	}
	rest := heap[offset:]
	n := bytes.IndexByte(rest[:min(len(rest), maxName+1)], 0)
	if n < 0 {
		return "", errorf("a name in the local heap has no end within %d bytes", maxName)
	}
	return string(rest[:n]), nil
}

// symbolNode reads a node of entries.
func (l *linkReader) symbolNode(addr uint64, names []byte) error {
	const what = "a symbol table node"
	c, err := l.f.block(addr, 8, "SNOD", what)
	if err != nil {
		return err
	}
	if v := c.u8(); v != 1 {
		return unsupported("%s has version %d; 1 is read", what, v)
	}
	c.skip(1)
	n := uint64(c.u16())
	b, err := l.f.read(addr+8, n*uint64(2*l.f.offsetSize+24), what)
	if err != nil {
		return err
	}
	c = &cursor{b: b, f: l.f}
	for range n {
		nameAt, to, cache := c.uint(l.f.offsetSize), c.addr(), c.u32()
		c.skip(4)
		target := uint64(c.u32())
		c.skip(12)
		name, err := heapName(names, nameAt)
		if err != nil {
			return err
		}
		entry := link{addr: to}
		if cache == 2 {
			value, err := heapName(names, target)
			if err != nil {
				return err
			}
			entry.elsewhere = fmt.Sprintf("a soft link to %q", value)
		}
		if err := l.add(name, entry); err != nil {
			return err
		}
	}
	return c.err(what)
}

// message reads a link message (IV.A.2.g).
func (l *linkReader) message(data []byte) error {
	const what = "a link message"
	c := &cursor{b: data, f: l.f}
	if v := c.u8(); v != 1 {
		return unsupported("%s has version %d; 1 is read", what, v)
	}
	flags := c.u8()
	kind := byte(0)
	if flags&(1<<3) != 0 {
		kind = c.u8()
	}
	if flags&(1<<2) != 0 {
		c.skip(8) // creation order
	}
	if flags&(1<<4) != 0 {
		c.skip(1) // character set
	}
	n := c.uint(1 << (flags & 3))
	if n > maxName {
		return unsupported("the name of a link has %d bytes; %d is the most that is read", n, maxName)
	}
	name := string(c.take(n))
	var to link
	switch kind {
	case 0:
		to.addr = c.addr()
	case 1:
		to.elsewhere = fmt.Sprintf("a soft link to %q", short(c.take(uint64(c.u16()))))
	case 64:
		value := c.take(uint64(c.u16()))
		if len(value) > 0 {
			value = value[1:] // version and flags
		}
		file, path, _ := bytes.Cut(value, []byte{0})
		to.elsewhere = fmt.Sprintf("an external link to %q in the file %q", short(bytes.TrimRight(path, "\x00")), short(file))
	default:
		to.elsewhere = fmt.Sprintf("a link of type %d", kind)
	}
	if err := c.err(what); err != nil {
		return err
	}
	return l.add(name, to)
}

// short cuts a text for a message.
func short(b []byte) []byte { return b[:min(len(b), 200)] }

// dense reads a link info message (IV.A.2.c) and the links of the fractal heap that it names, if it does.
func (l *linkReader) dense(data []byte) error {
	c := &cursor{b: data, f: l.f}
	if v := c.u8(); v != 0 {
		return unsupported("the link info message has version %d; 0 is read", v)
	}
	if flags := c.u8(); flags&1 != 0 {
		c.skip(8) // largest creation order
	}
	heap, tree := c.addr(), c.addr()
	if err := c.err("the link info message"); err != nil {
		return err
	}
	if heap == undefined {
		return nil
	}
	h, err := l.f.fractalHeap(heap)
	if err != nil {
		return err
	}
	return l.f.btree2(tree, btreeLinkNames, func(c *cursor) error {
		c.skip(4) // hash of the name
		data, err := h.object(c.take(7))
		if err != nil {
			return err
		}
		return l.message(data)
	})
}
