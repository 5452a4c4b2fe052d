package aot

import (
	"fmt"

	"github.com/llir/llvm/ir"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Module is the LLVM module of a program for a target: the functions of its stages, in
// a variant for each processor, and the driver.
func Module(p *Program, t Target) (string, error) {
	m := llvm.NewModule(p.Name, lib.Lookup)
	m.IR.TargetTriple = t.Triple
	kernels := make([][]*ir.Func, len(p.Loops.Stages))
	list := suffixes(t.CPUs)
	for n, suffix := range list {
		v := llvm.Variant{Suffix: suffix, Freestanding: true, OwnRounding: t.ownRounding(n)}
		if len(list) > 1 {
			v.CPU = t.CPUs[n]
		}
		m.Use(v)
		for i := range p.Loops.Stages {
			if f := p.Loops.Stages[i].Func; f != nil {
				named := *f
				named.Name = functionName(p, i)
				kernels[i] = append(kernels[i], cpu.Kernel(m, &named))
			}
		}
	}
	cuts := emitCuts(m, p)
	if err := m.Err(); err != nil {
		return "", err
	}
	addDriver(m, p, kernels, cuts, list)
	return m.Text()
}

// emitCuts adds the functions that cut domains by weight, one for each type of weights.
func emitCuts(m *llvm.Module, p *Program) map[loop.Type]*ir.Func {
	m.Use(llvm.Variant{Freestanding: true, Unoptimised: true})
	cuts := map[loop.Type]*ir.Func{}
	for _, part := range p.Loops.Partitions {
		if part.Weights < 0 {
			continue
		}
		if elem := p.Loops.Buffers[part.Weights].Elem; cuts[elem] == nil {
			cuts[elem] = cpu.Kernel(m, cutFunc(fmt.Sprintf("%s_cut_%s", p.Name, elem), elem))
		}
	}
	return cuts
}
