package runtime

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Text is a form in which the CPU engine can show a program.
type Text uint8

// The forms of a program that LLVM can print.
const (
	LLVMText      Text = iota // LLVM IR as it is handed to LLVM
	OptimisedText             // LLVM IR after optimisation
	AssemblyText              // assembly of the host processor
)

// Inspect prints what the CPU engine makes of a program. LLVMText needs no
// LLVM; without one the other forms are an *UnavailableError.
func Inspect(p *loop.Program, form Text) (string, error) {
	if err := p.Verify(lib.Lookup); err != nil {
		return "", &ProgramError{Program: p.Name, Err: err}
	}
	funcs := uniqueNames(newPlan(p).funcs)
	text, err := cpu.Emit(p.Name, funcs, lib.Lookup)
	if err != nil || form == LLVMText {
		return text, err
	}
	l, err := llvm.Load("")
	if err != nil {
		return "", missingLLVM(err)
	}
	host, err := l.Host()
	if err != nil {
		return "", missingLLVM(err)
	}
	switch form {
	case OptimisedText:
		return l.PrintOptimized(text, llvm.Options{Target: host})
	case AssemblyText:
		assembly, err := l.EmitAssembly(text, llvm.Options{Target: host, Comments: true})
		return annotate(assembly, funcs), err
	}
	return "", fmt.Errorf("unknown form %d of a program", form)
}
