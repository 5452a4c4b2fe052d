//go:build linux && (amd64 || arm64)

package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrix is a kind of square matrix, made row by row.
type matrix struct {
	name string
	row  func(r *rand.Rand, i, side int) []int32 // the columns, in order
}

var matrices = []matrix{
	{"5-point Laplacian", func(_ *rand.Rand, i, side int) (cols []int32) {
		n := side * side
		for _, j := range []int{i - side, i - 1, i, i + 1, i + side} {
			if j >= 0 && j < n && (j == i || (j-i)%side == 0 || j/side == i/side) {
				cols = append(cols, int32(j))
			}
		}
		return cols
	}},
	{"uniform, 8 in a row", func(r *rand.Rand, _, side int) (cols []int32) {
		for range 8 {
			cols = append(cols, r.Int32N(int32(side*side)))
		}
		slices.Sort(cols)
		return slices.Compact(cols)
	}},
	{"band of 16", func(_ *rand.Rand, i, side int) (cols []int32) {
		for j := max(0, i-8); j < min(side*side, i+8); j++ {
			cols = append(cols, int32(j))
		}
		return cols
	}},
}

// write leaves the arrays of a matrix and of what it is multiplied with in a folder.
func (m matrix) write(dir string, side, columns int) error {
	r := rand.New(rand.NewPCG(1, 2))
	n := side * side
	pos, crd, vals := make([]int32, 1, n+1), []int32(nil), []float64(nil)
	for i := range n {
		for _, j := range m.row(r, i, side) {
			crd, vals = append(crd, j), append(vals, r.NormFloat64())
		}
		pos = append(pos, int32(len(crd)))
	}
	x := make([]float64, n*max(1, columns))
	for k := range x {
		x[k] = r.NormFloat64()
	}
	for name, b := range map[string][]byte{"pos": raw(pos), "crd": raw(crd), "vals": raw(vals), "x": raw(x)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// raw is the memory of a slice.
func raw[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// elements is raw the other way round, in memory as files are read into.
func elements[T tensor.Element](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a, err := tensor.MakeArray(tensor.ArrayOf(make([]T, 1)).DType(), int(st.Size())/int(unsafe.Sizeof(*new(T))))
	if err != nil {
		return nil, err
	}
	s := tensor.View[T](a)
	_, err = io.ReadFull(f, raw(s))
	return s, err
}

func floats(path string) ([]float64, error) { return elements[float64](path) }
