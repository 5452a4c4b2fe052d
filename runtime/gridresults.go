package runtime

import (
	"context"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// fetch reads one element of a buffer on the device. What comes of a kernel that
// failed must not become a size, so it looks at that first.
func (g *gridRun) fetch(id loop.BufferID, i int64) (v int64, ok bool) {
	elem := g.s.plan.program.Buffers[id].Elem
	if m := g.s.mem[id]; m.Ptr != nil {
		return loadInt(m, elem, i) // what the caller gave
	}
	lasting := g.lasting(id)
	if lasting == nil {
		return g.download(id, elem, i)
	}
	if v, known := lasting.element(i); known {
		g.recording.pin(lasting)
		return v, true
	}
	if v, ok = g.download(id, elem, i); ok && g.err == nil {
		lasting.note(i, v)
	}
	return v, ok
}

// download is fetch for what is not known.
func (g *gridRun) download(id loop.BufferID, elem loop.Type, i int64) (v int64, ok bool) {
	if g.err = g.failure(); g.err != nil {
		return 0, true
	}
	size := int64(elem.Size())
	b := g.bufs[id]
	if bytes := b.len * size; bytes > 0 && bytes <= smallBytes {
		c := &g.small
		if c.bytes == nil || c.id != id || c.launched != len(g.launched) {
			*c = smallBuffer{id, len(g.launched), make([]byte, smallBytes)}
			if g.err = g.q.download(g.ctx, unsafe.Pointer(unsafe.SliceData(c.bytes)), b.at, 0, bytes); g.err != nil {
				return 0, true
			}
		}
		return loadInt(Memory{Ptr: unsafe.Pointer(unsafe.SliceData(c.bytes)), Len: b.len}, elem, i)
	}
	var word uint64
	if g.err = g.q.download(g.ctx, unsafe.Pointer(&word), b.at, i*size, size); g.err != nil {
		return 0, true
	}
	return loadInt(Memory{Ptr: unsafe.Pointer(&word), Len: 1}, elem, 0)
}

// failure waits for the kernels launched so far and is the error of the first that
// failed.
func (g *gridRun) failure() error {
	if !g.x.grid.fails || !slices.ContainsFunc(g.launched[g.sound:], func(st *stagePlan) bool { return len(st.fn.Fails) > 0 }) {
		return nil
	}
	words := make([]uint32, len(g.launched)+1)
	if err := g.q.download(g.ctx, unsafe.Pointer(unsafe.SliceData(words)), g.status.at, 0, int64(len(words))*statusSize); err != nil {
		return err
	}
	for k, st := range g.launched {
		if status := words[k+1]; status != 0 {
			return g.s.outcome(context.Background(), st, failure{0, int64(status), nil})
		}
	}
	g.sound, g.idle = len(g.launched), true
	return nil
}

// results brings the outputs to the host, into memory that is the caller's, or leaves
// them where they are.
func (g *gridRun) results(ctx context.Context, r *Results) error {
	if !g.stay || !g.sure {
		if err := g.failure(); err != nil {
			return err
		}
	}
	s := g.s
	if g.leaves() || !g.stay {
		g.recording.spoil()
	}
	// What is left for later runs, other queues may use from now on.
	later := g.under != nil && !g.leaves()
	if g.stay && !g.idle && !later {
		if err := g.q.publish(ctx); err != nil {
			return err
		}
		g.idle = true
	}
	r.Buffers = r.Buffers[:0]
	for i := range s.plan.program.Buffers {
		id := loop.BufferID(i)
		m := Memory{}
		b := &g.bufs[id]
		bytes := b.len * s.plan.elemSize[id]
		switch s.plan.program.Buffers[id].Role {
		case loop.Output:
			m.Len = b.len
			if g.stay {
				m.On = newResident(g.x.grid.device, b.at, bytes, b.bytes)
				if !g.idle {
					m.On.at.under = g.under
				}
				g.inUse -= b.bytes
				*b = gridBuffer{at: b.at, len: b.len} // which is not the run's any more
				break
			}
			m = newResult(g.x.memory, b.len, s.plan.elemSize[id], alloc.Anything)
			if err := g.fetchAll(m.Ptr, id, bytes); err != nil {
				return err
			}
		case loop.InOut:
			if err := g.fetchAll(s.mem[id].Ptr, id, bytes); err != nil {
				return err
			}
		}
		r.Buffers = append(r.Buffers, m)
	}
	r.Scalars = append(r.Scalars[:0], s.scalars...)
	if !g.stay && !g.idle && !later { // nothing was downloaded
		if err := g.q.wait(ctx); err != nil {
			return err
		}
		g.idle = true
	}
	g.quiet = true
	g.remember()
	return nil
}

func (g *gridRun) fetchAll(to unsafe.Pointer, id loop.BufferID, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	if err := g.q.download(g.ctx, to, g.bufs[id].at, 0, bytes); err != nil {
		return err // the context's perhaps, with the work still under way
	}
	g.idle = true
	return nil
}
