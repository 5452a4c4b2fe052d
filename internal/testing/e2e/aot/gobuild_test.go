package aot_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// goPackage is a package with each way of taking operands and giving results.
func goPackage() lacuna.GoPackage {
	csr := func(name string) lacuna.Option { return lacuna.Format(name, tensor.CSR, tensor.Float64) }
	dense := func(name string, rank int) lacuna.Option {
		return lacuna.Format(name, tensor.Dense(rank), tensor.Float64)
	}
	return lacuna.GoPackage{
		Name: "kernels",
		Kernels: []lacuna.GoKernel{
			{Func: "SpMV", Source: "y(i) = A(i,j)*x(j)", Options: []lacuna.Option{csr("A"), dense("x", 1)}},
			{Func: "AddTo", Source: "y(i) += a*A(i,j)*x(j)", Options: []lacuna.Option{csr("A"), dense("x", 1), dense("y", 1), dense("a", 0)}},
			{Func: "SpGEMM", Source: "C(i,k) = A(i,j)*B(j,k)", Options: []lacuna.Option{csr("A"), csr("B"), lacuna.Result("C", tensor.CSR)}},
			{Func: "Norms", Source: "s = sum_{i,j} A(i,j)*A(i,j); m(i) = max_j A(i,j)", Options: []lacuna.Option{csr("A")}},
			{Func: "Exp", Source: "B(i,j) = exp(A(i,j))", Options: []lacuna.Option{csr("A"), lacuna.Result("B", tensor.CSR)}},
			{Func: "Keyword", Source: "err(i) = func(i) + c*float64(i)", Options: []lacuna.Option{dense("func", 1), dense("float64", 1), dense("c", 0)}},
			{Func: "Half", Source: "h(i) = g(i)*2", Options: []lacuna.Option{lacuna.Format("g", tensor.Dense(1), tensor.Float16)}},
			{Func: "Complex", Source: "w(i) = z(i)*conj(z(i))", Options: []lacuna.Option{lacuna.Format("z", tensor.Dense(1), tensor.Complex64)}},
			{Func: "Scatter", Source: "y(p(i)) += x(i)", Options: []lacuna.Option{lacuna.Format("y", tensor.CSF(1), tensor.Float64), dense("x", 1), lacuna.Format("p", tensor.Dense(1), tensor.Int64)}},
			{Func: "Gather", Source: "g(i) = x(p(i))", Options: []lacuna.Option{dense("x", 1), lacuna.Format("p", tensor.Dense(1), tensor.Int64)}},
		},
	}
}

// goProgram uses all functions of goPackage and prints what they return. What they must
// return is worked out by hand: the matrix is
//
//	2 .  -1
//	.  .  .
//	.  4  .
const goProgram = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna/tensor"

	"example.com/use/kernels"
)

func matrix(f tensor.Format, opts ...tensor.Option) *tensor.Tensor {
	A, err := tensor.FromCoords([]int64{3, 3}, f, [][]int64{{0, 0, 2}, {0, 2, 1}}, tensor.ArrayOf([]float64{2, -1, 4}), opts...)
	check(err)
	return A
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func show(t *tensor.Tensor) {
	dense, err := t.ToDense()
	check(err)
	fmt.Println(t.Format(), t.Shape(), t.NNZ(), t.Fill(), tensor.View[float64](dense))
}

func main() {
	ctx := context.Background()
	A, x := matrix(tensor.CSR), []float64{1, 10, 100}
	y := make([]float64, 3)
	check(kernels.SpMV(ctx, A, x, y))
	fmt.Println(y)
	check(kernels.AddTo(ctx, y, 0.5, A, x))
	fmt.Println(y)
	C, err := kernels.SpGEMM(ctx, A, A)
	check(err)
	show(C)
	C, err = kernels.SpGEMM(ctx, C, A) // with the index types of results
	check(err)
	show(C)
	m := make([]float64, 3)
	s, err := kernels.Norms(ctx, A, m)
	check(err)
	fmt.Println(s, m)
	B, err := kernels.Exp(ctx, A)
	check(err)
	fmt.Println(B.Fill(), B.NNZ(), B.At(1, 1), B.At(2, 1).Float64() > 54)
	check(kernels.Keyword(ctx, x, 2, x, y))
	fmt.Println(y)
	half, err := tensor.ArrayOf([]float64{1.5, -2}).Convert(tensor.Float16)
	check(err)
	g, err := tensor.FromDense([]int64{2}, tensor.Dense(1), half)
	check(err)
	h, err := kernels.Half(ctx, g)
	check(err)
	fmt.Println(h.DType(), h.At(0), h.At(1))
	w := make([]complex64, 1)
	check(kernels.Complex(ctx, []complex64{3 + 4i}, w))
	fmt.Println(w)

	// What is wrong is an error that says so.
	var none *tensor.Tensor
	for _, err := range []error{
		kernels.SpMV(ctx, none, x, y),
		kernels.SpMV(ctx, matrix(tensor.CSC), x, y),
		kernels.SpMV(ctx, matrix(tensor.CSR, tensor.WithIndexTypes(tensor.Uint64, tensor.Uint64)), x, y),
		kernels.SpMV(ctx, wideMatrix(), x, y),
		kernels.SpMV(ctx, A, x[:2], y),
		kernels.SpMV(ctx, A, x, y[:2]),
		kernels.SpMV(ctx, A, x, append(y, 0)),
		kernels.SpMV(ctx, A, y, y),
		kernels.SpMV(nil, A, x, y),
		kernels.Gather(ctx, x, []int64{7}, y[:1]),
	} {
		var e *kernels.Error
		fmt.Println(errors.As(err, &e), err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	fmt.Println(kernels.SpMV(ended, A, x, y))
	check(kernels.SpMV(ctx, A, x, y)) // after errors, too
	fmt.Println(y)
	check(kernels.SpMV(ctx, emptyMatrix(), nil, nil))
	many()
	reused()
	if len(os.Args) > 1 {
		timeCalls(A, x, y)
	}
}

func wideMatrix() *tensor.Tensor {
	A, err := tensor.FromCoords([]int64{1, 1 << 40}, tensor.CSR, [][]int64{{0}, {1 << 39}}, tensor.ArrayOf([]float64{1}))
	check(err)
	return A
}

func emptyMatrix() *tensor.Tensor {
	A, err := tensor.FromCoords([]int64{0, 0}, tensor.CSR, [][]int64{{}, {}}, tensor.ArrayOf([]float64{}))
	check(err)
	return A
}

// many runs a large product on several goroutines at once, each on several threads.
func many() {
	const n = 200000
	coords, values := [][]int64{make([]int64, n), make([]int64, n)}, make([]float64, n)
	x := make([]float64, n)
	for i := range n {
		coords[0][i], coords[1][i], values[i], x[i] = int64(i), int64(n-1-i), float64(i), float64(2*i)
	}
	A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, coords, tensor.ArrayOf(values))
	check(err)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			kernels.SetThreads(g)
			y := make([]float64, n)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for range 5 {
				check(kernels.SpMV(ctx, A, x, y))
				for i := range y {
					if y[i] != float64(i)*float64(2*(n-1-i)) {
						fmt.Println("wrong", i, y[i])
						return
					}
				}
			}
			B, err := kernels.SpGEMM(ctx, A, A)
			check(err)
			if B.NNZ() != n || B.At(5, 5).Float64() != 5*(n-1-5) {
				fmt.Println("wrong product")
			}
		})
	}
	wait.Wait()
	fmt.Println("many done")
}

// reused runs kernels whose workspaces are much larger than what they compute: later runs use the memory of runs before, and
// find nothing in it that those left, if they failed either.
func reused() {
	ctx := context.Background()
	const n = 300000
	wide := func(column int64) *tensor.Tensor {
		A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{{0}, {column}}, tensor.ArrayOf([]float64{3}))
		check(err)
		return A
	}
	A, B := wide(0), wide(n-1)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	kernels.SetThreads(1)
	var before, after runtime.MemStats
	const runs = 60
	for i := range 1 + runs {
		if i == 1 {
			runtime.ReadMemStats(&before)
		}
		C, err := kernels.SpGEMM(ctx, A, []*tensor.Tensor{A, B}[i%2])
		check(err)
		if v := C.At(0, int64(i%2*(n-1))).Float64(); C.NNZ() != 1 || v != 9 {
			fmt.Println("wrong product", C, v)
		}
	}
	runtime.ReadMemStats(&after)
	// The pointers of a result take 1.2 MB, a workspace 3.6. The race detector has pools lose a quarter of what they get.
	fmt.Println("memory is used again:", (after.TotalAlloc-before.TotalAlloc)/runs < 4000000)

	y, err := tensor.FromCoords([]int64{9}, tensor.CSF(1), [][]int64{{}}, tensor.ArrayOf([]float64{}))
	check(err)
	for _, p := range [][]int64{{1, 5, 7}, {2, 8, 9}, {3, 4, 6}} {
		y, err := kernels.Scatter(ctx, y, p, []float64{10, 20, 30})
		if err != nil {
			fmt.Println(err)
			continue
		}
		show(y)
	}
}

func timeCalls(A *tensor.Tensor, x, y []float64) {
	const n = 1000000
	var best time.Duration = 1 << 62
	for range 5 {
		start := time.Now()
		for range n {
			if err := kernels.SpMV(context.Background(), A, x, y); err != nil {
				check(err)
			}
		}
		best = min(best, time.Since(start)/n)
	}
	fmt.Println(strings.Repeat("-", 8), "one call takes", best)
}
`

const goWant = `[-98 0 40]
[-147 0 60]
CSR [3 3] 3 0 [4 -4 -2 0 0 0 0 0 0]
CSR [3 3] 3 0 [8 -8 -4 0 0 0 0 0 0]
21 [2 0 4]
1 3 1 true
[3 30 300]
f16 3 -4
[(25+0i)]
true SpMV: A is nil
true SpMV: A is stored as CSC: want CSR (use its method Convert)
false <nil>
true SpMV: A has index arrays of type u64 with values up to 1099511627775: the kernel was built for u32
true SpMV: the index j has one extent in x(j) and another in A(i,j)
true SpMV: y has 2 elements: want 3
true SpMV: y has 4 elements: want 3
true SpMV: the memory of y_vals overlaps that of an operand or of another result
true SpMV: the context is nil: pass context.Background() where there is no other
true Gather: the value of p(i), used as an index into axis 0 of x, is outside that axis
context canceled
[-98 0 40]
many done
memory is used again: true
S [9] 3 0 [0 10 0 0 0 20 0 30 0]
Scatter: the value of p(i), which says where y is updated, is outside that axis
S [9] 3 0 [0 0 0 10 20 0 30 0 0]
`

// writePackage puts the files of a package into a directory.
func writePackage(t *testing.T, dir string, p lacuna.GoPackage) {
	t.Helper()
	files, err := lacuna.BuildGo(t.Context(), p)
	if errors.As(err, new(*runtime.UnavailableError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// newModule makes a module that uses this one from its source.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(here, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module github.com/lacuna-sparse/lacuna\n", "module example.com/use\n", 1)
	text += fmt.Sprintf("\nrequire github.com/lacuna-sparse/lacuna v0.0.0\n\nreplace github.com/lacuna-sparse/lacuna => %s\n", here)
	sum, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": goProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goCommand runs the go command where PATH holds nothing else but folders.
func goCommand(t *testing.T, dir, folders string, env, args []string) (string, error) {
	t.Helper()
	command, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	if command, err = filepath.EvalSymlinks(command); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PATH="+filepath.Dir(command)+folders, "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOPROXY=off", "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestGoPackage builds a program that uses a generated package where there is nothing but
// the go command, runs it, and compares what it prints with what was worked out by hand.
func TestGoPackage(t *testing.T) {
	dir := newModule(t)
	writePackage(t, filepath.Join(dir, "kernels"), goPackage())
	build := func(t *testing.T, folders, name string, env ...string) string {
		if out, err := goCommand(t, dir, folders, env, []string{"build", "-o", name, "."}); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		return filepath.Join(dir, name)
	}
	run := func(t *testing.T, args ...string) {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil || string(out) != goWant {
			t.Errorf("the program ends with %v and prints\n%s\nwant\n%s", err, out, goWant)
		}
	}
	t.Run("amd64", func(t *testing.T) {
		program := build(t, "", "use", "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		if goruntime.GOOS != "linux" || goruntime.GOARCH != "amd64" {
			t.Skip("another processor")
		}
		run(t, program)
	})
	if testing.Short() {
		return // what follows compiles the standard library anew
	}
	t.Run("vet", func(t *testing.T) {
		if out, err := goCommand(t, dir, "", []string{"CGO_ENABLED=0"}, []string{"vet", "./..."}); err != nil {
			t.Errorf("go vet: %v\n%s", err, out)
		}
	})
	t.Run("cgo", func(t *testing.T) {
		gcc, err := exec.LookPath("gcc")
		if err != nil || goruntime.GOOS != "linux" {
			t.Skip("no C compiler, which purego needs with CGO_ENABLED=1")
		}
		run(t, build(t, ":"+filepath.Dir(gcc), "use-cgo", "CGO_ENABLED=1"))
	})
	t.Run("race", func(t *testing.T) {
		gcc, err := exec.LookPath("gcc")
		if err != nil || goruntime.GOOS != "linux" {
			t.Skip("no C compiler, which the race detector needs")
		}
		out, err := goCommand(t, dir, ":"+filepath.Dir(gcc), []string{"CGO_ENABLED=1"}, []string{"run", "-race", "."})
		if err != nil || out != goWant {
			t.Errorf("the program ends with %v and prints\n%s", err, out)
		}
	})
	t.Run("arm64", func(t *testing.T) {
		program := build(t, "", "use-arm64", "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
		for _, name := range []string{"qemu-aarch64-static", "qemu-aarch64"} {
			emulator, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			const libraries = "/usr/aarch64-linux-gnu"
			root := os.Getenv("QEMU_LD_PREFIX")
			if _, err := os.Stat(libraries); err == nil && root == "" {
				root = libraries
			}
			if root == "" {
				break
			}
			run(t, emulator, "-L", root, program)
			return
		}
		t.Skip("linked, but not run: there is no emulator, or no C library for it (in Debian qemu-user-static and libc6-arm64-cross)")
	})
	t.Run("others", func(t *testing.T) {
		for _, system := range []string{"linux/riscv64"} {
			goos, goarch, _ := strings.Cut(system, "/")
			build(t, "", "use-other", "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
		}
	})
}

// The files follow from the description alone.
func TestGoPackageIsDeterministic(t *testing.T) {
	p := goPackage()
	p.Kernels = p.Kernels[:2]
	first, err := lacuna.BuildGo(t.Context(), p)
	if err != nil {
		t.Skip(err)
	}
	second, err := lacuna.BuildGo(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("the files differ from one time to the next")
	}
	for _, name := range []string{"spmv_kernel.go", "support.go", "spmv_kernel_linux_amd64.syso", "addto_kernel_linux_arm64.syso", "spmv_stubs_linux_amd64.s"} {
		if len(first[name]) == 0 {
			t.Errorf("there is no file %s", name)
		}
	}
}

func TestGoPackageMistakes(t *testing.T) {
	change := func(f func(*lacuna.GoPackage)) lacuna.GoPackage {
		p := goPackage()
		p.Kernels = p.Kernels[:1]
		f(&p)
		return p
	}
	for want, p := range map[string]lacuna.GoPackage{
		`"type" cannot be the name of a package`:   change(func(p *lacuna.GoPackage) { p.Name = "type" }),
		`"a-b" cannot be the name of a package`:    change(func(p *lacuna.GoPackage) { p.Name = "a-b" }),
		`"main" cannot be the name of a package`:   change(func(p *lacuna.GoPackage) { p.Name = "main" }),
		`"spmv" cannot be the name of a function`:  change(func(p *lacuna.GoPackage) { p.Kernels[0].Func = "spmv" }),
		`"Error" cannot be the name of a function`: change(func(p *lacuna.GoPackage) { p.Kernels[0].Func = "Error" }),
		`"" cannot be the name of a function`:      change(func(p *lacuna.GoPackage) { p.Kernels[0].Func = "" }),
		"has no kernels":                           change(func(p *lacuna.GoPackage) { p.Kernels = nil }),
		"differ only in case":                      change(func(p *lacuna.GoPackage) { k := p.Kernels[0]; k.Func = "SPMV"; p.Kernels = append(p.Kernels, k) }),
		"made for amd64 and arm64":                 change(func(p *lacuna.GoPackage) { p.CPUs = map[string]string{"riscv64": ""} }),
		"levels of x86-64":                         change(func(p *lacuna.GoPackage) { p.CPUs = map[string]string{"amd64": "znver4,znver5"} }),
		"one triangle of a matrix": change(func(p *lacuna.GoPackage) {
			p.Kernels[0].Options = append(p.Kernels[0].Options, lacuna.FormatTriangle("A", tensor.CSR, tensor.Float64, tensor.SymmetricLower))
		}),
		"[E": change(func(p *lacuna.GoPackage) { p.Kernels[0].Source = "y(i) = " }),
	} {
		if _, err := lacuna.BuildGo(t.Context(), p); errors.As(err, new(*runtime.UnavailableError)) {
			continue
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
