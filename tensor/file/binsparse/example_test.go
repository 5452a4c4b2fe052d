package binsparse_test

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// container keeps arrays in memory.
type container map[string]tensor.Array

// Dataset implements binsparse.Container.
func (c container) Dataset(name string) (binsparse.Dataset, bool, error) {
	a, ok := c[name]
	return binsparse.Dataset{Type: a.DType(), Dims: []int64{int64(a.Len())}, Load: func() (tensor.Array, error) { return a, nil }}, ok, nil
}

func Example() {
	m, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{{0, 1}, {2, 0}}, tensor.ArrayOf([]float64{1.5, -2}))
	if err != nil {
		panic(err)
	}
	text, arrays, err := binsparse.Encode(m, binsparse.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	c := container{}
	for _, a := range arrays {
		c[a.Name] = a.Data
	}

	d, err := binsparse.Parse(text)
	if err != nil {
		panic(err)
	}
	again, err := binsparse.Read(d, c, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(again, again.At(1, 0))
	// Output:
	// {"binsparse":{"version":"0.1","format":"CSR","shape":[2,3],"number_of_stored_values":2,"data_types":{"indices_1":"uint32","pointers_to_1":"uint32","values":"float64"}}}
	// 2x3 f64 CSR, 2 stored, fill 0 -2
}
