package exec

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// values holds the tensors of a run, by ir.Tensor.ID.
type values []*tensor.Tensor

// takeAll enters the operands of a run.
func (k *Kernel) takeAll(ctx context.Context, args Args) (values, error) {
	vals := make(values, len(k.plan.Tensors))
	patterns := 0
	for i, o := range k.operands {
		if o.Source.StoredOf != nil {
			if err := k.takePattern(ctx, i, vals); err != nil {
				return nil, err
			}
			patterns++
			continue
		}
		if err := k.take(ctx, o, args[o.Source.Name], vals); err != nil {
			return nil, err
		}
	}
	if len(args) > len(k.operands)-patterns {
		return vals, k.unknownArgument(args)
	}
	return vals, nil
}

// take checks an argument for an operand and enters the tensors that it is stored as.
func (k *Kernel) take(ctx context.Context, o *ir.Operand, arg tensor.Operand, vals values) error {
	t := o.Source
	if declare.Missing(arg) {
		return fmt.Errorf("operand %s is missing: pass it in Args", t.Name)
	}
	form, formed := k.plan.Options.Forms[t.Name]
	if b, ok := arg.(*tensor.Blocks); ok {
		whole, err := k.env.convert.Unblocked(ctx, b, t.Format)
		if err != nil {
			return err
		}
		arg = whole
	}
	if one, ok := arg.(*tensor.Tensor); ok && !formed {
		return k.takeOne(ctx, o, one, vals)
	}
	arg, err := k.env.convert.Sorted(ctx, arg)
	if err != nil {
		return err
	}
	parts := declare.PartsOf(arg)
	if !formed {
		whole, err := k.env.convert.Joined(ctx, parts, t.Format)
		if err != nil {
			return err
		}
		return k.takeOne(ctx, o, whole, vals)
	}
	if err := checkParts(t, form, parts); err != nil {
		return err
	}
	for i, part := range parts {
		if err := checkOperand(t, form.Pieces[i].Format, part); err != nil {
			return err
		}
		vals[o.Pieces[i].ID] = part
	}
	return nil
}

// takeOne enters an argument that is one tensor.
func (k *Kernel) takeOne(ctx context.Context, o *ir.Operand, arg *tensor.Tensor, vals values) error {
	arg, err := k.env.convert.Canonical(ctx, arg)
	if err != nil {
		return err
	}
	vals[o.Pieces[0].ID] = arg
	return checkOperand(o.Source, o.Source.Format, arg)
}

// checkParts compares the number of parts and their structure with what the kernel was
// compiled for.
func checkParts(t *lang.Tensor, form ir.Form, parts []*tensor.Tensor) error {
	if len(parts) != len(form.Pieces) {
		return fmt.Errorf("operand %s has %d parts, but the kernel was compiled for %d: declare them with lacuna.FormatParts, or make one tensor of them with Expand",
			t.Name, len(parts), len(form.Pieces))
	}
	for i, part := range parts {
		if want := form.Pieces[i].Mirror; declare.MirrorOf(part.Structure()) != want {
			return fmt.Errorf("operand %s has the structure %s, but the kernel was compiled for %s: declare it with lacuna.FormatTriangle, or store the whole matrix with Expand",
				t.Name, part.Structure(), declare.StructureOf(want))
		}
	}
	return nil
}

// checkOperand compares an argument, or a part of it, with what the kernel was compiled
// for.
func checkOperand(t *lang.Tensor, format tensor.Format, arg *tensor.Tensor) error {
	switch {
	case arg.Rank() != t.Rank:
		return fmt.Errorf("operand %s has rank %d, but the program uses it with %d indices", t.Name, arg.Rank(), t.Rank)
	case arg.DType() != t.DType:
		return fmt.Errorf("operand %s holds %s, but the kernel was compiled for %s: declare its type with lacuna.Format, or convert it", t.Name, arg.DType(), t.DType)
	case arg.Format() != format:
		return fmt.Errorf("operand %s is stored as %s, but the kernel was compiled for %s: declare its format with lacuna.Format, or convert it", t.Name, arg.Format(), format)
	case !format.IsDense() && t.FillKnown && !arg.Fill().Same(t.Fill.Convert(t.DType)):
		return fmt.Errorf("operand %s has fill %s, but the kernel was compiled for fill %s: declare its fill with lacuna.Fill", t.Name, arg.Fill(), t.Fill)
	}
	return nil
}

// takePattern enters what operand i tells another one to store: where that is in parts, all
// of them.
func (k *Kernel) takePattern(ctx context.Context, i int, vals values) error {
	o := k.operands[i]
	of := o.Source.StoredOf
	at := slices.IndexFunc(k.operands, func(o *ir.Operand) bool { return o.Source == of })
	var parts []*tensor.Tensor
	for _, t := range k.operands[at].Pieces { // it stands before, and is there
		parts = append(parts, vals[t.ID])
	}
	whole, err := k.env.convert.Canonical(ctx, parts[0])
	if len(parts) > 1 {
		whole, err = k.env.convert.Joined(ctx, parts, o.Source.Format)
	}
	if err != nil {
		return err
	}
	p, err := k.pattern(ctx, i, whole)
	vals[o.Pieces[0].ID] = p
	return err
}

// pattern is the value of operand i, which tells what another one stores. The latest
// is remembered: operands are immutable.
func (k *Kernel) pattern(ctx context.Context, i int, of *tensor.Tensor) (*tensor.Tensor, error) {
	return remembered(ctx, &k.patterns[i], &k.patternsOf, patternOf{i, of}, of, func(context.Context) (*tensor.Tensor, error) {
		return tensor.Pattern(of)
	})
}

// patternOf names the pattern of a tensor as an operand of a kernel.
type patternOf struct {
	operand int
	of      *tensor.Tensor
}

func (k *Kernel) unknownArgument(args Args) error {
	for name := range args {
		if !slices.ContainsFunc(k.operands, func(o *ir.Operand) bool { return o.Source.Name == name }) {
			if err := k.file.MisusedTensor(name); err != nil {
				return err
			}
			return fmt.Errorf("the program has no operand %s", name)
		}
	}
	return nil
}

// binding is what follows from the shapes of the operands: runs on the same
// shapes share it.
type binding struct {
	shapes  []int64
	extents *lang.Extents
	steps   []stepBinding // by step
	// tooManyKeys says that some workspace has more keys than fit 63 bits.
	tooManyKeys bool
}

// stepBinding is the part of a binding that concerns one step.
type stepBinding struct {
	shape   []int64   // of the result
	indices []int64   // extents by ir.Index.ID
	crd     loop.Type // of the result's coordinates
	keys    int64     // of the largest workspace
	tabled  int64     // keys of the largest table
}

// bind computes the extents of all index variables, unless the shapes are those
// of the last run.
func (k *Kernel) bind(vals values) (*binding, error) {
	var few [32]int64
	shapes := few[:0]
	for _, o := range k.operands {
		shapes = append(shapes, vals[o.Pieces[0].ID].Dims()...)
	}
	if b := k.bound.Load(); b != nil && slices.Equal(b.shapes, shapes) {
		return b, nil
	}
	named := make(map[string][]int64, len(k.operands))
	for _, o := range k.operands {
		named[o.Source.Name] = vals[o.Pieces[0].ID].Shape()
	}
	if k.written != nil { // which errors are about
		if _, err := lang.Bind(k.written, named); err != nil {
			return nil, err
		}
	}
	extents, err := lang.Bind(k.checked, named)
	if err != nil {
		return nil, err
	}
	if err := k.checkCounts(extents); err != nil {
		return nil, err
	}
	b := &binding{shapes: slices.Clone(shapes), extents: extents, steps: make([]stepBinding, len(k.steps))}
	for i, st := range k.plan.Steps {
		sb := &b.steps[i]
		c, ok := st.(*ir.Compute)
		if !ok {
			continue
		}
		sb.indices, sb.shape = ir.StepExtents(c, k.indices(extents, c.Stmt), extents.Shapes[c.Stmt.LHS.Tensor.Name])
		keys, fits := workspaceKeys(c, sb.indices)
		if !fits && k.plan.Options.NarrowWorkspaces {
			return nil, keysError(c).WithSource(k.source) // a scatter
		}
		sb.tabled = tableKeys(c, sb.indices)
		sb.keys, b.tooManyKeys = keys, b.tooManyKeys || !fits
		sb.crd = loop.U32
		for _, n := range sb.shape {
			if invoke.CoordinateType(n) == tensor.Uint64 {
				sb.crd = loop.U64
			}
		}
	}
	k.bound.Store(b)
	return b, nil
}

// indices returns the extents of a statement's index variables, by ir.Index.ID.
func (k *Kernel) indices(extents *lang.Extents, s *lang.Stmt) []int64 {
	return extents.Index[slices.Index(k.program.Stmts, s)]
}

// checkCounts refuses counts that may not fit an i64: they would wrap.
func (k *Kernel) checkCounts(extents *lang.Extents) error {
	for _, st := range k.plan.Steps {
		c, ok := st.(*ir.Compute)
		if !ok {
			continue
		}
		indices := k.indices(extents, c.Stmt)
		for _, r := range c.OpenCounts(k.alg) {
			if _, fits := product(extentsOf(r.Vars, indices)); !fits {
				return countError(c.Stmt, r).WithSource(k.source)
			}
		}
	}
	return nil
}

// workspaceKeys is the largest number of elements that one of the step's
// workspaces stands for, 0 if it has none; not ok if that does not fit 63 bits.
func workspaceKeys(c *ir.Compute, extents []int64) (most int64, ok bool) {
	for _, w := range c.Workspaces {
		var vars []*ir.Index
		for _, x := range w.Indices {
			vars = append(vars, x.Plain())
		}
		keys, fits := product(extentsOf(vars, extents))
		if !fits || keys == math.MaxInt64 {
			return 0, false
		}
		most = max(most, keys)
	}
	return most, true
}

// tableKeys is the largest number of places that one of the step's tables has, 0 if
// it has none.
func tableKeys(c *ir.Compute, extents []int64) int64 {
	var most int64
	for _, t := range c.Tables {
		most = max(most, extents[t.Index.ID])
	}
	return most
}
