package file_test

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

var (
	_ encoding.BinaryMarshaler   = file.Binary{}
	_ encoding.BinaryUnmarshaler = (*file.Binary)(nil)
)

// A program that keeps results between runs puts tensors into its own structs.
func ExampleBinary() {
	type model struct {
		Epoch   int
		Weights file.Binary
	}
	W, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 3}, []int{2, 0, 1}, []float64{0.5, 1, 2})
	var kept bytes.Buffer
	if err := gob.NewEncoder(&kept).Encode(model{7, file.Binary{Tensor: W}}); err != nil {
		fmt.Println(err)
		return
	}
	var m model
	err := gob.NewDecoder(&kept).Decode(&m)
	fmt.Println(m.Epoch, m.Weights, err)
	// Output: 7 2x3 f64 CSR, 3 stored, fill 0 <nil>
}

func TestBinaryKeepsTriangles(t *testing.T) {
	lower, err := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int{{1}, {0}}, tensor.ArrayOf([]complex128{3i}))
	if err != nil {
		t.Fatal(err)
	}
	if lower, err = lower.WithStructure(tensor.HermitianLower); err != nil {
		t.Fatal(err)
	}
	data, err := file.Binary{Tensor: lower}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back file.Binary
	if err := back.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(lower, back.Tensor); d != "" || back.Structure() != tensor.HermitianLower {
		t.Error(d, back)
	}
	for n := range len(data) {
		if err := back.UnmarshalBinary(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are a tensor", n, len(data))
		} else if text := err.Error(); !strings.HasPrefix(text, "a tensor as bytes: not a readable .npz archive: ") {
			t.Fatalf("the first %d of %d bytes: %s", n, len(data), text)
		}
	}
	if _, err := (file.Binary{}).MarshalBinary(); err == nil {
		t.Error("no tensor was written")
	}
}
