package hdf5_test

import (
	"fmt"
	"log"

	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// A matrix and its description are written to memory and read back.
func Example() {
	var file hdf5.Buffer // an *os.File will do as well
	w := hdf5.Create(&file)
	w.Dataset("matrix/values", hdf5.Uint8, []uint64{2, 3}, []byte{1, 2, 3, 4, 5, 6}, hdf5.Options{Deflate: 6})
	w.Attr("matrix", "unit", "metres")
	if err := w.Close(); err != nil { // the first error of all calls
		log.Fatal(err)
	}

	f, err := hdf5.Open(&file, file.Size())
	if err != nil {
		log.Fatal(err)
	}
	d, err := f.Dataset("/matrix/values")
	if err != nil {
		log.Fatal(err)
	}
	data, err := d.ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	g, err := f.Group("matrix")
	if err != nil {
		log.Fatal(err)
	}
	unit, err := g.Attr("unit")
	if err != nil {
		log.Fatal(err)
	}
	text, err := unit.Text()
	fmt.Println(d.Type(), d.Dims(), data, text, err)
	// Output: uint8 [2 3] [1 2 3 4 5 6] metres <nil>
}

func ExampleGroup_Walk() {
	var file hdf5.Buffer
	w := hdf5.Create(&file)
	w.Dataset("a/x", hdf5.Float64, []uint64{0}, nil, hdf5.Options{})
	w.Group("b")
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	f, err := hdf5.Open(&file, file.Size())
	if err != nil {
		log.Fatal(err)
	}
	f.Root().Walk(func(path string, obj hdf5.Object, err error) error {
		fmt.Printf("%s %T\n", path, obj)
		return err
	})
	// Output:
	// / *hdf5.Group
	// /a *hdf5.Group
	// /a/x *hdf5.Dataset
	// /b *hdf5.Group
}
