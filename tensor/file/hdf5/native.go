package hdf5

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

// swapped reports whether elements of t hold a number that is big-endian in the file.
func (t Type) swapped() bool {
	switch t.Class {
	case Integer, Float, Bitfield, Enum:
		return t.BigEndian && t.Size > 1
	case Array:
		return t.Base.swapped()
	case Compound:
		for _, m := range t.Members {
			if m.Type.swapped() {
				return true
			}
		}
	}
	return false
}

// toNative makes all numbers in b, which holds whole elements of t, little-endian.
func (t Type) toNative(b []byte) {
	switch {
	case !t.swapped():
	case t.Class == Array:
		t.Base.toNative(b)
	case t.IsComplex():
		t.Members[0].Type.toNative(b)
	case t.Class == Compound:
		for ; len(b) >= t.Size; b = b[t.Size:] {
			for _, m := range t.Members {
				m.Type.toNative(b[m.Offset : m.Offset+m.Type.Size])
			}
		}
	default:
		swapBytes(b, t.Size)
	}
}

// swapBytes reverses the bytes of each number of n bytes.
func swapBytes(b []byte, n int) {
	switch n {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			b[0], b[1] = b[1], b[0]
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.LittleEndian.PutUint32(b, bits.ReverseBytes32(binary.LittleEndian.Uint32(b)))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.LittleEndian.PutUint64(b, bits.ReverseBytes64(binary.LittleEndian.Uint64(b)))
		}
	}
}

// integer returns the little-endian integer that fills b.
func (t Type) integer(b []byte) int64 {
	v := (&cursor{b: b}).uint(len(b))
	if t.Signed {
		shift := 64 - 8*len(b)
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

// float returns the little-endian float that fills b.
func (t Type) float(b []byte) float64 {
	v := (&cursor{b: b}).uint(len(b))
	switch len(b) {
	case 2:
		return float16(uint16(v))
	case 4:
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// float16 returns the value of a float of half precision.
func float16(v uint16) float64 {
	exp, frac := int(v>>10&31), float64(v&1023)
	var x float64
	switch exp {
	case 0:
		x = math.Ldexp(frac, -24)
	case 31:
		x = math.Inf(1)
		if frac != 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+frac, exp-25)
	}
	if v>>15 != 0 {
		x = -x
	}
	return x
}

// trim drops the padding of a string.
func trim(s string, pad uint8) string {
	switch pad {
	case padNullTerm:
		s, _, _ = strings.Cut(s, "\x00")
	case padNull:
		s = strings.TrimRight(s, "\x00")
	case padSpace:
		s = strings.TrimRight(s, " ")
	}
	return s
}

// texts returns the strings that the elements in b are or refer to.
func (t Type) texts(heap *globalHeap, b []byte) ([]string, error) {
	if t.Class != String && t.Class != VarString {
		return nil, errorf("elements are %v, expected strings", t)
	}
	out := make([]string, 0, len(b)/t.Size)
	for ; len(b) >= t.Size; b = b[t.Size:] {
		if t.Class == String {
			out = append(out, trim(string(b[:t.Size]), t.pad))
			continue
		}
		s, err := heap.text(b[:t.Size])
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
