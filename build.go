package lacuna

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/codegen/aot/gopackage"
	"github.com/lacuna-sparse/lacuna/codegen/gosource"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// BuildOptions say what a kernel that is compiled ahead of time is called and where it
// is to run.
type BuildOptions struct {
	// Name is the kernel's: an identifier of C.
	Name string
	// Target is an LLVM triple of x86_64 or aarch64, such as "aarch64-linux-gnu"; "" is
	// this machine; aot.GPU makes PTX for NVIDIA's GPUs.
	Target string
	// CPU is a processor as LLVM names it, such as "znver4" or "x86-64-v3"; several levels
	// of x86-64, separated by commas; "native" or "generic". "" is native, or generic
	// if Target is given. Of aot.GPU it is the oldest architecture that is to run the kernel, such
	// as "sm_80"; "" is sm_70.
	CPU string
	// Wide makes coordinates of sparse results 64 bits wide; extents of more than 2^32 are
	// an error of the kernel without it.
	Wide bool
}

// Build compiles a program ahead of time: what it returns writes object files,
// libraries and the C header (see docs/aot.md). Options declare the operands, as for
// Compile. The error is a *lang.Error for what is wrong in the program, an
// *aot.NameError, *aot.TargetError or *aot.UnsupportedError, or a *runtime.UnavailableError
// where there is no LLVM.
func Build(ctx context.Context, src string, o BuildOptions, opts ...Option) (*aot.Unit, error) {
	p, err := Link(ctx, src, o, opts...)
	if err != nil {
		return nil, err
	}
	l, err := builderLLVM()
	if err != nil {
		return nil, err
	}
	t, err := aot.ParseTarget(l, o.Target, o.CPU)
	if err != nil {
		return nil, err
	}
	return &aot.Unit{Program: p, Target: t, LLVM: l, Keep: ondisk.Object}, nil
}

// builderLLVM is the LLVM that builds use, looked for once. The error is that of the engine
// that needs it, too.
var builderLLVM = sync.OnceValues(func() (*llvm.LLVM, error) {
	if _, err := runtime.CPU(); err != nil {
		return nil, err
	}
	return llvm.Load("")
})

// Link does the part of Build that needs no LLVM: it plans a program and joins all that a
// run of it does to one list of stages. It is enough for the C header.
func Link(ctx context.Context, src string, o BuildOptions, opts ...Option) (*aot.Program, error) {
	return link(ctx, src, aot.Input{Name: o.Name, Wide: o.Wide, Grids: o.Target == aot.GPU}, opts)
}

// link is Link, of what in says beside the plan.
func link(ctx context.Context, src string, in aot.Input, opts []Option) (p *aot.Program, err error) {
	defer runtime.Caught(src, &err)
	if err := refuseRelaxed(opts); err != nil {
		return nil, err
	}
	ahead, err := exec.PlanAhead(ctx, src, in.Grids, opts...)
	if err != nil {
		return nil, err
	}
	in.Source, in.Plan, in.Alg, in.Index, in.Grain = src, ahead.Plan, ahead.Alg, ahead.Index, debug.ChunkGrain
	return aot.Link(in)
}

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
		if err := refuseTriangles(k.Options); err != nil {
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
			u := aot.Unit{Program: k.Program, Target: t, LLVM: l, Keep: ondisk.Object}
			if k.Objects[arch], err = u.Object(); err != nil {
				return nil, fmt.Errorf("%s for %s: %w", k.Func, arch, err)
			}
		}
	}
	return out.Files()
}

// BuildGoSource writes a kernel as a file of Go, for the package of that name: code without assembly or objects, which runs
// wherever Go does, and needs no LLVM to be made. Its function takes and returns tensors, and runs on one thread. Errors are
// those of [BuildGo].
func BuildGoSource(ctx context.Context, pkg string, k GoKernel) ([]byte, error) {
	if err := gopackage.CheckName(pkg); err != nil {
		return nil, err
	}
	if err := gopackage.CheckFunc(k.Func); err != nil {
		return nil, err
	}
	if err := refuseTriangles(k.Options); err != nil {
		return nil, err
	}
	p, err := link(ctx, k.Source, aot.Input{Name: gopackage.Symbol(pkg, k.Func, k.Source), Wide: k.Wide, OnePass: true}, k.Options)
	if err != nil {
		return nil, err
	}
	return gosource.File(pkg, k.Func, p, k.Command)
}

// refuseRelaxed refuses operands that may be unsorted or have repeated entries: a session
// stores them again before it runs a kernel; a kernel ahead of time would take them as
// they are. Its results are sorted.
func refuseRelaxed(opts []Option) error {
	list, err := declare.Storages(opts...)
	for _, s := range list {
		if s.Format.Extended() {
			return &aot.UnsupportedError{What: fmt.Sprintf("the tensor %s, stored as %s", s.Name, s.Format),
				Hint: fmt.Sprintf("declare %s, and convert tensors", s.Format.Listed())}
		}
		if s.Format.Relaxed() && s.Result {
			return &aot.UnsupportedError{What: fmt.Sprintf("the result %s, stored as %s", s.Name, s.Format), Hint: fmt.Sprintf("declare %s", s.Format.Standard())}
		}
		if s.Format.Relaxed() {
			return &aot.UnsupportedError{What: fmt.Sprintf("the operand %s, stored as %s", s.Name, s.Format),
				Hint: fmt.Sprintf("declare %s, and convert tensors to it before the call", s.Format.Standard())}
		}
	}
	return err
}

// refuseTriangles refuses operands of which less is stored than they mean: functions take plain
// tensors only.
func refuseTriangles(opts []Option) error {
	list, err := declare.Storages(opts...)
	for _, s := range list {
		if s.Triangle {
			return &aot.UnsupportedError{What: "a function of a Go package with the operand " + s.Name + ", one triangle of a matrix", Hint: "store the whole matrix"}
		}
	}
	return err
}
