package tensorio

import (
	"fmt"
	"io"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// writeNPY writes a tensor as a NumPy array: written out densely, in row-major
// order, with its fill where nothing is stored.
func writeNPY(out *output, t *tensor.Tensor) error { return writeArray(out.w, t) }

// writeArray writes the array. bf16, which NumPy lacks, is widened to f32.
func writeArray(w io.Writer, t *tensor.Tensor) error {
	values, err := t.ToDense()
	if err != nil {
		return fmt.Errorf("a NumPy array holds every element: %w", err)
	}
	if values.DType() == tensor.BFloat16 {
		if values, err = values.Convert(tensor.Float32); err != nil {
			return err
		}
	}
	for _, typ := range npyTypes {
		if typ.dtype == values.DType() {
			if _, err := w.Write(appendNPYHeader(nil, typ.code, t.Shape())); err != nil {
				return err
			}
			_, err := w.Write(values.Raw())
			return err
		}
	}
	return fmt.Errorf("NumPy has no type for %v", values.DType())
}
