package aot_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// family is a library of products with a vector.
func family(t *testing.T) *aot.Library {
	t.Helper()
	needLLVM(t)
	lib := &aot.Library{Name: "kernels"}
	for _, f := range []tensor.Format{tensor.CSR, tensor.CSC} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			u, err := lacuna.Build(t.Context(), "y(i) = A(i,j)*x(j)", lacuna.BuildOptions{Name: "spmv_" + f.String() + "_" + dt.String()},
				lacuna.Format("A", f, dt), lacuna.Format("x", tensor.Dense(1), dt))
			if err != nil {
				t.Fatal(err)
			}
			lib.Units = append(lib.Units, aot.LibraryUnit{Unit: u, Family: "spmv"})
		}
	}
	return lib
}

// TestLibrary finds kernels of a library from C.
func TestLibrary(t *testing.T) {
	gcc := needTool(t, "gcc")
	lib := family(t)
	dir := t.TempDir()
	members, err := lib.Objects(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	const src = `#include "kernels.h"
#include <stdio.h>
static void show(const lacuna_kernel *k) { printf("%s\n", k ? k->signature : "none"); }
int main(void) {
  show(kernels_find("spmv", "A:CSC[f32] x:D[f32]"));
  show(kernels_find("spmv_CSR_f64", 0));
  show(kernels_find("spmv", "A:COO[f32] x:D[f32]"));
  show(kernels_find("spmv", 0));
  show(kernels_find(0, 0));
  int n = 0;
  while (kernels_kernels[n]) n++;
  printf("%d %d\n", n, kernels_find("spmv_CSR_f64", 0)->run == spmv_CSR_f64);
  return 0;
}
`
	files := map[string][]byte{"main.c": []byte(src)}
	for _, name := range []string{"kernels.h", "libkernels.a", "libkernels.so"} {
		if strings.HasSuffix(name, ".so") {
			needTool(t, "ld")
		}
		if files[name], err = lib.File(name, members); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		if err := aot.WriteFile(filepath.Join(dir, name), data); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"-l:libkernels.a", "-lkernels"} {
		exe := filepath.Join(dir, "main")
		if out, err := exec.Command(gcc, "-Wall", "-Werror", filepath.Join(dir, "main.c"), "-L", dir, link, "-Wl,-rpath,"+dir, "-o", exe).CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v\n%s", link, err, out)
		}
		out, err := exec.Command(exe).CombinedOutput()
		const want = "A:CSC[f32] x:D[f32] y:D[f32]\nA:CSR[f64] x:D[f64] y:D[f64]\nnone\nnone\nnone\n4 1\n"
		if err != nil || string(out) != want {
			t.Errorf("%s: %v, the program prints\n%swant\n%s", link, err, out, want)
		}
	}
}

// TestObjectCache builds a library with kept objects: again, with a spoiled one, and with
// other kernels.
func TestObjectCache(t *testing.T) {
	lib := family(t)
	cache := filepath.Join(t.TempDir(), "objects")
	first, err := lib.Objects(context.Background(), cache)
	if err != nil {
		t.Fatal(err)
	}
	list := func() []string {
		names, err := filepath.Glob(filepath.Join(cache, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	names := list()
	if len(names) != 5 {
		t.Fatalf("kept: %v", names)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, spoiled := range [][]byte{nil, data[:10], append(bytes.Clone(data[:len(data)/2]), data[len(data)/2+1:]...)} {
		if err := os.WriteFile(names[0], spoiled, 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := lib.Objects(context.Background(), cache)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if !bytes.Equal(first[i].Data, again[i].Data) {
				t.Errorf("%s differs", first[i].Name)
			}
		}
	}
	lib.Units = lib.Units[:1]
	if _, err := lib.Objects(context.Background(), cache); err != nil {
		t.Fatal(err)
	}
	if left := list(); len(left) != 2 {
		t.Errorf("kept: %v", left)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lib.Objects(ctx, ""); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	lib.Units = append(lib.Units, lib.Units[0])
	if _, err := lib.Objects(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "both define spmv_CSR_f32") {
		t.Errorf("error %v", err)
	}
}

// TestHeaderNames compiles a header of a kernel whose tensors are called as parts of the
// interface, and one of an operand that is updated.
func TestHeaderNames(t *testing.T) {
	gcc := needTool(t, "gcc")
	dir := t.TempDir()
	for name, src := range map[string]string{"a": "STATE(i) = step(i)*chunk(i) + kernel(i)", "b": "y(i) += x(i)", "c": "ü(i) = x(i)*COUNT(i)"} {
		src = strings.TrimSuffix(src, "")
		var opts []lacuna.Option
		for _, operand := range []string{"step", "chunk", "kernel", "x", "y", "COUNT"} {
			if strings.Contains(src, operand+"(i)") {
				opts = append(opts, lacuna.Format(operand, tensor.Dense(1), f64))
			}
		}
		p, err := lacuna.Link(t.Context(), src, lacuna.BuildOptions{Name: name}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".h")
		if err := os.WriteFile(path, []byte(aot.KernelHeader(p)), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(gcc, "-x", "c", "-Wall", "-fsyntax-only", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", src, err, out)
		}
	}
}
