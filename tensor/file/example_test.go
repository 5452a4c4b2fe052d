package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

func ExampleRead() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.mtx.gz")
	a, err := tensor.FromCoords([]int64{2, 3}, tensor.COO, [][]int64{{0, 1}, {2, 0}}, tensor.ArrayOf([]float64{1.5, -2}))
	if err != nil {
		panic(err)
	}
	if err := file.Write(path, a); err != nil {
		panic(err)
	}
	b, err := file.Read(path, file.Format(tensor.CSR), file.As(tensor.Float32))
	if err != nil {
		panic(err)
	}
	fmt.Println(b.Format(), b.DType(), b.At(0, 2), b.At(1, 0))
	// Output: CSR f32 1.5 -2
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.npy")
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		panic(err)
	}
	if err := file.Write(path, x); err != nil {
		panic(err)
	}
	f, err := file.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(f.Tensor().At(2))
	// Output: 3
}

func ExampleReadFrom() {
	_, err := file.ReadFrom("graph.mtx", strings.NewReader(`%%MatrixMarket matrix coordinate pattern general
3 3 2
1 2
4 1
`))
	fmt.Println(err)
	// Output: graph.mtx:4: index 4 of axis 0 is out of range: expected 1 to 3
}

func ExampleWriteTo() {
	a, err := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int64{{0, 1}, {1, 0}}, tensor.ArrayOf([]bool{true, true}))
	if err != nil {
		panic(err)
	}
	if err := file.WriteTo("a.mtx", os.Stdout, a); err != nil {
		panic(err)
	}
	// Output:
	// %%MatrixMarket matrix coordinate pattern general
	// %%GraphBLAS type bool
	// 2 2 2
	// 1 2
	// 2 1
}

func ExampleKinds() {
	for _, k := range file.Kinds() {
		fmt.Println(k.Name, k.Title, k.Extensions)
	}
	// Output:
	// mtx Matrix Market [.mtx .ttx .mm]
	// tns FROSTT [.tns]
	// npy NumPy array [.npy]
	// npz NumPy archive [.npz]
	// hdf5 binsparse, or AnnData, in HDF5 [.bsp.h5 .h5 .hdf5]
	// h5ad AnnData [.h5ad]
	// csv table as text [.csv .tsv]
	// parquet Parquet table [.parquet]
	// zarr Zarr hierarchy, of AnnData or an array [.zarr]
	// bspnpz binsparse in a NumPy archive [.bsp.npz]
	// bspnpy binsparse in a directory of NumPy arrays [.bspnpy]
	// scipy SciPy sparse matrix [.scipy.npz]
	// pydata pydata/sparse array [.pydata.npz]
}
