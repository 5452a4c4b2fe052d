package lacuna

import (
	"context"
	"fmt"
	"sync"

	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
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
	return &aot.Unit{Program: p, Target: t, LLVM: l, Keep: runtime.KeptObject}, nil
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
func Link(ctx context.Context, src string, o BuildOptions, opts ...Option) (p *aot.Program, err error) {
	defer caught(src, &err)
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	d := newDeclarations()
	if err := d.apply(opts); err != nil {
		return nil, err
	}
	if err := d.refuseRelaxed(); err != nil {
		return nil, err
	}
	if err := d.makePlain(ctx, NewSession(WithEngine(runtime.Interp()))); err != nil {
		return nil, err
	}
	_, program, err := check(src, d)
	if err != nil {
		return nil, err
	}
	grids := o.Target == aot.GPU
	plan, err := ir.New(ctx, program, ir.Options{StrictIEEE: d.strict, Grids: grids, Forms: d.forms(), OwnResults: true}, lower.Eval)
	if err != nil {
		return nil, withSource(err, src)
	}
	return aot.Link(aot.Input{
		Name: o.Name, Source: src, Plan: plan, Alg: ir.Algebra{Strict: d.strict, Eval: lower.Eval},
		Index: declaredIndex{d}, Wide: o.Wide, Grain: debug.ChunkGrain, Grids: grids,
	})
}

// refuseRelaxed refuses operands that may be unsorted or have repeated entries: a session
// stores them again before it runs a kernel; a kernel ahead of time would take them as
// they are.
func (d *declarations) refuseRelaxed() error {
	for i := range d.list {
		r := &d.list[i]
		format := r.says.Format
		if r.example != nil {
			if t, ok := r.example.(*tensor.Tensor); ok {
				format = t.Format()
			}
		}
		if format.Relaxed() && !r.result {
			return &aot.UnsupportedError{What: fmt.Sprintf("the operand %s, stored as %s", r.name, format),
				Hint: fmt.Sprintf("declare %s, and convert tensors to it before the call", format.Standard())}
		}
	}
	return nil
}

// declaredIndex gives the index types of operands: those of examples, and 32 bits
// elsewhere.
type declaredIndex struct{ d *declarations }

// IndexType implements lower.OperandTypes.
func (x declaredIndex) IndexType(t *ir.Tensor, level int, kind lower.ArrayKind) tensor.DType {
	if t.Source != nil {
		if example, ok := x.d.example(t.Source.Name).(*tensor.Tensor); ok && example != nil {
			if kind == lower.Positions {
				return example.LevelAt(level).Pos.DType()
			}
			return example.LevelAt(level).Crd.DType()
		}
	}
	return tensor.Uint32
}
