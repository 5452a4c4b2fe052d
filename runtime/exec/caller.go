package exec

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Caller runs a kernel with operands by position, and its last result, which is dense, in memory of the caller. What binding
// operands of one kind has found out is kept for the next call: see bound.
type Caller struct {
	kernel   *Kernel
	operands []string
	result   tensor.DType
	calls    sync.Pool // of *boundCall
}

// Caller returns a caller that takes the named operands in this order.
func (k *Kernel) Caller(operands ...string) (*Caller, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	c := &Caller{kernel: k, operands: slices.Clone(operands)}
	var names []string
	for _, o := range k.operands {
		if o.Source.StoredOf == nil {
			names = append(names, o.Source.Name)
		}
	}
	given := slices.Sorted(slices.Values(operands))
	if slices.Sort(names); !slices.Equal(names, given) {
		return nil, fmt.Errorf("the program has the operands %v, and %v are named: name each once", names, operands)
	}
	var last *ir.Tensor
	for _, s := range slices.Backward(k.program.Stmts) {
		if last = k.plan.Results[s.LHS.Tensor]; last != nil {
			break
		}
	}
	if last.Format != tensor.Dense(last.Rank) {
		return nil, fmt.Errorf("result %s is stored as %s, and only %s is all its elements: declare it so with lacuna.Result, or use Kernel.Run", last.Name, last.Format, tensor.Dense(last.Rank))
	}
	c.result = last.DType
	return c, nil
}

// Type is the element type of the result.
func (c *Caller) Type() tensor.DType { return c.result }

// boundCall is a kernel of one step with operands bound to it. It is for kernels whose choices at run time depend on the types
// and shapes of operands only, so that another operand of those can take the place of one. Kernel.run does all others.
type boundCall struct {
	kernel   *Kernel // nil: what was tried is not of that kind
	operands []*tensor.Tensor
	vals     values
	binding  *binding
	version  *version
	call     *invoke.Call
	inputs   [][]emit.Input // by position
}

// Run runs the kernel and returns the result.
func (c *Caller) Run(ctx context.Context, operands []*tensor.Tensor) (*tensor.Tensor, error) {
	args, err := c.args(operands)
	if err != nil {
		return nil, err
	}
	return c.kernel.Run(ctx, args)
}

// RunInto writes the result, which is as long as out.
func (c *Caller) RunInto(ctx context.Context, out tensor.Array, operands []*tensor.Tensor) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	var few pins
	pinned := few[:0]
	defer func() { unpin(pinned) }()
	for i, t := range operands {
		if t != nil {
			if err := t.Pin(); err != nil {
				if i < len(c.operands) {
					err = fmt.Errorf("operand %s: %w", c.operands[i], err)
				}
				return err
			}
			pinned = append(pinned, t)
		}
	}
	call, _ := c.calls.Get().(*boundCall)
	if call == nil {
		call = &boundCall{}
	}
	defer c.calls.Put(call)
	if !call.takes(operands) {
		args, err := c.args(operands)
		if err != nil {
			return err
		}
		if err := c.bind(ctx, call, args, operands); err != nil {
			return err
		}
		if call.kernel == nil {
			return c.copied(ctx, out, args)
		}
	}
	return call.run(ctx, out)
}

// args are the operands by name.
func (c *Caller) args(operands []*tensor.Tensor) (Args, error) {
	if len(operands) != len(c.operands) {
		return nil, fmt.Errorf("%d operands are given, and %v are named", len(operands), c.operands)
	}
	args := make(Args, len(operands))
	for i, name := range c.operands {
		if declare.Missing(operands[i]) {
			return nil, fmt.Errorf("operand %s is missing: what is passed in place %d holds no tensor", name, i+1)
		}
		args[name] = operands[i]
	}
	return args, nil
}

// copied runs the kernel in the usual way and copies the result.
func (c *Caller) copied(ctx context.Context, out tensor.Array, args Args) error {
	y, err := c.kernel.Run(ctx, args)
	if err != nil {
		return err
	}
	defer y.Release()
	if err := y.Fetch(); err != nil {
		return err
	}
	if n := y.Values().Len(); n != out.Len() {
		return lengthError(n, out.Len())
	}
	copy(out.Raw(), y.Values().Raw())
	return nil
}

func lengthError(n, given int) error {
	return fmt.Errorf("the result has %d elements, and the slice for it %d", n, given)
}

// bind binds operands to the kernel that Kernel.run would run, if that is of the kind that stays bound.
func (c *Caller) bind(ctx context.Context, call *boundCall, args Args, operands []*tensor.Tensor) error {
	*call = boundCall{}
	k := c.kernel
	if k.chooser != nil {
		return nil // which looks at statistics of operands
	}
	step := k.only()
	if step == nil {
		return nil
	}
	vals, err := k.takeAll(ctx, args)
	if err != nil {
		return err
	}
	b, err := k.bind(vals)
	if err != nil {
		return err
	}
	if other, err := k.fallback(ctx, b, vals, nil); other != nil || err != nil {
		return err
	}
	v, err := k.chosen(ctx, step, &b.steps[0], vals, nil)
	if err != nil {
		return err
	}
	bound, err := v.Begin(ctx)
	if err != nil {
		return err
	}
	k.bindCall(bound, v, &b.steps[0], vals)
	bound.Bindings.Outputs = make([]runtime.Memory, len(bound.Bindings.Buffers))
	inputs := make([][]emit.Input, len(operands))
	for i, t := range operands {
		at := slices.IndexFunc(k.operands, func(o *ir.Operand) bool { return o.Source.Name == c.operands[i] })
		if vals[k.operands[at].Pieces[0].ID] != t {
			return nil // it is stored otherwise first
		}
		for _, in := range v.Lower.Inputs {
			if in.Tensor == k.operands[at].Pieces[0] {
				inputs[i] = append(inputs[i], in)
			}
		}
	}
	*call = boundCall{kernel: k, operands: slices.Clone(operands), vals: vals, binding: b, version: v, call: bound, inputs: inputs}
	return nil
}

// only is the one step of a kernel of the kind that stays bound, nil of another.
func (k *Kernel) only() *step {
	if len(k.steps) != 1 || k.env.OnGrids() {
		return nil
	}
	for _, o := range k.operands {
		if len(o.Pieces) != 1 || o.Source.StoredOf != nil {
			return nil
		}
	}
	c, ok := k.steps[0].plan.(*ir.Compute)
	if !ok || !c.Result.Format.IsDense() || len(c.Workspaces) > 0 || len(c.Tables) > 0 || len(k.steps[0].broadcasts) > 0 || len(k.plan.Options.Forms) > 0 {
		return nil
	}
	return k.steps[0]
}

// takes reports whether operands are of the kind that is bound, and binds those that are others.
func (call *boundCall) takes(operands []*tensor.Tensor) bool {
	if call.kernel == nil || len(operands) != len(call.operands) {
		return false
	}
	for i, t := range operands {
		if old := call.operands[i]; t != old && (t == nil || !alike(t, old)) {
			return false
		}
	}
	for i, t := range operands {
		if t == call.operands[i] {
			continue
		}
		for _, in := range call.inputs[i] {
			call.call.Bindings.Buffers[in.Buffer] = call.kernel.env.Memory(invoke.Operand(t, in))
			call.vals[in.Tensor.ID] = t
		}
		call.operands[i] = t
	}
	return call.kernel.private(call.kernel.steps[0], &call.binding.steps[0], call.vals) == call.version.private
}

// alike reports whether tensors differ in their contents only.
func alike(a, b *tensor.Tensor) bool {
	if a.DType() != b.DType() || a.Format() != b.Format() || a.Structure() != b.Structure() || !slices.Equal(a.Dims(), b.Dims()) || !a.Fill().Same(b.Fill()) {
		return false
	}
	for k := range a.Rank() {
		x, y := a.LevelAt(k), b.LevelAt(k)
		if x.Pos.DType() != y.Pos.DType() || x.Crd.DType() != y.Crd.DType() {
			return false
		}
	}
	return true
}

// run runs what is bound.
func (call *boundCall) run(ctx context.Context, out tensor.Array) error {
	k, b := call.kernel, &call.binding.steps[0]
	n := 1
	for _, size := range b.shape {
		n *= int(size)
	}
	if n != out.Len() {
		return lengthError(n, out.Len())
	}
	at := &call.call.Bindings.Outputs[call.version.Lower.Result.Values]
	*at = runtime.Memory{Ptr: out.Pointer(), Len: int64(n)}
	err := call.call.Run(ctx, k.env.Options)
	*at = runtime.Memory{}
	goruntime.KeepAlive(call.vals)
	if err != nil {
		return k.explainedError(k.steps[0], err, call.binding, call.vals)
	}
	return nil
}
