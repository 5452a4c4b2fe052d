package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// cut cuts a partition: scalars for its size, the number of chunks and of workers,
// and, where elements have weights and chunks are coarse, a stage that finds the
// boundaries.
func (m *mapper) cut(d int) *cut {
	p := &m.from.Partitions[d]
	c := &cut{style: m.style[d], n: m.scalar(p.Name + "_n"), chunks: p.Chunks, step: -1, bounds: -1}
	lets := []loop.ScalarLet{{Scalar: c.n, Value: p.N}}
	n := loop.SizeScalar(c.n)
	if c.style == single {
		m.sizes(p.Name, append(lets, loop.ScalarLet{Scalar: c.chunks, Value: n}), nil, nil)
		return c
	}
	most := m.mostChunks(d)
	chunks := sizeOp(loop.Min, n, most)
	if p.Weights < 0 {
		c.step = m.scalar(p.Name + "_step")
		one := loop.SizeConst(1)
		lets = append(lets,
			loop.ScalarLet{Scalar: c.step, Value: sizeOp(loop.Max, one, emit.CeilDiv(n, most))},
			loop.ScalarLet{Scalar: c.chunks, Value: emit.CeilDiv(n, loop.SizeScalar(c.step))})
	} else {
		lets = append(lets, loop.ScalarLet{Scalar: c.chunks, Value: chunks})
	}
	m.sizes(p.Name, lets, nil, nil)
	if p.Weights >= 0 {
		m.boundaries(p, c)
	}
	return c
}

// mostChunks bounds the chunks of a partition. Where threads have memory of their own,
// one takes whole chunks, and there are some for each.
func (m *mapper) mostChunks(d int) loop.SizeConst {
	for i := range m.from.Stages {
		if s := &m.from.Stages[i]; s.Partition == d && m.hasScratch(s) {
			return loop.SizeConst(2 * m.opts.Workers)
		}
	}
	if m.from.Partitions[d].Grain == 1 {
		return manyChunks
	}
	return maxChunks
}

// perChunk adds what a stage computes and allocates once its partition is cut. Of a
// buffer of which every thread has a copy it allocates one for each thread that takes
// chunks; as many threads do as Options.Scratch has memory for, but at least a warp.
func (m *mapper) perChunk(s *loop.Stage, c *cut) {
	lets, allocs := slices.Clone(s.PartitionLets), slices.Clone(s.PartitionAllocs)
	var bytes loop.SizeExpr = loop.SizeConst(1)
	found := false
	for _, a := range allocs {
		if b := m.from.Buffers[a.Buffer]; b.Role == loop.Scratch {
			bytes = sizeOp(loop.Add, bytes, sizeOp(loop.Mul, a.Len, loop.SizeConst(int64(b.Elem.Size()))))
			found = true
		}
	}
	if found {
		workers := m.scalar(s.Name + "_workers")
		most := sizeOp(loop.Max, loop.SizeConst(warp), sizeOp(loop.Div, loop.SizeConst(m.opts.Scratch), bytes))
		most = sizeOp(loop.Min, most, loop.SizeConst(m.opts.Workers))
		lets = append(lets, loop.ScalarLet{Scalar: workers, Value: sizeOp(loop.Min, loop.SizeScalar(c.chunks), most)})
		for i := range allocs {
			a := &allocs[i]
			if m.from.Buffers[a.Buffer].Role == loop.Scratch {
				m.copies[a.Buffer] = workers
				a.Len = sizeOp(loop.Mul, a.Len, loop.SizeScalar(workers))
			}
		}
	}
	m.sizes(s.Name+"_chunk_sizes", lets, nil, allocs)
}

// warp is the number of threads that run together.
const warp = loop.WarpSize

var _ = register(mapping{of: ofChunks, place: 2, word: "chunks", take: (*mapper).chunks, says: map[string]string{
	"chunks": "a thread for each chunk, since its loop needs an order or a workspace of its own",
}})

// chunks maps a stage to threads that take whole chunks in turns, which can always be done.
func (m *mapper) chunks(s *loop.Stage) bool {
	c := m.cuts[s.Partition]
	g, in := m.begin(s, "")
	workers, count := m.workersOf(s)
	chunks := g.scalar(c.chunks)
	bounds, n, step := g.cutParameters(c)
	var all loop.Expr = chunks
	if workers >= 0 {
		all = g.scalar(workers)
	}
	g.interleave(&in, s)
	b := g.Builder
	worker := b.Let("worker", g.global())
	b.If(b.Lt(worker, all), func() {
		g.worker = worker
		g.inTurns(worker, chunks, all, func(chunk loop.Expr) {
			in.Chunk = chunk
			in.Lo, in.Hi = g.bounds(bounds, chunk, n, step)
			b.Inline(s.Func, in)
		})
	}, nil)
	return m.launch(s, "chunks", g, emit.CeilDiv(count, loop.SizeConst(int64(m.opts.Threads))))
}

// workersOf is how many threads may take chunks of a stage: the scalar, -1 where as
// many as there are chunks may, and the number as a size.
func (m *mapper) workersOf(s *loop.Stage) (loop.ScalarID, loop.SizeExpr) {
	for _, id := range s.Bufs {
		if w, ok := m.copies[id]; ok {
			return w, loop.SizeScalar(w)
		}
	}
	return -1, loop.SizeScalar(m.cuts[s.Partition].chunks)
}

// interleave makes a function find its thread's copies of buffers: those of different
// threads lie side by side, so that threads in step touch one line of memory.
func (g *gridFunc) interleave(in *loop.Inlining, s *loop.Stage) {
	copies := map[loop.BufID]loop.Expr{}
	for i, id := range s.Bufs {
		if w, ok := g.m.copies[id]; ok {
			copies[loop.BufID(i)] = g.scalar(w)
		}
	}
	if len(copies) == 0 {
		return
	}
	in.Index = func(buf loop.BufID, index loop.Expr) loop.Expr {
		if n, ok := copies[buf]; ok {
			return loop.NewBinary(loop.Add, loop.NewBinary(loop.Mul, index, n), g.worker)
		}
		return index
	}
}

// boundaries adds the stage that cuts elements with weights: boundary k is the first
// element with a load of at least k/chunks of the total, the load of the elements
// before i being w[i]-w[0]+i. An element heavier than a chunk leaves empty chunks.
func (m *mapper) boundaries(p *loop.Partition, c *cut) {
	c.bounds = m.temp(p.Name+"_bounds", loop.I64)
	g := m.newFunc("cut_" + p.Name)
	b := g.Builder
	w, out := g.buffer(p.Weights, loop.ReadOnly), g.buffer(c.bounds, loop.ReadWrite)
	n, chunks := g.scalar(c.n), g.scalar(c.chunks)
	first := b.Let("first", b.LoadIndex(w, loop.Int(0)))
	total := b.Let("total", b.Add(b.Sub(b.LoadIndex(w, n), first), n))
	step := b.Let("step", b.Add(b.Div(b.Sub(total, loop.Int(1)), chunks), loop.Int(1)))
	g.strided(b.Add(chunks, loop.Int(1)), func(k loop.Expr) {
		target := b.Let("target", b.Mul(k, step))
		lo, hi := b.Var("lo", loop.Int(0)), b.Var("hi", n)
		b.While(b.Lt(lo, hi), func() {
			mid := b.Let("mid", b.Add(lo, b.Div(b.Sub(hi, lo), loop.Int(2))))
			load := b.Let("load", b.Add(b.Sub(b.LoadIndex(w, mid), first), mid))
			b.If(b.Lt(load, target), func() { b.Assign(lo, b.Add(mid, loop.Int(1))) }, func() { b.Assign(hi, mid) })
		})
		b.Store(out, k, b.Select(b.Eq(k, chunks), n, lo))
	})
	m.add(loop.Stage{
		Name: p.Name + "_cut", Partition: -1,
		Allocs: []loop.Alloc{{Buffer: c.bounds, Len: sizeOp(loop.Add, loop.SizeScalar(c.chunks), loop.SizeConst(1))}},
		Func:   loop.RemoveDead(g.Builder.Func()), Bufs: g.bufs, Args: g.args,
		Blocks: m.blocksFor(sizeOp(loop.Add, loop.SizeScalar(c.chunks), loop.SizeConst(1))),
	})
}
