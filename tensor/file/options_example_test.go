package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// folder is a new folder, and removes itself.
func folder() (path string, remove func()) {
	path, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	return path, func() { os.RemoveAll(path) }
}

// Files of several things list them, with what Entry takes.
func ExampleList() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "people.csv")
	os.WriteFile(path, []byte("who,age\nbob,30\nann,25\nbob,41\n"), 0o600)
	items, err := file.List(path)
	for _, i := range items {
		describe(i)
	}
	var who []string
	w, _ := file.Read(path, file.Entry("who"), file.LabelsInto(&who))
	age, _ := file.Read(path, file.Entry("age"))
	fmt.Println(tensor.StoredValues[int32](w), who, tensor.StoredValues[int64](age), err)
	fmt.Println(file.IsTensor(dir))

	counts, _ := tensor.NewDense([]int64{1, 2}, 2, 1) // of ann and bob
	err = file.Write(filepath.Join(dir, "counts.h5ad"), counts, file.AxisNames(0, who))
	var names []string
	_, _ = file.Read(filepath.Join(dir, "counts.h5ad"), file.Entry("obs/_index"), file.LabelsInto(&names))
	fmt.Println(names, err, file.Write(filepath.Join(dir, "counts.h5ad"), counts, file.AxisNames(0, who[:1])) != nil)
	// Output:
	// who column
	// age column
	// [1 0 1] [ann bob] [30 25 41] <nil>
	// false
	// [ann bob] <nil> true
}

func describe(i file.Item) { fmt.Println(i.Entry, i.Holds) }

// A list of edges is a matrix: of two kinds of things, or of the nodes of a graph.
func ExampleNodes() {
	const edges = "from,to,km\nbert,carl,3\nanna,bert,2\n"
	for _, columns := range []file.Option{file.Coords("from", "to"), file.Nodes("from", "to")} {
		A, err := file.ReadFrom("edges.csv", strings.NewReader(edges), columns, file.Entry("km"), file.FormatNamed("CSR"))
		fmt.Printf("%v", tensor.Formatted(A))
		fmt.Println(err)
	}
	// Output:
	// edges.csv: 2x2 i64 CSR, 2 stored, fill 0
	// 2 .
	// . 3
	// <nil>
	// edges.csv: 3x3 i64 CSR, 2 stored, fill 0
	// . 2 .
	// . . 3
	// . . .
	// <nil>
}

// What a text file does not say is said by options, and a large one is bounded.
func ExampleDims() {
	const entries = "0 0 1.5\n2 1 3\n"
	plain, err := file.ReadFrom("a.tns", strings.NewReader(entries), file.IndexBase(0), file.Dims(4, 5), file.TNS(file.PlainTNS), file.Threads(1))
	fmt.Println(plain, err)
	_, err = file.ReadFrom("a.tns", strings.NewReader(entries), file.MaxBytes(4))
	fmt.Println(err)
	var dialect file.Dialect = file.ExtendedTNS
	var out bytes.Buffer
	err = file.WriteTo("a.tns", &out, plain, file.TNS(dialect), file.Progress(func(done, total int64) {}))
	fmt.Print(out.String(), err)
	// Output:
	// a.tns: 4x5 f64 COO, 2 stored, fill 0 <nil>
	// a.tns: 14 bytes, more than the allowed 4
	// 2 2
	// 4 5
	// 1 1 1.5
	// 3 2 3
	// <nil>
}

// A program names options in messages as its users write them.
func ExampleSpellOptions() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "missing.mtx")
	_, err := file.Read(path)
	var at *file.FileError
	fmt.Println(errors.As(err, &at), filepath.Base(at.Path), errors.Is(err, fs.ErrNotExist))
	_, err = file.ReadFrom("a.mtx", strings.NewReader("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n"), file.Dims(4, 5),
		file.SpellOptions(func(option string) string { return "--" + strings.ToLower(option) }))
	fmt.Println(err)
	for _, k := range file.Kinds() {
		if !k.Writable() {
			fmt.Println(k.Name, "can only be read")
		}
	}
	// Output:
	// true missing.mtx true
	// a.mtx: sizes are given, but a file of kind mtx tells its own: leave --dims out
	// zarr can only be read
}

// Binsparse files keep a triangle, and keys of the user's own.
func ExampleHeader() {
	lower, _ := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int{{1}, {0}}, tensor.ArrayOf([]float64{3}))
	lower, _ = lower.WithStructure(tensor.SymmetricLower)
	var out bytes.Buffer
	header, err := binsparse.ParseHeader([]byte(`{"binsparse": {"format": "COO"}, "source": "survey"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := file.WriteTo("a", &out, lower, file.OfKind("bspnpz"), file.Header(header)); err != nil {
		fmt.Println(err)
		return
	}
	var read binsparse.Descriptor
	again, err := file.ReadFrom("a", bytes.NewReader(out.Bytes()), file.OfKind("bspnpz"), file.KeepStructure(), file.DescriptorInto(&read))
	fmt.Println(again, err)
	// Output: a: 2x2 f64 COO, 1 stored, fill 0, symmetric_lower <nil>
}

// counter makes tensors as package tensor does, and counts them; sessions make them with kernels.
type counter struct{ made *int }

func (c counter) FromColumns(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	*c.made++
	return tensor.FromColumns(shape, format, coords, values, opts...)
}

func (c counter) Convert(t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	*c.made++
	return t.Convert(format)
}

var _ file.Builder = counter{}

// Who reads large files has a session make the tensors: its kernels sort faster.
func ExampleBuildWith() {
	made := 0
	_, err := file.ReadFrom("a.tns", strings.NewReader("1 1 1.5\n3 2 3\n"), file.BuildWith(counter{&made}), file.Format(tensor.CSC))
	fmt.Println(made > 0, err)
	// Output: true <nil>
}

// A matrix larger than memory is read some rows at a time.
func ExampleOpenSlices() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "cells.h5ad")
	A, _ := tensor.NewCSR([]int64{4, 3}, []int{0, 2, 3, 3, 5}, []int{0, 2, 1, 0, 2}, []float64{1, 2, 5, 2, 3})
	if err := file.Write(path, A); err != nil {
		fmt.Println(err)
		return
	}
	s, err := file.OpenSlices(path, file.Entry("X"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Shape(), "in slices along axis", s.Axis(), "in one piece:", s.Contiguous(), s.Bytes() > 0)
	sum := 0.0
	for first := int64(0); first < s.Shape()[0]; {
		var part *tensor.Tensor
		if part, first, err = s.Next(first, 3); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(part.Shape(), part.NNZ())
		for _, v := range tensor.StoredValues[float64](part) {
			sum += v
		}
	}
	fmt.Println(sum)
	mapped, err := file.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mapped.Close()
	fmt.Println(mapped.Tensor().NNZ(), "copied:", len(mapped.Copied()))
	dense := filepath.Join(dir, "x.h5")
	file.Write(dense, tensor.Vector([]float64{1}))
	_, err = file.OpenSlices(dense)
	fmt.Println(errors.Is(err, file.ErrNoSlices), err != nil)
	// Output:
	// [4 3] in slices along axis 0 in one piece: true true
	// [3 3] 3
	// [1 3] 2
	// 13
	// 5 copied: 0
	// true true
}
