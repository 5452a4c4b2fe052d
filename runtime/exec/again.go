package exec

import (
	"context"
	"iter"
	"math/bits"
	"slices"
	"weak"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Runs on a device that are repeated: what the host has found out in one run is told the device again in the next, if operands that
// something follows from are the same.

// repeated is a run that can be told again.
type repeated struct {
	of        *binding
	operands  []weak.Pointer[tensor.Tensor] // by piece of an operand; nil where another dense tensor may come
	recording *runtime.Recording
	results   []repeatedResult
}

// repeatedResult is a result of a step that callers are given.
type repeatedResult struct {
	to      *ir.Tensor
	version *version
	shape   []int64
	made    runtime.Results // whose arrays are those of the recording, in turn
}

// another stands in for an array of a result that each run makes.
var another = new(runtime.Resident)

// leastRepeats is how often a kernel runs before a run is recorded: by then what follows from operands is remembered. Kernels whose runs are others
// each time are tried again after two, four, … times as many.
const leastRepeats = 4

// mayRepeat reports whether all that the steps do is to run kernels, and to use conversions of operands that are remembered.
func (k *Kernel) mayRepeat() bool {
	return k.env.OnGrids() && k.env.Options.Resident && !slices.ContainsFunc(k.steps, func(st *step) bool {
		switch p := st.plan.(type) {
		case *ir.Join:
			return true
		case *ir.Convert:
			return !staysConverted(p) || k.isResult(st.to)
		}
		return false
	})
}

// record is what a run is to be recorded in, nil if it is not.
func (k *Kernel) record(b *binding) *repeated {
	if n := uint(k.repeats.Add(1)); n < leastRepeats || bits.OnesCount(n) > 1 || !k.mayRepeat() {
		return nil
	}
	return &repeated{of: b, recording: &runtime.Recording{}}
}

// made notes what a step has made for the caller.
func (r *repeated) made(st *step, v *version, shape []int64, made *runtime.Results) {
	r.results = append(r.results, repeatedResult{st.to, v, shape, runtime.Results{Buffers: slices.Clone(made.Buffers)}})
}

// keep keeps a run that was recorded, if it can be told again.
func (k *Kernel) keep(r *repeated, vals values) {
	for _, res := range r.results {
		if low := res.version.Lower.Result; low.Fill >= 0 || low.SharedLevels > 0 && !slices.ContainsFunc(k.operands, func(o *ir.Operand) bool {
			return slices.Contains(o.Pieces, low.Shared)
		}) {
			return // what is not there when the run is told again
		}
		for i := range res.made.Buffers {
			if m := &res.made.Buffers[i]; m.On != nil {
				r.recording.Result(m.On)
				m.On = another // else the caller's would stay as long as the kernel
			}
		}
	}
	var arrays []*runtime.Resident
	var wanted []bool
	var values []int // by operand: which of the arrays
	for o := range k.given(vals) {
		for _, l := range o.Levels() {
			for _, a := range []tensor.Array{l.Pos, l.Crd} {
				if on := k.env.Memory(a).On; on != nil {
					arrays, wanted = append(arrays, on), append(wanted, false)
				}
			}
		}
		values = append(values, len(arrays))
		converted := slices.ContainsFunc(k.steps, func(st *step) bool {
			c, ok := st.plan.(*ir.Convert)
			return ok && vals[c.From.ID] == o
		})
		arrays, wanted = append(arrays, k.env.Memory(o.Values()).On), append(wanted, o.Format().IsDense() && !converted)
	}
	if slices.Contains(arrays, nil) || !r.recording.Good() {
		return
	}
	may := r.recording.Exchange(arrays, wanted)
	for o := range k.given(vals) {
		var same weak.Pointer[tensor.Tensor]
		if !may[values[len(r.operands)]] {
			same = weak.Make(o)
		}
		r.operands = append(r.operands, same)
	}
	k.repeated.Store(r)
}

// runAgain has the device told again what it was told for other operands, and enters the results. It is not done where that does not hold for these.
func (k *Kernel) runAgain(ctx context.Context, b *binding, vals values) (done bool, err error) {
	r := k.repeated.Load()
	if r == nil || r.of != b {
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var few [8]*runtime.Resident
	others := few[:0]
	i := 0
	for o := range k.given(vals) {
		if same := r.operands[i]; same == (weak.Pointer[tensor.Tensor]{}) {
			on := k.env.Memory(o.Values()).On
			if on == nil {
				return false, nil
			}
			others = append(others, on)
		} else if same.Value() != o {
			return false, nil
		}
		i++
	}
	var under runtime.Underway
	arrays, done := r.recording.Play(ctx, &under, others)
	if done {
		for i := range r.results {
			res := &r.results[i]
			made := runtime.Results{Buffers: slices.Clone(res.made.Buffers)}
			for j := range made.Buffers {
				if made.Buffers[j].On != nil {
					made.Buffers[j].On, arrays = arrays[0], arrays[1:]
				}
			}
			vals[res.to.ID] = res.version.result(res.shape, &made, vals)
		}
	} else {
		k.repeated.CompareAndSwap(r, nil)
	}
	return done, under.Wait(ctx)
}

// given are the tensors of a run that arguments are stored as.
func (k *Kernel) given(vals values) iter.Seq[*tensor.Tensor] {
	return func(yield func(*tensor.Tensor) bool) {
		for _, o := range k.operands {
			for _, piece := range o.Pieces {
				if !yield(vals[piece.ID]) {
					return
				}
			}
		}
	}
}
