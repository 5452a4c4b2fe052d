package hdf5

import (
	"slices"
)

// Attr is a small array with a name, attached to an object.
type Attr struct {
	f     *File
	path  string // of the object, with the attribute's name, for messages
	name  string
	typ   Type
	space space
	data  []byte // in the byte order of the file
}

// AttrNames lists the object's attributes, sorted. Attributes whose values cannot be read are listed too.
func (o *object) AttrNames() ([]string, error) {
	attrs, err := o.attrs()
	if err != nil {
		return nil, at(o.path, err)
	}
	return sortedKeys(attrs), nil
}

// Attr returns an attribute. The error wraps ErrNotFound if there is none of this name.
func (o *object) Attr(name string) (*Attr, error) {
	attrs, err := o.attrs()
	if err != nil {
		return nil, at(o.path, err)
	}
	path := o.path + "@" + name
	data, ok := attrs[name]
	if !ok {
		return nil, &Error{Path: path, Msg: "there is no such attribute", Err: ErrNotFound}
	}
	c := &cursor{b: data, f: o.f}
	head, err := parseAttrHead(c)
	if err != nil {
		return nil, at(path, err)
	}
	a, err := head.read(c)
	if err != nil {
		return nil, at(path, err)
	}
	a.path = path
	return a, nil
}

// attrIndex returns the attribute messages of the object by name.
func (o *object) attrIndex() (map[string][]byte, error) {
	msgs, err := o.attrMessages()
	if err != nil {
		return nil, err
	}
	index := make(map[string][]byte, len(msgs))
	for _, m := range msgs {
		head, err := parseAttrHead(&cursor{b: m.data, f: o.f})
		if err != nil {
			return nil, err
		}
		if _, twice := index[head.name]; twice {
			return nil, errorf("there are two attributes named %q", short([]byte(head.name)))
		}
		index[head.name] = m.data
	}
	return index, nil
}

// attrMessages returns the attribute messages of the object, be they in its header or in a heap.
func (o *object) attrMessages() ([]message, error) {
	msgs, err := o.f.header(o.addr)
	if err != nil {
		return nil, err
	}
	var attrs []message
	for _, m := range msgs {
		switch m.typ {
		case msgAttribute:
			attrs = append(attrs, m)
		case msgAttrInfo:
			dense, err := o.denseAttrs(m.data)
			if err != nil {
				return nil, err
			}
			attrs = append(attrs, dense...)
		}
	}
	for _, m := range attrs {
		if m.flags&flagShared != 0 {
			return nil, unsupported("an attribute is kept in the file's table of shared messages, which is not read")
		}
	}
	return attrs, nil
}

// denseAttrs reads an attribute info message (IV.A.2.v) and the attributes in the heap that it names, if it does.
func (o *object) denseAttrs(data []byte) ([]message, error) {
	c := &cursor{b: data, f: o.f}
	if v := c.u8(); v != 0 {
		return nil, unsupported("the attribute info message has version %d; 0 is read", v)
	}
	if flags := c.u8(); flags&1 != 0 {
		c.skip(2) // largest creation index
	}
	heap, tree := c.addr(), c.addr()
	if err := c.err("the attribute info message"); err != nil {
		return nil, err
	}
	if heap == undefined {
		return nil, nil
	}
	o.f.treeMu.Lock()
	defer o.f.treeMu.Unlock()
	r, ok := o.f.attrs[o.addr]
	if !ok {
		r.value, r.err = o.f.readDenseAttrs(heap, tree)
		o.f.attrs[o.addr] = r
	}
	return r.value, r.err
}

// readDenseAttrs reads the attribute messages of a heap, by the B-tree of their names.
func (f *File) readDenseAttrs(heap, tree uint64) ([]message, error) {
	h, err := f.fractalHeap(heap)
	if err != nil {
		return nil, err
	}
	var attrs []message
	err = f.btree2(tree, btreeAttrNames, func(c *cursor) error {
		id, flags := c.take(8), c.u8()
		data, err := h.object(id)
		if err != nil {
			return err
		}
		attrs = append(attrs, message{msgAttribute, flags, data})
		return f.charge(16) // about the least that an attribute takes
	})
	return attrs, err
}

// attrHead is the beginning of an attribute message (IV.A.2.m).
type attrHead struct {
	name                string
	sharedType          bool
	sharedSpace         bool
	typeSize, spaceSize uint64
	pad                 uint64 // the type and the space are padded to multiples of it
}

func parseAttrHead(c *cursor) (attrHead, error) {
	const what = "an attribute message"
	version, flags := c.u8(), c.u8()
	h := attrHead{pad: 1}
	switch version {
	case 1:
		h.pad, flags = 8, 0
	case 2, 3:
	default:
		return h, unsupported("%s has version %d; 1 to 3 are read", what, version)
	}
	h.sharedType, h.sharedSpace = flags&1 != 0, flags&2 != 0
	nameSize := uint64(c.u16())
	h.typeSize, h.spaceSize = uint64(c.u16()), uint64(c.u16())
	if version == 3 {
		c.skip(1) // character set of the name
	}
	name := &cursor{b: c.take(h.padded(nameSize))}
	h.name = name.text()
	if name.bad || c.bad {
		return h, errorf("%s has a name without an end", what)
	}
	return h, nil
}

func (h attrHead) padded(n uint64) uint64 { return (n + h.pad - 1) / h.pad * h.pad }

// read reads the rest of the message.
func (h attrHead) read(c *cursor) (*Attr, error) {
	const what = "an attribute message"
	a := &Attr{f: c.f, name: h.name}
	typ, space := c.take(h.padded(h.typeSize)), c.take(h.padded(h.spaceSize))
	if err := c.err(what); err != nil {
		return nil, err
	}
	var err error
	if h.sharedType {
		if typ, err = c.f.shared(typ, msgDatatype); err != nil {
			return nil, err
		}
	}
	if h.sharedSpace {
		return nil, unsupported("the dataspace of an attribute is shared")
	}
	if a.typ, err = parseType(&cursor{b: typ, f: c.f}, 0); err != nil {
		return nil, err
	}
	if a.space, err = parseSpace(&cursor{b: space, f: c.f}); err != nil {
		return nil, err
	}
	_, size, err := a.space.count(a.typ.Size)
	if err != nil {
		return nil, err
	}
	a.data = c.take(uint64(size))
	return a, c.err(what)
}

// Name returns the attribute's name.
func (a *Attr) Name() string { return a.name }

// Dims returns the shape: empty for a scalar.
func (a *Attr) Dims() []uint64 { return slices.Clone(a.space.dims) }

// Type returns the type of the elements.
func (a *Attr) Type() Type { return a.typ }

// Bytes returns the elements as Dataset.ReadInto would.
func (a *Attr) Bytes() ([]byte, error) {
	if err := a.typ.readable(); err != nil {
		return nil, at(a.path, err)
	}
	b := slices.Clone(a.data)
	a.typ.toNative(b)
	return b, nil
}

// Text returns the string of an attribute that is a scalar or has one element,
// of fixed or variable length, without its padding.
func (a *Attr) Text() (string, error) {
	all, err := a.Texts()
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", at(a.path, errorf("has %d strings, expected 1", len(all)))
	}
	return all[0], nil
}

// Texts returns all strings of an attribute of strings.
func (a *Attr) Texts() ([]string, error) {
	all, err := a.typ.texts(a.f.attrTexts, a.data)
	return all, at(a.path, err)
}

// Ints returns the elements of an attribute of integers, enums or bitfields. A uint64 over 2^63-1 is an error.
func (a *Attr) Ints() ([]int64, error) {
	b, err := a.Bytes()
	if err != nil {
		return nil, err
	}
	if c := a.typ.Class; c != Integer && c != Enum && c != Bitfield {
		return nil, at(a.path, errorf("elements are %v, expected integers", a.typ))
	}
	n := a.typ.Size
	out := make([]int64, 0, len(b)/n)
	for ; len(b) >= n; b = b[n:] {
		v := a.typ.integer(b[:n])
		if !a.typ.Signed && v < 0 {
			return nil, at(a.path, errorf("element %d is %d, more than 2^63-1", len(out), uint64(v)))
		}
		out = append(out, v)
	}
	return out, nil
}

// Floats returns the elements of an attribute of floats or integers. Integers beyond 2^53 are rounded.
func (a *Attr) Floats() ([]float64, error) {
	if a.typ.Class == Integer {
		ints, err := a.Ints()
		out := make([]float64, len(ints))
		for i, v := range ints {
			out[i] = float64(v)
		}
		return out, err
	}
	b, err := a.Bytes()
	if err != nil {
		return nil, err
	}
	if a.typ.Class != Float {
		return nil, at(a.path, errorf("elements are %v, expected numbers", a.typ))
	}
	n := a.typ.Size
	out := make([]float64, 0, len(b)/n)
	for ; len(b) >= n; b = b[n:] {
		out = append(out, a.typ.float(b[:n]))
	}
	return out, nil
}

// readable returns an error if elements of t cannot be given as bytes.
func (t Type) readable() error {
	switch t.Class {
	case VarString:
		return errorf("elements are strings of variable length; read them as strings")
	case Other:
		return unsupported("elements are %s, which is not read", t.what)
	case Compound:
		for _, m := range t.Members {
			if m.Type.Class == VarString || m.Type.readable() != nil {
				return unsupported("the field %q of the elements is %v, which is not read", m.Name, m.Type)
			}
		}
	case Array:
		if err := t.Base.readable(); err != nil {
			return unsupported("elements are arrays of %v, which are not read", *t.Base)
		}
	}
	return nil
}
