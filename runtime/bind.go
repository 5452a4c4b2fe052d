package runtime

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// bind copies the caller's memory and values in and checks that kernels may
// use them: a wrong address or overlap would not fail but give wrong results.
// device is what the program runs on, nil if that is the processor.
func (s *state) bind(b *Bindings, device accelerator) error {
	p := s.plan
	if b == nil || len(b.Buffers) != len(s.mem) || len(b.Scalars) != len(s.scalars) {
		return &BindingError{Program: p.program.Name, Reason: "the bindings were made for another program"}
	}
	for _, id := range p.bound {
		s.scalars[id] = b.Scalars[id]
	}
	for i, id := range p.given {
		m := b.Buffers[id]
		var reason string
		switch {
		case m.Len < 0 || bytesOf(m.Len, p.elemSize[id]) > maxObject:
			reason = fmt.Sprintf("has %d elements", m.Len)
		case m.Ptr == nil && m.Len > 0 && (p.written[id] || m.On == nil || m.On.device != device):
			reason = fmt.Sprintf("has no memory for its %d elements", m.Len)
		case m.On != nil && m.On.device == device && bytesOf(m.Len, p.elemSize[id]) > m.On.bytes:
			reason = fmt.Sprintf("has %d elements, but only %d bytes on the device", m.Len, m.On.bytes)
		case uintptr(m.Ptr)%p.aligned[id] != 0:
			reason = fmt.Sprintf("is not aligned to %d bytes", p.aligned[id])
		}
		if reason != "" {
			return &BindingError{p.program.Name, p.program.Buffers[id].Name, reason}
		}
		for _, other := range p.given[:i] {
			if (p.written[id] || p.written[other]) && s.overlap(id, m, other) {
				return &BindingError{p.program.Name, p.program.Buffers[id].Name, fmt.Sprintf(
					"overlaps buffer %s in memory, and one of them is written", p.program.Buffers[other].Name)}
			}
		}
		s.mem[id] = m
	}
	s.outputs = b.Outputs
	for id, m := range b.Outputs {
		if m.Ptr == nil {
			continue
		}
		if reason := s.cannotWrite(loop.BufferID(id), m, device); reason != "" {
			return &BindingError{p.program.Name, p.program.Buffers[id].Name, reason}
		}
	}
	return nil
}

// cannotWrite is why an Output buffer cannot be in memory of the caller, "" if it can.
func (s *state) cannotWrite(id loop.BufferID, m Memory, device accelerator) string {
	p := s.plan
	switch {
	case p.program.Buffers[id].Role != loop.Output || device != nil:
		return "cannot be written to memory of the caller"
	case m.Len < 0 || bytesOf(m.Len, p.elemSize[id]) > maxObject:
		return fmt.Sprintf("has %d elements", m.Len)
	case uintptr(m.Ptr)%p.aligned[id] != 0:
		return fmt.Sprintf("is not aligned to %d bytes", p.aligned[id])
	}
	for _, other := range p.given {
		if s.overlap(id, m, other) {
			return fmt.Sprintf("overlaps buffer %s in memory, and is written", p.program.Buffers[other].Name)
		}
	}
	return ""
}

// maxObject is more bytes than any address space has.
const maxObject = 1 << 56

// overlap reports whether m, the memory of buffer id, shares bytes with the
// memory of another buffer.
func (s *state) overlap(id loop.BufferID, m Memory, other loop.BufferID) bool {
	o := s.mem[other]
	mStart, oStart := uintptr(m.Ptr), uintptr(o.Ptr)
	mEnd := mStart + uintptr(m.Len*s.plan.elemSize[id])
	oEnd := oStart + uintptr(o.Len*s.plan.elemSize[other])
	return m.Len > 0 && o.Len > 0 && mStart < oEnd && oStart < mEnd
}
