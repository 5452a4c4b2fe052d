package examples

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	files, err := lacuna.BuildGo(context.Background(), lacuna.GoPackage{Name: "kernels", Kernels: []lacuna.GoKernel{
		{
			Func: "SpMV", Source: "y(i) = A(i,j)*x(j)",
			Options: []lacuna.Option{csr("A"), lacuna.Format("x", tensor.Dense(1), tensor.Float64)},
			Command: `go run github.com/lacuna-sparse/lacuna/cmd/lacuna build "y(i) = A(i,j)*x(j)" A:CSR --go-package=kernels --name=SpMV --output=.`,
		},
		{
			Func: "SpGEMM", Source: "C(i,k) = A(i,j)*B(j,k)",
			Options: []lacuna.Option{csr("A"), csr("B"), lacuna.Result("C", tensor.CSR)},
			Command: `go run github.com/lacuna-sparse/lacuna/cmd/lacuna build "C(i,k) = A(i,j)*B(j,k)" A:CSR B:CSR C:CSR --go-package=kernels --name=SpGEMM --output=.`,
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
		k, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*x(j)", lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
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

// BenchmarkProduct is a product of few rows with a matrix of many columns, as BenchmarkCall has it; and one of its result
// with a vector.
func BenchmarkProduct(b *testing.B) {
	ctx := context.Background()
	const n = 200000
	matrix := func(rows, entries int64) *tensor.Tensor {
		r := rand.New(rand.NewPCG(1, uint64(rows)))
		var coords [2][]int64
		for k := range entries {
			coords[0], coords[1] = append(coords[0], k*rows/entries), append(coords[1], k%2*n/2+r.Int64N(n/2))
		}
		A, err := tensor.FromCoords([]int64{rows, n}, tensor.CSR, coords[:], tensor.ArrayOf(slices.Repeat([]float64{1}, int(entries))))
		if err != nil {
			b.Fatal(err)
		}
		return A
	}
	few, A := matrix(100, 200), matrix(n, 2*n)
	x, y := slices.Repeat([]float64{1}, n), make([]float64, n)
	C, err := kernels.SpGEMM(ctx, A, A)
	if err != nil {
		b.Fatal(err)
	}
	csr := func(name string) lacuna.Option { return lacuna.Format(name, tensor.CSR, tensor.Float64) }
	product, err := lacuna.Compile(context.Background(), "C(i,k) = A(i,j)*B(j,k)", csr("A"), csr("B"), lacuna.Result("C", tensor.CSR))
	if err != nil {
		b.Fatal(err)
	}
	vector, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*x(j)", csr("A"), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		b.Fatal(err)
	}
	own, err := product.Run(ctx, lacuna.Args{"A": A, "B": A})
	if err != nil {
		b.Fatal(err)
	}
	dense, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(x))
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		run  func() error
	}{
		{"rows/package", func() error { _, err := kernels.SpGEMM(ctx, few, A); return err }},
		{"rows/session", func() error { _, err := product.Run(ctx, lacuna.Args{"A": few, "B": A}); return err }},
		{"result/package", func() error { return kernels.SpMV(ctx, C, x, y) }},
		{"result/session", func() error { _, err := vector.Run(ctx, lacuna.Args{"A": own, "x": dense}); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
