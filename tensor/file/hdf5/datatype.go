package hdf5

import (
	"fmt"
	"strings"
)

// Class is the kind of a datatype.
type Class uint8

// The classes of datatypes (IV.A.2.d).
const (
	Integer   Class = iota + 1 // two's complement, 1, 2, 4 or 8 bytes, all bits used
	Float                      // IEEE 754, 2, 4 or 8 bytes
	Bitfield                   // a set of bits, read as an unsigned integer
	String                     // of fixed length
	VarString                  // of variable length, kept in the global heap
	Enum                       // named values of an integer type; booleans of h5py are enums
	Compound                   // named fields; complex numbers of h5py are compounds
	Array                      // a fixed number of elements of another type
	Opaque                     // bytes without meaning
	Other                      // anything else: listed, but not read
)

// Type describes the elements of a dataset or attribute.
type Type struct {
	Class Class

	// Size is the number of bytes that an element takes, in the file and as
	// ReadInto gives it. That of a VarString is the size of a reference.
	Size int

	Signed    bool // Integer: negative values are possible
	BigEndian bool // Integer, Float, Bitfield: the order in the file; ReadInto turns it round

	UTF8 bool // String, VarString: UTF-8, else ASCII

	Base    *Type    // Enum: the integer type; Array: the type of its elements
	Dims    []int    // Array: sizes
	Members []Member // Enum and Compound, in the order of the file

	pad  uint8  // String: how it ends (IV.A.2.d, string padding)
	what string // Other: what it is, for messages
}

// Member is a name of an enum or a field of a compound.
type Member struct {
	Name   string
	Value  int64 // Enum: the value; one over 2^63-1 wraps
	Offset int   // Compound: of the field in an element, in bytes
	Type   Type  // Compound: of the field
}

// The types of elements that are common to most files, as the writer takes them.
var (
	Int8       = Type{Class: Integer, Size: 1, Signed: true}
	Int16      = Type{Class: Integer, Size: 2, Signed: true}
	Int32      = Type{Class: Integer, Size: 4, Signed: true}
	Int64      = Type{Class: Integer, Size: 8, Signed: true}
	Uint8      = Type{Class: Integer, Size: 1}
	Uint16     = Type{Class: Integer, Size: 2}
	Uint32     = Type{Class: Integer, Size: 4}
	Uint64     = Type{Class: Integer, Size: 8}
	Float16    = Type{Class: Float, Size: 2}
	Float32    = Type{Class: Float, Size: 4}
	Float64    = Type{Class: Float, Size: 8}
	Complex64  = complexOf(Float32) // h5py's compound of r and i
	Complex128 = complexOf(Float64)
	Bool       = Type{Class: Enum, Size: 1, Base: &Int8, Members: []Member{{Name: "FALSE"}, {Name: "TRUE", Value: 1}}} // h5py's enum over int8
)

func complexOf(part Type) Type {
	return Type{Class: Compound, Size: 2 * part.Size, Members: []Member{{Name: "r", Type: part}, {Name: "i", Offset: part.Size, Type: part}}}
}

// IsBool reports whether t is an enum of FALSE (0) and TRUE (1) of one byte, as h5py writes booleans.
func (t Type) IsBool() bool {
	return t.Class == Enum && t.Size == 1 && len(t.Members) == 2 &&
		t.Members[0].Name == "FALSE" && t.Members[0].Value == 0 && t.Members[1].Name == "TRUE" && t.Members[1].Value == 1
}

// IsComplex reports whether t is a compound of two equal floats named r and i
// (or real and imag), in this order and without gaps.
func (t Type) IsComplex() bool {
	if t.Class != Compound || len(t.Members) != 2 {
		return false
	}
	re, im := t.Members[0], t.Members[1]
	named := re.Name == "r" && im.Name == "i" || re.Name == "real" && im.Name == "imag"
	return named && re.Type.Class == Float && im.Type.Class == Float && re.Offset == 0 && im.Offset == re.Type.Size &&
		t.Size == 2*re.Type.Size && re.Type.Size == im.Type.Size && re.Type.BigEndian == im.Type.BigEndian
}

// FixedString returns the type of strings of n bytes, UTF-8, padded with zeros.
func FixedString(n int) Type { return Type{Class: String, Size: n, UTF8: true, pad: padNull} }

// String names the type as NumPy does, whatever its byte order: int8 … int64, uint8 … uint64,
// float16 … float64, complex64, complex128, bool, and "string". Types that NumPy has no such
// name for are described, as in "enum of uint8" or "compound {a int32, b float64}".
func (t Type) String() string {
	switch t.Class {
	case Integer:
		if t.Signed {
			return fmt.Sprintf("int%d", 8*t.Size)
		}
		return fmt.Sprintf("uint%d", 8*t.Size)
	case Float:
		return fmt.Sprintf("float%d", 8*t.Size)
	case Bitfield:
		return fmt.Sprintf("bitfield%d", 8*t.Size)
	case String, VarString:
		return "string"
	case Enum:
		if t.IsBool() {
			return "bool"
		}
		return "enum of " + t.Base.String()
	case Compound:
		if t.IsComplex() {
			return fmt.Sprintf("complex%d", 8*t.Size)
		}
		var b strings.Builder
		b.WriteString("compound {")
		for i, m := range t.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > 200 {
				b.WriteString("…")
				break
			}
			b.WriteString(m.Name + " " + m.Type.String())
		}
		return b.String() + "}"
	case Array:
		return fmt.Sprintf("array %d of %v", t.Dims, *t.Base)
	case Opaque:
		return fmt.Sprintf("opaque of %d bytes", t.Size)
	case Other:
		return t.what
	}
	return "no type"
}
