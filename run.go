package lacuna

import (
	"context"
	"errors"
	"fmt"
	"math"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"weak"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Run runs the program on args and returns the result of its last statement.
func (k *Kernel) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	k, values, err := k.run(ctx, args, nil)
	if err != nil {
		return nil, err
	}
	return k.last(values), nil
}

// compiled is an error of a kernel that nobody compiled.
func (k *Kernel) compiled() error {
	if k == nil || k.planned == nil {
		return errors.New("the kernel is nil or a zero value: make one with lacuna.Compile or Session.Compile")
	}
	return nil
}

// last is the result of the last statement.
func (k *Kernel) last(vals values) *tensor.Tensor {
	last := k.program.Stmts[len(k.program.Stmts)-1].LHS.Tensor
	return k.own(k.plan.Results[last], vals)
}

// RunAll runs the program on args and returns all its results.
func (k *Kernel) RunAll(ctx context.Context, args Args) (Outputs, error) {
	k, values, err := k.run(ctx, args, nil)
	if err != nil {
		return nil, err
	}
	return k.outputs(values), nil
}

func (k *Kernel) outputs(vals values) Outputs {
	out := Outputs{}
	for t, p := range k.plan.Results {
		if k.isIntermediate(t) {
			continue
		}
		own := k.own(p, vals)
		for _, other := range out {
			if own == other {
				own = own.Share()
			}
		}
		out[t.Name] = own
	}
	return out
}

// values holds the tensors of a run, by ir.Tensor.ID.
type values []*tensor.Tensor

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

// run runs the program; kept, when not nil, holds by step what follows from
// patterns, or takes it. The values are those of the plan of the kernel returned.
func (k *Kernel) run(ctx context.Context, args Args, kept *kept) (*Kernel, values, error) {
	if err := k.compiled(); err != nil {
		return nil, nil, err
	}
	if err := checkContext(ctx); err != nil {
		return nil, nil, err
	}
	if k.chooser != nil && kept == nil {
		return k.chooser.run(ctx, args)
	}
	return k.runPlan(ctx, args, kept)
}

// runPlan is run by the kernel's own plan.
func (k *Kernel) runPlan(ctx context.Context, args Args, kept *kept) (*Kernel, values, error) {
	var few pins
	pinned, err := pinArgs(args, few[:0])
	defer unpin(pinned)
	if err != nil {
		return nil, nil, err
	}
	vals := make(values, len(k.plan.Tensors))
	patterns := 0
	for i, o := range k.operands {
		if o.Source.StoredOf != nil {
			if err := k.takePattern(ctx, i, vals); err != nil {
				return nil, nil, err
			}
			patterns++
			continue
		}
		if err := k.take(ctx, o, args[o.Source.Name], vals); err != nil {
			return nil, nil, err
		}
	}
	if len(args) > len(k.operands)-patterns {
		if err := k.unknownArgument(args); err != nil {
			return nil, nil, err
		}
	}
	b, err := k.bind(vals)
	if err != nil {
		return nil, nil, err
	}
	if nothing := b.extents.Nothing; !slices.Equal(k.plan.Options.Nothing, nothing) {
		empty, err := k.emptied(ctx, nothing)
		if err != nil {
			return nil, nil, err
		}
		return empty.run(ctx, args, kept)
	}
	if b.tooManyKeys || k.tooManyRows(vals) || k.tooWide.Load() && (kept == nil || kept.kernel != k) {
		return k.runNarrow(ctx, args, kept)
	}
	if err := k.affords(b); err != nil {
		return nil, nil, err
	}
	if kept != nil {
		if err := kept.of(k); err != nil {
			return nil, nil, err
		}
	}
	for i, st := range k.steps {
		var keep *keptStep
		if kept != nil {
			keep = &kept.steps[i]
		}
		if err := k.runStep(ctx, st, &b.steps[i], vals, keep); err != nil {
			if tooWide(err) {
				k.tooWide.Store(true)
				if kept != nil {
					kept.kernel = nil // it was the first run
				}
				return k.runNarrow(ctx, args, kept)
			}
			if c, ok := st.plan.(*ir.Compute); ok {
				err = k.badIndex(c, err, b, vals)
			}
			return nil, nil, k.whyOtherPattern(err)
		}
	}
	if kept == nil { // else operands of later steps are known by address
		k.letGo(vals)
	}
	return k, vals, nil
}

// manyRows is how many rows may have a place each in an operand that is stored again.
const manyRows = 1 << 32

// tooManyRows reports whether an operand would be stored again with a place for each of
// more rows than that, which the other plan does not do.
func (k *Kernel) tooManyRows(vals values) bool {
	if k.plan.Options.NarrowWorkspaces {
		return false
	}
	for _, st := range k.steps {
		c, ok := st.plan.(*ir.Convert)
		if !ok || vals[c.From.ID] == nil {
			continue
		}
		if f := c.To.Format; f.Rank() > 1 && f.Levels()[0] == tensor.C {
			axis := f.Order()[0]
			if c.Axes != nil {
				axis = c.Axes[axis]
			}
			if vals[c.From.ID].Shape()[axis] > manyRows {
				return true
			}
		}
	}
	return false
}

// runNarrow is run by the plan whose workspaces have one dimension each.
func (k *Kernel) runNarrow(ctx context.Context, args Args, kept *kept) (*Kernel, values, error) {
	narrow, err := k.narrowed(ctx)
	if err != nil {
		return nil, nil, err
	}
	return narrow.run(ctx, args, kept)
}

// tooWide reports whether a program found that a workspace of several dimensions
// would be too large.
func tooWide(err error) bool {
	var failed *runtime.KernelError
	return errors.As(err, &failed) && failed.Message == lower.TooWide
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
		sb.indices = k.indices(extents, c.Stmt)
		sb.shape = extents.Shapes[c.Stmt.LHS.Tensor.Name]
		if c.Shape != nil {
			sb.shape = nil
			for _, v := range c.Shape {
				sb.shape = append(sb.shape, sb.indices[v.ID])
			}
		}
		if len(c.Axes) > 0 {
			sb.indices = slices.Clone(sb.indices)
			for _, axis := range c.Axes {
				sb.indices = append(sb.indices, sb.shape[axis])
			}
		}
		keys, fits := workspaceKeys(c, sb.indices)
		if !fits && k.plan.Options.NarrowWorkspaces {
			return nil, keysError(c).WithSource(k.source) // a scatter
		}
		sb.tabled = tableKeys(c, sb.indices)
		sb.keys, b.tooManyKeys = keys, b.tooManyKeys || !fits
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
			if n := product(r.Vars, indices); n < 0 {
				return countError(c.Stmt, r).WithSource(k.source)
			}
		}
	}
	return nil
}

// product is the number of coordinates that vars take together, -1 if it does not
// fit an int64.
func product(vars []*ir.Index, extents []int64) int64 {
	n := int64(1)
	for _, v := range vars {
		if extents[v.ID] == 0 {
			return 0
		}
	}
	for _, v := range vars {
		if n > math.MaxInt64/extents[v.ID] {
			return -1
		}
		n *= extents[v.ID]
	}
	return n
}

// countError says that the reduction of s that r stands for counts too much.
func countError(s *lang.Stmt, r *ir.Reduce) *lang.Error {
	e := &lang.Error{
		Code: lang.ErrOutOfRange, Pos: s.LHS.Pos,
		Msg:  "a count of coordinates may not fit 63 bits",
		Hint: "sum where(…, 1.0, 0.0) for an approximate count, or count over fewer indices",
	}
	lang.Walk(s.RHS, func(x lang.Expr) bool {
		fold, ok := x.(*lang.Reduce)
		if ok && sameIndices(fold, r) {
			e.Pos, e.Msg = fold.Pos, fmt.Sprintf("what %s counts over its indices may not fit 63 bits", fold.Op)
		}
		return true
	})
	return e
}

// sameIndices reports whether two reductions bind the same indices.
func sameIndices(fold *lang.Reduce, r *ir.Reduce) bool {
	return len(fold.Vars) == len(r.Vars) && !slices.ContainsFunc(fold.Vars, func(v lang.ReduceVar) bool {
		return !slices.ContainsFunc(r.Vars, func(x *ir.Index) bool { return x.ID == v.Var.ID })
	})
}

// wide is the extent from which coordinates need more than 32 bits.
const wide = 1 << 32

// conversion is a remembered result of a convert step, or the pattern of an operand:
// operands are immutable, so it need not be made again for the same operand.
type conversion struct {
	from weak.Pointer[tensor.Tensor]
	to   *tensor.Tensor
}

// remember keeps what was made of an operand until the operand goes.
func remember(in *atomic.Pointer[conversion], from, to *tensor.Tensor) {
	c := &conversion{weak.Make(from), to}
	in.Store(c)
	goruntime.AddCleanup(from, func(c *conversion) { in.CompareAndSwap(c, nil) }, c)
}

// remembered returns what was made of an operand, or makes and remembers it: once for all runs
// that wait for it.
func remembered[K comparable](ctx context.Context, in *atomic.Pointer[conversion], making *flight.Group[K, *tensor.Tensor], key K,
	from *tensor.Tensor, make func(context.Context) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	have := func() (*tensor.Tensor, bool) {
		if c := in.Load(); c != nil && c.from.Value() == from {
			return c.to, true
		}
		return nil, false
	}
	if to, ok := have(); ok {
		return to, nil
	}
	return making.Do(ctx, key, have, func(ctx context.Context) (*tensor.Tensor, error) {
		if err := from.Pin(); err != nil { // the run that asked first may leave
			return nil, err
		}
		defer from.Unpin()
		to, err := make(ctx)
		if err == nil {
			remember(in, from, to)
		}
		return to, err
	})
}

func (k *Kernel) runStep(ctx context.Context, st *step, b *stepBinding, vals values, keep *keptStep) error {
	switch p := st.plan.(type) {
	case *ir.Convert:
		from := vals[p.From.ID]
		convert := func(ctx context.Context) (*tensor.Tensor, error) {
			c := &converting{session: k.session, options: k.options.Here(), resident: k.options.Resident}
			to, err := c.step(ctx, p, from)
			if err == nil && c.latest != nil {
				st.latest.Store(c.latest)
			}
			return to, err
		}
		var err error
		if staysConverted(p) {
			vals[p.To.ID], err = remembered(ctx, &st.converted, &st.converting, from, from, convert)
		} else {
			vals[p.To.ID], err = convert(ctx)
		}
		return err
	case *ir.Join:
		to, err := k.session.join(ctx, p, vals)
		if err != nil {
			return err
		}
		vals[p.To.ID] = to
		return nil
	case *ir.Compute:
		out, err := k.compute(ctx, st, b, vals, keep)
		if err != nil {
			return err
		}
		vals[p.Result.ID] = out
		return nil
	case *ir.Scan:
		if !p.Stored {
			if err := k.checkLines(vals[p.From.ID], p.Axes, p.Op.String(), p.Pos); err != nil {
				return err
			}
		}
		out, err := k.compute(ctx, st, &stepBinding{shape: vals[p.From.ID].Dims(), crd: loop.U32}, vals, keep)
		if err != nil {
			return err
		}
		vals[p.To.ID] = out
		return nil
	case *ir.Sort:
		if err := k.checkLines(vals[p.From.ID], p.Axes, p.Op.String(), p.Pos); err != nil {
			return err
		}
		out, err := k.compute(ctx, st, &stepBinding{shape: vals[p.From.ID].Dims(), crd: loop.U32}, vals, keep)
		if err != nil {
			return err
		}
		vals[p.To.ID] = out
		return nil
	case *ir.Statistic:
		if !p.Stored {
			if err := k.checkLines(vals[p.From.ID], p.Axes, p.Name, p.Pos); err != nil {
				return err
			}
		}
		out, err := k.compute(ctx, st, &stepBinding{shape: statisticShape(p, vals), crd: loop.U32}, vals, keep)
		if err != nil {
			return k.badOrder(p, err)
		}
		vals[p.To.ID] = out
		return nil
	}
	panic("BUG: unknown step")
}

// statisticShape is the shape of an order statistic.
func statisticShape(s *ir.Statistic, vals values) []int64 {
	from := vals[s.From.ID]
	var lines, own []int64
	order := from.Format().Order()
	for _, axis := range order[:len(order)-len(s.Axes)] {
		lines = append(lines, from.Dims()[axis])
	}
	if s.Orders != nil {
		dims := vals[s.Orders.ID].Dims()
		own = dims[len(dims)-s.Own:]
	}
	if s.OrdersFirst {
		return slices.Concat(own, lines)
	}
	return slices.Concat(lines, own)
}

// compute runs a step that is a kernel of its own.
func (k *Kernel) compute(ctx context.Context, st *step, b *stepBinding, vals values, keep *keptStep) (*tensor.Tensor, error) {
	v, err := k.chosen(ctx, st, b, vals, keep)
	if err != nil {
		return nil, err
	}
	exe, err := v.exe.wait(ctx)
	if err != nil {
		return nil, err
	}
	call := v.calls.Get().(*call)
	defer v.finish(call)
	for _, in := range v.lower.Inputs {
		call.bindings.Buffers[in.Buffer] = memoryOf(k.session.engine, operandArray(vals[in.Tensor.ID], in))
	}
	for _, s := range v.lower.Scalars {
		switch {
		case s.Literal > 0:
			call.bindings.Scalars[s.Scalar] = k.literals[s.Literal-1]
		case s.Index != nil:
			call.bindings.Scalars[s.Scalar] = b.indices[s.Index.ID]
		case s.Tensor == v.lower.Result.Tensor:
			call.bindings.Scalars[s.Scalar] = b.shape[s.Axis]
		default:
			call.bindings.Scalars[s.Scalar] = vals[s.Tensor.ID].Dims()[s.Axis]
		}
	}
	call.bindings.Entries, call.bindings.EntryBytes = st.least(b, vals)
	if keep != nil {
		err = exe.RunSymbolic(ctx, call.bindings, k.options, &call.results, &keep.symbolic)
	} else {
		err = exe.RunInto(ctx, call.bindings, k.options, &call.results)
	}
	goruntime.KeepAlive(vals) // the bindings do not keep memory of mapped files
	if err != nil && v.assembly != lower.Counted && tooManyForOnePass(err) {
		st.twoPasses.Store(true)
		return k.compute(ctx, st, b, vals, keep)
	}
	if err != nil {
		return nil, err
	}
	return v.result(b.shape, &call.results, vals), nil
}

// tooManyForOnePass reports whether a program that writes in one pass did not
// have the memory for it, or the places, while two passes may have.
func tooManyForOnePass(err error) bool {
	var failed *runtime.KernelError
	var memory *runtime.MemoryLimitError
	return errors.As(err, &failed) && failed.Message == lower.TooMany || errors.As(err, &memory) && memory.Stage != "" ||
		errors.Is(err, runtime.ErrInexact)
}

// chosen is the variant of a step that a run needs.
func (k *Kernel) chosen(ctx context.Context, st *step, b *stepBinding, vals values, keep *keptStep) (*variant, error) {
	if keep != nil && keep.variant != nil {
		if !keep.variant.fits(vals) {
			return nil, fmt.Errorf("%w: other index types", ErrPattern)
		}
		return keep.variant, nil
	}
	v := st.latest.Load()
	how := choice{crd: b.crd}
	if keep == nil && !st.twoPasses.Load() {
		how.assembly = k.assembly()
	}
	if b.keys > 0 && v != nil {
		entries := v.entries(vals)
		how.work = k.workspaceKind(b.keys, entries)
		st.keys.Store(b.keys)
		st.entries.Store(entries)
	}
	if how.assembly == lower.Joined && v != nil && k.small(st, b, v, vals) && st.smallRuns.Add(1) > patience {
		how.assembly = lower.Appended
	}
	if v != nil && k.mayTabulate(st) {
		how.tables = k.tables(b.tabled, v, vals) && !k.gallops(st, b, v, vals)
	}
	if v == nil || v.choice != how || !v.fits(vals) {
		var err error
		if v, err = k.variant(ctx, st, declaredTypes(vals), how); err != nil {
			return nil, err
		}
	}
	if keep != nil {
		keep.variant = v
	}
	return v, nil
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
func (v *variant) fits(vals values) bool {
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

// memoryOf is an array as an engine takes it: where the engine's device has a copy,
// that.
func memoryOf(e runtime.Engine, a tensor.Array) runtime.Memory {
	if r, ok := a.Remote().(*runtime.Resident); ok && r.On(e) {
		m := runtime.Memory{Len: int64(a.Len()), On: r}
		if a.Here() {
			m.Ptr = a.Pointer()
		}
		return m
	}
	return runtime.Memory{Ptr: a.Pointer(), Len: int64(a.Len())}
}

// arrayOf is what a run has made as an array, which may still be on a device.
func arrayOf(dt tensor.DType, m runtime.Memory) tensor.Array {
	if m.On != nil {
		return tensor.RemoteArray(dt, int(m.Len), m.On)
	}
	if m.Pooled != nil {
		return m.Pooled.Array(dt, m.Ptr, int(m.Len))
	}
	return tensor.HeapArray(dt, m.Ptr, int(m.Len))
}

// result assembles the tensor that a run has made.
func (v *variant) result(shape []int64, r *runtime.Results, vals values) *tensor.Tensor {
	res := v.lower.Result
	array := func(id loop.BufferID) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		return arrayOf(tensor.DType(v.lower.Program.Buffers[id].Elem), r.Buffers[id])
	}
	var few [8]tensor.Level
	levels := few[:0]
	for i, l := range res.Levels {
		if i < res.SharedLevels {
			levels = append(levels, vals[res.Shared.ID].LevelAt(i))
			continue
		}
		levels = append(levels, tensor.Level{Pos: array(l.Pos), Crd: array(l.Crd)})
	}
	fill := res.Tensor.Fill
	if res.Fill >= 0 {
		fill = array(res.Fill).Scalar(0)
	}
	return tensor.Assemble(shape, res.Tensor.Format, levels, array(res.Values), fill)
}
