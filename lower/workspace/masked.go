package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// masked is a workspace of which only the entries of a mask are wanted. It
// has an element and a mark for each key. A use begins by marking the mask's
// entries as wanted and ends in the mask's order: a loop over the mask looks each entry up,
// or those that got a value are collected. The rest of the marks is never looked at, except to see that a value is
// not wanted (Milaković, Selvitopi, Nisa, Budimlić, Buluç, "Parallel algorithms for
// masked sparse matrix-matrix products", ICPP 2022).
type masked struct {
	*Space
	marks loop.BufferID
}

// NewMasked is a store for the entries of a mask.
func NewMasked(s *Space) Store { return &masked{Space: s} }

// The marks of a key.
const (
	unwanted = iota
	wanted
	present
)

func (m *masked) Prepare(b *emit.Builder) {
	m.marks = b.Buffer(m.Tensor.Name+"_marks", loop.U8, loop.Scratch)
	m.Values = b.Buffer(m.Tensor.Name+"_vals", m.ValueType(), loop.Scratch)
}

func (*masked) Facts() Facts { return Facts{Distinct: true, Complete: true, Masked: true} }

func (m *masked) Allocs() []loop.Alloc {
	n := m.Keys()
	return []loop.Alloc{{Buffer: m.marks, Len: n, Zero: true}, {Buffer: m.Values, Len: n}, {Buffer: m.Crd[0], Len: n}}
}

func mark(n int64) loop.Expr { return loop.Number(loop.U8, n) }

func (m *masked) Open(u *Use) {
	b, marks := u.B, u.Write(m.marks)
	b.For("p", u.Mask.Begin, u.Mask.End, func(p loop.Expr) {
		b.Store(marks, u.Mask.Key(p), mark(wanted))
	})
}

func (m *masked) Insert(u *Use, key, x loop.Expr) {
	b, marks := u.B, u.Write(m.marks)
	is := b.Let("mark", b.Load(marks, key))
	b.If(b.Ne(is, mark(unwanted)), func() {
		if x != nil {
			vals := u.Write(m.Values)
			old := b.Let("old", b.Select(b.Eq(is, mark(present)), b.Load(vals, key), m.Identity()))
			b.Store(vals, key, fold.Step(u.B, m.Fold(), old, x))
		}
		b.Store(marks, key, mark(present))
	}, nil)
}

func (m *masked) Drain(u *Use, visit func(p, key loop.Expr)) loop.Expr {
	b, marks := u.B, u.Write(m.marks)
	n := b.Var("n_"+m.Tensor.Name, loop.Int(0))
	b.For("p", u.Mask.Begin, u.Mask.End, func(p loop.Expr) {
		key := b.Let("key", u.Mask.Key(p))
		b.If(b.Eq(b.Load(marks, key), mark(present)), func() {
			if visit != nil {
				visit(n, key)
			}
			b.Assign(n, b.Add(n, loop.Int(1)))
		}, nil)
		b.Store(marks, key, mark(unwanted))
	})
	return b.Let("n", n)
}

func (m *masked) Element(f *emit.Func, p loop.Expr) loop.Expr {
	return f.B.LoadIndex(f.Read(m.Crd[0]), p)
}

// Take says whether a masked store has an entry of a key of the mask, which is not wanted any more.
func Take(s Store, f *emit.Func, name string, key loop.Expr) loop.Expr {
	b, marks := f.B, f.Write(s.(*masked).marks)
	has := b.Let("has_"+name, b.Eq(b.Load(marks, key), mark(present)))
	b.Store(marks, key, mark(unwanted))
	return has
}
