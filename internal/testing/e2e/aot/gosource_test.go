package aot_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot/gopackage"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// sourceCases are programs beyond those of goCases: every kind of expression, type and stage.
var sourceCases = []goCase{
	{"y(i) = A(i,j)*x(j)", []goOperand{f64("A", "CSR", 70, 90), f64("x", "D", 90)}, "D"},
	{"y(i) = A(i,j)*x(j)", []goOperand{f64("A", "CSC", 70, 90), f64("x", "D", 90)}, "D"},
	{"y(i) = A(i,j)*x(j)", []goOperand{{"A", "DCSR", "bf16", "0", []int64{7, 9}}, {"x", "D", "f16", "0", []int64{9}}}, "S"},
	{"y(i) = A(i,j)*x(j)", []goOperand{{"A", "COO", "c128", "0", []int64{7, 9}}, {"x", "D", "c64", "0", []int64{9}}}, "D"},
	{"B(i,j) = A(i,j)/(A(i,j)+3)", []goOperand{{"A", "CSR", "i32", "0", []int64{7, 9}}}, "D"},
	{"B(i,j) = where(A(i,j) < 0, -A(i,j), log1p(A(i,j)))", []goOperand{f64("A", "D", 7, 9)}, "D"},
	{"B(i,j) = sqrt(abs(A(i,j))) + floor(A(i,j)*0.3)", []goOperand{{"A", "CSR", "f32", "0", []int64{7, 9}}}, "CSR"},
	{"B(i,j) = A(i,j)^2 + pow(2, A(i,j))", []goOperand{f64("A", "CSR", 7, 9)}, "D"},
	{"B(i,j) = exp(A(i,j))*A(i,j)", []goOperand{{"A", "D", "c128", "0", []int64{4, 5}}}, "D"},
	{"y(i) = max_j A(i,j)", []goOperand{f64("A", "CSR", 7, 9)}, "D"},
	{"y(i) = argmin_j A(i,j)", []goOperand{f64("A", "CSR", 7, 9)}, "D"},
	{"y(i) = logsumexp_j A(i,j)", []goOperand{f64("A", "CSR", 7, 9)}, "D"},
	{"y(i) = median_j A(i,j)", []goOperand{f64("A", "CSR", 7, 9)}, "D"},
	{"y(j) = var_i A(i,j)", []goOperand{f64("A", "CSR", 7, 9)}, "D"},
	{"y(j) = any_i (A(i,j) > 2)", []goOperand{{"A", "DCSR", "u8", "0", []int64{7, 9}}}, "D"},
	{"y(i) = prod_{j in A} A(i,j)", []goOperand{{"A", "CSR", "i64", "0", []int64{7, 9}}}, "D"},
	{"L(i,j) = logcumsumexp_j[exclusive, reverse] A(i,j)", []goOperand{f64("A", "CSR", 5, 6)}, "D"},
	{"C(i,j) = A(i,j) + B(i,j) + E(i,j)", []goOperand{f64("A", "CSR", 7, 9), f64("B", "COO", 7, 9), f64("E", "CSC", 7, 9)}, "DCSC"},
	{"C(i,j) = A(i,k)*B(k,j)*M(i,j)", []goOperand{f64("A", "CSR", 7, 5), f64("B", "CSR", 5, 6), f64("M", "CSR", 7, 6)}, "CSR"},
	{"B(i,j,k) = A(k,i,j)", []goOperand{f64("A", "CSF", 4, 5, 6)}, "CSF"},
	{"y(i) = x(i+1) - x(i)", []goOperand{{"x", "S", "i16", "0", []int64{30}}}, "D"},
	{"y(i) = x(2*i+1) + x(2*i)", []goOperand{{"x", "D", "u64", "0", []int64{30}}}, "D"},
	{"B(i,j) = mod(bitxor(A(i,j), 5), 3)", []goOperand{{"A", "D", "u32", "0", []int64{7, 9}}}, "D"},
	{"B(i,j) = min(A(i,j), 1/A(i,j))", []goOperand{f64("A", "D", 7, 9)}, "D"},
	{"y(i) = A(i,j)", []goOperand{{"A", "CSR", "bool", "0", []int64{7, 9}}}, "D"},
}

// TestGoSourceComputesWhatEvalDoes is TestGoPackageComputesWhatEvalDoes for kernels as Go source.
func TestGoSourceComputesWhatEvalDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	compareGo(t, slices.Concat(sourceCases, goCases), func(dir string, kernels []lacuna.GoKernel) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels {
			text, err := lacuna.BuildGoSource(t.Context(), "kernels", k)
			if err != nil {
				t.Errorf("%s: %v", k.Source, err)
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, gopackage.KernelFile(k.Func)), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestGoSourceLoopsCheckNoIndices: the Go compiler finds that the indices of inner loops over rows are in range.
func TestGoSourceLoopsCheckNoIndices(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package")
	}
	for _, c := range []struct {
		kernel lacuna.GoKernel
		along  string // accesses that go along rows
		least  int
	}{
		{lacuna.GoKernel{Func: "SpMM", Source: "C(i,k) = A(i,j)*B(j,k)", Options: []lacuna.Option{
			lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("B", tensor.Dense(2), tensor.Float64), lacuna.Result("C", tensor.Dense(2))}}, `\[at_k_\d+\]`, 4},
		{lacuna.GoKernel{Func: "SpMV", Source: "y(i) = A(i,j)*x(j)", Options: []lacuna.Option{
			lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64)}}, `\[at_p_A_\d+\]`, 2}, // in a function of its own
	} {
		t.Run(c.kernel.Func, func(t *testing.T) { checkIndices(t, c.kernel, regexp.MustCompile(c.along), c.least) })
	}
}

func checkIndices(t *testing.T, k lacuna.GoKernel, along *regexp.Regexp, least int) {
	text, err := lacuna.BuildGoSource(t.Context(), "kernels", k)
	if err != nil {
		t.Fatal(err)
	}
	dir := newModule(t)
	name := filepath.Join(dir, "kernels", gopackage.KernelFile(k.Func))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := goCommand(t, dir, "", []string{"CGO_ENABLED=0"}, []string{"build", "-gcflags=-d=ssa/check_bce", "./kernels"})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checked := map[string]bool{} // lines
	for _, m := range regexp.MustCompile(`_kernel\.go:(\d+):\d+: Found IsInBounds`).FindAllStringSubmatch(out, -1) {
		checked[m[1]] = true
	}
	if len(checked) == 0 {
		t.Fatalf("nothing is checked at all:\n%s", out)
	}
	inner := 0
	for i, line := range strings.Split(string(text), "\n") {
		if along.MatchString(line) {
			inner++
			if checked[strconv.Itoa(i+1)] {
				t.Errorf("line %d checks an index: %s", i+1, strings.TrimSpace(line))
			}
		}
	}
	if inner < least {
		t.Errorf("only %d lines go along rows:\n%s", inner, text)
	}
}
