package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// mappedFunc is a function under construction whose parameters are buffers and scalars of the mapped program.
type mappedFunc struct {
	coop.Code
	m    *mapper
	bufs []loop.BufferID
	args []loop.ScalarID
}

// parameters gives the function the parameters of a stage's function, in its order.
func (f *mappedFunc) parameters(s *loop.Stage) loop.Inlining {
	in := loop.Inlining{}
	for i, id := range s.Bufs {
		access := loop.ReadWrite
		if s.Func.Bufs[i].ReadOnly {
			access = loop.ReadOnly
		}
		in.Bufs = append(in.Bufs, f.buffer(id, access))
	}
	for _, id := range s.Args {
		in.Args = append(in.Args, f.scalar(id))
	}
	return in
}

// onlyCall gives the function the parameters of a stage of one call.
func (f *mappedFunc) onlyCall(s *loop.Stage) loop.Inlining {
	in := f.parameters(s)
	in.Chunk, in.Lo, in.Hi = loop.Int(0), loop.Int(0), loop.Int(0)
	return in
}

// buffer adds a program buffer as a parameter.
func (f *mappedFunc) buffer(id loop.BufferID, access loop.Access) loop.BufID {
	f.bufs = append(f.bufs, id)
	b := f.m.out.Buffers[id]
	return f.Builder.Buf(b.Name, b.Elem, access)
}

// scalar is the parameter for a program scalar.
func (f *mappedFunc) scalar(id loop.ScalarID) loop.Expr {
	f.args = append(f.args, id)
	return f.Builder.Arg(f.m.out.Scalars[id].Name)
}

// gridFunc is a grid function under construction.
type gridFunc struct {
	mappedFunc
	threads int // of a block
	// worker numbers the thread among those that have copies of buffers.
	worker loop.Expr
	totals *loop.BufID // shared, of the warps; nil until needed
	shared int         // loops that a team shares
	// sharing says that what is emitted is in such a loop.
	sharing bool
	// split, when not nil, may leave iterations of a shared loop to others: it gives
	// the end of those to be made here.
	split func(n *loop.Inliner, lo, hi loop.Expr) loop.Expr
}

// team is a block of threads.
func (g *gridFunc) team() *coop.Team {
	warps := g.threads / warp
	return &coop.Team{Warps: warps, Block: warps, Code: g.Code}
}

// withQuick makes a stage, and gives its function a quick one if that is smaller: build makes the stage, and
// then one whose function is small. It is not ok if the function breaks a rule.
func (m *mapper) withQuick(build func() loop.Stage) (loop.Stage, bool) {
	s := build()
	if !verified(s) {
		return s, false
	}
	m.small = true
	q := build()
	m.small = false
	if verified(q) && slices.Equal(q.Bufs, s.Bufs) && slices.Equal(q.Args, s.Args) && q.Func.Stats().Statements < s.Func.Stats().Statements {
		s.Func.Quick = q.Func
	}
	return s, true
}

// verified reports whether a stage's function, if it has one, breaks no rule: threads of a warp might not stay together.
func verified(s loop.Stage) bool { return s.Func != nil && s.Func.Verify(lib.Lookup) == nil }

// function finishes the function.
func (g *gridFunc) function() *loop.Func { return loop.RemoveDead(g.Builder.Func()) }

func (m *mapper) newFunc(name string) *gridFunc {
	return m.newFuncOf(name, m.opts.Threads)
}

// begin starts a function that has the parameters of a stage's, and its name with an ending.
func (m *mapper) begin(s *loop.Stage, ending string) (*gridFunc, loop.Inlining) {
	g := m.newFunc(s.Func.Name + ending)
	return g, g.parameters(s)
}

// newFuncOf is newFunc with another size of blocks.
func (m *mapper) newFuncOf(name string, threads int) *gridFunc {
	return &gridFunc{mappedFunc: mappedFunc{Code: coop.Code{Builder: loop.NewGridBuilder(name, threads), Quick: m.small}, m: m}, threads: threads}
}

func (g *gridFunc) block() loop.Expr  { return g.Builder.Special(loop.BlockIndex) }
func (g *gridFunc) blocks() loop.Expr { return g.Builder.Special(loop.BlockCount) }
func (g *gridFunc) thread() loop.Expr { return g.Builder.Special(loop.ThreadIndex) }

// global is the number of the thread in the grid.
func (g *gridFunc) global() loop.Expr {
	return g.Builder.Add(g.Builder.Mul(g.block(), loop.Int(int64(g.m.opts.Threads))), g.thread())
}

// element emits what a stage does for one element of its domain.
func (g *gridFunc) element(s *loop.Stage, in loop.Inlining, i loop.Expr) {
	in.Chunk, in.Lo, in.Hi, in.Single = i, i, g.Builder.Let("next", g.Builder.Add(i, loop.Int(1))), true
	g.Builder.Inline(s.Func, in)
}

// instead emits something else in the place of a loop.
func instead(of *loop.For, emit func(n *loop.Inliner)) func(*loop.For, *loop.Inliner) bool {
	return func(l *loop.For, n *loop.Inliner) bool {
		if l == of {
			emit(n)
		}
		return l == of
	}
}

// iteration emits iteration i of a loop.
func iteration(n *loop.Inliner, l *loop.For, i loop.Expr) {
	n.Bind(l.Var, i)
	n.Block(l.Body)
}

// strided runs body for 0 … n-1, an element for each thread in turns.
func (g *gridFunc) strided(n loop.Expr, body func(i loop.Expr)) {
	b := g.Builder
	all := b.Let("all", b.Mul(g.blocks(), loop.Int(int64(g.m.opts.Threads))))
	g.inTurns(b.Let("first", g.global()), n, all, body)
}

// iterations makes an inlined function of one call run the iterations of some of its loops
// in turns, one for each thread of the grid.
func (g *gridFunc) iterations(in *loop.Inlining, of func(*loop.For) bool) {
	b := g.Builder
	in.Chunk, in.Lo, in.Hi = loop.Int(0), loop.Int(0), loop.Int(0)
	all := b.Let("all", b.Mul(g.blocks(), loop.Int(int64(g.m.opts.Threads))))
	me := b.Let("me", g.global())
	in.Loop = func(l *loop.For, n *loop.Inliner) bool {
		if !of(l) {
			return false
		}
		lo, hi := n.Expr(l.Lo), n.Expr(l.Hi)
		g.inTurns(b.Let("from", b.Add(lo, me)), b.Let("to", hi), all, func(i loop.Expr) { iteration(n, l, i) })
		return true
	}
}

// inTurns runs body for first, first+step, … below n.
func (g *gridFunc) inTurns(first, n, step loop.Expr, body func(i loop.Expr)) {
	g.InTurns("i", first, n, step, body)
}

// cutParameters are the parameters that tell the bounds of chunks: boundaries, or the
// size of the domain and of a chunk.
func (g *gridFunc) cutParameters(c *cut) (bounds loop.BufID, n, step loop.Expr) {
	if c.bounds >= 0 {
		return g.buffer(c.bounds, loop.ReadOnly), nil, nil
	}
	return -1, g.scalar(c.n), g.scalar(c.step)
}

// bounds is the part of the domain that is chunk k.
func (g *gridFunc) bounds(bounds loop.BufID, k, n, step loop.Expr) (lo, hi loop.Expr) {
	b := g.Builder
	if bounds >= 0 {
		return b.Let("lo", b.Load(bounds, k)), b.Let("hi", b.Load(bounds, b.Add(k, loop.Int(1))))
	}
	lo = b.Let("lo", b.Mul(k, step))
	return lo, b.Let("hi", b.Add(lo, b.Min(step, b.Sub(n, lo))))
}

// launchVerified is launch if the function breaks no rule; it reports whether that is so.
func (m *mapper) launchVerified(s *loop.Stage, mapping string, g *gridFunc, blocks loop.SizeExpr) bool {
	st := g.stage(s, mapping)
	return verified(st) && m.run(st, blocks)
}

// launch adds a stage that runs the function with a number of blocks in place of s. It returns true.
func (m *mapper) launch(s *loop.Stage, mapping string, g *gridFunc, blocks loop.SizeExpr) bool {
	return m.run(g.stage(s, mapping), blocks)
}

// stage is a stage that runs the function in place of s, but for the number of blocks.
func (g *gridFunc) stage(s *loop.Stage, mapping string) loop.Stage {
	return loop.Stage{Name: name(s, mapping), Partition: -1, Func: g.function(), Bufs: g.bufs, Args: g.args, Symbolic: s.Symbolic}
}
