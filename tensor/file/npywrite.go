package file

import (
	"fmt"
	"io"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// writeNPY writes a tensor as a NumPy array: written out densely, in row-major
// order, with its fill where nothing is stored.
func writeNPY(out *output, t *tensor.Tensor) error {
	values, err := denseValues(t)
	if err != nil {
		return err
	}
	return writeNPYArray(out.w, values, t.Shape(), out.cfg.progress)
}

// denseValues returns every element, in row-major order.
func denseValues(t *tensor.Tensor) (tensor.Array, error) {
	values, err := t.ToDense()
	if err != nil {
		return values, fmt.Errorf("a NumPy array holds every element: %w", err)
	}
	return values, nil
}

// writeNPYArray writes the elements of an array of the given shape, and reports how many
// bytes are done.
func writeNPYArray(w io.Writer, a tensor.Array, shape []int64, report func(done, total int64)) error {
	a, code, err := npyElements(a)
	if err != nil {
		return err
	}
	if _, err := w.Write(npyHeaderText(code, shape)); err != nil {
		return err
	}
	return writeSteps(w, a.Raw(), report)
}

// writeStep is how many bytes of an array are written at a time.
const writeStep = 8 << 20

// writeSteps writes data, and reports how many bytes are done.
func writeSteps(w io.Writer, data []byte, report func(done, total int64)) error {
	for at := 0; at < len(data); at += writeStep {
		end := min(len(data), at+writeStep)
		if _, err := w.Write(data[at:end]); err != nil {
			return err
		}
		report(int64(end), int64(len(data)))
	}
	return nil
}

// npyElements returns elements in a type that NumPy has, and its code. bf16, which NumPy
// lacks, is widened to f32.
func npyElements(a tensor.Array) (_ tensor.Array, code string, err error) {
	if a.DType() == tensor.BFloat16 {
		if a, err = a.Convert(tensor.Float32); err != nil {
			return a, "", err
		}
	}
	for _, typ := range npyTypes {
		if typ.dtype == a.DType() {
			return a, typ.code, nil
		}
	}
	return a, "", fmt.Errorf("NumPy has no type for %v", a.DType())
}
