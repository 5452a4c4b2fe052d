package file_test

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// counted makes arrays on the Go heap, as file.Read does without it, and counts their bytes.
type counted struct{ bytes int }

func (c *counted) MakeArray(dt tensor.DType, n int) (tensor.Array, error) {
	c.bytes += n * dt.Size()
	return tensor.MakeArray(dt, n)
}

func (c *counted) Mapped(bytes []byte) { c.bytes += len(bytes) }

// Who has a place for large arrays, such as a mapped file, has files read into it.
func ExampleIn() {
	c := &counted{}
	var memory file.Memory = c
	t, err := file.ReadFrom("a.mtx", strings.NewReader("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 2\n"), file.In(memory))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.NNZ(), c.bytes >= 2*8)
	// Output: 2 true
}
