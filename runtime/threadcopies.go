package runtime

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
	"github.com/lacuna-sparse/lacuna/runtime/partition"
)

// The chunks of a stage with loop.Copies update elements of the same buffers. The thread
// that called Run updates the buffers themselves; others make copies of their own when they
// begin, which they update, and which a later stage folds into the buffers. A thread that is
// late makes none when there is too little left for it to do.

// copiesPlan is a loop.Copies made ready to run.
type copiesPlan struct {
	count  loop.ScalarID
	chunks sizeCode
	list   []copyPlan
}

// copyPlan is a buffer with its copies.
type copyPlan struct {
	place int // of the buffer among those of the stage
	all   loop.BufferID
	size  int64  // bytes of an element
	start []byte // an element in the beginning; nil if all bytes are 0
}

// copies makes the plan of a stage's copies, nil for none.
func (p *plan) copies(s *loop.Stage) *copiesPlan {
	if s.Copies == nil {
		return nil
	}
	out := &copiesPlan{count: s.Copies.Count, chunks: p.size(s.Copies.Chunks)}
	for _, c := range s.Copies.List {
		one := copyPlan{place: placeOf(s, c.Buffer), all: c.All, size: p.elemSize[c.Buffer]}
		if c.Start.Bits != 0 || c.Start.Imag != 0 {
			one.start = bytesOfConst(c.Start)
		}
		out.list = append(out.list, one)
	}
	return out
}

// placeOf is the place of a buffer among those that the stage's function gets.
func placeOf(s *loop.Stage, id loop.BufferID) int {
	for i, b := range s.Bufs {
		if b == id {
			return i
		}
	}
	panic("BUG: a stage shares a buffer that its function does not get")
}

// bytesOfConst is a constant as an element in memory.
func bytesOfConst(c *loop.Const) []byte {
	part := func(to []byte, bits uint64) []byte {
		switch c.Typ.Real().Size() {
		case 1:
			return append(to, byte(bits))
		case 2:
			return binary.NativeEndian.AppendUint16(to, uint16(bits))
		case 4:
			return binary.NativeEndian.AppendUint32(to, uint32(bits))
		}
		return binary.NativeEndian.AppendUint64(to, bits)
	}
	out := part(nil, c.Bits)
	if c.Typ.IsComplex() {
		out = part(out, c.Imag)
	}
	return out
}

// copier has the copies of one stage.
type copier struct {
	plan   *copiesPlan
	mem    []Memory      // of the buffers, by copy of the plan
	all    []Memory      // room for the copies of each
	chunks int64         // that must be left for a copy to be worth making
	used   atomic.Int64  // copies
	whole  partition.Cut // of one chunk
}

// open prepares the run of a stage by several threads, and returns how many are worth it:
// 1 if there is too little to do, or no memory for copies.
func (c *copier) open(x *Executable, s *state, st *stagePlan, o Options, threads int64) int64 {
	p := st.copies
	c.plan, c.mem, c.all = p, c.mem[:0], c.all[:0]
	c.used.Store(0)
	if threads <= 1 {
		return 1
	}
	n, fault := s.eval(&p.chunks)
	if fault != "" {
		return 1
	}
	c.chunks = max(1, n)
	if threads = min(threads, s.cuts[st.domain].Chunks/c.chunks); threads <= 1 {
		return 1
	}
	for i := range p.list {
		one := &p.list[i]
		m := s.mem[st.bufs[one.place]]
		each := apart(m.Len)
		bytes := bytesOf(each, one.size*(threads-1))
		if !s.account.Reserve(alloc.Padded(min(bytes, maxObject)), o.MemoryLimit, x.memory.Machine) {
			return 1
		}
		t, err := x.memory.Temporary(bytes, alloc.Anything)
		if err != nil {
			s.account.InUse -= alloc.Padded(bytes)
			return 1
		}
		s.temps[one.all] = t // given back behind the last stage that uses it, as others are
		c.mem, c.all = append(c.mem, m), append(c.all, Memory{Ptr: t.Ptr, Len: each * (threads - 1)})
	}
	return threads
}

// apart is how far copies of n elements lie apart.
func apart(n int64) int64 { return (n + loop.CopyAlign - 1) &^ (loop.CopyAlign - 1) }

// give makes copies for a thread other than the first. It reports false if that is not
// worth it any more.
func (c *copier) give(f *frame, left int64) bool {
	if left < c.chunks {
		return false
	}
	at := c.used.Add(1) - 1
	for i, m := range c.mem {
		one := &c.plan.list[i]
		own := unsafe.Add(c.all[i].Ptr, at*apart(m.Len)*one.size)
		fill(unsafe.Slice((*byte)(own), m.Len*one.size), one.start)
		f.set(one.place, Memory{Ptr: own, Len: m.Len})
	}
	return true
}

// close leaves the copies to later stages.
func (c *copier) close(s *state) {
	used := c.used.Load()
	s.scalars[c.plan.count] = used
	for i := range c.plan.list {
		m := Memory{}
		if used > 0 {
			m = Memory{Ptr: c.all[i].Ptr, Len: apart(c.mem[i].Len) * used}
		}
		s.mem[c.plan.list[i].all] = m
	}
	clear(c.mem)
	clear(c.all)
}

// fill repeats the bytes of an element; nil stands for those of 0.
func fill(to, element []byte) {
	if element == nil {
		clear(to)
		return
	}
	const inCache = 4 << 10
	n := copy(to, element)
	for n > 0 && n < len(to) {
		n += copy(to[n:], to[:min(n, inCache)])
	}
}
