package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// result is for a workspace whose entries are those of a result that may have them in any order: an entry is appended to the
// result where its key arises first, and added to there. A number for each key says where that is: entries are numbered from 1 on
// through all uses, and what is not above the number of those before a use is of an earlier one. So nothing has to be cleared (after
// Briggs, Torczon, "An efficient representation for sparse sets", ACM LOPLAS 1993).
type result struct {
	*Space
	numbers, before loop.BufferID
}

// NewResult is a store whose entries are those of the result.
func NewResult(s *Space) Store { return &result{Space: s} }

func (r *result) Prepare(b *emit.Builder) {
	r.numbers = b.Buffer(r.Tensor.Name+"_numbers", loop.I64, loop.Scratch)
	r.before = b.Buffer(r.Tensor.Name+"_before", loop.I64, loop.Scratch)
}

func (*result) Facts() Facts { return Facts{Distinct: true, Direct: true} }

func (r *result) Allocs() []loop.Alloc {
	return []loop.Alloc{{Buffer: r.numbers, Len: r.Keys(), Zero: true}, {Buffer: r.before, Len: loop.SizeConst(1), Zero: true}, {Buffer: r.Crd[0], Len: loop.SizeConst(1)}}
}

func (r *result) Open(u *Use) {
	b := u.B
	r.Space.Open(u)
	u.before = b.Let("before", b.Load(u.Write(r.before), loop.Int(0)))
}

func (r *result) Insert(u *Use, key, x loop.Expr) {
	b, n, to, numbers := u.B, u.held, &u.Result, u.Write(r.numbers)
	number := b.Let("number", b.Load(numbers, key))
	known := b.Let("known", b.Gt(number, u.before))
	more := b.Add(n, b.Select(known, loop.Int(0), loop.Int(1)))
	if x == nil {
		b.Store(numbers, key, b.Add(u.before, loop.Int(1)))
		b.Assign(n, more)
		return
	}
	crd, vals := u.Write(to.Crd), u.Write(to.Values)
	entry := b.Let("entry", b.Select(known, b.Sub(b.Sub(number, u.before), loop.Int(1)), n))
	at := b.Let("at", b.Add(to.Entries, entry))
	b.Store(numbers, key, b.Add(b.Add(u.before, entry), loop.Int(1)))
	b.Store(crd, at, b.Cast(b.Elem(crd), key))
	old := b.Let("old", b.Select(known, b.Load(vals, at), r.Identity()))
	b.Store(vals, at, fold.Step(b, r.Fold(), old, x))
	b.Assign(n, more)
}

func (r *result) Drain(u *Use, visit func(p, key loop.Expr)) loop.Expr {
	if visit != nil {
		panic("BUG: entries of a result are gathered as if they were read")
	}
	b := u.B
	n := b.Let("n", u.held)
	b.Store(u.Write(r.before), loop.Int(0), b.Add(u.before, b.Add(n, loop.Int(1))))
	return n
}

func (r *result) Element(*emit.Func, loop.Expr) loop.Expr {
	panic("BUG: entries of a result are read")
}

func (r *result) Visited(f *emit.Func, p, _ loop.Expr) loop.Expr { return r.Element(f, p) }
