package loop

// Type is the type of a scalar variable, an expression or a buffer element.
// F16 and BF16 are storage types: they occur as buffer elements only. Loading
// one yields F32, storing one takes F32 and rounds to nearest even.
type Type uint8

// The types of the loop language. The order is fixed: it is part of cache keys.
const (
	Invalid Type = iota
	Bool
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	F16
	BF16
	F32
	F64
	C64  // two F32: real, imaginary
	C128 // two F64: real, imaginary
)

type typeFacts struct {
	name             string
	size             int
	signed, unsigned bool
	float, complex   bool
}

// types is the one table of facts about types.
var types = [...]typeFacts{
	Invalid: {name: "invalid"},
	Bool:    {name: "bool", size: 1},
	I8:      {name: "i8", size: 1, signed: true},
	I16:     {name: "i16", size: 2, signed: true},
	I32:     {name: "i32", size: 4, signed: true},
	I64:     {name: "i64", size: 8, signed: true},
	U8:      {name: "u8", size: 1, unsigned: true},
	U16:     {name: "u16", size: 2, unsigned: true},
	U32:     {name: "u32", size: 4, unsigned: true},
	U64:     {name: "u64", size: 8, unsigned: true},
	F16:     {name: "f16", size: 2, float: true},
	BF16:    {name: "bf16", size: 2, float: true},
	F32:     {name: "f32", size: 4, float: true},
	F64:     {name: "f64", size: 8, float: true},
	C64:     {name: "c64", size: 8, complex: true},
	C128:    {name: "c128", size: 16, complex: true},
}

// String returns the type's name as the loop language writes it, such as "f64".
func (t Type) String() string {
	if int(t) < len(types) {
		return types[t].name
	}
	return "invalid"
}

// Size is the number of bytes one element takes in a buffer.
func (t Type) Size() int { return types[t].size }

// IsInt reports whether t is a signed or unsigned integer (Bool is neither).
func (t Type) IsInt() bool { return types[t].signed || types[t].unsigned }

// IsSigned reports whether t is a signed integer.
func (t Type) IsSigned() bool { return types[t].signed }

// IsFloat reports whether t is a real floating-point type.
func (t Type) IsFloat() bool { return types[t].float }

// IsComplex reports whether t is C64 or C128.
func (t Type) IsComplex() bool { return types[t].complex }

// Real is the type of the parts of a complex type, and t itself otherwise.
func (t Type) Real() Type {
	switch t {
	case C64:
		return F32
	case C128:
		return F64
	}
	return t
}

// Compute is the type in which values of buffer element type t are computed:
// F32 for the two half-precision storage types, t itself otherwise.
func (t Type) Compute() Type {
	if t == F16 || t == BF16 {
		return F32
	}
	return t
}

// TypeByName returns the type that String names, or Invalid.
func TypeByName(name string) Type {
	for t := Bool; int(t) < len(types); t++ {
		if types[t].name == name {
			return t
		}
	}
	return Invalid
}
