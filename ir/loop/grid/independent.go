package grid

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// independent maps a stage of one call whose stores are all in loops that are independent
// to threads that take their iterations in turns. It reports whether that could be done.
func (m *mapper) independent(s *loop.Stage) bool {
	if readsOwnStores(s.Func) || !storesInIndependent(s.Func) {
		return false
	}
	g := m.newFunc(s.Func.Name)
	in := g.parameters(s)
	in.Chunk, in.Lo, in.Hi = loop.Int(0), loop.Int(0), loop.Int(0)
	b := g.b
	all := b.Let("all", b.Mul(g.blocks(), loop.Int(int64(m.opts.Threads))))
	me := b.Let("me", g.global())
	in.Loop = func(l *loop.For, n *loop.Inliner) bool {
		if !l.Independent {
			return false
		}
		lo, hi := n.Expr(l.Lo), n.Expr(l.Hi)
		g.inTurns(b.Let("from", b.Add(lo, me)), b.Let("to", hi), all, func(i loop.Expr) {
			n.Bind(l.Var, i)
			n.Block(l.Body)
		})
		return true
	}
	b.Inline(s.Func, in)
	if loop.RemoveDead(b.Func()).Verify(lib.Lookup) != nil {
		return false
	}
	// Nobody knows how long the loops are before they run.
	m.launch(s, "iterations", g, loop.SizeConst(max(1, m.opts.Workers/int64(m.opts.Threads))))
	return true
}

// storesInIndependent reports whether a function stores, always in loops at the top that
// are independent, have no loops in them, and store each buffer in one of them only. What
// else there is only declares.
func storesInIndependent(f *loop.Func) bool {
	owner := map[loop.BufID]*loop.For{}
	ok := true
	for _, s := range f.Body {
		switch s := s.(type) {
		case *loop.Let, *loop.Comment:
			continue
		case *loop.For:
			if s.Independent {
				loop.WalkStmts(s.Body, func(x loop.Stmt) {
					switch x := x.(type) {
					case *loop.Store:
						ok = ok && (owner[x.Buf] == nil || owner[x.Buf] == s)
						owner[x.Buf] = s
					case *loop.Let, *loop.If, *loop.Comment:
					default:
						ok = false
					}
				})
				continue
			}
		}
		return false
	}
	return ok && len(owner) > 0
}
