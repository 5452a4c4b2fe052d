package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// whole puts the shares of a file together.
func whole(t *testing.T, path string, shares int, opts ...file.Option) (out *tensor.Tensor, bytes int64) {
	t.Helper()
	var coords [][]int64
	var values []tensor.Array
	var shape []int64
	var format tensor.Format
	for k := range shares {
		s, err := file.ReadShare(path, k, shares, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if bytes = max(bytes, s.Bytes); shape == nil {
			shape, format, coords = s.Shape, s.Format, make([][]int64, len(s.Shape))
		}
		if s.Open {
			for axis, n := range s.Shape {
				shape[axis] = max(shape[axis], n)
			}
		}
		cols, vals, shift := s.Coords, s.Values, int64(0)
		if s.Block != nil {
			if s.Block.Dims()[s.Axis] != s.Hi-s.Lo || s.Block.Format() != s.Format {
				t.Fatalf("share %d of %s is of shape %v", k, path, s.Block.Dims())
			}
			lists, v, err := s.Block.ToCoords()
			if err != nil {
				t.Fatal(err)
			}
			cols, vals, shift = nil, v, s.Lo
			for _, l := range lists {
				cols = append(cols, tensor.ArrayOf(l))
			}
		}
		for axis, c := range cols {
			for i := range c.Len() {
				x := c.At64(i)
				if axis == s.Axis {
					x += shift
				}
				coords[axis] = append(coords[axis], x)
			}
		}
		values = append(values, vals)
	}
	n := 0
	for _, v := range values {
		n += v.Len()
	}
	all, err := tensor.MakeArray(values[0].DType(), n)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, v := range values {
		at += copy(all.Raw()[at:], v.Raw())
	}
	out, err = tensor.FromCoords(shape, format, coords, all)
	if err != nil {
		t.Fatal(err)
	}
	return out, bytes
}

// The shares of a file make the tensor that is read by one, whatever their number, and each reads its part.
func TestShares(t *testing.T) {
	dir := t.TempDir()
	A, err := tensor.FromCoords([]int64{3000, 70}, tensor.CSR, func() [][]int64 {
		var c [2][]int64
		for k := range int64(40000) {
			c[0], c[1] = append(c[0], k*7919%3000), append(c[1], (k*31+k/3000)%70)
		}
		return c[:]
	}(), func() tensor.Array {
		v := make([]float64, 40000)
		for k := range v {
			v[k] = float64(k) / 3
		}
		return tensor.ArrayOf(v)
	}())
	if err != nil {
		t.Fatal(err)
	}
	csc, err := A.Convert(tensor.CSC)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := A.Convert(tensor.Dense(2))
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*tensor.Tensor{"a.mtx": A, "a.tns": A, "a.bsp.h5": A, "c.bsp.h5": csc, "d.npy": dense} {
		if err := file.Write(filepath.Join(dir, name), x); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"sym.mtx":     "%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n\n4 4 5\n1 1 7\n3 1 2\n% another\n4 2 -3\n3 3 1\n4 4 9\n",
		"pattern.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 9 4\n1 2\n1 2\n3 9\n2 1",
		"b.tns":       "\xef\xbb\xbf1 2 3 0.5\n# nothing\n4 1 1 2\n\n1 2 3 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		opts []file.Option
	}{
		{"a.mtx", nil}, {"a.mtx", []file.Option{file.As(tensor.Float32)}}, {"a.tns", nil}, {"b.tns", []file.Option{file.Dims(9, 8, 7)}}, {"a.bsp.h5", nil},
		{"a.bsp.h5", []file.Option{file.As(tensor.Float32)}}, {"c.bsp.h5", nil}, {"d.npy", nil}, {"d.npy", []file.Option{file.As(tensor.Complex128)}},
		{"sym.mtx", nil}, {"pattern.mtx", nil}, {"b.tns", nil},
	} {
		path := filepath.Join(dir, c.name)
		want, err := file.Read(path, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 3, 7, 40} {
			got, bytes := whole(t, path, n, c.opts...)
			if d := tensor.Diff(got, want); d != "" {
				t.Errorf("%s in %d shares: %s", c.name, n, d)
			}
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if most := st.Size()/int64(n) + st.Size()/70 + (64+2*4)<<10; bytes > most { // one of 70 columns, a head of 64 KiB, and 4 for each end of a line
				t.Errorf("%s in %d shares: one reads %d bytes of %d, at most %d are expected", c.name, n, bytes, st.Size(), most)
			}
		}
	}
	for _, name := range []string{"x.mtx.gz", "x.npz", "s.bsp.h5"} {
		x := A
		if name == "s.bsp.h5" {
			if x, err = A.Convert(tensor.Coordinates(2)); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Write(filepath.Join(dir, name), x); err != nil {
			t.Fatal(err)
		}
		if _, err := file.ReadShare(filepath.Join(dir, name), 0, 2); !errors.Is(err, file.ErrNoShares) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := filepath.Join(dir, "wrong.mtx")
	if err := os.WriteFile(wrong, []byte("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 2\n1 4 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for k := range 3 {
		if _, err := file.ReadShare(wrong, k, 3); err != nil {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d of 3 readers find the one entry that is out of bounds", failed)
	}
}

func ExampleReadShare() {
	dir, err := os.MkdirTemp("", "share")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.mtx")
	text := "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 0.5\n2 3 1.5\n3 2 2.5\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	for k := range 2 {
		s, err := file.ReadShare(path, k, 2)
		if err != nil {
			panic(err)
		}
		fmt.Println(k, s.Shape, s.Lines, "of", s.Promised, "entries")
	}
	if _, err := file.ReadShare(dir, 0, 2); errors.Is(err, file.ErrNoShares) {
		fmt.Println("a directory is read whole")
	}
	// Output:
	// 0 [3 3] 2 of 3 entries
	// 1 [3 3] 1 of 3 entries
	// a directory is read whole
}
