package examples

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/examples/gopackage/kernels"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The package of the example gopackage is what lacuna build makes now, machine code
// aside, which depends on LLVM: if not, run go generate ./examples/gopackage/...
func TestGoPackageIsCurrent(t *testing.T) {
	csr := func(name string) lacuna.Option { return lacuna.Format(name, tensor.CSR, tensor.Float64) }
	files, err := lacuna.BuildGo(lacuna.GoPackage{Name: "kernels", Kernels: []lacuna.GoKernel{
		{
			Func: "SpMV", Source: "y(i) = A(i,j)*x(j)",
			Options: []lacuna.Option{csr("A"), lacuna.Format("x", tensor.Dense(1), tensor.Float64)},
			Command: `lacuna build "y(i) = A(i,j)*x(j)" A:CSR --go-package=kernels --name=SpMV --output=.`,
		},
		{
			Func: "SpGEMM", Source: "C(i,k) = A(i,j)*B(j,k)",
			Options: []lacuna.Option{csr("A"), csr("B"), lacuna.Result("C", tensor.CSR)},
			Command: `lacuna build "C(i,k) = A(i,j)*B(j,k)" A:CSR B:CSR C:CSR --go-package=kernels --name=SpGEMM --output=.`,
		},
	}})
	if errors.As(err, new(*runtime.UnavailableError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	stateWords := regexp.MustCompile(`stateWords: \d+`) // goes with the machine code
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("gopackage", "kernels", name))
		if err != nil {
			t.Error(err)
		} else if filepath.Ext(name) != ".syso" {
			if diff := cmp.Diff(stateWords.ReplaceAllString(string(want), ""), stateWords.ReplaceAllString(string(got), "")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// BenchmarkCall is one product of a tiny matrix with a vector: by a function of a
// generated package, and by a kernel compiled in the process.
func BenchmarkCall(b *testing.B) {
	ctx := context.Background()
	A, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{0, 1, 2}, {1, 2, 0}}, tensor.ArrayOf([]float64{2, 3, 4}))
	if err != nil {
		b.Fatal(err)
	}
	values := []float64{1, 10, 100}
	b.Run("package", func(b *testing.B) {
		y := make([]float64, 3)
		for b.Loop() {
			if err := kernels.SpMV(ctx, A, values, y); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf(values))
		if err != nil {
			b.Fatal(err)
		}
		args := lacuna.Args{"A": A, "x": x}
		k, err := lacuna.Compile("y(i) = A(i,j)*x(j)", lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := k.Run(ctx, args); err != nil {
				b.Fatal(err)
			}
		}
	})
}
