package runtime

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Text is a form in which an engine can show a program.
type Text uint8

// The forms of a program that LLVM can print.
const (
	LLVMText      Text = iota // LLVM IR as it is handed to LLVM
	OptimisedText             // LLVM IR after optimisation
	AssemblyText              // assembly of the host processor
	PTXText                   // PTX of a program for a GPU, for the oldest architecture that kernels are made for
)

// Inspect prints what an engine makes of a program: the CPU engine or, of PTXText, a GPU's.
// LLVMText needs no LLVM; without one the other forms are an *UnavailableError.
func Inspect(p *loop.Program, form Text) (string, error) {
	if err := p.Verify(lib.Lookup); err != nil {
		return "", &ProgramError{Program: p.Name, Err: err}
	}
	if form == PTXText {
		return inspectPTX(p)
	}
	funcs := uniqueNames(newPlan(p).funcs)
	text, err := cpu.Emit(p.Name, funcs, lib.Lookup)
	if err != nil || form == LLVMText {
		return text, err
	}
	l, err := llvm.Load("")
	if err != nil {
		return "", missingLLVM(CPUName, err)
	}
	host, err := l.Host()
	if err != nil {
		return "", missingLLVM(CPUName, err)
	}
	switch form {
	case OptimisedText:
		return l.PrintOptimized(text, llvm.Options{Target: host})
	case AssemblyText:
		assembly, err := l.EmitAssembly(text, llvm.Options{Target: host, Comments: true})
		return cpu.Annotate(assembly, funcs), err
	}
	return "", fmt.Errorf("unknown form %d of a program", form)
}

// inspectPTX prints the PTX of a verified program for a GPU.
func inspectPTX(p *loop.Program) (string, error) {
	if err := checkMapped(CUDAName, p); err != nil {
		return "", err
	}
	funcs := uniqueNames(newPlan(p).funcs)
	if len(funcs) == 0 {
		return "", nil // nothing is computed
	}
	text, err := ptx.Emit("program", funcs, lib.Lookup)
	if err != nil {
		return "", err
	}
	l, err := llvm.Load("")
	if err != nil {
		return "", missingLLVM(CUDAName, err)
	}
	target, err := ptx.CPU(ptx.Oldest, l.Version().Major)
	if err != nil {
		return "", err
	}
	return l.EmitAssembly(text, llvm.Options{Target: llvm.Target{Triple: ptx.Triple, CPU: target}})
}
