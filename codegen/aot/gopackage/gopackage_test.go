package gopackage

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// of is a tensor of a program, dense or CSR.
func of(name string, f tensor.Format, dt tensor.DType) aot.Tensor {
	t := aot.Tensor{Name: name, Format: f, DType: dt, Fill: tensor.Zero(dt), FillBuffer: -1}
	for _, level := range f.Physical() {
		var l aot.Level
		if level.Kind == tensor.CompressedLevel {
			l.Pointers.Type, l.Indices.Type = loop.U64, loop.U32
		}
		t.Levels = append(t.Levels, l)
	}
	return t
}

func vector(name string, dt tensor.DType) aot.Tensor { return of(name, tensor.Dense(1), dt) }

func kernelOf(operands int, tensors ...aot.Tensor) Kernel {
	return Kernel{
		Func: "F", Objects: map[string][]byte{"amd64": []byte("object")},
		Program: &aot.Program{Name: "kernel_1", Source: "the program\nin two lines", Tensors: tensors, Operands: operands, StateWords: 5},
	}
}

// TestFunctions checks the functions that kernels become: signatures, and what bodies do
// with each parameter.
func TestFunctions(t *testing.T) {
	f64 := tensor.Float64
	for _, test := range []struct {
		kernel    Kernel
		signature string
		uses      []string
	}{
		{
			kernelOf(2, of("A", tensor.CSR, f64), vector("x", f64), vector("y", f64)),
			"func F(ctx context.Context, A *tensor.Tensor, x []float64, y []float64) error {",
			[]string{"c.give(0, A)", "giveSlice(c, 1, x)", "takeSlice(c, 2, y)", "checkSlice(c, 2, y)", "its pointers are u64, its indices are u32"},
		},
		{ // updated
			kernelOf(2, vector("y", f64), vector("x", f64), vector("y", f64)),
			"func F(ctx context.Context, y []float64, x []float64) error {",
			[]string{"giveSlice(c, 0, y)", "copySlice(c, 2, y)"},
		},
		{ // rank 0, and several results
			kernelOf(2, of("a", tensor.Dense(0), tensor.Bool), vector("z", tensor.Complex64), of("s", tensor.Dense(0), tensor.Int32), of("C", tensor.CSR, f64), vector("n", tensor.Uint8)),
			"func F(ctx context.Context, a bool, z []complex64, n []uint8) (int32, *tensor.Tensor, error) {",
			[]string{"giveScalar(c, 0, a)", "resultScalar[int32](c, 2), c.result(3), nil", "return 0, nil, err", "The result C is stored as CSR"},
		},
		{ // no Go type
			kernelOf(1, vector("h", tensor.Float16), vector("b", tensor.BFloat16)),
			"func F(ctx context.Context, h *tensor.Tensor) (*tensor.Tensor, error) {",
			[]string{"c.give(0, h)", "c.result(1)"},
		},
		{ // names that Go or the body uses
			kernelOf(5, vector("func", f64), vector("func_", f64), vector("c", f64), vector("kernelF", f64), vector("2x", f64), of("float64", tensor.Dense(0), f64)),
			"func F(ctx context.Context, func_ []float64, func__ []float64, c_ []float64, kernelF_ []float64, _2x []float64) (float64, error) {",
			[]string{"giveSlice(c, 2, c_)"},
		},
	} {
		p := Package{Name: "kernels", Kernels: []Kernel{test.kernel}}
		files, err := p.Files()
		if err != nil {
			t.Fatal(err)
		}
		text := string(files["f_kernel.go"])
		for _, want := range append(test.uses, test.signature, "//\tthe program\n//\tin two lines\n", "stateWords: 5") {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

// Files are Go of the package, generated, each under the condition that its code is there.
func TestFiles(t *testing.T) {
	k := kernelOf(1, vector("x", tensor.Float64), vector("y", tensor.Float64))
	k.Command = `go run example.com/lacuna build "y(i) = x(i)"`
	other := k
	other.Func, other.Objects = "Other", map[string][]byte{"amd64": nil, "arm64": nil}
	p := Package{Name: "kernels", Kernels: []Kernel{k, other}}
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, data := range files {
		names = append(names, name)
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments)
		if err != nil {
			t.Error(err)
		} else if source.Name.Name != "kernels" || !ast.IsGenerated(source) {
			t.Errorf("%s is in package %s, generated: %v", name, source.Name.Name, ast.IsGenerated(source))
		}
	}
	slices.Sort(names)
	want := append(append(FilesOf("F")[:5:5], FilesOf("Other")...), "support.go", "invoke_linux.go", "invoke_other.go")
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	for name, want := range map[string]string{
		"f_stubs_linux.go":          "\n//go:build linux && amd64\n",
		"other_stubs_linux.go":      "\n//go:build linux && (amd64 || arm64)\n",
		"f_stubs_other.go":          "\n//go:build !(linux && amd64)\n",
		"f_stubs_linux_amd64.s":     "LEAQ kernel_1_step(SB), AX",
		"other_stubs_linux_arm64.s": "MOVD $kernel_1_chunk(SB), R0",
		"f_kernel_linux_amd64.syso": "object",
		"invoke_linux.go":           "\n//go:build linux && (amd64 || arm64)\n",
		"f_kernel.go":               "\n//go:generate go run example.com/lacuna build \"y(i) = x(i)\"\n",
		"support.go":                "\n// Package kernels has kernels",
	} {
		if !strings.Contains(string(files[name]), want) {
			t.Errorf("no %q in %s:\n%s", want, name, files[name])
		}
	}
}

func TestSymbols(t *testing.T) {
	seen := map[string]bool{}
	for _, args := range [][3]string{{"p", "F", "s"}, {"q", "F", "s"}, {"p", "G", "s"}, {"p", "F", "t"}, {"p F", "", "s"}} {
		s := Symbol(args[0], args[1], args[2])
		if seen[s] || aot.CheckName(s) != nil {
			t.Errorf("the symbol of %q is %s", args, s)
		}
		seen[s] = true
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "func", "a-b", "1a", "_", "main"} {
		if err := CheckName(name); !errors.As(err, new(*NameError)) {
			t.Errorf("package %q: error %v", name, err)
		}
	}
	for _, name := range []string{"", "spmv", "Error", "SetThreads", "A b", "Ä-"} {
		if err := CheckFunc(name); !errors.As(err, new(*NameError)) {
			t.Errorf("function %q: error %v", name, err)
		}
	}
	if err := errors.Join(CheckName("kernels"), CheckFunc("SpMV"), CheckFunc("Übung")); err != nil {
		t.Error(err)
	}
}
