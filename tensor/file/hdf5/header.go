package hdf5

// The types of header messages that are looked at (IV.A.2).
const (
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgOldFill      = 0x04
	msgFill         = 0x05
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgGroupInfo    = 0x0a
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbolTable  = 0x11
	msgAttrInfo     = 0x15
	msgLast         = 0x18 // the largest type that version 3.0 of the specification knows
)

// Flags of header messages.
const (
	flagShared      = 1 << 1 // the data say where the message is
	flagMustBeKnown = 1 << 7 // readers that do not know the type must refuse
	flagCreateOrder = 1 << 2 // header: messages have a creation order
	flagPhaseChange = 1 << 4 // header: limits for attributes are stored
	flagTimes       = 1 << 5 // header: times are stored
	flagSizeWidth   = 3      // header: log2 of the width of its size
	headerMessageV1 = 8      // bytes before the data of a message
)

// message is one header message.
type message struct {
	typ   uint16
	flags byte
	data  []byte
}

// span is a piece of the file.
type span struct{ addr, n uint64 }

// header reads the messages of the object header at an address (IV.A.1), those in
// continuation blocks included.
func (f *File) header(addr uint64) ([]message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.headers[addr]
	if !ok {
		r.value, r.err = f.readHeader(addr)
		f.headers[addr] = r
	}
	return r.value, r.err
}

func (f *File) readHeader(addr uint64) ([]message, error) {
	const what = "the object header"
	start, err := f.read(addr, 4, what)
	if err != nil {
		return nil, err
	}
	h := headerReader{f: f, seen: visited{}}
	if string(start) == "OHDR" {
		return h.version2(addr)
	}
	if start[0] != 1 {
		return nil, errorf("expected an object header at address %d", addr)
	}
	return h.version1(addr)
}

// headerReader gathers the messages of one header.
type headerReader struct {
	f    *File
	msgs []message
	more []span // continuation blocks to be read
	seen visited
}

func (h *headerReader) version1(addr uint64) ([]message, error) {
	const what = "the object header"
	b, err := h.f.read(addr, 16, what)
	if err != nil {
		return nil, err
	}
	c := &cursor{b: b[8:], f: h.f}
	h.more = append(h.more, span{addr + 16, uint64(c.u32())})
	for len(h.more) > 0 {
		at := h.more[0]
		h.more = h.more[1:]
		if err := h.enter(at); err != nil {
			return nil, err
		}
		b, err := h.f.read(at.addr, at.n, what)
		if err != nil {
			return nil, err
		}
		c := &cursor{b: b, f: h.f}
		for len(c.b) >= headerMessageV1 {
			typ, n, flags := c.u16(), c.u16(), c.u8()
			c.skip(3)
			if err := h.add(typ, flags, c.take(uint64(n))); err != nil {
				return nil, err
			}
			if err := c.err("a message of the object header"); err != nil {
				return nil, err
			}
		}
	}
	return h.msgs, nil
}

func (h *headerReader) version2(addr uint64) ([]message, error) {
	const what = "the object header"
	// Of the prefix, the flags say how long it is.
	b, err := h.f.read(addr, 6, what)
	if err != nil {
		return nil, err
	}
	if b[4] != 2 {
		return nil, unsupported("the object header has version %d; 1 and 2 are read", b[4])
	}
	flags := b[5]
	prefix := uint64(6)
	if flags&flagTimes != 0 {
		prefix += 16
	}
	if flags&flagPhaseChange != 0 {
		prefix += 4
	}
	width := 1 << (flags & flagSizeWidth)
	if b, err = h.f.read(addr+prefix, uint64(width), what); err != nil {
		return nil, err
	}
	size := (&cursor{b: b}).uint(width)
	prefix += uint64(width)
	if size > uint64(h.f.size) {
		return nil, errorf("the object header says it has %d bytes, the file has %d", size, h.f.size)
	}
	h.more = append(h.more, span{addr, prefix + size + 4})
	for first := true; len(h.more) > 0; first = false {
		at := h.more[0]
		h.more = h.more[1:]
		if err := h.enter(at); err != nil {
			return nil, err
		}
		signature := "OCHK"
		if first {
			signature = "OHDR"
		}
		c, err := h.f.sealed(at.addr, at.n, signature, what)
		if err != nil {
			return nil, err
		}
		if first {
			c.skip(prefix - 4)
		}
		head := 4
		if flags&flagCreateOrder != 0 {
			head = 6
		}
		for len(c.b) >= head { // what is left is a gap
			typ, n, mflags := c.u8(), c.u16(), c.u8()
			c.skip(uint64(head - 4))
			if err := h.add(uint16(typ), mflags, c.take(uint64(n))); err != nil {
				return nil, err
			}
			if err := c.err("a message of the object header"); err != nil {
				return nil, err
			}
		}
	}
	return h.msgs, nil
}

// enter notes that a block is going to be read.
func (h *headerReader) enter(at span) error {
	if err := h.seen.add(at.addr, "a block of the object header"); err != nil {
		return err
	}
	if _, err := h.f.within(at.addr, at.n, "the object header"); err != nil {
		return err
	}
	return h.f.charge(at.n)
}

func (h *headerReader) add(typ uint16, flags byte, data []byte) error {
	switch {
	case typ == 0: // nothing: a gap
	case typ == msgContinuation:
		c := &cursor{b: data, f: h.f}
		h.more = append(h.more, span{c.addr(), c.length()})
		return c.err("a continuation message")
	case typ > msgLast && flags&flagMustBeKnown != 0:
		return unsupported("the object header has a message of type %#x, which readers must know", typ)
	default:
		h.msgs = append(h.msgs, message{typ, flags, data})
	}
	return nil
}

// find returns the data of the first message of a type. If the message is kept
// elsewhere, it is fetched from there.
func (f *File) find(msgs []message, typ uint16) (data []byte, ok bool, err error) {
	for _, m := range msgs {
		if m.typ != typ {
			continue
		}
		data := m.data
		if m.flags&flagShared != 0 {
			data, err = f.shared(m.data, typ)
		}
		return data, true, err
	}
	return nil, false, nil
}

// shared follows a shared message (IV.A.2, "Shared Message") to the object header that has it,
// as that of a committed datatype.
func (f *File) shared(data []byte, typ uint16) ([]byte, error) {
	c := &cursor{b: data, f: f}
	version, kind := c.u8(), c.u8()
	switch version {
	case 1:
		c.skip(6)
	case 2, 3:
	default:
		return nil, unsupported("a shared message has version %d; 1 to 3 are read", version)
	}
	if version == 3 && kind == 1 {
		return nil, unsupported("a message is kept in the file's table of shared messages, which is not read")
	}
	addr := c.addr()
	if err := c.err("a shared message"); err != nil {
		return nil, err
	}
	msgs, err := f.header(addr)
	if err != nil {
		return nil, err
	}
	for _, m := range msgs {
		if m.typ == typ && m.flags&flagShared == 0 {
			return m.data, nil
		}
	}
	return nil, errorf("a message is shared with the object at address %d, which has none of its type", addr)
}
