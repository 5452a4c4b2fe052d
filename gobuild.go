package lacuna

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/codegen/aot/gopackage"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// GoPackage describes a Go package of kernels that are compiled ahead of time. Programs
// that import it need neither LLVM nor cgo (see docs/aot.md).
type GoPackage struct {
	Name    string // of the package
	Kernels []GoKernel
	// CPUs are the processors that the package is for, by GOARCH ("amd64", "arm64"), each as
	// in BuildOptions. nil means both: x86-64 with variants for the levels v3 and v4, and
	// any 64-bit Arm.
	CPUs map[string]string
}

// GoKernel is a kernel of a Go package.
type GoKernel struct {
	Func    string // the name of its function: it starts with a capital letter
	Source  string // the program
	Options []Option
	Wide    bool // as in BuildOptions
	// Command, unless it is empty, is the command that makes the kernel's files, for go generate.
	Command string
}

// anyProcessor is what GoPackage's CPUs are if nothing is said.
var anyProcessor = map[string]string{"amd64": "x86-64,x86-64-v3,x86-64-v4", "arm64": "generic"}

// triples are LLVM's names of systems, by GOARCH.
var triples = map[string]string{"amd64": "x86_64-unknown-linux-gnu", "arm64": "aarch64-unknown-linux-gnu"}

// BuildGo compiles the kernels of a Go package and returns its files, by name. Its functions
// take dense vectors as slices, values of rank 0 as Go values, and everything else as
// *tensor.Tensor; dense vectors that are results are written into slices of the
// caller's. Errors are those of Build, and *gopackage.NameError.
func BuildGo(ctx context.Context, p GoPackage) (files map[string][]byte, err error) {
	if p.CPUs == nil {
		p.CPUs = anyProcessor
	}
	// What can be wrong without LLVM comes first.
	if err := gopackage.CheckName(p.Name); err != nil {
		return nil, err
	}
	for arch := range p.CPUs {
		if triples[arch] == "" {
			return nil, &aot.TargetError{Target: arch, Reason: "Go packages are made for amd64 and arm64"}
		}
	}
	out := gopackage.Package{Name: p.Name}
	for _, k := range p.Kernels {
		if err := gopackage.CheckFunc(k.Func); err != nil {
			return nil, err
		}
		if err := k.wholeOperands(); err != nil {
			return nil, err
		}
		program, err := Link(ctx, k.Source, BuildOptions{Name: gopackage.Symbol(p.Name, k.Func, k.Source), Wide: k.Wide}, k.Options...)
		if err != nil {
			return nil, err
		}
		out.Kernels = append(out.Kernels, gopackage.Kernel{Func: k.Func, Program: program, Objects: map[string][]byte{}, Command: k.Command})
	}
	l, err := builderLLVM()
	if err != nil {
		return nil, err
	}
	for _, arch := range slices.Sorted(maps.Keys(p.CPUs)) {
		t, err := aot.ParseTarget(l, triples[arch], p.CPUs[arch])
		if err != nil {
			return nil, err
		}
		for i := range out.Kernels {
			k := &out.Kernels[i]
			u := aot.Unit{Program: k.Program, Target: t, LLVM: l, Keep: runtime.KeptObject}
			if k.Objects[arch], err = u.Object(); err != nil {
				return nil, fmt.Errorf("%s for %s: %w", k.Func, arch, err)
			}
		}
	}
	return out.Files()
}

// wholeOperands refuses operands of which less is stored than they mean: functions take plain
// tensors only.
func (k *GoKernel) wholeOperands() error {
	d := newDeclarations()
	if err := d.apply(k.Options); err != nil {
		return err
	}
	forms := d.forms()
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		if len(forms[name].Pieces) == 1 {
			return &aot.UnsupportedError{What: "a function of a Go package with the operand " + name + ", one triangle of a matrix", Hint: "store the whole matrix"}
		}
	}
	return nil
}
