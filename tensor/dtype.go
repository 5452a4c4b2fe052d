package tensor

import (
	"math/bits"
	"strings"
)

// DType is the type of a tensor's elements or of an index array.
type DType uint8

// The element types. The order is fixed: the loop language numbers its types
// the same way.
const (
	Invalid DType = iota // the zero DType, no type at all
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	Complex64  // two Float32: real, imaginary
	Complex128 // two Float64: real, imaginary
	numDTypes
)

// dtypeClass is what kind of number a type holds.
type dtypeClass uint8

const (
	noClass dtypeClass = iota
	boolClass
	signedClass
	unsignedClass
	floatClass
	complexClass
)

type dtypeFacts struct {
	name    string
	aliases string // other spellings ParseDType reads, separated by blanks
	size    int    // bytes of one element
	class   dtypeClass
	compute DType // the type in which values are computed
	real    DType // the type of the parts of a complex number
}

// dtypes is the one table of facts about types.
var dtypes = [numDTypes]dtypeFacts{
	Invalid:    {name: "invalid"},
	Bool:       {"bool", "bool_ boolean b1", 1, boolClass, Bool, Bool},
	Int8:       {"i8", "int8", 1, signedClass, Int8, Int8},
	Int16:      {"i16", "int16", 2, signedClass, Int16, Int16},
	Int32:      {"i32", "int32", 4, signedClass, Int32, Int32},
	Int64:      {"i64", "int64 int", 8, signedClass, Int64, Int64},
	Uint8:      {"u8", "uint8 byte", 1, unsignedClass, Uint8, Uint8},
	Uint16:     {"u16", "uint16", 2, unsignedClass, Uint16, Uint16},
	Uint32:     {"u32", "uint32", 4, unsignedClass, Uint32, Uint32},
	Uint64:     {"u64", "uint64 uint", 8, unsignedClass, Uint64, Uint64},
	Float16:    {"f16", "float16 half", 2, floatClass, Float32, Float16},
	BFloat16:   {"bf16", "bfloat16", 2, floatClass, Float32, BFloat16},
	Float32:    {"f32", "float32 single", 4, floatClass, Float32, Float32},
	Float64:    {"f64", "float64 double float", 8, floatClass, Float64, Float64},
	Complex64:  {"c64", "complex64", 8, complexClass, Complex64, Float32},
	Complex128: {"c128", "complex128 complex", 16, complexClass, Complex128, Float64},
}

// facts returns the row of the table, that of Invalid for an unknown type.
func (t DType) facts() *dtypeFacts {
	if t >= numDTypes {
		t = Invalid
	}
	return &dtypes[t]
}

// String returns the type's short name, such as "f64" or "u32".
func (t DType) String() string { return t.facts().name }

// Size is the number of bytes one element takes in an array; 0 for Invalid.
func (t DType) Size() int { return t.facts().size }

// Valid reports whether t is one of the named types other than Invalid.
func (t DType) Valid() bool { return t.facts().class != noClass }

// IsFloat reports whether t is a real floating-point type.
func (t DType) IsFloat() bool { return t.facts().class == floatClass }

// IsInteger reports whether t is a signed or unsigned integer; Bool is neither.
func (t DType) IsInteger() bool { return t.IsSigned() || t.IsUnsigned() }

// IsSigned reports whether t is a signed integer.
func (t DType) IsSigned() bool { return t.facts().class == signedClass }

// IsUnsigned reports whether t is an unsigned integer.
func (t DType) IsUnsigned() bool { return t.facts().class == unsignedClass }

// IsComplex reports whether t is Complex64 or Complex128.
func (t DType) IsComplex() bool { return t.facts().class == complexClass }

// Real is the type of the parts of a complex type, and t itself otherwise.
func (t DType) Real() DType { return t.facts().real }

// Compute is the type in which values of t are computed: Float32 for the two
// half-precision types, t itself otherwise.
func (t DType) Compute() DType { return t.facts().compute }

// maxIndex is the largest index that an integer type of index arrays holds.
func (t DType) maxIndex() uint64 {
	width := t.Size() * 8
	if t.IsSigned() {
		width--
	}
	return 1<<uint(width-1)<<1 - 1
}

// ParseDType reads a type's name: the short one ("f64"), NumPy's ("float64",
// "int32", "complex64") or a common alias ("double", "half").
func ParseDType(s string) (DType, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	var known []string
	for t := Bool; t < numDTypes; t++ {
		if dtypes[t].name == name {
			return t, nil
		}
		known = append(known, dtypes[t].name)
		for alias := range strings.FieldsSeq(dtypes[t].aliases) {
			if alias == name {
				return t, nil
			}
			known = append(known, alias)
		}
	}
	return Invalid, &ParseError{
		Text: s, Msg: "unknown element type",
		Hint: didYouMean(name, known, "the types are bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"),
	}
}

// promotions holds the result type of every pair of types, NumPy's
// result_type for arrays. BFloat16, which NumPy lacks, follows Float16's rule
// with integers and meets Float16 in Float32.
var promotions = [numDTypes][numDTypes]DType{
	Bool:       promotionRow("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"),
	Int8:       promotionRow("i8 i8 i16 i32 i64 i16 i32 i64 f64 f16 bf16 f32 f64 c64 c128"),
	Int16:      promotionRow("i16 i16 i16 i32 i64 i16 i32 i64 f64 f32 f32 f32 f64 c64 c128"),
	Int32:      promotionRow("i32 i32 i32 i32 i64 i32 i32 i64 f64 f64 f64 f64 f64 c128 c128"),
	Int64:      promotionRow("i64 i64 i64 i64 i64 i64 i64 i64 f64 f64 f64 f64 f64 c128 c128"),
	Uint8:      promotionRow("u8 i16 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"),
	Uint16:     promotionRow("u16 i32 i32 i32 i64 u16 u16 u32 u64 f32 f32 f32 f64 c64 c128"),
	Uint32:     promotionRow("u32 i64 i64 i64 i64 u32 u32 u32 u64 f64 f64 f64 f64 c128 c128"),
	Uint64:     promotionRow("u64 f64 f64 f64 f64 u64 u64 u64 u64 f64 f64 f64 f64 c128 c128"),
	Float16:    promotionRow("f16 f16 f32 f64 f64 f16 f32 f64 f64 f16 f32 f32 f64 c64 c128"),
	BFloat16:   promotionRow("bf16 bf16 f32 f64 f64 bf16 f32 f64 f64 f32 bf16 f32 f64 c64 c128"),
	Float32:    promotionRow("f32 f32 f32 f64 f64 f32 f32 f64 f64 f32 f32 f32 f64 c64 c128"),
	Float64:    promotionRow("f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128"),
	Complex64:  promotionRow("c64 c64 c64 c128 c128 c64 c64 c128 c128 c64 c64 c64 c128 c64 c128"),
	Complex128: promotionRow("c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128"),
}

// promotionRow reads one row of the promotion table; its columns stand in the
// order of the types, Bool first.
func promotionRow(s string) (row [numDTypes]DType) {
	t := Bool
	for name := range strings.FieldsSeq(s) {
		for u := Bool; u < numDTypes; u++ {
			if dtypes[u].name == name {
				row[t] = u
			}
		}
		t++
	}
	return row
}

// Promote is the type in which a value of type a and a value of type b meet:
// NumPy's promotion of two arrays. It is Invalid if either type is.
func Promote(a, b DType) DType {
	if !a.Valid() || !b.Valid() {
		return Invalid
	}
	return promotions[a][b]
}

// narrowestIndex is the default type of an index array whose largest value is
// max: Uint32, or Uint64 where that is too narrow.
func narrowestIndex(max uint64) DType {
	if bits.Len64(max) <= 32 {
		return Uint32
	}
	return Uint64
}
