package file

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// writeMatrixMarket writes an array file if the tensor is dense all through and a
// coordinate file otherwise; symmetry is always general, and what is stored as one
// triangle is written whole. Rank 2 is a matrix, any
// other rank TACO's tensor object, where a dense tensor of rank 0 is written as a
// coordinate file because an array file could not say that it has no sizes. A type
// that is not the one its field is read as by default is named in a comment.
func writeMatrixMarket(out *output, t *tensor.Tensor) error {
	t, err := t.Canonical()
	if err != nil {
		return err
	}
	if err := needZeroFill(t, "a Matrix Market file"); err != nil {
		return err
	}
	if t.Rank() > 0 && t.Format().IsDense() {
		return writeMTXArray(out, t)
	}
	values := t.Values()
	field := mtxFieldOf(values)
	value := valueAppender(values)
	if values.DType() == tensor.Bool && allTrue(values) && t.Rank() > 0 {
		field, value = "pattern", nil
	}
	sizes := append(t.Shape(), int64(values.Len()))
	if err := writeMTXHeader(out, "coordinate", field, values.DType(), sizes); err != nil {
		return err
	}
	return (&entryText{t.Window, value, values.Len()}).write(out)
}

func writeMTXArray(out *output, t *tensor.Tensor) error {
	rowMajor, err := t.ToDense()
	if err != nil {
		return err
	}
	shape := t.Shape()
	if err := writeMTXHeader(out, "array", mtxFieldOf(rowMajor), t.DType(), shape); err != nil {
		return err
	}
	values, err := columnMajorArray(rowMajor, shape)
	if err != nil {
		return err
	}
	return (&entryText{nil, valueAppender(values), values.Len()}).write(out)
}

// columnMajorArray is the inverse of rowMajorArray, which is the same walk over the
// reversed shape.
func columnMajorArray(a tensor.Array, shape []int64) (tensor.Array, error) {
	reversed := make([]int64, len(shape))
	for k, d := range shape {
		reversed[len(shape)-1-k] = d
	}
	return rowMajorArray(a, reversed)
}

// mtxFieldOf returns the field that holds the values.
func mtxFieldOf(values tensor.Array) string {
	switch dt := values.DType(); {
	case dt == tensor.Uint64 && !fitsInt64(values):
		return "unsigned-integer" // few programs read it, but no other field holds these
	case dt == tensor.Bool || dt.IsInteger():
		return "integer"
	case dt.IsComplex():
		return "complex"
	}
	return "real"
}

// writeMTXHeader writes everything before the entries. sizes is the size line.
func writeMTXHeader(out *output, layout, field string, dt tensor.DType, sizes []int64) error {
	object, rank := "tensor", len(sizes)
	if layout == "coordinate" {
		rank--
	}
	if rank == 2 {
		object = "matrix"
	}
	if _, err := fmt.Fprintf(out.w, "%%%%MatrixMarket %s %s %s general\n", object, layout, field); err != nil {
		return err
	}
	if comment := typeComment(field, dt); comment != "" {
		if _, err := fmt.Fprintln(out.w, comment); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out.w, joinSizes(sizes))
	return err
}

// typeComment returns the comment that says what type the values have, "" if the
// field says it. GraphBLAS and LAGraph understand it for the types that they have.
func typeComment(field string, dt tensor.DType) string {
	for _, f := range mtxFields {
		if f.word == field && f.dtype == dt {
			return ""
		}
	}
	vendor := "GraphBLAS"
	if dt == tensor.Float16 || dt == tensor.BFloat16 {
		vendor = "Lacuna"
	}
	for _, t := range mtxTypes {
		if t.dtype == dt {
			return fmt.Sprintf("%%%%%s type %s", vendor, t.word)
		}
	}
	return ""
}
