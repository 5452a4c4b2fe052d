package tensorio

import (
	"fmt"
	"io"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// writeNPY writes a tensor as a NumPy array: written out densely, in row-major
// order, with its fill where nothing is stored.
func writeNPY(out *output, t *tensor.Tensor) error { return writeArray(out, out.w, t) }

// writeStep is how many bytes of an array are written at a time.
const writeStep = 8 << 20

// writeArray writes the array to w, which is out's or leads to it. bf16, which NumPy lacks, is widened to f32.
func writeArray(out *output, w io.Writer, t *tensor.Tensor) error {
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
			raw := values.Raw()
			for at := 0; at < len(raw); at += writeStep {
				end := min(len(raw), at+writeStep)
				if _, err := w.Write(raw[at:end]); err != nil {
					return err
				}
				out.cfg.progress(int64(end), int64(len(raw)))
			}
			return nil
		}
	}
	return fmt.Errorf("NumPy has no type for %v", values.DType())
}
