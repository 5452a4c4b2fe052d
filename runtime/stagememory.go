package runtime

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
	"github.com/lacuna-sparse/lacuna/runtime/partition"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// sizes computes scalars and allocates buffers.
func (x *Executable) sizes(s *state, st *stagePlan, z *sizesPlan, o Options) error {
	for i := range z.lets {
		l := &z.lets[i]
		v, fault := s.eval(&l.value)
		if fault != "" {
			return s.sizeError(st, "scalar "+s.plan.program.Scalars[l.scalar].Name, &l.value, fault)
		}
		s.scalars[l.scalar] = v
	}
	for i := range z.trims {
		if err := x.trim(s, st, &z.trims[i], o); err != nil {
			return err
		}
	}
	for i := range z.allocs {
		if err := x.allocate(s, st, &z.allocs[i], o); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) eval(c *sizeCode) (int64, sizeFault) {
	return c.eval(s.stack, s.scalars, s.mem, s.plan.program.Buffers, nil)
}

func (s *state) sizeError(st *stagePlan, what string, c *sizeCode, fault sizeFault) error {
	return &SizeError{Program: s.plan.program.Name, Stage: st.name, What: what,
		Expr: formatSize(s.plan.program, c.expr), Reason: string(fault)}
}

// allocate makes one buffer, or refuses to.
func (x *Executable) allocate(s *state, st *stagePlan, a *allocPlan, o Options) error {
	buf := &s.plan.program.Buffers[a.buffer]
	n, fault := s.eval(&a.length)
	if n < 0 && fault == "" {
		fault = sizeFault(fmt.Sprintf("the length is negative (%d)", n))
	}
	if fault != "" {
		return s.sizeError(st, "length of buffer "+buf.Name, &a.length, fault)
	}
	bytes := bytesOf(n, s.plan.elemSize[a.buffer])
	if s.outputs != nil && s.outputs[a.buffer].Ptr != nil {
		m := s.outputs[a.buffer]
		if m.Len != n {
			return s.sizeError(st, "length of buffer "+buf.Name, &a.length, sizeFault(fmt.Sprintf("the result has %d elements, and the caller's memory %d", n, m.Len)))
		}
		if a.fill == alloc.Zeroed {
			clear(unsafe.Slice((*byte)(m.Ptr), bytes))
		}
		s.mem[a.buffer] = m
		return nil
	}
	if buf.Role == loop.Scratch {
		// One after the other, each on cache lines of its own.
		bytes = bytesOf(alloc.Padded(min(bytes, maxObject)), s.copies(st))
	}
	refused := func(err error) error {
		return &MemoryLimitError{Program: s.plan.program.Name, Stage: st.name, Buffer: buf.Name,
			Len: n, Elem: buf.Elem.String(), Need: bytes, Result: s.resultBytes(st),
			InUse: s.account.InUse, Limit: s.account.Limit, Source: s.account.Source, Err: err}
	}
	takes := buf.Role != loop.Scratch && o.Spill.Takes(bytes) // what a thread works in it touches all the time
	if takes || !s.account.Reserve(alloc.Padded(min(bytes, maxObject)), o.MemoryLimit, x.memory.Machine) {
		if o.Spill == nil {
			return refused(nil)
		}
		spill := o.Spill.Map
		if buf.Role == loop.Output {
			spill = o.Spill.MapResult
		}
		m, err := spill(alloc.Padded(min(bytes, maxObject)))
		if err != nil {
			return refused(err)
		}
		s.mem[a.buffer] = Memory{Ptr: unsafe.Pointer(unsafe.SliceData(m)), Len: n}
		if buf.Role == loop.Output {
			s.mem[a.buffer].Pooled = tensor.NewPooled(m, func() { o.Spill.Free(m) })
		} else {
			s.temps[a.buffer] = alloc.OfFiles(m, bytes, o.Spill)
		}
		return nil
	}
	if buf.Role == loop.Output {
		s.mem[a.buffer] = newResult(x.memory, n, s.plan.elemSize[a.buffer], a.fill)
		return nil
	}
	t, err := x.memory.Temporary(bytes, a.fill)
	if err != nil {
		return refused(err)
	}
	s.temps[a.buffer] = t
	s.mem[a.buffer] = Memory{Ptr: t.Ptr, Len: n}
	return nil
}

// resultBytes is what the results need whose sizes are known when a stage allocates: those
// it has, and those that it and the next stages allocate, up to one that computes.
func (s *state) resultBytes(from *stagePlan) int64 {
	total := int64(0)
	for id, m := range s.mem {
		if s.plan.program.Buffers[id].Role == loop.Output {
			total = saturatingAdd(total, bytesOf(m.Len, s.plan.elemSize[id]))
		}
	}
	reached := false
	for i := range s.plan.stages {
		st := &s.plan.stages[i]
		if reached = reached || st == from; !reached {
			continue
		}
		for j := range st.before.lets {
			l := &st.before.lets[j]
			v, fault := s.eval(&l.value)
			if fault != "" {
				return total
			}
			s.scalars[l.scalar] = v
		}
		for j := range st.before.allocs {
			a := &st.before.allocs[j]
			if s.plan.program.Buffers[a.buffer].Role != loop.Output || s.mem[a.buffer].Ptr != nil {
				continue
			}
			if n, fault := s.eval(&a.length); fault == "" && n > 0 {
				total = saturatingAdd(total, bytesOf(n, s.plan.elemSize[a.buffer]))
			} else if fault != "" {
				total = math.MaxInt64
			}
		}
		if st.fn != nil {
			break
		}
	}
	return total
}

// trim shortens an output. Where more than half of it is not needed, it moves to
// memory of its size; else the rest stays, in most cases never touched. In a file it is cut off.
func (x *Executable) trim(s *state, st *stagePlan, t *trimPlan, o Options) error {
	m := &s.mem[t.buffer]
	n, fault := s.eval(&t.length)
	if fault == "" && (n < 0 || n > m.Len) {
		fault = sizeFault(fmt.Sprintf("%d of %d elements are wanted", n, m.Len))
	}
	if fault != "" {
		return s.sizeError(st, "length of buffer "+s.plan.program.Buffers[t.buffer].Name, &t.length, fault)
	}
	size := s.plan.elemSize[t.buffer]
	switch {
	case o.Spill.Takes(bytesOf(m.Len, size)):
		o.Spill.Cut(unsafe.Slice((*byte)(m.Ptr), alloc.Padded(m.Len*size)), n*size)
	case n < m.Len/2:
		shorter := newResult(x.memory, n, size, alloc.Anything)
		copy(unsafe.Slice((*byte)(shorter.Ptr), n*size), unsafe.Slice((*byte)(m.Ptr), n*size))
		m.GiveBack()
		*m = shorter
	}
	m.Len = n
	return nil
}

// partition cuts the domain of a stage.
func (s *state) partition(st *stagePlan) error {
	p := st.cut
	name := func() string { return "partition " + s.plan.program.Partitions[p.partition].Name }
	n, fault := s.eval(&p.n)
	if n < 0 && fault == "" {
		fault = sizeFault(fmt.Sprintf("the domain has a negative size (%d)", n))
	}
	if fault != "" {
		return s.sizeError(st, name(), &p.n, fault)
	}
	c := &s.cuts[p.partition]
	if p.weights == -1 {
		c.Even(n, p.grain)
	} else if err := c.ByWeight(n, p.grain, s.weights(p.weights)); err != nil {
		return s.sizeError(st, name(), &p.n, sizeFault(err.Error()))
	}
	s.scalars[p.chunks] = c.Chunks
	return nil
}

// weights are the elements of a buffer by which a domain is cut.
func (s *state) weights(id loop.BufferID) partition.Weights {
	return partition.Weights{Ptr: s.mem[id].Ptr, Len: s.mem[id].Len, Elem: s.plan.program.Buffers[id].Elem}
}

// formatSize writes a size expression for an error message.
func formatSize(p *loop.Program, e loop.SizeExpr) string {
	switch e := e.(type) {
	case loop.SizeConst:
		return fmt.Sprint(int64(e))
	case loop.SizeScalar:
		return p.Scalars[e].Name
	case loop.SizeLen:
		return fmt.Sprintf("len(%s)", p.Buffers[e.Buffer].Name)
	case *loop.SizeLoad:
		return fmt.Sprintf("%s[%s]", p.Buffers[e.Buffer].Name, formatSize(p, e.Index))
	case *loop.SizeHint:
		return fmt.Sprintf("hint(%s[%s], %s)", p.Buffers[e.Buffer].Name, formatSize(p, e.Index), formatSize(p, e.Else))
	case *loop.SizeOp:
		x, y, op := formatSize(p, e.X), formatSize(p, e.Y), e.Op.String()
		if e.Op == loop.Min || e.Op == loop.Max {
			return fmt.Sprintf("%s(%s, %s)", op, x, y)
		}
		return fmt.Sprintf("(%s)", strings.Join([]string{x, op, y}, " "))
	}
	return "?"
}
