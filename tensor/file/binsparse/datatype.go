package binsparse

import (
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// DataType is the type of an array as the descriptor writes it.
type DataType struct {
	// Elem is the type of the elements after every modifier: Complex128 for
	// complex[float64], Bool for bint8.
	Elem tensor.DType
	// Iso says that the array holds one element, which stands for all.
	Iso bool
}

// typeNames is the table of types: the names of the specification, then those
// that older writers used.
var typeNames = []struct {
	name string
	elem tensor.DType
}{
	{"uint8", tensor.Uint8}, {"uint16", tensor.Uint16}, {"uint32", tensor.Uint32}, {"uint64", tensor.Uint64},
	{"int8", tensor.Int8}, {"int16", tensor.Int16}, {"int32", tensor.Int32}, {"int64", tensor.Int64},
	{"float32", tensor.Float32}, {"float64", tensor.Float64}, {"bint8", tensor.Bool},
	{"complex[float32]", tensor.Complex64}, {"complex[float64]", tensor.Complex128},
	{"bool", tensor.Bool}, {"complex64", tensor.Complex64}, {"complex128", tensor.Complex128},
}

// ParseDataType reads a type such as "uint64", "complex[float32]" or
// "iso[bint8]".
func ParseDataType(s string) (DataType, error) {
	inner, iso := strings.CutPrefix(s, "iso[")
	if iso {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, "]"); !closed {
			return DataType{}, errorf("data type %.40q: the bracket is not closed", s)
		}
	}
	for _, t := range typeNames {
		if t.name == inner {
			return DataType{t.elem, iso}, nil
		}
	}
	return DataType{}, errorf("data type %.40q is not known: it is one of uint8 to uint64, int8 to int64, float32, float64, bint8, complex[float32] and complex[float64], each also in iso[…]", s)
}

// String is the type as the descriptor writes it; "" for a type that version
// 0.1 does not have.
func (t DataType) String() string {
	for _, known := range typeNames {
		if known.elem != t.Elem {
			continue
		}
		if t.Iso {
			return "iso[" + known.name + "]"
		}
		return known.name
	}
	return ""
}
