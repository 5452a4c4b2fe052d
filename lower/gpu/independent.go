package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

var _ = register(mapping{of: ofOneCall, place: 1, word: "iterations", take: (*mapper).independent, says: map[string]string{
	"iterations": "a thread for each iteration",
}})

// independent maps a stage of one call whose stores are all in loops that are independent
// to threads that take their iterations in turns. It reports whether that could be done.
func (m *mapper) independent(s *loop.Stage) bool {
	if readsOwnStores(s.Func) || !storesInIndependent(s.Func) {
		return false
	}
	g, in := m.begin(s, "")
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
	for _, s := range f.Body {
		l, is := s.(*loop.For)
		if !is && kindOf(s)&isDeclaration != 0 {
			continue
		}
		if !is || !l.Independent || has(l.Body, ^(isDeclaration|isStore|isBranch)) {
			return false
		}
		for buf := range stored(l.Body) {
			if owner[buf] != nil {
				return false
			}
			owner[buf] = l
		}
	}
	return len(owner) > 0
}
