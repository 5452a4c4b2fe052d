package exec

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
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

// RunAll runs the program on args and returns all its results.
func (k *Kernel) RunAll(ctx context.Context, args Args) (Outputs, error) {
	k, values, err := k.run(ctx, args, nil)
	if err != nil {
		return nil, err
	}
	return k.outputs(values), nil
}

// compiled is an error of a kernel that nobody compiled.
func (k *Kernel) compiled() error {
	if k == nil || k.planned == nil {
		return errors.New("the kernel is nil or a zero value: make one with lacuna.Compile or Session.Compile")
	}
	return nil
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
	vals, err := k.takeAll(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	b, err := k.bind(vals)
	if err != nil {
		return nil, nil, err
	}
	if other, err := k.fallback(ctx, b, vals, kept); err != nil {
		return nil, nil, err
	} else if other != nil {
		return other.run(ctx, args, kept)
	}
	if err := k.admit(b); err != nil {
		return nil, nil, err
	}
	if kept != nil {
		if err := kept.of(k); err != nil {
			return nil, nil, err
		}
	}
	watch := profilerOf(ctx)
	if watch != nil {
		watch.begin(k)
	}
	grids := k.env.OnGrids()
	var recorded *repeated
	if grids && watch == nil && kept == nil {
		if done, err := k.runAgain(ctx, b, vals); done || err != nil {
			return k, vals, err
		}
		recorded = k.record(b)
	}
	var under *runtime.Underway
	if grids && watch == nil && (len(k.steps) > 1 || recorded != nil) {
		under = new(runtime.Underway)
		if recorded != nil {
			under.Recording = recorded.recording
		}
		defer func() { _ = under.Wait(ctx) }() // after an error, which says more
	}
	for i, st := range k.steps {
		how := running{options: k.env.Options, recorded: recorded}
		if kept != nil {
			how.keep = &kept.steps[i]
		}
		how.options.Underway = under
		if grids && !k.isResult(st.to) {
			how.options.Resident = true // what only later steps read stays where they run
		}
		var out *tensor.Tensor
		var err error
		if watch == nil {
			out, err = k.runStep(ctx, st, &b.steps[i], vals, how)
		} else {
			how := how // what is captured is kept by itself
			out, err = watch.step(ctx, st, func(ctx context.Context) (*tensor.Tensor, error) { return k.runStep(ctx, st, &b.steps[i], vals, how) })
		}
		switch {
		case err == nil:
			vals[st.to.ID] = out
		case failedWith(err, lower.TooWide):
			k.tooWide.Store(true)
			if kept != nil {
				kept.kernel = nil // it was the first run
			}
			narrow, err := k.narrowed(ctx)
			if err != nil {
				return nil, nil, err
			}
			return narrow.run(ctx, args, kept)
		default:
			return nil, nil, k.explainedError(st, err, b, vals)
		}
	}
	if under != nil {
		if err := under.Wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	if recorded != nil {
		k.keep(recorded, vals)
	}
	if kept == nil { // else operands of later steps are known by address
		k.letGo(vals)
	}
	return k, vals, nil
}

// last is the result of the last statement of which it is wanted.
func (k *Kernel) last(vals values) *tensor.Tensor {
	for _, s := range slices.Backward(k.program.Stmts) {
		if k.plan.Results[s.LHS.Tensor] != nil {
			return k.own(s.LHS.Tensor, vals)
		}
	}
	panic("BUG: a program without results")
}

func (k *Kernel) outputs(vals values) Outputs {
	out := Outputs{}
	for t := range k.plan.Results {
		if k.isIntermediate(t) {
			continue
		}
		own := k.own(t, vals)
		for _, other := range out {
			if own == other {
				own = own.Share()
			}
		}
		out[t.Name] = own
	}
	return out
}

// running is what one run has of its own for a step.
type running struct {
	options runtime.Options
	keep    *keptStep // nil if nothing is kept
	// recorded is where the run is recorded, nil if it is not.
	recorded *repeated
}

// runStep runs one step, and returns what it makes.
func (k *Kernel) runStep(ctx context.Context, st *step, b *stepBinding, vals values, how running) (*tensor.Tensor, error) {
	switch p := st.plan.(type) {
	case *ir.Convert:
		if u := how.options.Underway; u != nil && !staysConverted(p) { // what reads it would wait without the context
			if err := u.Wait(ctx); err != nil {
				return nil, err
			}
		}
		return k.convert(ctx, st, p, vals[p.From.ID])
	case *ir.Join:
		return k.join(ctx, p, vals)
	case *ir.Compute:
		return k.compute(ctx, st, b, vals, how)
	}
	f := fibresOf(st.plan)
	if err := k.checkFibres(f, vals); err != nil {
		return nil, err
	}
	return k.compute(ctx, st, &stepBinding{shape: f.shape(vals), crd: loop.U32}, vals, how)
}

// convert runs a convert step of a plan.
func (k *Kernel) convert(ctx context.Context, st *step, p *ir.Convert, from *tensor.Tensor) (*tensor.Tensor, error) {
	convert := func(ctx context.Context) (*tensor.Tensor, error) {
		to, kernel, err := k.env.convert.Step(ctx, p, from)
		if err == nil && kernel != nil {
			st.latest.Store(&version{Kernel: kernel})
		}
		return to, err
	}
	if staysConverted(p) {
		return remembered(ctx, &st.converted, &st.converting, from, from, func(ctx context.Context) (*tensor.Tensor, error) {
			if c := st.converted.Load(); c != nil {
				if to, ok := from.Follow(c.from.Value(), c.to); ok {
					return to, nil
				}
			}
			return convert(ctx)
		})
	}
	return convert(ctx)
}

// join runs a join step of a plan.
func (k *Kernel) join(ctx context.Context, step *ir.Join, vals values) (*tensor.Tensor, error) {
	var parts []*tensor.Tensor
	for _, t := range step.Operand.Pieces {
		parts = append(parts, vals[t.ID])
	}
	if len(parts) == 1 {
		return k.env.convert.Canonical(ctx, parts[0])
	}
	return k.env.convert.Joined(ctx, parts, step.To.Format)
}

// fibres are those that a scan, a sort or a statistic goes along.
type fibres struct {
	from      *ir.Tensor
	axes      []int
	op        string
	pos       lang.Pos
	stored    bool          // only what is stored counts
	statistic *ir.Statistic // of which the result has a shape of its own
}

func fibresOf(st ir.Step) fibres {
	switch p := st.(type) {
	case *ir.Scan:
		return fibres{p.From, p.Axes, p.Op.String(), p.Pos, p.Stored, nil}
	case *ir.Sort:
		return fibres{p.From, p.Axes, p.Op.String(), p.Pos, false, nil}
	case *ir.Statistic:
		return fibres{p.From, p.Axes, p.Name, p.Pos, p.Stored, p}
	}
	panic("BUG: unknown step")
}

// shape is that of the result: of a statistic the fibres, and for each the orders that are asked for.
func (f fibres) shape(vals values) []int64 {
	s := f.statistic
	if s == nil {
		return vals[f.from.ID].Dims()
	}
	return ir.StatisticShape(s, func(t *ir.Tensor) []int64 { return vals[t.ID].Dims() })
}

// compute runs a step that is a kernel of its own.
func (k *Kernel) compute(ctx context.Context, st *step, b *stepBinding, vals values, how running) (*tensor.Tensor, error) {
	v, err := k.chosen(ctx, st, b, vals, how.keep)
	if err != nil {
		return nil, err
	}
	call, err := v.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer call.Finish()
	k.bindCall(call, v, b, vals)
	call.Bindings.Entries, call.Bindings.EntryBytes = st.least(b, vals)
	if how.keep != nil {
		err = call.RunSymbolic(ctx, how.options, &how.keep.symbolic)
	} else {
		err = call.Run(ctx, how.options)
	}
	goruntime.KeepAlive(vals) // the bindings do not keep memory of mapped files
	if err != nil && v.assembly != lower.Counted && tooManyForOnePass(err) {
		st.twoPasses.Store(true)
		return k.compute(ctx, st, b, vals, how)
	}
	if err != nil {
		return nil, err
	}
	if how.recorded != nil && k.isResult(st.to) {
		how.recorded.made(st, v, b.shape, &call.Results)
	}
	return v.result(b.shape, &call.Results, vals), nil
}

// bindCall binds operands, extents and literals.
func (k *Kernel) bindCall(call *invoke.Call, v *version, b *stepBinding, vals values) {
	for _, in := range v.Lower.Inputs {
		call.Bindings.Buffers[in.Buffer] = k.env.Memory(invoke.Operand(vals[in.Tensor.ID], in))
	}
	for _, s := range v.Lower.Scalars {
		switch {
		case s.Literal > 0:
			call.Bindings.Scalars[s.Scalar] = k.literals[s.Literal-1]
		case s.Index != nil:
			call.Bindings.Scalars[s.Scalar] = b.indices[s.Index.ID]
		case s.Tensor == v.Lower.Result.Tensor:
			call.Bindings.Scalars[s.Scalar] = b.shape[s.Axis]
		default:
			call.Bindings.Scalars[s.Scalar] = vals[s.Tensor.ID].Dims()[s.Axis]
		}
	}
}

// tooManyForOnePass reports whether a program that writes in one pass did not
// have the memory for it, or the places, while two passes may have.
func tooManyForOnePass(err error) bool {
	var memory *runtime.MemoryLimitError
	return failedWith(err, lower.TooMany) || errors.As(err, &memory) && memory.Stage != "" || errors.Is(err, runtime.ErrInexact)
}

// result assembles the tensor that a run has made.
func (v *version) result(shape []int64, r *runtime.Results, vals values) *tensor.Tensor {
	res := v.Lower.Result
	array := func(id loop.BufferID) tensor.Array {
		if id < 0 {
			return tensor.Array{}
		}
		return invoke.Array(tensor.DType(v.Lower.Program.Buffers[id].Elem), r.Buffers[id])
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
	format := res.Tensor.Format
	if res.Tensor.Relaxed.Relaxed() {
		format = res.Tensor.Relaxed
	}
	return tensor.NewTrusted(shape, format, levels, array(res.Values), fill)
}
