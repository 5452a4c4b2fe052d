package runtime

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Symbolic is what the symbolic stages of a program computed in one run: counts
// and places that follow from the patterns of the inputs. A run that is given it
// skips those stages. The zero value is empty. Once filled it is only read, and
// may be shared by several goroutines.
type Symbolic struct {
	buffers []Memory // by buffer; nil: nothing is kept yet
	scalars []int64  // as bound
	// inputs are those that symbolic stages read, and what they held.
	inputs []loop.BufferID
	held   []Memory
}

// ErrPattern is the error of a run with other patterns, or other extents, than
// those that its Symbolic was made from.
var ErrPattern = errors.New("the patterns of the operands differ from those that the kernel was prepared for")

// RunSymbolic is RunInto for runs that share patterns: the first run with an empty
// Symbolic fills it, further ones take counts and places from it. The error of a
// run whose patterns or extents differ wraps ErrPattern. The memory of the inputs
// that symbolic stages read must not change as long as the Symbolic is in use.
func (x *Executable) RunSymbolic(ctx context.Context, b *Bindings, o Options, r *Results, keep *Symbolic) error {
	filled := keep.buffers != nil
	err := x.run(ctx, b, o, r, keep)
	if err != nil && !filled {
		*keep = Symbolic{}
	}
	return err
}

// open begins to keep what a run computes.
func (k *Symbolic) open(s *state) {
	k.buffers = make([]Memory, len(s.mem))
	k.scalars = slices.Clone(s.scalars)
	for i := range s.plan.stages {
		st := &s.plan.stages[i]
		if !st.symbolic {
			continue
		}
		for _, id := range st.bufs {
			if role := s.plan.program.Buffers[id].Role; role == loop.Input && !slices.Contains(k.inputs, id) {
				k.inputs = append(k.inputs, id)
				k.held = append(k.held, s.mem[id])
			}
		}
	}
}

// save copies the temporaries that a symbolic stage has written.
func (k *Symbolic) save(s *state, st *stagePlan) {
	for _, id := range st.bufs {
		if s.plan.program.Buffers[id].Role != loop.Temp {
			continue
		}
		m := s.mem[id]
		from := bytesAt(m, s.plan.elemSize[id])
		copied := make([]uint64, (len(from)+7)/8+1) // never empty
		p := unsafe.Pointer(unsafe.SliceData(copied))
		copy(unsafe.Slice((*byte)(p), len(from)), from)
		k.buffers[id] = Memory{Ptr: p, Len: m.Len}
	}
}

// check compares what symbolic stages would read with what they read before.
func (k *Symbolic) check(s *state) error {
	for _, id := range s.plan.bound {
		if s.scalars[id] != k.scalars[id] {
			return ErrPattern
		}
	}
	for i, id := range k.inputs {
		now, then := s.mem[id], k.held[i]
		if now.Ptr == then.Ptr && now.On == then.On && now.Len == then.Len {
			continue
		}
		if now.Len != then.Len {
			return ErrPattern
		}
		size := s.plan.elemSize[id]
		a, err := contents(now, size)
		if err != nil {
			return err
		}
		b, err := contents(then, size)
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return ErrPattern
		}
	}
	return nil
}

// recall does what later stages need of a symbolic stage without running it.
func (x *Executable) recall(s *state, st *stagePlan, o Options, k *Symbolic) error {
	restore := func(allocs []allocPlan) {
		for i := range allocs {
			id := allocs[i].buffer
			s.mem[id] = k.buffers[id]
		}
	}
	if err := x.sizes(s, st, &sizesPlan{lets: st.before.lets}, o); err != nil {
		return err
	}
	restore(st.before.allocs)
	if st.cut != nil {
		if err := s.partition(st); err != nil {
			return err
		}
	}
	if err := x.sizes(s, st, &sizesPlan{lets: st.after.lets}, o); err != nil {
		return err
	}
	restore(st.after.allocs)
	return nil
}

// contents is a buffer's memory as bytes, brought from the device that alone has it.
func contents(m Memory, elemSize int64) ([]byte, error) {
	if m.Ptr == nil && m.On != nil {
		p, err := m.On.Fetch()
		if err != nil {
			return nil, err
		}
		m.Ptr = p
	}
	return bytesAt(m, elemSize), nil
}

// bytesAt is a buffer's memory as bytes.
func bytesAt(m Memory, elemSize int64) []byte {
	if m.Len == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(m.Ptr), m.Len*elemSize)
}
