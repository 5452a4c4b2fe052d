package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

var _ = register(mapping{of: ofElements, place: 1, word: "line", take: (*mapper).line})

// line maps a stage over elements, each of which folds over a dimension what lies side by side for neighbouring elements, such as
// the sums of a matrix's columns, as one with a single row that has all elements as its columns (see columns): lanes read
// side by side, and the row is cut into as many pieces as there are threads for. It reports whether that could be done.
func (m *mapper) line(s *loop.Stage) bool {
	if !onlyGoesThrough(s.Func) || readsOwnStores(s.Func) || readsSideBySide(s.Func) {
		return false
	}
	elements := onlyLoop(s.Func)
	f := *s.Func
	f.Vars = slices.Concat(f.Vars, []loop.Var{{Name: "row", Type: loop.I64}, {Name: "columns", Type: loop.I64}})
	row, columns := loop.VarID(len(f.Vars)-2), loop.VarID(len(f.Vars)-1)
	f.Args = append(slices.Clone(f.Args), columns)
	line := &loop.For{
		Var: elements.Var, Lo: loop.Int(0), Hi: &loop.Ref{Var: columns, Typ: loop.I64}, Body: elements.Body, Independent: true, Origin: elements.Origin,
	}
	f.Body = slices.Clone(f.Body)
	f.Body[slices.Index(f.Body, loop.Stmt(elements))] = &loop.For{Var: row, Lo: elements.Lo, Hi: elements.Hi, Body: []loop.Stmt{line}}
	t, ok := lineFoldOf(&f)
	if !ok || !overDimension(&f, t.folded()) || !iteratesSideBySide(line) {
		return false
	}
	one := *s
	one.Func, one.Args = &f, append(slices.Clone(s.Args), m.cuts[s.Partition].n)
	one.Partition = m.partition(s.Name+"_line", loop.SizeConst(1))
	m.cuts[one.Partition] = m.cut(one.Partition)
	return m.columns(&one)
}
