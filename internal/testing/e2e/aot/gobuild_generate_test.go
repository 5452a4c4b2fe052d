package aot_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// generateFiles are a program with a test. It multiplies
//
//	1 2       1 2
//	. 3  by   . 3
var generateFiles = map[string]string{
	"main.go": `package main

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"

	"example.com/use/kernels"
)

func product() (*tensor.Tensor, []float64, error) {
	A, err := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int64{{0, 0, 1}, {0, 1, 1}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		return nil, nil, err
	}
	C, err := kernels.SpGEMM(context.Background(), A, A)
	if err != nil {
		return nil, nil, err
	}
	y := make([]float64, 2)
	return C, y, kernels.SpMV(context.Background(), C, []float64{1, 10}, y)
}

func main() {
	C, y, err := product()
	fmt.Println(tensor.View[float64](C.Values()), y, err)
}
`,
	"main_test.go": `package main

import "testing"

func TestProduct(t *testing.T) {
	if C, y, err := product(); err != nil || C.NNZ() != 3 || y[0] != 81 || y[1] != 90 {
		t.Error(C, y, err)
	}
}
`,
}

// TestGoGenerate goes the way of a module that uses generated kernels: they are made, go generate makes the same files
// again and once more, and what uses them is built, tested and run, all of it by the go command alone.
func TestGoGenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	if _, err := lacuna.BuildGo(context.Background(), lacuna.GoPackage{Name: "p", CPUs: map[string]string{"amd64": "x86-64"},
		Kernels: []lacuna.GoKernel{{Func: "F", Source: "s = 1"}}}); errors.As(err, new(*runtime.UnavailableError)) {
		t.Skip(err)
	}
	dir := newModule(t)
	for name, text := range generateFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		out, err := goCommand(t, dir, "", []string{"CGO_ENABLED=0"}, args)
		if err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
		return out
	}
	const command = "github.com/lacuna-sparse/lacuna/cmd/lacuna"
	run("mod", "edit", "-tool="+command)
	run("tool", "lacuna", "build", "y(i) = A(i,j)*x(j)", "A:CSR", "--go-package", "kernels", "--name", "SpMV", "-o", "kernels")
	run("run", command, "build", "C(i,k) = A(i,j)*B(j,k)", "A:CSR", "B:CSR", "C:CSR", "--go-package", "kernels", "--name", "SpGEMM", "-o", "kernels")
	files := func() map[string][]byte {
		all, err := filepath.Glob(filepath.Join(dir, "kernels", "*"))
		if err != nil {
			t.Fatal(err)
		}
		list := map[string][]byte{}
		for _, path := range all {
			if list[path], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		return list
	}
	made := files()
	for range 2 {
		// What is there does not matter: the command makes it again.
		for path := range made {
			if filepath.Ext(path) == ".syso" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		run("generate", "./...")
		if again := files(); !maps.EqualFunc(made, again, bytes.Equal) {
			t.Fatal("go generate made other files")
		}
	}
	run("vet", "./...")
	run("test", "./...")
	if got, want := run("run", "."), "[1 8 9] [81 90] <nil>\n"; got != want {
		t.Errorf("the program prints %q, want %q", got, want)
	}
}
