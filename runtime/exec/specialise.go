package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/lower/prim"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// specialisation is what a compiled step depends on besides the types of its operands'
// arrays: decisions that wait for the extents and entry counts of a run.
type specialisation struct {
	crd  loop.Type // of the result's coordinates
	work lower.WorkspaceKind
	// tables makes the plan's tables.
	tables bool
	// selected looks entries up in them without a branch.
	selected bool
	// assembly is how sparse results are assembled.
	assembly lower.Assembly
	// split lets chunks begin inside outermost coordinates.
	split bool
	// private is into how many parts a scatter of floats is cut.
	private int64
}

// version is a step compiled for particular index widths and a specialisation.
type version struct {
	specialisation
	*invoke.Kernel
}

// version returns the step compiled for the given operands' index widths and
// the given specialisation.
func (k *Kernel) version(ctx context.Context, st *step, types declaredTypes, how specialisation) (v *version, err error) {
	defer runtime.Caught(k.source, &err)
	v, err = st.versions.Do(ctx, st.key(types, how), func(ctx context.Context) (*version, error) {
		low, err := k.loops(st.plan, types, how)
		if err != nil {
			return nil, err
		}
		compiled, err := k.env.Compile(ctx, low)
		if err != nil {
			return nil, err
		}
		return &version{how, compiled}, nil
	})
	if err == nil {
		st.latest.Store(v)
	}
	return v, err
}

// begin makes the first version of a step, and does not wait for the compilation.
func (k *planned) begin(ctx context.Context, st *step, types declaredTypes, how specialisation) (*invoke.Compilation, error) {
	low, err := k.loops(st.plan, types, how)
	if err != nil {
		return nil, err
	}
	c := k.env.CompileAhead(ctx, k.program.Source, low)
	st.reads = tensorsOf(low.Inputs)
	v := &version{how, invoke.New(low, c)}
	st.versions.Put(st.key(types, how), v)
	st.latest.Store(v)
	return c, nil
}

// key names a version: the widths of the index arrays that the step reads.
func (st *step) key(types declaredTypes, how specialisation) string {
	var b strings.Builder
	b.WriteString(how.crd.String() + " " + how.work.String())
	if how.tables {
		b.WriteString(" tables")
	}
	if how.selected {
		b.WriteString(" selected")
	}
	if how.split {
		b.WriteString(" split")
	}
	if how.private > 0 {
		fmt.Fprintf(&b, " private%d", how.private)
	}
	b.WriteString(" " + how.assembly.String())
	for _, t := range st.reads {
		if v := types[t.ID]; v != nil {
			fmt.Fprintf(&b, ";%s %s", t.Name, invoke.IndexTypes(v))
		}
	}
	return b.String()
}

// tensorsOf lists the tensors that inputs are of, each once.
func tensorsOf(inputs []emit.Input) []*ir.Tensor {
	var list []*ir.Tensor
	for _, in := range inputs {
		if !slices.Contains(list, in.Tensor) {
			list = append(list, in.Tensor)
		}
	}
	return list
}

// tables are the tables of a step's loops.
func (st *step) tables() []*ir.Tabulate {
	if c, ok := st.plan.(*ir.Compute); ok {
		return c.Tables
	}
	return nil
}

// lowering are the options that a specialisation stands for.
func (k *planned) lowering(how specialisation) lower.Options {
	grids := k.env.OnGrids()
	return lower.Options{Coordinates: how.crd, Workspace: how.work,
		LimitWide: !k.plan.Options.NarrowWorkspaces, Tables: how.tables, Selected: how.selected, Assembly: how.assembly, Split: how.split, Private: how.private,
		Grids: grids, Copies: !grids, Grain: k.env.Grain}
}

// loops is the program of a step for a specialisation, which does what its schedule says.
func (k *planned) loops(st ir.Step, types declaredTypes, how specialisation) (*emit.Kernel, error) {
	low, err := k.lowered(st, types, k.lowering(how))
	if c, ok := st.(*ir.Compute); ok && err == nil && how.assembly != lower.Counted && !low.OnePass && c.Directives.Assemble != "" {
		err = c.Directives.Fail("assemble", "nothing bounds the number of entries before the loops run")
	}
	if err == nil && len(low.Mapping) > 0 && k.env.OnGrids() {
		var unmet *gpu.MappingError
		if _, wrong := gpu.Lower(low.Program, k.env.Grids(low)); errors.As(wrong, &unmet) {
			err = st.(*ir.Compute).Directives.Fail("gpu", unmet.Error())
		}
	}
	return low, err
}

// lowered is the program of a step.
func (k *planned) lowered(st ir.Step, types declaredTypes, opts lower.Options) (*emit.Kernel, error) {
	switch s := st.(type) {
	case *ir.Scan:
		return prim.Scan(s, types, opts.Prim())
	case *ir.Statistic:
		return prim.Statistic(s, types, opts.Prim())
	case *ir.Sort:
		return prim.Sort(s, types, opts.Prim())
	}
	return lower.Step(st.(*ir.Compute), k.alg, types, opts)
}

// declaredTypes gives index widths where tensors are known, and the usual ones
// elsewhere.
type declaredTypes []*tensor.Tensor // by ir.Tensor.ID; nil: unknown

// IndexType implements emit.OperandTypes.
func (d declaredTypes) IndexType(t *ir.Tensor, level int, kind emit.ArrayKind) tensor.DType {
	if v := d[t.ID]; v != nil {
		if kind == emit.Positions {
			return v.Levels()[level].Pos.DType()
		}
		return v.Levels()[level].Crd.DType()
	}
	if kind == emit.Positions && (t.Source == nil || t.Source.Result) {
		return tensor.Uint64
	}
	return tensor.Uint32
}

// fits reports whether the version was compiled for these index widths.
func (v *version) fits(vals values) bool {
	for _, in := range v.Lower.Inputs {
		if loop.Type(invoke.Operand(vals[in.Tensor.ID], in).DType()) != v.Lower.Program.Buffers[in.Buffer].Elem {
			return false
		}
	}
	return true
}

// entries is the number of elements that the operands of a version store.
func (v *version) entries(vals values) int64 {
	var entries int64
	for _, in := range v.Lower.Inputs {
		if in.Kind == emit.Values {
			entries += vals[in.Tensor.ID].NNZ()
		}
	}
	return entries
}
