package lacuna

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// Stages are the names that Explain takes, in the order of the pipeline:
//
//	syntax     the program as parsed, then with every summation and conversion explicit
//	plan       formats, inserted conversions, and the loops in concrete index notation
//	lattice    for each loop, the set of coordinates it visits and how
//	loops      the loop program: stages, buffers, code
//	llvm       LLVM IR before optimisation
//	optimised  LLVM IR after optimisation
//	asm        assembly of this machine
func Stages() []string {
	return []string{"syntax", "plan", "lattice", "loops", "llvm", "optimised", "asm"}
}

// Explain prints the program at one stage of its compilation. The error of a
// stage that needs LLVM where there is none is a *runtime.UnavailableError.
func (k *Kernel) Explain(stage string) (string, error) {
	switch stage {
	case "syntax":
		return strings.TrimRight(k.file.String(), "\n") + "\n\n" + strings.TrimRight(k.program.String(), "\n") + "\n", nil
	case "plan":
		return k.plan.String(), nil
	case "lattice":
		return k.eachVariant(func(v *variant) (string, error) { return strings.Join(v.lower.Notes, "\n") + "\n", nil })
	case "loops":
		return k.eachVariant(func(v *variant) (string, error) { return v.lower.Program.String(), nil })
	case "llvm":
		return k.inspect(runtime.LLVMText)
	case "optimised":
		return k.inspect(runtime.OptimisedText)
	case "asm":
		return k.inspect(runtime.AssemblyText)
	}
	return "", fmt.Errorf("unknown stage %q: want one of %s", stage, strings.Join(Stages(), ", "))
}

func (k *Kernel) inspect(form runtime.Text) (string, error) {
	return k.eachVariant(func(v *variant) (string, error) { return runtime.Inspect(v.lower.Program, form) })
}

// eachVariant prints the latest variant of every compute step.
func (k *Kernel) eachVariant(f func(*variant) (string, error)) (string, error) {
	var parts []string
	for _, st := range k.steps {
		v := st.latest.Load()
		if v == nil {
			continue
		}
		text, err := f(v)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// Conversions tells which operands a run of the kernel stores again because the
// loops need them in another order, and why.
func (k *Kernel) Conversions() []string {
	var list []string
	for _, s := range k.plan.Steps {
		if c, ok := s.(*ir.Convert); ok {
			list = append(list, fmt.Sprintf("%s: %s to %s: %s", c.From.Name, c.From.Format, c.To.Format, c.Why))
		}
	}
	return slices.Clip(list)
}
