package aot

import (
	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// GridFuncs are the functions of a program for a GPU in the order of its stages, under
// the names that the kernels have in PTX.
func (p *Program) GridFuncs() []*loop.Func {
	var list []*loop.Func
	for i := range p.Loops.Stages {
		if f := p.Loops.Stages[i].Func; f != nil {
			named := *f
			named.Name = functionName(p, i)
			list = append(list, &named)
		}
	}
	return list
}

// PTX compiles a unit for a GPU to the text of one PTX module with the kernels of all
// stages. The error is a *TargetError if the unit is for another target.
func (u *Unit) PTX() ([]byte, error) {
	if err := u.forGPU(); err != nil {
		return nil, err
	}
	text, err := ptx.Emit(u.Program.Name, u.Program.GridFuncs(), lib.Lookup)
	if err != nil {
		return nil, err
	}
	assembly, err := u.LLVM.EmitAssembly(text, llvm.Options{Target: u.Target.llvm()})
	return []byte(assembly), err
}

// forGPU reports a unit that is not for a GPU.
func (u *Unit) forGPU() error {
	if !u.Program.Grids || u.Target.Triple != GPU {
		return &TargetError{u.Target.Triple, "PTX is built for the target " + GPU}
	}
	return nil
}

// notForGPU is the error for what is not built for GPUs.
func (u *Unit) notForGPU() error {
	return &TargetError{u.Target.Triple, "for GPUs, only .ptx and its .json are built"}
}
