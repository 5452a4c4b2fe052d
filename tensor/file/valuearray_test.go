package file_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// counting is a Builder that counts what it is asked for.
type counting struct{ coords, converts int }

func (c *counting) FromColumns(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	c.coords++
	return tensor.FromColumns(shape, format, coords, values, opts...)
}

func (c *counting) Convert(t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	c.converts++
	return t.Convert(format)
}

// TestBuildWith: every tensor that needs sorting or another format passes through
// the builder.
func TestBuildWith(t *testing.T) {
	c := &counting{}
	list := "%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 5\n1 2 3\n"
	a, err := file.ReadFrom("a.mtx", strings.NewReader(list), file.Format(tensor.CSC), file.BuildWith(c))
	if err != nil || a.Format() != tensor.CSC || c.coords != 1 {
		t.Fatalf("%v, %v, %d lists", a, err, c.coords)
	}
	array := "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n2\n"
	b, err := file.ReadFrom("b.mtx", strings.NewReader(array), file.Format(tensor.CSR), file.BuildWith(c))
	if err != nil || b.Format() != tensor.CSR || b.NNZ() != 2 || c.converts != 1 {
		t.Fatalf("%v, %v, %d conversions", b, err, c.converts)
	}
}
