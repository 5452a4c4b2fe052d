package lacuna

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Stages are the names that Explain takes, in the order of the pipeline:
//
//	syntax     the program as parsed, then with every summation and conversion explicit
//	logic      the program in the order in which it runs, with its intermediates: see package logic
//	plan       formats, inserted conversions, and the loops in concrete index notation
//	lattice    for each loop, the set of coordinates it visits and how
//	loops      the loop program: stages, buffers, code
//	llvm       LLVM IR before optimisation
//	optimised  LLVM IR after optimisation
//	asm        assembly of this machine
//	grids      the loop program as a GPU runs it: each stage with its mapping to threads
//	ptx        PTX, the assembly of NVIDIA's GPUs
func Stages() []string {
	return []string{"syntax", "logic", "plan", "lattice", "loops", "llvm", "optimised", "asm", "grids", "ptx"}
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
		return strings.TrimRight(k.file.String(), "\n") + "\n\n" + strings.TrimRight(k.asWritten().String(), "\n") + "\n", nil
	case "logic":
		return k.explainLogic(), nil
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
		return k.eachStep(func(st *step, v *variant) (string, error) {
			notes := v.lower.Notes
			if why := k.whyWorkspace(st, v); why != "" {
				notes = append(slices.Clip(notes), why)
			}
			return strings.Join(notes, "\n") + "\n", nil
		})
	case "loops":
		return k.eachVariant(func(v *variant) (string, error) { return v.lower.Program.String(), nil })
	case "llvm":
		return k.inspect(runtime.LLVMText)
	case "optimised":
		return k.inspect(runtime.OptimisedText)
	case "asm":
		return k.inspect(runtime.AssemblyText)
	case "grids":
		return k.onGrids(runtime.GridsText)
	case "ptx":
		return k.onGrids(runtime.PTXText)
	}
	return "", fmt.Errorf("unknown stage %q: want one of %s", stage, strings.Join(Stages(), ", "))
}

func (k *Kernel) inspect(form runtime.Text) (string, error) {
	return k.eachVariant(func(v *variant) (string, error) { return runtime.Inspect(v.lower.Program, form) })
}

// onGrids prints what a GPU runs. The loops for a GPU differ from those for a
// processor, so the kernel must have been compiled for one.
func (k *Kernel) onGrids(form runtime.Text) (string, error) {
	if e := k.session.engine; !runtime.OnGrids(e) {
		return "", fmt.Errorf("engine %s has no grids: to see them, compile the program in a session with the engine %q, or %q where there is no GPU",
			e.Name(), runtime.CUDAName, runtime.SimulatedName)
	}
	return k.inspect(form)
}

// eachVariant prints the latest variant of every step.
func (k *Kernel) eachVariant(f func(*variant) (string, error)) (string, error) {
	return k.eachStep(func(_ *step, v *variant) (string, error) { return f(v) })
}

// eachStep prints every step with its latest variant.
func (k *Kernel) eachStep(f func(*step, *variant) (string, error)) (string, error) {
	var parts []string
	for _, st := range k.steps {
		v, err := st.explained(k.session)
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

// Warnings tells what the program may not mean (codes W1xx, see [Check]) and which of its loops may take
// unexpectedly long (W2xx): those over a whole dimension of which the operands store only some
// coordinates, where no tensor that stores all of them bounds it.
func (k *Kernel) Warnings() []*lang.Warning {
	if k.compiled() != nil {
		return nil
	}
	return append(lang.Warnings(k.file, k.program), k.loopWarnings()...)
}

// loopWarnings are those about loops.
func (k *Kernel) loopWarnings() []*lang.Warning {
	var list []*lang.Warning
	for _, st := range k.steps {
		v, c := st.latest.Load(), (*ir.Compute)(nil)
		if c, _ = st.plan.(*ir.Compute); c == nil || v == nil {
			continue
		}
		accesses := accessesOf(c)
		for _, note := range v.lower.Notes {
			loop, whole := strings.CutSuffix(note, ", by whole dimension")
			index, _, _ := strings.Cut(loop, ": ")
			if !whole {
				continue
			}
			if sparse := onlySparse(accesses, index); len(sparse) > 0 {
				w := &lang.Warning{Code: lang.WarnWholeLoop, Source: k.program.Source,
					Msg: fmt.Sprintf("visits every %s: %s only some, but what is computed does not have one value at the others",
						index, storing(sparse))}
				if !slices.ContainsFunc(list, func(x *lang.Warning) bool { return x.Msg == w.Msg }) {
					w.Pos = k.indexPos(c.Result.Name, index)
					list = append(list, w)
				}
			}
		}
	}
	return list
}

// indexPos is where a statement for a result has the index of a loop, if its text has it.
func (k *Kernel) indexPos(result, index string) lang.Pos {
	for _, s := range k.program.Stmts {
		for _, x := range s.Indices {
			if s.LHS.Tensor.Name == result && x.Name == index {
				return x.Pos
			}
		}
	}
	return lang.Pos{}
}

// storing is "A stores" or "A and B store".
func storing(names []string) string {
	if len(names) == 1 {
		return names[0] + " stores"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " store"
}

// accessesOf lists the accesses of a statement, that of its result included.
func accessesOf(c *ir.Compute) []*ir.Access {
	list := []*ir.Access{c.LHS}
	var visit func(ir.Expr)
	visit = func(e ir.Expr) {
		ir.Walk(e, func(e ir.Expr) {
			switch e := e.(type) {
			case *ir.Access:
				list = append(list, e)
			case *ir.TempRef:
				visit(e.Temp.Reduce.Body)
			}
		})
	}
	visit(c.Value)
	return list
}

// onlySparse returns the tensors that store only some of the coordinates of an
// index, none if any tensor stores all.
func onlySparse(accesses []*ir.Access, index string) []string {
	var sparse []string
	for _, a := range accesses {
		for axis, x := range a.Indices {
			if v := x.Plain(); v == nil || v.Name != index {
				continue
			}
			f := a.Tensor.Format
			kind := f.Levels()[slices.Index(f.Order(), axis)]
			if kind == tensor.C || kind == tensor.D {
				return nil
			}
			if !slices.Contains(sparse, a.Tensor.Name) {
				sparse = append(sparse, a.Tensor.Name)
			}
		}
	}
	return sparse
}
