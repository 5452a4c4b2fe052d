package aot_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// goOperand is an operand of a case.
type goOperand struct {
	name, format, dtype, fill string
	shape                     []int64
}

func f64(name, format string, shape ...int64) goOperand {
	return goOperand{name, format, "f64", "0", shape}
}

// goCase is a program whose operands and one result are tensors.
type goCase struct {
	source   string
	operands []goOperand
	result   string // format; "" for the natural one
}

// goCases end with one that fails.
var goCases = []goCase{
	{"C(i,j) = A(i,j) + B(i,j)", []goOperand{f64("A", "CSR", 7, 9), f64("B", "CSC", 7, 9)}, "CSR"},
	{"C(i,j) = A(i,j) + B(i,j)", []goOperand{f64("A", "COO", 7, 9), f64("B", "DCSR", 7, 9)}, "COO"},
	{"C(i,j) = A(i,k)*B(k,j)", []goOperand{f64("A", "CSC", 7, 5), f64("B", "DCSR", 5, 6)}, "DCSC"},
	{"C(i,j) = A(i,k)*B(k,j)", []goOperand{f64("A", "CSR", 7, 5), f64("B", "D", 5, 6)}, "D"},
	{"C(i,j) = A(i,j,k)*v(k)", []goOperand{f64("A", "CSF", 4, 5, 6), f64("v", "S", 6)}, "DCSR"},
	{"B(i,j) = exp(A(i,j))", []goOperand{f64("A", "CSR", 5, 6)}, "CSR"},
	{"B(i,j) = A(j,i)", []goOperand{{"A", "CSR", "c64", "0", []int64{5, 6}}}, "CSR"},
	{"B(i,j) = A(i,j)*A(i,j)", []goOperand{{"A", "CSR", "f16", "0", []int64{5, 6}}}, "DCSR"},
	{"B(i,j) = A(i,j) > 0", []goOperand{{"A", "DCSR", "i8", "0", []int64{5, 6}}}, "CSR"},
	{"C(i,j) = min_k (A(i,k) + B(k,j))", []goOperand{{"A", "CSR", "f32", "inf", []int64{5, 6}}, {"B", "CSR", "f32", "inf", []int64{6, 4}}}, "CSR"},
	{"S(i,j) = sort_j A(i,j)", []goOperand{f64("A", "CSR", 5, 6)}, ""},
	{"L(i,j) = cumsum_j A(i,j)", []goOperand{{"A", "CSR", "u16", "0", []int64{5, 6}}}, ""},
	{"B(i,j) = A(i,j)", []goOperand{f64("A", "CSR", 0, 6)}, "DCSR"},
	{"C(i,j) = A(i,j) + B(i,j)", []goOperand{f64("A", "CSR", 7, 9), f64("B", "CSR", 7, 8)}, "CSR"},
}

// TestGoPackageComputesWhatEvalDoes compares functions of a generated package with Eval,
// bit for bit.
func TestGoPackageComputesWhatEvalDoes(t *testing.T) {
	if goruntime.GOOS != "linux" || goruntime.GOARCH != "amd64" && goruntime.GOARCH != "arm64" {
		t.Skip("Go packages are for Linux, on x86-64 and 64-bit Arm")
	}
	compareGo(t, goCases, func(dir string, kernels []lacuna.GoKernel) {
		writePackage(t, dir, lacuna.GoPackage{Name: "kernels", CPUs: map[string]string{goruntime.GOARCH: "generic"}, Kernels: kernels})
	})
}

// compareGo compares functions of a package, which write puts into a folder, with Eval, bit for bit.
func compareGo(t *testing.T, cases []goCase, write func(dir string, kernels []lacuna.GoKernel)) {
	t.Helper()
	var kernels []lacuna.GoKernel
	var program, want bytes.Buffer
	program.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"os\"\n\n\t\"example.com/use/kernels\"\n)\n\nfunc main() {\n\tctx := context.Background()\n")
	for i, c := range cases {
		k := lacuna.GoKernel{Func: fmt.Sprintf("Case%d", i), Source: c.source}
		args := lacuna.Args{}
		var inputs []string
		var results []lacuna.Option
		for _, o := range c.operands {
			args[o.name] = goInput(o.format, o.dtype, o.fill, o.shape...)
			k.Options = append(k.Options, lacuna.Operand(o.name, args[o.name]))
			inputs = append(inputs, fmt.Sprintf("goInput(%q, %q, %q, %s)", o.format, o.dtype, o.fill, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(o.shape)), ", "), "[]")))
		}
		if c.result != "" {
			left, _, _ := strings.Cut(c.source, "=")
			name, indices, _ := strings.Cut(strings.TrimRight(left, " +"), "(")
			f, err := tensor.ParseFormat(c.result, strings.Count(indices, ",")+1)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, lacuna.Result(name, f))
		}
		k.Options = append(k.Options, results...)
		kernels = append(kernels, k)
		fmt.Fprintf(&program, "\t{\n\t\tr, err := kernels.%s(ctx, %s)\n\t\tgoShow(os.Stdout, %q, r, err)\n\t}\n", k.Func, strings.Join(inputs, ", "), k.Func)

		r, err := lacuna.Eval(context.Background(), c.source, args, results...)
		goShow(&want, k.Func, r, err)
	}
	program.WriteString("}\n")
	if n := strings.Count(want.String(), "error:"); n != 1 {
		t.Fatalf("%d of the programs fail, want one only:\n%s", n, want.String())
	}

	dir := newModule(t)
	write(filepath.Join(dir, "kernels"), kernels)
	shared, err := os.ReadFile("gobuild_inputs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"main.go": program.Bytes(), "inputs.go": bytes.Replace(shared, []byte("package aot_test"), []byte("package main"), 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := goCommand(t, dir, "", []string{"CGO_ENABLED=0"}, []string{"build", "-o", "use", "."}); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	got, err := exec.Command(filepath.Join(dir, "use")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if diff := cmp.Diff(withoutErrors(want.String()), withoutErrors(string(got))); diff != "" {
		t.Errorf("what the package computes (-want +got):\n%s", diff)
	}
}

// withoutErrors leaves of errors that they are errors: their texts differ.
func withoutErrors(text string) []string {
	lines := strings.Split(text, "\n")
	var kept []string
	for _, line := range lines {
		if before, _, failed := strings.Cut(line, "error:"); failed {
			line = before + "fails"
		} else if line != "" && !strings.HasPrefix(line, "Case") {
			continue // more of an error
		}
		kept = append(kept, line)
	}
	return kept
}
