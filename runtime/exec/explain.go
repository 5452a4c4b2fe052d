package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
)

// Stages are the names that Explain takes, in the order of the pipeline.
func Stages() []string {
	return []string{"syntax", "logic", "choices", "schedule", "plan", "lattice", "loops", "llvm", "optimised", "asm", "grids", "ptx"}
}

// GridStages are the stages that only kernels for a GPU have: those of sessions with
// the engine "cuda", or "simulated".
func GridStages() []string { return []string{"grids", "ptx"} }

// Explain prints the program at one stage of its compilation. The error of a
// stage that needs LLVM where there is none is a *runtime.UnavailableError.
func (k *Kernel) Explain(stage string) (string, error) {
	if err := k.compiled(); err != nil {
		return "", err
	}
	switch stage {
	case "syntax":
		return k.file.String() + "\n\n" + strings.TrimRight(k.asWritten().String(), "\n") + "\n", nil
	case "logic":
		return k.explainLogic(), nil
	case "choices":
		c, err := k.Choices(context.Background(), nil)
		if err != nil {
			return "", err
		}
		return c.String(), nil
	case "schedule":
		return k.explainSchedule(), nil
	case "plan":
		text := k.plan.String()
		for i, v := range k.literals {
			text = strings.TrimRight(text, "\n") + fmt.Sprintf("\n# %s = %d, which each run is given\n", ir.LiteralName(i+1), v)
		}
		for _, w := range k.loopWarnings() {
			text = strings.TrimRight(text, "\n") + "\nwarning: " + w.Msg + "\n"
		}
		return text, nil
	case "lattice":
		return k.eachStep(func(st *step, v *version) (string, error) {
			return strings.Join(k.latticeOf(st, v), "\n") + "\n", nil
		})
	case "loops":
		return k.eachVersion(func(v *version) (string, error) { return v.Lower.Program.String(), nil })
	case "llvm":
		return k.inspect(runtime.LLVMText)
	case "optimised":
		return k.inspect(runtime.OptimisedText)
	case "asm":
		return k.inspect(runtime.AssemblyText)
	case "grids":
		return k.onGPU(func(p *loop.Program) (string, error) { return gpu.Text(p), nil })
	case "ptx":
		return k.onGPU(func(p *loop.Program) (string, error) { return runtime.Inspect(p, runtime.PTXText) })
	}
	return "", fmt.Errorf("unknown stage %q: want one of %s", stage, strings.Join(Stages(), ", "))
}

func (k *Kernel) inspect(form runtime.Text) (string, error) {
	return k.eachVersion(func(v *version) (string, error) { return runtime.Inspect(v.Lower.Program, form) })
}

// onGPU prints what a GPU runs. The loops for a GPU differ from those for a
// processor, so the kernel must have been compiled for one.
func (k *Kernel) onGPU(show func(*loop.Program) (string, error)) (string, error) {
	if e := k.env.Engine; !k.env.OnGrids() {
		return "", fmt.Errorf("engine %s has no grids: to see them, compile the program in a session with the engine %q, or %q where there is no GPU",
			e.Name(), runtime.CUDAName, runtime.SimulatedName)
	}
	return k.eachVersion(func(v *version) (string, error) {
		p, err := gpu.Lower(v.Lower.Program, gpu.Options{Mapping: v.Lower.Mapping})
		if err != nil {
			return "", err
		}
		return show(p)
	})
}

// eachVersion prints the latest version of every step.
func (k *Kernel) eachVersion(f func(*version) (string, error)) (string, error) {
	return k.eachStep(func(_ *step, v *version) (string, error) { return f(v) })
}

// eachStep prints every step with its latest version.
func (k *Kernel) eachStep(f func(*step, *version) (string, error)) (string, error) {
	var parts []string
	for _, st := range k.steps {
		v, err := k.explained(st)
		if err != nil {
			return "", err
		}
		if v == nil {
			continue
		}
		text, err := f(st, v)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}

// explained is the version of a step to explain: the latest or, of a conversion that
// has not run, the usual one.
func (k *Kernel) explained(st *step) (*version, error) {
	p, ok := st.plan.(*ir.Convert)
	if v := st.latest.Load(); !ok || v != nil {
		return v, nil
	}
	low, err := k.env.convert.Usual(p)
	return &version{Kernel: &invoke.Kernel{Lower: low}}, err
}

// latticeOf says what the loops of a step visit.
func (k *Kernel) latticeOf(st *step, v *version) []string {
	notes := v.Lower.Notes
	if why := k.whyWorkspace(st, v); why != "" {
		notes = append(slices.Clip(notes), why)
	}
	return notes
}

// whyWorkspace explains the kind of a step's workspaces.
func (k *Kernel) whyWorkspace(st *step, v *version) string {
	c, ok := st.plan.(*ir.Compute)
	if !ok || len(c.Workspaces) == 0 {
		return ""
	}
	kind, keys, entries := v.work, st.keys.Load(), st.entries.Load()
	switch {
	case k.env.work != "":
		return "workspaces: asked for"
	case keys == 0:
		return fmt.Sprintf("workspaces: %s until a run tells the extents", kind)
	case kind == lower.DenseWorkspace && keys <= k.env.limits().DenseKeys:
		return fmt.Sprintf("workspaces: %s, as %s keys are no more than %s: %s for each thread", kind, withCommas(keys), withCommas(k.env.limits().DenseKeys), placesSize(c, keys))
	case kind == lower.DenseWorkspace:
		return fmt.Sprintf("workspaces: %s, as %s keys are no more than the operands have entries, %s: %s for each thread",
			kind, withCommas(keys), withCommas(entries), placesSize(c, keys))
	case k.env.OnGrids():
		return fmt.Sprintf("workspaces: %s, as each of thousands of threads would need %s for a place for each of %s keys", kind, placesSize(c, keys), withCommas(keys))
	case kind == lower.SortWorkspace:
		return fmt.Sprintf("workspaces: %s, as %s keys are too many for a place each (%s), and the operands have only %s entries",
			kind, withCommas(keys), placesSize(c, keys), withCommas(entries))
	}
	return fmt.Sprintf("workspaces: %s, as %s keys are too many for a place each (%s), and the operands have %s entries, too many for a list to sort",
		kind, withCommas(keys), placesSize(c, keys), withCommas(entries))
}

// placesSize is the memory of a dense workspace: a value and a bit for each key.
func placesSize(c *ir.Compute, keys int64) string {
	size := 0.0
	for _, w := range c.Workspaces {
		size = max(size, float64(keys)*(float64(w.Tensor.DType.Size())+1.0/8))
	}
	for _, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			return fmt.Sprintf("%.3g %s", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.3g PiB", size)
}

// withCommas writes a number with commas between thousands.
func withCommas(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Conversions tells which operands a run of the kernel stores again because the
// loops need them in another order, or as one tensor, and why.
func (k *Kernel) Conversions() []string {
	if k.compiled() != nil {
		return nil
	}
	var list []string
	for _, s := range k.plan.Steps {
		switch c := s.(type) {
		case *ir.Convert:
			name := c.From.Name
			if c.Axes != nil {
				name += fmt.Sprintf(", axes %v", c.Axes)
			}
			list = append(list, fmt.Sprintf("%s: %s to %s: %s", name, c.From.Format, c.To.Format, c.Why))
		case *ir.Join:
			list = append(list, fmt.Sprintf("%s: made one tensor, %s: %s", c.Operand.Source.Name, c.To.Format, c.Why))
		}
	}
	return slices.Clip(list)
}
