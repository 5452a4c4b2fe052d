package gpu

import "github.com/lacuna-sparse/lacuna/ir/loop"

var _ = register(mapping{of: ofChunks, place: 1, word: "blocks", take: (*mapper).blocks, says: map[string]string{
	"blocks": "a block for each chunk, since its loop needs an order or a workspace that threads share",
}})

// blocks maps a stage over coarse chunks to blocks, one for each chunk in turns, where
// the function has loops that threads can share: a part of a sum, say. It reports
// whether that could be done.
func (m *mapper) blocks(s *loop.Stage) bool {
	if !sharesLoop(s.Func) || readsOwnStores(s.Func) || m.hasScratch(s) {
		return false
	}
	c := m.cuts[s.Partition]
	return m.launchShared(s, "blocks", loop.SizeScalar(c.chunks), func(g *gridFunc) {
		in := g.parameters(s)
		chunks := g.scalar(c.chunks)
		bounds, n, step := g.cutParameters(c)
		g.share(&in, s.Func, g.wholeBlock())
		g.inTurns(g.block(), chunks, g.blocks(), func(chunk loop.Expr) {
			in.Chunk = chunk
			in.Lo, in.Hi = g.bounds(bounds, chunk, n, step)
			g.Builder.Inline(s.Func, in)
		})
	})
}

var _ = register(mapping{of: ofOneCall, place: 4, word: "block", take: (*mapper).block, says: map[string]string{
	"one_block": "one block",
}})

// block maps a stage of one call to one block, where it has loops that threads can
// share. It reports whether that could be done.
func (m *mapper) block(s *loop.Stage) bool {
	if !sharesLoop(s.Func) || readsOwnStores(s.Func) {
		return false
	}
	return m.launchShared(s, "one_block", loop.SizeConst(1), func(g *gridFunc) {
		in := g.onlyCall(s)
		g.share(&in, s.Func, g.wholeBlock())
		g.Builder.Inline(s.Func, in)
	})
}

func (g *gridFunc) wholeBlock() *wholeBlock {
	return &wholeBlock{g: g, partial: map[loop.Type]loop.BufID{}}
}

// launchShared adds a stage in place of s that runs a function with shared loops, unless there are none, or the
// threads that share them would not stay together.
func (m *mapper) launchShared(s *loop.Stage, mapping string, blocks loop.SizeExpr, body func(g *gridFunc)) bool {
	shared := 0
	stage, ok := m.withQuick(func() loop.Stage {
		g := m.newFunc(s.Func.Name)
		body(g)
		shared = g.shared
		return g.stage(s, mapping)
	})
	return ok && shared > 0 && m.run(stage, blocks)
}
