package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// room is a file of which nobody has arrays.
type room struct{}

func (room) Adopt(string, [][]byte) (at []int64, end int64, err error) {
	return nil, 0, errors.New("there is nothing here")
}

// Arrays that lie in a file of somebody's stay there, and the file gets a name; others are written.
func ExampleAdopting() {
	dir, err := os.MkdirTemp("", "adopting")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.bsp.h5")
	var held file.Held = room{}
	if err := file.Write(path, tensor.Vector([]float64{1, 2, 3}), file.Adopting(held)); err != nil {
		fmt.Println(err)
		return
	}
	x, err := file.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.StoredValues[float64](x))
	// Output:
	// [1 2 3]
}
