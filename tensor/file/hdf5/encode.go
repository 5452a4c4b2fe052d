package hdf5

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// encoder appends little-endian numbers to a block.
type encoder struct{ b []byte }

func (e *encoder) bytes(b ...byte) { e.b = append(e.b, b...) }
func (e *encoder) u16(v int)       { e.b = binary.LittleEndian.AppendUint16(e.b, uint16(v)) }
func (e *encoder) u32(v uint32)    { e.b = binary.LittleEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64)    { e.b = binary.LittleEndian.AppendUint64(e.b, v) }
func (e *encoder) f64(v float64)   { e.u64(math.Float64bits(v)) }

// pad makes the block a multiple of n bytes long.
func (e *encoder) pad(n int) {
	for len(e.b)%n != 0 {
		e.b = append(e.b, 0)
	}
}

// seal appends the checksum of the block.
func (e *encoder) seal() { e.u32(lookup3(e.b)) }

// maxMessage is the most bytes that a header message has.
const maxMessage = 1<<16 - 1

// header writes an object header of version 2 and returns its address.
func (w *Writer) header(msgs []outMessage) (uint64, error) {
	size := uint64(0)
	for _, m := range msgs {
		if len(m.data) > maxMessage {
			return 0, errorf("a header message would have %d bytes; %d is the most", len(m.data), maxMessage)
		}
		size += 4 + uint64(len(m.data))
	}
	if size > math.MaxUint32 {
		return 0, errorf("an object header would have %d bytes; 2^32-1 is the most", size)
	}
	var e encoder
	e.b = append(e.b, "OHDR"...)
	e.bytes(2, 2) // version; the size has four bytes
	e.u32(uint32(size))
	for _, m := range msgs {
		e.bytes(m.typ)
		e.u16(len(m.data))
		e.bytes(0)
		e.b = append(e.b, m.data...)
	}
	e.seal()
	return w.put(e.b, 8)
}

// linkMessage makes a hard link with a UTF-8 name.
func linkMessage(name string, addr uint64) []byte {
	var e encoder
	e.bytes(1, 1<<4|1, 1) // version; a character set follows, the length has two bytes; UTF-8
	e.u16(len(name))
	e.b = append(e.b, name...)
	e.u64(addr)
	return e.b
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// appendSpace appends a dataspace message of version 2.
func appendSpace(b []byte, dims []uint64) []byte {
	e := encoder{b}
	simple := byte(1)
	if len(dims) == 0 {
		simple = 0
	}
	e.bytes(2, byte(len(dims)), 0, simple)
	for _, d := range dims {
		e.u64(d)
	}
	return e.b
}

// appendType appends a datatype message. Numbers are little-endian whatever t says, as the data are.
func appendType(b []byte, t Type) ([]byte, error) {
	e := encoder{b}
	head := func(version, class byte, flags int) {
		e.bytes(version<<4|class, byte(flags), byte(flags>>8), byte(flags>>16))
		e.u32(uint32(t.Size))
	}
	name := func(s string) { e.b = append(append(e.b, s...), 0) }
	ok := t.Size == 1 || t.Size == 2 || t.Size == 4 || t.Size == 8
	var err error
	switch {
	case t.Class == Integer && ok:
		signed := 0
		if t.Signed {
			signed = 8
		}
		head(1, 0, signed)
		e.u16(0)
		e.u16(8 * t.Size)
	case t.Class == Bitfield && ok:
		head(1, 4, 0)
		e.u16(0)
		e.u16(8 * t.Size)
	case t.Class == Float && ok && t.Size > 1:
		exponent := map[int]int{2: 5, 4: 8, 8: 11}[t.Size]
		fraction := 8*t.Size - 1 - exponent
		head(1, 1, (8*t.Size-1)<<8|2<<4)
		e.u16(0)
		e.u16(8 * t.Size)
		e.bytes(byte(fraction), byte(exponent), 0, byte(fraction))
		e.u32(1<<(exponent-1) - 1)
	case t.Class == String && t.Size > 0:
		head(1, 3, int(t.pad)|charset(t)<<4)
	case t.Class == VarString && t.Size == varString.Size:
		head(1, 9, 1|charset(t)<<8)
		char, _ := appendType(nil, Type{Class: String, Size: 1, UTF8: t.UTF8})
		e.b = append(e.b, char...)
	case t.Class == Enum && ok && t.Base != nil && t.Base.Class == Integer && t.Base.Size == t.Size && len(t.Members) < 1<<16:
		head(3, 8, len(t.Members))
		if e.b, err = appendType(e.b, *t.Base); err != nil {
			return nil, err
		}
		for _, m := range t.Members {
			name(m.Name)
		}
		for _, m := range t.Members {
			for i := range t.Size {
				e.bytes(byte(uint64(m.Value) >> (8 * i)))
			}
		}
	case t.Class == Compound && len(t.Members) > 0 && len(t.Members) < 1<<16:
		head(3, 6, len(t.Members))
		for _, m := range t.Members {
			name(m.Name)
			for i := range encodedSize(uint64(t.Size)) {
				e.bytes(byte(m.Offset >> (8 * i)))
			}
			if e.b, err = appendType(e.b, m.Type); err != nil {
				return nil, err
			}
			if m.Offset < 0 || m.Type.Size > t.Size-m.Offset {
				return nil, errorf("the field %q reaches beyond the %d bytes of its compound", m.Name, t.Size)
			}
		}
	default:
		return nil, errorf("elements of type %v cannot be written", t)
	}
	return e.b, nil
}

func charset(t Type) int {
	if t.UTF8 {
		return 1
	}
	return 0
}
