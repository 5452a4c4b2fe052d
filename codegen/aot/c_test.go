package aot_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// needTool skips a test that needs a program which is not there.
func needTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// write builds a kernel and writes it as files.
func write(t *testing.T, dir, src string, o lacuna.BuildOptions, files []string, opts ...lacuna.Option) {
	t.Helper()
	needLLVM(t)
	u, err := lacuna.Build(t.Context(), src, o, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := u.File(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := aot.WriteFile(filepath.Join(dir, name), data); err != nil {
			t.Fatal(err)
		}
	}
}

var f64 = tensor.Float64

// TestC compiles the example in C and compares what it prints.
func TestC(t *testing.T) {
	gcc := needTool(t, "gcc")
	dir := t.TempDir()
	a, b := lacuna.Format("A", tensor.CSR, f64), lacuna.Format("B", tensor.CSR, f64)
	write(t, dir, "y(i) = A(i,j)*x(j)", lacuna.BuildOptions{Name: "spmv", CPU: "generic"}, []string{"spmv.o", "spmv.h"},
		a, lacuna.Format("x", tensor.Dense(1), f64))
	write(t, dir, "C(i,j) = A(i,j) + B(i,j)", lacuna.BuildOptions{Name: "add", CPU: "generic"}, []string{"add.o", "add.h"}, a, b)
	main, err := filepath.Abs("../../examples/c/main.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-O2", "-O1 -fsanitize=address,undefined", "-O2 -static"} {
		args := append(strings.Fields(flags), "-Wall", "-Wextra", "-Werror", "-I", dir, main, filepath.Join(dir, "spmv.o"), filepath.Join(dir, "add.o"), "-o", filepath.Join(dir, "main"))
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v\n%s", flags, err, out)
		}
		out, err := exec.Command(filepath.Join(dir, "main")).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", flags, err, out)
		}
		want, err := os.ReadFile("../../examples/c/main.out")
		if err != nil {
			t.Fatal(err)
		}
		if string(out) != string(want) {
			t.Errorf("%s: the program prints\n%swant\n%s", flags, out, want)
		}
	}
}

// TestHeader compiles lacuna.h as C and as C++ and compares sizes and offsets with what
// drivers are written for.
func TestHeader(t *testing.T) {
	gcc := needTool(t, "gcc")
	dir := t.TempDir()
	const src = `#include "lacuna.h"
#include <stddef.h>
#define SAME(x, y) _Static_assert((x) == (y), #x)
SAME(sizeof(lacuna_array), 4 * 8);
SAME(offsetof(lacuna_array, type), 3 * 8);
SAME(sizeof(lacuna_level), 8 * 8);
SAME(offsetof(lacuna_level, indices), 4 * 8);
SAME(offsetof(lacuna_tensor, values), 4 * 8);
SAME(offsetof(lacuna_tensor, fill), 8 * 8);
SAME(sizeof(lacuna_tensor), 9 * 8);
SAME(offsetof(lacuna_need, array), 6 * 8);
SAME(offsetof(lacuna_call, need), 8 * 8);
SAME(offsetof(lacuna_call, chunks), 15 * 8);
SAME(offsetof(lacuna_call, message), 18 * 8);
SAME(sizeof(lacuna_call), 19 * 8);
SAME(offsetof(lacuna_args, stop), 6 * 8);
SAME(sizeof(lacuna_args), 9 * 8);
SAME(sizeof(lacuna_kernel), 11 * 8);
SAME(LACUNA_C128, 15);
SAME(LACUNA_U32, 8);
`
	for name, text := range map[string]string{"lacuna.h": aot.Header, "test.c": src, "test.cc": `#include "lacuna.h"` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"test.c", "test.cc"} {
		if out, err := exec.Command(gcc, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", filepath.Join(dir, file)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if tensor.Complex128 != 15 || tensor.Uint32 != 8 {
		t.Error("the types of tensors are numbered otherwise")
	}
}

// TestPython runs the example in Python.
func TestPython(t *testing.T) {
	python := needTool(t, "python3")
	needTool(t, "ld")
	dir := t.TempDir()
	write(t, dir, "y(i) = A(i,j)*x(j)", lacuna.BuildOptions{Name: "spmv"}, []string{"libspmv.so"},
		lacuna.Format("A", tensor.CSR, f64), lacuna.Format("x", tensor.Dense(1), f64))
	out, err := exec.Command(python, "../../examples/python/spmv.py", filepath.Join(dir, "libspmv.so")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = `y(i) = A(i,j)*x(j) | A:CSR[f64] x:D[f64] y:D[f64]
y = [201.0, 0.0, 430.0]
-4 A must have rank 2
`
	if string(out) != want {
		t.Errorf("the program prints\n%swant\n%s", out, want)
	}
}

// TestArchive links a program with a static library of several kernels.
func TestArchive(t *testing.T) {
	gcc := needTool(t, "gcc")
	dir := t.TempDir()
	a, b := lacuna.Format("A", tensor.CSR, f64), lacuna.Format("B", tensor.CSR, f64)
	write(t, dir, "y(i) = A(i,j)*x(j)", lacuna.BuildOptions{Name: "spmv"}, []string{"spmv.o", "spmv.h"}, a, lacuna.Format("x", tensor.Dense(1), f64))
	write(t, dir, "C(i,j) = A(i,j) + B(i,j)", lacuna.BuildOptions{Name: "add"}, []string{"add.o", "add.h"}, a, b)
	var members []aot.Member
	for _, name := range []string{"spmv.o", "add.o"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, aot.Member{Name: strings.Replace(name, ".", "_with_a_long_name.", 1), Data: data})
	}
	data, err := aot.Archive(members)
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(dir, "libkernels.a")
	if err := aot.WriteFile(library, data); err != nil {
		t.Fatal(err)
	}
	main, err := filepath.Abs("../../examples/c/main.c")
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "main")
	if out, err := exec.Command(gcc, "-I", dir, main, "-L", dir, "-lkernels", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	if out, err := exec.Command(exe).CombinedOutput(); err != nil || !strings.Contains(string(out), "y = 201 0 430") {
		t.Errorf("%v\n%s", err, out)
	}
	if ar, err := exec.LookPath("ar"); err == nil {
		out, err := exec.Command(ar, "t", library).CombinedOutput()
		if want := "spmv_with_a_long_name.o\nadd_with_a_long_name.o\n"; err != nil || string(out) != want {
			t.Errorf("ar t prints %q (%v), want %q", out, err, want)
		}
	}
}

// TestAllocation runs a kernel with an allocator that fails, and on several threads.
func TestAllocation(t *testing.T) {
	gcc := needTool(t, "gcc")
	dir := t.TempDir()
	write(t, dir, "C(i,j) = sum_k A(i,k)*B(k,j)", lacuna.BuildOptions{Name: "matmul", CPU: "generic"}, []string{"matmul.o", "matmul.h"},
		lacuna.Format("A", tensor.CSR, f64), lacuna.Format("B", tensor.CSR, f64))
	write(t, dir, "s = 3 + 4.0", lacuna.BuildOptions{Name: "seven", CPU: "generic"}, []string{"seven.o", "seven.h"})
	exe := filepath.Join(dir, "alloc")
	for _, sanitizer := range []string{"address,undefined", "thread"} {
		args := []string{"-g", "-O1", "-fsanitize=" + sanitizer, "-Wall", "-Wextra", "-Werror", "-I", dir, "testdata/alloc.c",
			filepath.Join(dir, "matmul.o"), filepath.Join(dir, "seven.o"), "-lpthread", "-o", exe}
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		out, err := exec.Command(exe).CombinedOutput()
		const want = "5 entries, 3 blocks, fill 0: sum 45\nneeds several allocations\n0 7\n-2 -2\n"
		if err != nil || string(out) != want {
			t.Errorf("%s: %v, the program prints\n%swant\n%s", sanitizer, err, out, want)
		}
	}
}
