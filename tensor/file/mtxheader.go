package file

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// mtxBanner begins every Matrix Market file, in lower case.
const mtxBanner = "%%matrixmarket"

// mtxField is a kind of value that a Matrix Market file may hold.
type mtxField struct {
	word   string
	tokens int          // numbers for each entry
	dtype  tensor.DType // what it is read as unless something says otherwise
}

// mtxFields is the table of fields. A pattern is read as ones, which is what its
// users compute with.
var mtxFields = [...]mtxField{
	{"real", 1, tensor.Float64},
	{"double", 1, tensor.Float64},
	{"integer", 1, tensor.Int64},
	{"unsigned-integer", 1, tensor.Uint64},
	{"complex", 2, tensor.Complex128},
	{"pattern", 0, tensor.Float64},
}

// mtxSymmetries is the table of symmetries, indexed by symmetry.
var mtxSymmetries = [...]string{
	general:       "general",
	symmetric:     "symmetric",
	skewSymmetric: "skew-symmetric",
	hermitian:     "hermitian",
}

// mtxType is a type name of a "%%GraphBLAS type" or "%%Lacuna type" comment.
type mtxType struct {
	word  string // as in the file, lower case
	dtype tensor.DType
}

// mtxTypes lists the names that type comments use. The first of a type is the one
// written: as LAGraph reads it where LAGraph has the type, after GraphBLAS where
// only that has it, ours otherwise.
var mtxTypes = [...]mtxType{
	{"bool", tensor.Bool}, {"grb_bool", tensor.Bool},
	{"int8_t", tensor.Int8}, {"grb_int8", tensor.Int8},
	{"int16_t", tensor.Int16}, {"grb_int16", tensor.Int16},
	{"int32_t", tensor.Int32}, {"grb_int32", tensor.Int32},
	{"int64_t", tensor.Int64}, {"grb_int64", tensor.Int64},
	{"uint8_t", tensor.Uint8}, {"grb_uint8", tensor.Uint8},
	{"uint16_t", tensor.Uint16}, {"grb_uint16", tensor.Uint16},
	{"uint32_t", tensor.Uint32}, {"grb_uint32", tensor.Uint32},
	{"uint64_t", tensor.Uint64}, {"grb_uint64", tensor.Uint64},
	{"float", tensor.Float32}, {"grb_fp32", tensor.Float32},
	{"double", tensor.Float64}, {"grb_fp64", tensor.Float64},
	{"gxb_fc32", tensor.Complex64}, {"float complex", tensor.Complex64},
	{"gxb_fc64", tensor.Complex128}, {"double complex", tensor.Complex128},
	{"f16", tensor.Float16},
	{"bf16", tensor.BFloat16},
}

// mtxHeader is what stands before the entries.
type mtxHeader struct {
	object  string // matrix, vector or tensor
	dense   bool   // array rather than coordinate
	field   mtxField
	sym     symmetry
	typ     tensor.DType // of a type comment; 0 without
	shape   []int64
	entries int64 // promised: of a coordinate file, or values of an array
	lines   int   // lines of the header, the size line included
}

// readMTXHeader reads up to and including the size line.
func readMTXHeader(in *input) (*mtxHeader, error) {
	first, err := in.line()
	if err != nil && err != io.EOF {
		return nil, err
	}
	h := &mtxHeader{lines: 1}
	if err := h.banner(in, bytes.TrimPrefix(first, utf8BOM)); err != nil {
		return nil, err
	}
	for {
		b, err := in.line()
		if err == io.EOF {
			return nil, in.errorf(h.lines, "the file ends before the line with the sizes")
		}
		if err != nil {
			return nil, err
		}
		h.lines++
		if err := in.checkIdle(h.lines, int(in.consumed)); err != nil {
			return nil, err
		}
		b = bytes.TrimSpace(b)
		switch {
		case len(b) == 0:
		case b[0] == '%':
			h.comment(b)
		default:
			return h, h.sizes(in, b)
		}
	}
}

// banner reads the first line.
func (h *mtxHeader) banner(in *input, b []byte) error {
	words := strings.Fields(strings.ToLower(string(b)))
	if len(words) == 0 || words[0] != mtxBanner {
		return in.errorf(1, "not a Matrix Market file: the first line must be %q", "%%MatrixMarket matrix coordinate real general")
	}
	if len(words) != 5 {
		return in.errorf(1, "expected five words, %q, not %d", "%%MatrixMarket object format field symmetry", len(words))
	}
	h.object = words[1]
	if h.object != "matrix" && h.object != "vector" && h.object != "tensor" {
		return in.errorf(1, "object %s: expected matrix, vector or tensor", quote([]byte(words[1])))
	}
	switch words[2] {
	case "coordinate":
	case "array":
		h.dense = true
	default:
		return in.errorf(1, "format %s: expected coordinate or array", quote([]byte(words[2])))
	}
	for _, f := range mtxFields {
		if f.word == words[3] {
			h.field = f
		}
	}
	if h.field.word == "" {
		return in.errorf(1, "field %s: expected real, double, integer, unsigned-integer, complex or pattern", quote([]byte(words[3])))
	}
	found := false
	for sym, word := range mtxSymmetries {
		if word == words[4] {
			h.sym, found = symmetry(sym), true
		}
	}
	switch {
	case !found:
		return in.errorf(1, "symmetry %s: expected general, symmetric, skew-symmetric or hermitian", quote([]byte(words[4])))
	case h.dense && h.field.tokens == 0:
		return in.errorf(1, "an array file has values, so its field cannot be pattern")
	case h.sym == hermitian && h.field.tokens != 2:
		return in.errorf(1, "a hermitian matrix is complex, but the field is %s", h.field.word)
	case h.sym == skewSymmetric && h.field.tokens == 0:
		return in.errorf(1, "a pattern has no signs, so it cannot be skew-symmetric")
	}
	return nil
}

// comment takes note of a type comment: "%%GraphBLAS type int8_t", in older files
// without the word type. A type that is not known is a comment like any other.
func (h *mtxHeader) comment(b []byte) {
	if !bytes.HasPrefix(b, []byte("%%")) {
		return
	}
	words := strings.Fields(strings.ToLower(string(b)))
	if len(words) < 2 || words[0] != "%%graphblas" && words[0] != "%%lacuna" {
		return
	}
	name := strings.TrimPrefix(strings.Join(words[1:], " "), "type ")
	for _, t := range mtxTypes {
		if t.word == name {
			h.typ = t.dtype
			return
		}
	}
}

// sizes reads the size line.
func (h *mtxHeader) sizes(in *input, b []byte) error {
	words := bytes.Fields(b)
	rank, form := len(words), "d1 … dN"
	if !h.dense {
		rank, form = rank-1, "d1 … dN entries"
	}
	switch h.object {
	case "matrix":
		form = strings.Replace(form, "d1 … dN", "rows columns", 1)
		if rank != 2 {
			return in.errorf(h.lines, "expected the sizes %q, not %s", form, quote(b))
		}
	case "vector":
		form = strings.Replace(form, "d1 … dN", "length", 1)
		if rank != 1 {
			return in.errorf(h.lines, "expected the sizes %q, not %s", form, quote(b))
		}
	}
	if rank > tensor.MaxRank {
		return in.errorf(h.lines, "rank %d is more than the %d that are supported", rank, tensor.MaxRank)
	}
	numbers := make([]int64, len(words))
	for i, w := range words {
		v, end, st := scanUint(append(w[:len(w):len(w)], '\n'), 0)
		switch {
		case st == numRange && end == len(w), st == numOK && end == len(w) && v > math.MaxInt64:
			return in.errorf(h.lines, "%s is beyond the largest size, 2^63-1", quote(w))
		case st != numOK || end != len(w):
			return in.errorf(h.lines, "%s is not a size: expected %q", quote(w), form)
		}
		numbers[i] = int64(v)
	}
	h.shape = numbers[:rank]
	if h.sym != general && (rank != 2 || h.shape[0] != h.shape[1]) {
		return in.errorf(h.lines, "a %s matrix must be square, but the sizes are %s", mtxSymmetries[h.sym], quote(b))
	}
	if !h.dense {
		h.entries = numbers[rank]
		return nil
	}
	var ok bool
	if h.entries, ok = h.packed(); !ok {
		return in.errorf(h.lines, "an array of sizes %s has more than 2^63-1 values", quote(b))
	}
	return nil
}

// packed returns how many values an array file lists; false if too many to count.
func (h *mtxHeader) packed() (int64, bool) {
	switch h.sym {
	case general:
		return product(h.shape)
	case skewSymmetric: // below the diagonal
		n := uint64(h.shape[0])
		return triangle(n, max(n, 1)-1)
	}
	n := uint64(h.shape[0])
	return triangle(n, n+1)
}

// triangle returns a*b/2.
func triangle(a, b uint64) (int64, bool) {
	hi, lo := bits.Mul64(a, b)
	half := lo>>1 | hi<<63
	return int64(half), hi>>1 == 0 && half <= math.MaxInt64
}

// product multiplies sizes; false if the result does not fit.
func product(sizes []int64) (int64, bool) {
	n, overflow := int64(1), false
	for _, d := range sizes {
		if d == 0 {
			return 0, true
		}
		hi, lo := bits.Mul64(uint64(n), uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			overflow, lo = true, 1
		}
		n = int64(lo)
	}
	return n, !overflow
}

// values returns how to read the values: as the options ask, else as a type
// comment says, else as the field has it.
func (h *mtxHeader) values(in *input) (valueSpec, error) {
	dt := h.field.dtype
	if h.typ != 0 {
		dt = h.typ
	}
	if in.cfg.dtype != 0 {
		dt = in.cfg.dtype
	}
	v, err := newValueSpec(h.field.tokens, dt)
	if err == nil {
		err = h.sym.restrict(&v)
	}
	if err != nil {
		return v, &FileError{Path: in.name, Line: 1, Msg: fmt.Sprintf("field %s: %v", h.field.word, err), Err: err}
	}
	return v, nil
}
