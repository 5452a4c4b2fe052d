package aot

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Module is the LLVM module of a program for a target: the functions of its stages, in
// a variant for each processor, and the driver.
func Module(p *Program, t Target) (string, error) {
	m := llvm.NewModule(p.Name, lib.Lookup)
	kernels := make([]string, len(p.Loops.Stages))
	list := suffixes(t.CPUs)
	for n, suffix := range list {
		v := llvm.Variant{Suffix: suffix, Freestanding: true, OwnRounding: t.ownRounding(n)}
		if len(list) > 1 {
			v.CPU = t.CPUs[n]
		}
		m.Use(v)
		for i := range p.Loops.Stages {
			f := p.Loops.Stages[i].Func
			if f == nil {
				continue
			}
			named := *f
			named.Name = functionName(p, i)
			kernels[i] = named.Name
			cpu.Kernel(m, &named)
		}
	}
	emitCuts(m, p)
	text, err := m.Text()
	if err != nil {
		return "", err
	}
	d := newDriver(p, kernels, list)
	return strings.TrimRight(text, "\n") + "\n\n" + d.module(), nil
}

// functionName is the LLVM name of a stage's function.
func functionName(p *Program, stage int) string {
	return fmt.Sprintf("%s_%d_%s", p.Name, stage, loop.CleanName(p.Loops.Stages[stage].Func.Name))
}

// emitCuts adds the functions that cut domains by weight, one for each type of weights.
func emitCuts(m *llvm.Module, p *Program) {
	m.Use(llvm.Variant{Freestanding: true, Unoptimised: true})
	var done [32]bool
	for _, part := range p.Loops.Partitions {
		if part.Weights < 0 {
			continue
		}
		elem := p.Loops.Buffers[part.Weights].Elem
		if !done[elem] {
			done[elem] = true
			cpu.Kernel(m, cutFunc(cutName(p.Name, elem), elem))
		}
	}
}
