package file

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file writes random tensors to files of every kind and reads them again.

// drawValue makes a value that is hard on a text format now and then.
func drawValue(t *rapid.T, dt tensor.DType) tensor.Scalar {
	special := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, 1e-40, 6e-8})
	draw := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-100, 100), special)
	switch {
	case dt.IsComplex():
		return tensor.Complex(dt, complex(draw.Draw(t, "re"), draw.Draw(t, "im")))
	case dt.IsFloat():
		return tensor.Float(dt, draw.Draw(t, "value"))
	case dt.IsUnsigned():
		return tensor.Uint(dt, rapid.Uint64().Draw(t, "value"))
	}
	return tensor.Int(dt, rapid.Int64().Draw(t, "value")) // bool too: true unless 0
}

// drawTensor makes a small tensor of any type, rank and format; large sizes are
// allowed unless the kind of file writes everything out.
func drawTensor(t *rapid.T, large bool) *tensor.Tensor {
	dt := tensor.DType(rapid.IntRange(int(tensor.Bool), int(tensor.Complex128)).Draw(t, "dtype"))
	rank := rapid.IntRange(0, 4).Draw(t, "rank")
	if rank == 0 {
		return tensor.ScalarTensor(drawValue(t, dt))
	}
	size := rapid.Int64Range(0, 5)
	if large && rapid.Bool().Draw(t, "large") {
		size = rapid.SampledFrom([]int64{1, 3, 1 << 31, 1 << 33, math.MaxInt64})
	}
	shape := make([]int64, rank)
	product := 1.0
	for k := range shape {
		shape[k] = size.Draw(t, "size")
		product *= float64(shape[k])
	}
	n := 0
	if product > 0 {
		n = rapid.IntRange(0, 12).Draw(t, "entries")
	}
	coords := make([][]int64, rank)
	for k := range coords {
		for range n {
			coords[k] = append(coords[k], rapid.Int64Range(0, shape[k]-1).Draw(t, "index"))
		}
	}
	values, err := tensor.MakeArray(dt, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		values.SetScalar(i, drawValue(t, dt))
	}
	formats := []tensor.Format{tensor.Coordinates(rank), tensor.CSF(rank)}
	if product < 1000 {
		formats = append(formats, tensor.Dense(rank))
		if rank == 2 {
			formats = append(formats, tensor.CSR, tensor.CSC)
		}
	}
	made, err := tensor.FromCoords(shape, rapid.SampledFrom(formats).Draw(t, "format"), coords, values)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name  string
		large bool
		keeps bool // the file says the type of its values
	}{
		{"a.mtx", true, true},
		{"a.ttx", true, true},
		{"a.mtx.gz", true, true},
		{"a.tns", true, false},
		{"a.npy", false, true},
		{"a.npz", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := drawTensor(t, tt.large)
				var b bytes.Buffer
				if err := WriteTo(tt.name, &b, want); err != nil {
					t.Fatal(err)
				}
				text := b.String()
				opts := []Option{Format(want.Format())}
				if !tt.keeps || want.DType() == tensor.BFloat16 {
					opts = append(opts, As(want.DType()))
				}
				got, err := ReadFrom(tt.name, &b, opts...)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				same := tensor.Equal(got, want)
				if !tt.large { // what is stored explicitly is not kept
					same = sameDense(t, got, want)
				}
				if !same {
					t.Fatalf("wrote %v, read %v\n%s", want, got, text)
				}
			})
		})
	}
}

// sameDense compares tensors written out.
func sameDense(t *rapid.T, a, b *tensor.Tensor) bool {
	x, err := a.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	if x.DType() != y.DType() || x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if !x.Scalar(i).Same(y.Scalar(i)) {
			return false
		}
	}
	return true
}

// TestWritesThePlainForm writes tensors that are unsorted, have several values for a
// coordinate or are one triangle of a matrix: a file holds the whole, once.
func TestWritesThePlainForm(t *testing.T) {
	coords, values := [][]int64{{2, 1, 2, 2}, {0, 0, 2, 0}}, tensor.ArrayOf([]float64{1, 2, 3, 4})
	multigraph, err := tensor.ParseFormat("COO(unsorted,duplicates)", 2)
	if err != nil {
		t.Fatal(err)
	}
	unsorted, err := tensor.New([]int64{3, 3}, multigraph, []tensor.Level{{Crd: tensor.ArrayOf(coords[0])}, {Crd: tensor.ArrayOf(coords[1])}}, values)
	if err != nil {
		t.Fatal(err)
	}
	triangle, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, coords, values)
	if err == nil {
		triangle, err = triangle.WithStructure(tensor.SymmetricLower)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*tensor.Tensor{unsorted, triangle} {
		for _, name := range []string{"a.mtx", "a.tns", "a.npy"} {
			var file bytes.Buffer
			if err := WriteTo(name, &file, a); err != nil {
				t.Fatal(err)
			}
			back, err := ReadFrom(name, bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(3) {
				for j := range int64(3) {
					if got, want := back.At(i, j), a.At(i, j); got.Float64() != want.Float64() {
						t.Errorf("%s of %v at (%d,%d): %v, want %v", name, a, i, j, got, want)
					}
				}
			}
		}
	}
}
