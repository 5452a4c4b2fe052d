package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// independent maps a stage of one call whose stores are all in loops that are independent
// to threads that take their iterations in turns. It reports whether that could be done.
func (m *mapper) independent(s *loop.Stage) bool {
	if readsOwnStores(s.Func) || !storesInIndependent(s.Func) {
		return false
	}
	g := m.newFunc(s.Func.Name)
	in := g.parameters(s)
	g.iterations(&in, func(l *loop.For) bool { return l.Independent })
	b := g.Builder
	b.Inline(s.Func, in)
	// Nobody knows how long the loops are before they run.
	return m.launchVerified(s, "iterations", g, loop.SizeConst(max(1, m.opts.Workers/int64(m.opts.Threads))))
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
