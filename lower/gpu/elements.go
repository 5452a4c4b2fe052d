package gpu

import "github.com/lacuna-sparse/lacuna/ir/loop"

// elements maps a stage to threads that take single elements of the domain, each a
// chunk of its own.
func (m *mapper) elements(s *loop.Stage) {
	c := m.cuts[s.Partition]
	g, in := m.begin(s, "")
	in.Loop = g.countAtOnce
	g.strided(g.scalar(c.n), func(i loop.Expr) { g.element(s, in, i) })
	m.launch(s, "elements", g, m.blocksFor(loop.SizeScalar(c.n)))
}

var _ = register(mapping{of: ofOneCall, place: 7, word: "thread", take: (*mapper).serial})

// serial maps a stage to one thread, which can always be done.
func (m *mapper) serial(s *loop.Stage) bool {
	g := m.newFunc(s.Func.Name)
	in := g.onlyCall(s)
	g.Builder.If(g.Builder.Eq(g.thread(), loop.Int(0)), func() { g.Builder.Inline(s.Func, in) }, nil)
	return m.launch(s, "one_thread", g, loop.SizeConst(1))
}

// ordered maps a stage whose chunks wait for each other to one thread, for which the
// whole domain is one chunk where the function does not care for its number.
func (m *mapper) ordered(s *loop.Stage) {
	c := m.cuts[s.Partition]
	g, in := m.begin(s, "")
	g.interleave(&in, s)
	g.worker = loop.Int(0)
	b := g.Builder
	bounds, n, step := g.cutParameters(c)
	chunks := g.scalar(c.chunks)
	b.If(b.Eq(g.thread(), loop.Int(0)), func() {
		b.For("chunk", loop.Int(0), chunks, func(k loop.Expr) {
			in.Chunk = k
			in.Lo, in.Hi = g.bounds(bounds, k, n, step)
			b.Inline(s.Func, in)
		})
	}, nil)
	m.launch(s, "one_thread", g, loop.SizeConst(1))
}
