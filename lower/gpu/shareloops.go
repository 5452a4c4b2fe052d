package gpu

import (
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A team is a group of threads that work on one element or chunk: some lanes of a
// warp, or a block. All go through the same code with the same values; a loop that
// only folds they share, and one of them stores.
type team interface {
	// rank is the thread's number in the team, size how many there are.
	rank() loop.Expr
	size() loop.Expr
	// combine gives all threads of the team the combination of their values, in an
	// order that is fixed.
	combine(d fold, v loop.Expr) loop.Expr
}

// share makes the loops of an inlined function that only fold the team's. Those in such a
// loop are gone through by the thread that has the iteration.
func (g *gridFunc) share(in *loop.Inlining, f *loop.Func, t team) {
	in.Guard = g.Builder.Let("leader", g.Builder.Eq(t.rank(), loop.Int(0)))
	in.Loop = func(s *loop.For, n *loop.Inliner) bool {
		if g.sharing {
			return false
		}
		folds, ok := foldsOf(f, s)
		if !ok {
			return false
		}
		g.shared++
		g.sharing = true
		g.shareLoop(s, n, folds, t)
		g.sharing = false
		return true
	}
}

// shareLoop emits a loop whose iterations the threads of a team take in turns.
func (g *gridFunc) shareLoop(s *loop.For, n *loop.Inliner, folds []fold, t team) {
	b := g.Builder
	levels := []*loop.For{s}
	if g.split == nil {
		levels = nest(s)
	}
	lo, hi := n.Expr(s.Lo), n.Expr(s.Hi)
	whole := make([]*loop.Ref, len(folds))
	parts := g.parts(folds)
	for i, d := range folds {
		whole[i] = n.Value(d.variable).(*loop.Ref)
		n.Bind(d.variable, parts[i])
	}
	if g.split != nil {
		hi = g.split(n, lo, hi)
	}
	turns := g.unrolled
	if hasLoops(levels[len(levels)-1].Body) {
		turns = g.inTurns
	}
	if len(levels) > 1 {
		g.shareNest(levels, n, t, turns)
	} else {
		turns(b.Let("from", b.Add(lo, t.rank())), b.Let("to", hi), t.size(), func(i loop.Expr) { iteration(n, s, i) })
	}
	for i, d := range folds {
		b.Assign(whole[i], loop.NewBinary(d.op, whole[i], t.combine(d, parts[i])))
		n.Bind(d.variable, whole[i])
	}
}

// parts are variables for parts of folds.
func (g *gridFunc) parts(folds []fold) []*loop.Ref {
	var list []*loop.Ref
	for _, d := range folds {
		list = append(list, g.Builder.Var("part", d.identity()))
	}
	return list
}

// shareNest emits loops of which each is all that there is in the one before, beside
// declarations: threads take combinations of iterations in turns, so that
// neighbours have those of the innermost loop.
func (g *gridFunc) shareNest(levels []*loop.For, n *loop.Inliner, t team, turns func(first, n, step loop.Expr, body func(i loop.Expr))) {
	b := g.Builder
	total := loop.Expr(loop.Int(1))
	lows, counts := make([]loop.Expr, len(levels)), make([]loop.Expr, len(levels))
	for k, l := range levels {
		lows[k] = b.Let("low", n.Expr(l.Lo))
		counts[k] = b.Let("count", b.Max(loop.Int(0), b.Sub(n.Expr(l.Hi), lows[k])))
		total = b.Mul(total, counts[k])
	}
	turns(b.Let("from", t.rank()), b.Let("total", total), t.size(), func(turn loop.Expr) {
		places := make([]loop.Expr, len(levels))
		for k := len(levels) - 1; k > 0; k-- {
			places[k] = b.Let("place", b.Rem(turn, counts[k]))
			turn = b.Let("rest", b.Div(turn, counts[k]))
		}
		places[0] = turn
		for k, l := range levels {
			n.Bind(l.Var, b.Let("i", b.Add(lows[k], places[k])))
			if k < len(levels)-1 {
				n.Block(l.Body[:len(l.Body)-1])
				continue
			}
			n.Block(l.Body)
		}
	})
}

// nest lists a loop and those in it of which each is all that there is in the one before,
// but for declarations, as long as they have the same bounds in all iterations.
func nest(s *loop.For) []*loop.For {
	levels := []*loop.For{s}
	inside := map[loop.VarID]bool{s.Var: true}
	for {
		inner, declared := lastLoop(levels[len(levels)-1].Body)
		maps.Copy(inside, loop.DeclaredIn(declared))
		if inner == nil || loop.Reads(inner.Lo, inside) || loop.Reads(inner.Hi, inside) {
			return levels
		}
		inside[inner.Var] = true
		levels = append(levels, inner)
	}
}

// unrolled is inTurns with several turns at once as long as there are so many: the loads
// of one need not wait for those of the one before.
func (g *gridFunc) unrolled(first, n, step loop.Expr, body func(i loop.Expr)) {
	b := g.Builder
	if g.Quick {
		g.inTurns(first, n, step, body)
		return
	}
	at := b.Var("at", first)
	for _, turns := range unrolls {
		ahead := b.Let("ahead", b.Mul(step, loop.Int(turns-1)))
		b.While(b.Lt(b.Add(at, ahead), n), func() {
			i := b.Let("i", at)
			for range turns {
				body(i)
				i = b.Let("i", b.Add(i, step))
			}
			b.Assign(at, i)
		})
	}
}

// unrolls are how many turns of a loop run at once: first as many as there is to gain
// by, then what is left.
var unrolls = [...]int64{unroll, 2, 1}

// unroll is how many turns of a loop are worth running at once.
const unroll = 4

// sharesLoop reports whether a function has a loop that a team could share, outside
// loops other than that over its chunk.
func sharesLoop(f *loop.Func) bool {
	var shares func(body []loop.Stmt) bool
	shares = func(body []loop.Stmt) bool {
		return slices.ContainsFunc(body, func(s loop.Stmt) bool {
			switch s := s.(type) {
			case *loop.For:
				_, ok := foldsOf(f, s)
				return ok || overChunk(f, s) && shares(s.Body)
			case *loop.If:
				return shares(s.Then) || shares(s.Else)
			}
			return false
		})
	}
	return shares(f.Body)
}

// lanes are the lanes of a warp, cut into teams of a power of two.
type lanes struct {
	g     *gridFunc
	width loop.Expr // lanes of a team
	own   loop.Expr // rank
}

func (t *lanes) rank() loop.Expr { return t.own }
func (t *lanes) size() loop.Expr { return t.width }

// combine is a butterfly: with the neighbour, with the neighbouring pair, and so on.
func (t *lanes) combine(d fold, v loop.Expr) loop.Expr {
	b := t.g.Builder
	sum := b.Var("sum", v)
	mask := b.Var("mask", loop.Int(1))
	b.While(b.Lt(mask, t.width), func() {
		other := b.Shuffle("other", loop.ShuffleXor, sum, mask, warp)
		b.Assign(sum, loop.NewBinary(d.op, sum, other))
		b.Assign(mask, b.Add(mask, mask))
	})
	return sum
}

// wholeBlock is a block as a team.
type wholeBlock struct {
	g *gridFunc
	// partial are shared arrays, by type: a value for each warp.
	partial map[loop.Type]loop.BufID
}

func (t *wholeBlock) rank() loop.Expr { return t.g.thread() }
func (t *wholeBlock) size() loop.Expr { return loop.Int(int64(t.g.m.opts.Threads)) }

// combine combines the values of each warp by a butterfly and then those of the
// warps, in order.
func (t *wholeBlock) combine(d fold, v loop.Expr) loop.Expr {
	g, b := t.g, t.g.Builder
	warps := int64(g.m.opts.Threads / warp)
	partial, ok := t.partial[d.typ]
	if !ok {
		partial = b.Shared("warp_values", d.typ, warps)
		t.partial[d.typ] = partial
	}
	sum := b.Var("sum", v)
	for mask := int64(1); mask < warp; mask *= 2 {
		other := b.Shuffle("other", loop.ShuffleXor, sum, loop.Int(mask), warp)
		b.Assign(sum, loop.NewBinary(d.op, sum, other))
	}
	b.Barrier(loop.BlockScope) // the values of the last time have been read
	b.If(b.Eq(g.Lane(), loop.Int(0)), func() { b.Store(partial, g.Warp(), sum) }, nil)
	b.Barrier(loop.BlockScope)
	all := b.Var("all", b.Load(partial, loop.Int(0)))
	b.For("w", loop.Int(1), loop.Int(warps), func(w loop.Expr) {
		b.Assign(all, loop.NewBinary(d.op, all, b.Load(partial, w)))
	})
	return all
}
