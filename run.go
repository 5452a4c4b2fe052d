package lacuna

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"unsafe"
	"weak"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Run runs the program on args and returns the result of its last statement.
func (k *Kernel) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	values, err := k.run(ctx, args)
	if err != nil {
		return nil, err
	}
	last := k.program.Stmts[len(k.program.Stmts)-1].LHS.Tensor
	return values[k.plan.Results[last].ID], nil
}

// RunAll runs the program on args and returns all its results.
func (k *Kernel) RunAll(ctx context.Context, args Args) (Outputs, error) {
	values, err := k.run(ctx, args)
	if err != nil {
		return nil, err
	}
	out := Outputs{}
	for t, p := range k.plan.Results {
		out[t.Name] = values[p.ID]
	}
	return out, nil
}

// values holds the tensors of a run, by ir.Tensor.ID.
type values []*tensor.Tensor

// binding is what follows from the shapes of the operands: runs on the same
// shapes share it.
type binding struct {
	shapes  []int64
	extents *lang.Extents
	steps   []stepBinding // by step
}

// stepBinding is the part of a binding that concerns one step.
type stepBinding struct {
	shape   []int64   // of the result
	indices []int64   // extents by ir.Index.ID
	crd     loop.Type // of the result's coordinates
}

func (k *Kernel) run(ctx context.Context, args Args) (values, error) {
	vals := make(values, len(k.plan.Tensors))
	for i, t := range k.operands {
		arg := args[t.Name]
		if err := checkOperand(t, arg); err != nil {
			return nil, err
		}
		vals[k.operandIDs[i]] = arg
	}
	if len(args) > len(k.operands) {
		if err := k.unknownArgument(args); err != nil {
			return nil, err
		}
	}
	b, err := k.bind(vals)
	if err != nil {
		return nil, err
	}
	for i, st := range k.steps {
		if err := k.runStep(ctx, st, &b.steps[i], vals); err != nil {
			return nil, err
		}
	}
	return vals, nil
}

// checkOperand compares an argument with what the kernel was compiled for.
func checkOperand(t *lang.Tensor, arg *tensor.Tensor) error {
	switch {
	case arg == nil:
		return fmt.Errorf("operand %s is missing: pass it in Args", t.Name)
	case arg.Rank() != t.Rank:
		return fmt.Errorf("operand %s has rank %d, but the program uses it with %d indices", t.Name, arg.Rank(), t.Rank)
	case arg.DType() != t.DType:
		return fmt.Errorf("operand %s holds %s, but the kernel was compiled for %s: declare its type with lacuna.Format, or convert it", t.Name, arg.DType(), t.DType)
	case arg.Format() != t.Format:
		return fmt.Errorf("operand %s is stored as %s, but the kernel was compiled for %s: declare its format with lacuna.Format, or convert it", t.Name, arg.Format(), t.Format)
	case !t.Format.IsDense() && t.HasFill && !arg.Fill().Same(t.Fill.Convert(t.DType)):
		return fmt.Errorf("operand %s has fill %s, but the kernel was compiled for fill %s: declare its fill with lacuna.Fill", t.Name, arg.Fill(), t.Fill)
	}
	return nil
}

func (k *Kernel) unknownArgument(args Args) error {
	for name := range args {
		if !slices.ContainsFunc(k.operands, func(t *lang.Tensor) bool { return t.Name == name }) {
			return fmt.Errorf("the program has no operand %s", name)
		}
	}
	return nil
}

// bind computes the extents of all index variables, unless the shapes are those
// of the last run.
func (k *Kernel) bind(vals values) (*binding, error) {
	var few [32]int64
	shapes := few[:0]
	for _, id := range k.operandIDs {
		shapes = append(shapes, vals[id].Dims()...)
	}
	if b := k.bound.Load(); b != nil && slices.Equal(b.shapes, shapes) {
		return b, nil
	}
	named := make(map[string][]int64, len(k.operands))
	for i, t := range k.operands {
		named[t.Name] = vals[k.operandIDs[i]].Shape()
	}
	extents, err := lang.Bind(k.program, named)
	if err != nil {
		return nil, err
	}
	b := &binding{shapes: slices.Clone(shapes), extents: extents, steps: make([]stepBinding, len(k.steps))}
	for i, st := range k.plan.Steps {
		c, ok := st.(*ir.Compute)
		if !ok {
			continue
		}
		sb := &b.steps[i]
		sb.shape = extents.Shapes[c.Stmt.LHS.Tensor.Name]
		sb.indices = extents.Index[slices.Index(k.program.Stmts, c.Stmt)]
		sb.crd = loop.U32
		for _, n := range sb.shape {
			if n > wide {
				sb.crd = loop.U64
			}
		}
	}
	k.bound.Store(b)
	return b, nil
}

// wide is the extent from which coordinates need more than 32 bits.
const wide = 1 << 32

// conversion is a remembered result of a convert step: operands are immutable,
// so the same operand need not be converted again.
type conversion struct {
	from weak.Pointer[tensor.Tensor]
	to   *tensor.Tensor
}

func (k *Kernel) runStep(ctx context.Context, st *step, b *stepBinding, vals values) error {
	switch p := st.plan.(type) {
	case *ir.Convert:
		from := vals[p.From.ID]
		if c := st.converted.Load(); c != nil && c.from.Value() == from {
			vals[p.To.ID] = c.to
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		opts := []tensor.Option{tensor.WithName(p.From.Name)}
		if p.From.Format.IsDense() && p.To.FillKnown {
			opts = append(opts, tensor.WithFill(p.To.Fill))
		}
		to, err := from.Convert(p.To.Format, opts...)
		if err != nil {
			return err
		}
		vals[p.To.ID] = to
		if p.From.Source != nil && p.From.Source.Operand {
			c := &conversion{weak.Make(from), to}
			st.converted.Store(c)
			// The copy goes with the operand.
			goruntime.AddCleanup(from, func(c *conversion) { st.converted.CompareAndSwap(c, nil) }, c)
		}
		return nil
	case *ir.Compute:
		out, err := k.compute(ctx, st, p, b, vals)
		if err != nil {
			return err
		}
		vals[p.Result.ID] = out
		return nil
	}
	panic("BUG: unknown step")
}

func (k *Kernel) compute(ctx context.Context, st *step, c *ir.Compute, b *stepBinding, vals values) (*tensor.Tensor, error) {
	v := st.latest.Load()
	if v == nil || !v.fits(b.crd, vals) {
		var err error
		if v, err = k.variant(ctx, st, c, declaredTypes(vals), b.crd); err != nil {
			return nil, err
		}
	}
	call := v.calls.Get().(*call)
	defer v.finish(call)
	for _, in := range v.lower.Inputs {
		call.bindings.Buffers[in.Buffer] = memoryOf(operandArray(vals[in.Tensor.ID], in))
	}
	for _, s := range v.lower.Scalars {
		switch {
		case s.Index != nil:
			call.bindings.Scalars[s.Scalar] = b.indices[s.Index.ID]
		case s.Tensor == c.Result:
			call.bindings.Scalars[s.Scalar] = b.shape[s.Axis]
		default:
			call.bindings.Scalars[s.Scalar] = vals[s.Tensor.ID].Dims()[s.Axis]
		}
	}
	if err := v.exe.RunInto(ctx, call.bindings, k.options, &call.results); err != nil {
		return nil, err
	}
	return v.result(b.shape, &call.results), nil
}

// call is the memory of one run of a variant, used again by later runs.
type call struct {
	bindings *runtime.Bindings
	results  runtime.Results
}

// finish lets go of the operands and keeps the call for the next run.
func (v *variant) finish(c *call) {
	clear(c.bindings.Buffers)
	clear(c.results.Buffers)
	v.calls.Put(c)
}

// fits reports whether the variant was compiled for these index widths.
func (v *variant) fits(crd loop.Type, vals values) bool {
	for _, l := range v.lower.Result.Levels {
		if l.Crd >= 0 && v.lower.Program.Buffers[l.Crd].Elem != crd {
			return false
		}
	}
	for _, in := range v.lower.Inputs {
		if loop.Type(operandArray(vals[in.Tensor.ID], in).DType()) != v.lower.Program.Buffers[in.Buffer].Elem {
			return false
		}
	}
	return true
}

// operandArray is the array of a tensor that an input names.
func operandArray(t *tensor.Tensor, in lower.Input) tensor.Array {
	switch in.Kind {
	case lower.Positions:
		return t.LevelAt(in.Level).Pos
	case lower.Coordinates:
		return t.LevelAt(in.Level).Crd
	case lower.FillValue:
		fill, err := tensor.MakeArray(t.DType(), 1)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		fill.SetScalar(0, t.Fill())
		return fill
	}
	return t.Values()
}

func memoryOf(a tensor.Array) runtime.Memory {
	return runtime.Memory{Ptr: a.Pointer(), Len: int64(a.Len())}
}

// result assembles the tensor that a run has made.
func (v *variant) result(shape []int64, r *runtime.Results) *tensor.Tensor {
	res := v.lower.Result
	array := func(id loop.BufferID) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		m := r.Buffers[id]
		return tensor.ArrayAt(tensor.DType(v.lower.Program.Buffers[id].Elem), unsafe.Pointer(m.Ptr), int(m.Len))
	}
	var few [8]tensor.Level
	levels := few[:0]
	for _, l := range res.Levels {
		levels = append(levels, tensor.Level{Pos: array(l.Pos), Crd: array(l.Crd)})
	}
	fill := res.Tensor.Fill
	if res.Fill >= 0 {
		fill = array(res.Fill).Scalar(0)
	}
	return tensor.Assemble(shape, res.Tensor.Format, levels, array(res.Values), fill)
}
