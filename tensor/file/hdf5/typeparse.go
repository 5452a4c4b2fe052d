package hdf5

import "fmt"

// How strings of fixed length end (IV.A.2.d).
const (
	padNullTerm = 0 // at the first zero
	padNull     = 1 // before the zeros that follow
	padSpace    = 2 // before the spaces that follow
)

// maxTypeDepth bounds types within types.
const maxTypeDepth = 32

// parseType reads a datatype message (IV.A.2.d).
func parseType(c *cursor, depth int) (Type, error) {
	const what = "the datatype message"
	if depth > maxTypeDepth {
		return Type{}, unsupported("the datatype is nested more than %d deep", maxTypeDepth)
	}
	first := c.u8()
	class, version := first&15, first>>4
	flags, size := c.uint(3), c.u32()
	if c.bad {
		return Type{}, c.err(what)
	}
	if version < 1 || version > 4 {
		return Type{}, unsupported("%s has version %d; 1 to 4 are read", what, version)
	}
	if size == 0 || size > 1<<31-1 {
		return Type{}, errorf("%s describes elements of %d bytes", what, size)
	}
	p := typeParser{c: c, version: version, flags: flags, depth: depth}
	t := Type{Size: int(size)}
	var err error
	switch class {
	case 0:
		t.Class, t.BigEndian, t.Signed = Integer, flags&1 != 0, flags&8 != 0
		p.whole(&t, "an integer")
	case 1:
		p.float(&t)
	case 2:
		c.skip(2)
		t.Class, t.what = Other, "a time"
	case 3:
		t.Class, t.pad, t.UTF8 = String, uint8(flags&15), flags>>4&15 == 1
		if t.pad > padSpace {
			err = errorf("%s has strings with padding of type %d", what, t.pad)
		}
	case 4:
		t.Class, t.BigEndian = Bitfield, flags&1 != 0
		p.whole(&t, "a bitfield")
	case 5:
		c.skip(flags & 255)
		t.Class = Opaque
	case 6:
		err = p.compound(&t)
	case 7:
		t.Class, t.what = Other, "a reference"
	case 8:
		err = p.enum(&t)
	case 9:
		err = p.varLen(&t)
	case 10:
		err = p.array(&t)
	default:
		err = unsupported("%s has class %d; 0 to 10 are read", what, class)
	}
	if err == nil {
		err = c.err(what)
	}
	return t, err
}

// typeParser reads the properties of one type.
type typeParser struct {
	c       *cursor
	version byte
	flags   uint64
	depth   int
}

// whole reads which bits an integer uses; they must be all, else the type is one that is not read.
func (p *typeParser) whole(t *Type, name string) {
	offset, precision := p.c.u16(), p.c.u16()
	if n := t.Size; offset != 0 || int(precision) != 8*n || n != 1 && n != 2 && n != 4 && n != 8 {
		*t = Type{Class: Other, Size: n, what: fmt.Sprintf("%s of %d bits from bit %d on in %d bytes", name, precision, offset, n)}
	}
}

// float reads the layout of a float, which must be one of IEEE 754.
func (p *typeParser) float(t *Type) {
	type layout struct {
		offset, precision                uint16
		expAt, expSize, fracAt, fracSize uint8
		bias                             uint32
		norm, sign                       uint8
		vax                              bool
	}
	l := layout{p.c.u16(), p.c.u16(), p.c.u8(), p.c.u8(), p.c.u8(), p.c.u8(), p.c.u32(), uint8(p.flags >> 4 & 3), uint8(p.flags >> 8), p.flags&(1<<6) != 0}
	ieee := map[int]layout{
		2: {0, 16, 10, 5, 0, 10, 15, 2, 15, false},
		4: {0, 32, 23, 8, 0, 23, 127, 2, 31, false},
		8: {0, 64, 52, 11, 0, 52, 1023, 2, 63, false},
	}
	t.Class, t.BigEndian = Float, p.flags&1 != 0
	if want, ok := ieee[t.Size]; !ok || l != want {
		*t = Type{Class: Other, Size: t.Size, what: fmt.Sprintf("a float of %d bits with an exponent of %d, which is not one of IEEE 754", l.precision, l.expSize)}
	}
}

// name reads the name of a member; before version 3 it is padded to a multiple of 8 bytes.
func (p *typeParser) name() string {
	s := p.c.text()
	if p.version < 3 {
		p.c.skip(uint64(7 - len(s)%8))
	}
	return s
}

func (p *typeParser) compound(t *Type) error {
	t.Class = Compound
	end := 0
	for range p.flags & 0xffff {
		m := Member{Name: p.name()}
		rank, dims := 0, []int(nil)
		if p.version >= 3 {
			m.Offset = int(p.c.uint(encodedSize(uint64(t.Size))))
		} else {
			m.Offset = int(p.c.u32())
		}
		if p.version == 1 { // members of version 1 can be arrays themselves
			rank = int(p.c.u8())
			p.c.skip(11)
			for i := range 4 {
				if d := int(p.c.u32()); i < rank {
					dims = append(dims, d)
				}
			}
			if rank > 4 {
				return errorf("a field of a compound datatype has %d dimensions; 4 is the most", rank)
			}
		}
		var err error
		if m.Type, err = parseType(p.c, p.depth+1); err != nil {
			return err
		}
		if rank > 0 {
			if m.Type, err = arrayOf(m.Type, dims); err != nil {
				return err
			}
		}
		if m.Offset < 0 || m.Offset > t.Size || m.Type.Size > t.Size-m.Offset {
			return errorf("the field %q of a compound datatype reaches beyond its %d bytes", m.Name, t.Size)
		}
		t.Members = append(t.Members, m)
		end += m.Type.Size
	}
	if len(t.Members) == 0 || end > t.Size {
		return errorf("the %d fields of a compound datatype of %d bytes have %d bytes", len(t.Members), t.Size, end)
	}
	return nil
}

func (p *typeParser) enum(t *Type) error {
	base, err := parseType(p.c, p.depth+1)
	if err != nil {
		return err
	}
	if base.Class != Integer || base.Size != t.Size {
		return unsupported("an enum of %d bytes is of %v; expected an integer of its size", t.Size, base)
	}
	t.Class, t.Base = Enum, &base
	t.Signed, t.BigEndian = base.Signed, base.BigEndian
	for range p.flags & 0xffff {
		t.Members = append(t.Members, Member{Name: p.name()})
		if p.c.bad {
			break
		}
	}
	for i := range t.Members {
		b := p.c.take(uint64(t.Size))
		if b == nil {
			break
		}
		b = append([]byte(nil), b...)
		base.toNative(b)
		t.Members[i].Value = base.integer(b)
	}
	return nil
}

func (p *typeParser) varLen(t *Type) error {
	isString := p.flags&15 == 1
	if want := 8 + p.c.f.offsetSize; t.Size != want {
		return errorf("a datatype of variable length has references of %d bytes, expected %d", t.Size, want)
	}
	base, err := parseType(p.c, p.depth+1)
	if err != nil {
		return err
	}
	if isString {
		t.Class, t.UTF8 = VarString, p.flags>>8&15 == 1
		return nil
	}
	t.Class, t.what = Other, "a sequence of variable length of "+base.String()
	return nil
}

func (p *typeParser) array(t *Type) error {
	rank := int(p.c.u8())
	if rank > maxRank {
		return errorf("an array datatype has %d dimensions; %d is the most", rank, maxRank)
	}
	if p.version < 3 {
		p.c.skip(3)
	}
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = int(p.c.u32())
	}
	if p.version < 3 {
		p.c.skip(4 * uint64(rank))
	}
	base, err := parseType(p.c, p.depth+1)
	if err != nil {
		return err
	}
	a, err := arrayOf(base, dims)
	if err == nil && a.Size != t.Size {
		err = errorf("an array datatype of %d × %d bytes says it has %d", dims, base.Size, t.Size)
	}
	*t = a
	return err
}

// arrayOf returns the type of arrays of some dimensions.
func arrayOf(base Type, dims []int) (Type, error) {
	size := base.Size
	for _, d := range dims {
		if d <= 0 || size > (1<<31-1)/d {
			return Type{}, errorf("an array datatype cannot have dimensions %d of %d bytes each", dims, base.Size)
		}
		size *= d
	}
	return Type{Class: Array, Size: size, Base: &base, Dims: dims}, nil
}
