package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Files to which every rank writes its part hold what one rank writes, whatever the format and the placement: the same bytes where types of indices are
// the same, too, and always the same tensor.
func TestWriteParts(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	lacuna := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if status := runContext(context.Background(), args, &out, &errs); status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, &errs)
		}
	}
	lacuna("convert", "random(120,120,density=0.05,seed=1):CSR", "-o", in("A.bsp.h5"))
	read := func(path string) *tensor.Tensor {
		t.Helper()
		x, err := file.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, format := range []string{"CSR", "CSC", "COO", "DCSR", "D", "D[c64]"} {
		args := []string{"eval", "C(i,j) = A(i,j) + B(j,i)", "C:" + format, "--engine", "interp"}
		lacuna(append(args, "A="+in("A.bsp.h5")+":CSR", "B="+in("A.bsp.h5")+":CSC", "-o", in("one.bsp.h5"), "-o", in("one.npy"))...)
		for _, ranks := range [][]string{{"--ranks", "3"}, {"--ranks", "4", "--grid", "r=2,c=2"}} {
			for _, over := range []string{"(r)", "(*,r)", "(r by cyclic)", "(r by entries)"} {
				t.Run(fmt.Sprint(format, ranks, over), func(t *testing.T) {
					lacuna(append(append(args, ranks...), "A="+in("A.bsp.h5")+":CSR over "+over, "B="+in("A.bsp.h5")+":CSC over (*,r)", "-o", in("all.bsp.h5"), "-o", in("all.npy"))...)
					want, err1 := os.ReadFile(in("one.npy"))
					got, err2 := os.ReadFile(in("all.npy"))
					if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
						t.Errorf("the .npy files differ (%v, %v)", err1, err2)
					}
					x, y := read(in("one.bsp.h5")), read(in("all.bsp.h5"))
					a, v, err1 := x.ToCoords()
					b, w, err2 := y.ToCoords()
					if err1 != nil || err2 != nil {
						t.Fatal(err1, err2)
					}
					if x.Format() != y.Format() || !slices.Equal(x.Shape(), y.Shape()) || !bytes.Equal(v.Raw(), w.Raw()) || !slices.EqualFunc(a, b, slices.Equal) {
						t.Errorf("%v and %v of %d and %d entries differ", x.Format(), y.Format(), x.NNZ(), y.NNZ())
					}
				})
			}
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 5 {
		t.Errorf("in the directory: %v, %v", list, err)
	}
}
