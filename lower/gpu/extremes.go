package gpu

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

var _ = register(mapping{of: ofOneCall, place: 3, word: "extremes", take: func(m *mapper, s *loop.Stage) bool { return m.extremes(flattened(s)) }, says: map[string]string{
	"keys":     "a thread for each update: where it goes",
	"extremes": "a thread for each iteration, with atomics on keys of floats",
	"values":   "a thread for each element that has changed",
}})

// extremes maps a stage of one call whose only loop folds floats into elements by min or
// max to threads that take its iterations in turns. Of numbers there is one result in any
// order, so atomics do it, on unsigned integers in the order of the floats: a NaN wins, and
// -0 is below 0. One stage makes such integers of the elements, the last makes elements of
// those that have changed. It reports whether that could be done.
func (m *mapper) extremes(s *loop.Stage) bool {
	l := onlyLoop(s.Func)
	if l == nil {
		return false
	}
	fold, ok := orderedFold(l, anywhere)
	if !ok {
		return false
	}
	value, ok := fold.store.Value.(*loop.Binary)
	if !ok || value.Op != loop.Min && value.Op != loop.Max || !value.X.Type().IsFloat() || len(fold.operands) != 1 {
		return false
	}
	if !fold.isElement(value.X) && !fold.isElement(value.Y) {
		return false
	}
	x := &extremes{m: m, s: s, op: value.Op, typ: value.X.Type(), keys: loop.U64}
	if x.typ == loop.F32 {
		x.keys = loop.U32
	}
	elements := s.Bufs[fold.store.Buf]
	x.n, x.ordered = m.scalar(s.Name+"_elements"), m.temp(s.Name+"_ordered", x.keys)
	n := loop.SizeScalar(x.n)
	m.sizes(s.Name+"_ordered", []loop.ScalarLet{{Scalar: x.n, Value: loop.SizeLen{Buffer: elements}}}, nil,
		[]loop.Alloc{{Buffer: x.ordered, Len: n}})
	m.launch(s, "keys", x.each("_keys", elements, func(g *gridFunc, vals, ordered loop.BufID, k loop.Expr) {
		g.Builder.Store(ordered, k, x.key(g.Builder, g.Builder.Load(vals, k)))
	}), m.blocksFor(n))

	g, in := m.begin(s, "")
	ordered := g.buffer(x.ordered, loop.ReadWrite)
	g.iterations(&in, func(f *loop.For) bool { return f == l })
	in.Store = func(st *loop.Store, inliner *loop.Inliner) bool {
		b := g.Builder
		b.Atomic(atomicOps[x.op], ordered, inliner.Expr(st.Index), x.key(b, b.Let("x", inliner.Expr(fold.operands[0]))))
		return true
	}
	g.Builder.Inline(s.Func, in)
	if !m.launchVerified(s, "extremes", g, m.blocksForAtomics()) {
		return false
	}
	m.launch(s, "values", x.each("_values", elements, func(g *gridFunc, vals, ordered loop.BufID, k loop.Expr) {
		b := g.Builder
		key := b.Let("key", b.Load(ordered, k))
		b.If(b.Ne(key, x.key(b, b.Load(vals, k))), func() { b.Store(vals, k, x.value(b, key)) }, nil)
	}), m.blocksFor(n))
	return true
}

// extremes is a stage on its way.
type extremes struct {
	m       *mapper
	s       *loop.Stage
	op      loop.BinaryOp
	typ     loop.Type // that is computed in
	keys    loop.Type
	n       loop.ScalarID // elements
	ordered loop.BufferID // their keys
}

// each is a function whose threads take the elements in turns.
func (x *extremes) each(name string, elements loop.BufferID, body func(g *gridFunc, vals, ordered loop.BufID, k loop.Expr)) *gridFunc {
	g := x.m.newFunc(x.s.Func.Name + name)
	vals, ordered := g.buffer(elements, loop.ReadWrite), g.buffer(x.ordered, loop.ReadWrite)
	g.strided(g.scalar(x.n), func(k loop.Expr) { body(g, vals, ordered, k) })
	return g
}

// top is the highest bit of a key.
func (x *extremes) top(b *loop.Builder) loop.Expr {
	return loop.NewBinary(loop.Shl, loop.Number(x.keys, 1), loop.Number(x.keys, int64(8*x.keys.Size()-1)))
}

// key is a number as an integer: those of negative ones are turned round, and the others
// are above. That of a NaN is the first for min, the last for max.
func (x *extremes) key(b *loop.Builder, v loop.Expr) loop.Expr {
	v = b.Let("v", v)
	bits := b.Let("bits", loop.NewUnary(loop.Bits, v))
	negative := b.Ne(b.And(bits, x.top(b)), loop.Number(x.keys, 0))
	key := b.Select(negative, loop.NewUnary(loop.Not, bits), b.Or(bits, x.top(b)))
	nan := loop.Number(x.keys, 0)
	if x.op == loop.Max {
		return b.Let("key", b.Select(b.Ne(v, v), loop.NewUnary(loop.Not, nan), key))
	}
	return b.Let("key", b.Select(b.Ne(v, v), nan, key))
}

// value is the number of a key.
func (x *extremes) value(b *loop.Builder, key loop.Expr) loop.Expr {
	positive := b.Ne(b.And(key, x.top(b)), loop.Number(x.keys, 0))
	bits := b.Select(positive, loop.NewBinary(loop.Xor, key, x.top(b)), loop.NewUnary(loop.Not, key))
	v := b.Let("v", loop.NewUnary(loop.FromBits, bits))
	return b.Select(b.Ne(v, v), loop.Float(x.typ, math.NaN()), v)
}
