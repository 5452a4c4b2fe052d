package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// fewElements is how many elements of a domain are not enough threads.
const fewElements = 1 << 14

var _ = register(mapping{of: ofElements, place: 7, word: "updates", take: (*mapper).updates})

// updates maps a stage over elements in each of which a loop folds into places that it
// reads, such as y(p(i),j) += A(i,j) over j, by updates where there are few elements, and
// else by elements. It reports whether that could be done.
func (m *mapper) updates(s *loop.Stage) bool {
	if !readsOwnStores(s.Func) || !onlyGoesThrough(s.Func) {
		return false
	}
	f := m.listFunc(s, s.Func.Name)
	f.in.Hi = f.scalar(m.cuts[s.Partition].n)
	f.Builder.Inline(s.Func, f.in)
	whole := f.stage(s, "", -1)
	flat := flattened(&whole)
	l := onlyLoop(flat.Func)
	if l == nil || !(loop.StoresAtLoaded(l.Body) && !hasLoops(l.Body)) {
		return false
	}
	few := emit.Not(emit.AtLeast(loop.SizeScalar(m.cuts[s.Partition].n), fewElements))
	many := emit.Not(few)
	done := false
	m.when(few, func() { done = m.atomics(flat) || m.attempt((*mapper).extremes, flat) })
	if done {
		m.when(many, func() { m.elements(s) })
		return true
	}
	return m.sorted(flat, few, func() { m.elements(s) })
}
