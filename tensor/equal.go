package tensor

import (
	"fmt"
	"slices"
)

// Equal reports whether two tensors are stored alike: the same shape, format,
// element type, fill and structure, the same index values (whatever their integer types)
// and bitwise the same stored values, where NaN equals NaN.
func Equal(a, b *Tensor) bool { return Diff(a, b) == "" }

// Diff says where two tensors first differ in the sense of [Equal], for test
// messages; "" if they do not.
func Diff(a, b *Tensor) string {
	if err := a.Pin(); err != nil {
		return err.Error()
	}
	defer a.Unpin()
	if err := b.Pin(); err != nil {
		return "wanted: " + err.Error()
	}
	defer b.Unpin()
	switch {
	case !slices.Equal(a.shape, b.shape):
		return fmt.Sprintf("shape %s, want %s", shapeString(a.shape), shapeString(b.shape))
	case a.format != b.format:
		return fmt.Sprintf("format %v, want %v", a.format, b.format)
	case a.DType() != b.DType():
		return fmt.Sprintf("element type %v, want %v", a.DType(), b.DType())
	case !a.fill.Same(b.fill):
		return fmt.Sprintf("fill %v, want %v", a.fill, b.fill)
	case a.structure != b.structure:
		return fmt.Sprintf("structure %v, want %v", a.structure, b.structure)
	}
	for k := range a.levels {
		if d := diffIndices(a.levels[k].Pos, b.levels[k].Pos); d != "" {
			return fmt.Sprintf("%s%s", posName(k), d)
		}
		if d := diffIndices(a.levels[k].Crd, b.levels[k].Crd); d != "" {
			return fmt.Sprintf("%s%s", crdName(k), d)
		}
		if d := diffIndices(a.levels[k].Group, b.levels[k].Group); d != "" {
			return fmt.Sprintf("%s%s", posName(k+1), d)
		}
	}
	if a.values.n != b.values.n {
		return fmt.Sprintf("%d values, want %d", a.values.n, b.values.n)
	}
	for i := range a.values.n {
		if x, y := a.values.Scalar(i), b.values.Scalar(i); !x.Same(y) {
			return fmt.Sprintf("values[%d] = %v, want %v", i, x, y)
		}
	}
	return ""
}

func diffIndices(a, b Array) string {
	if a.n != b.n {
		return fmt.Sprintf(" has %d elements, want %d", a.n, b.n)
	}
	for i := range a.n {
		if a.At64(i) != b.At64(i) {
			return fmt.Sprintf("[%d] = %d, want %d", i, a.At64(i), b.At64(i))
		}
	}
	return ""
}
