package lower

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// denseStore has an element for each key. Three bitmaps, each with one bit for 64
// bits of the one below, say which are in use, so that the keys come out in order
// without a sort: by the lowest bit of each word that is not zero. Inserting
// touches the upper ones only when a word of the lowest was zero, and draining
// visits and clears only words that have bits; a word of the highest stands for
// 2^18 keys.
type denseStore struct {
	vals loop.BufferID
	bits [bitmaps]loop.BufferID // from the one with a bit for each key up
}

const (
	bitmaps   = 3
	wordShift = 6
	wordMask  = 1<<wordShift - 1
)

func (d *denseStore) prepare(k *kernel, w *workspace) {
	d.vals = k.Buffer(w.tensor.Name+"_vals", w.valueType(), loop.Scratch)
	for i, name := range [bitmaps]string{"_bits", "_words", "_groups"} {
		d.bits[i] = k.Buffer(w.tensor.Name+name, loop.U64, loop.Scratch)
	}
}

func (d *denseStore) bounded() bool { return false }

func (d *denseStore) distinct() bool { return true }

func (d *denseStore) values() loop.BufferID { return d.vals }

func (d *denseStore) allocs(k *kernel, w *workspace) []loop.Alloc {
	n := k.keys(w)
	list := []loop.Alloc{{Buffer: d.vals, Len: n}}
	for _, crd := range w.crd {
		list = append(list, loop.Alloc{Buffer: crd, Len: n})
	}
	per := int64(1)
	for _, id := range d.bits {
		per <<= wordShift
		words := &loop.SizeOp{Op: loop.Add, X: &loop.SizeOp{Op: loop.Div, X: n, Y: loop.SizeConst(per)}, Y: loop.SizeConst(1)}
		list = append(list, loop.Alloc{Buffer: id, Len: words, Zero: true})
	}
	return list
}

func (d *denseStore) open(*emitter, *workspace) {}

func (d *denseStore) insert(e *emitter, w *workspace, key, x loop.Expr) {
	b := e.B
	at := b.Let("at", shr(key, wordShift))
	bits := e.Write(d.bits[0])
	word := b.Let("word", b.Load(bits, at))
	bit := b.Let("bit", bitOf(b, key))
	if x != nil {
		vals := e.Write(d.vals)
		known := b.Ne(b.And(word, bit), loop.Number(loop.U64, 0))
		var old loop.Expr
		if e.opts.Grids {
			// Memory that was never written is not read there, not even for nothing.
			held := b.Var("old", w.identity())
			b.If(known, func() { b.Assign(held, b.Load(vals, key)) }, nil)
			old = b.Let("old", held)
		} else {
			old = b.Let("old", b.Select(known, b.Load(vals, key), w.identity()))
		}
		b.Store(vals, key, fold.Step(e.B, w.work().Fold, old, x))
	}
	b.Store(bits, at, b.Or(word, bit))
	d.mark(e, 1, word, at)
}

// mark sets the bit of word number at in the bitmap of the given level, if the
// word was zero.
func (d *denseStore) mark(e *emitter, level int, word, at loop.Expr) {
	if level == bitmaps {
		return
	}
	b := e.B
	b.If(b.Eq(word, loop.Number(loop.U64, 0)), func() {
		bits := e.Write(d.bits[level])
		up := b.Let("up", shr(at, wordShift))
		above := b.Let("word", b.Load(bits, up))
		b.Store(bits, up, b.Or(above, bitOf(b, at)))
		d.mark(e, level+1, above, up)
	}, nil)
}

// drain walks the bitmaps from the top and clears what it has read.
func (d *denseStore) drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr {
	b := e.B
	n := b.Var("n_"+w.tensor.Name, loop.Int(0))
	top := e.Write(d.bits[bitmaps-1])
	keys := loop.Expr(loop.Int(1))
	for _, v := range w.vars {
		keys = b.Mul(keys, e.Scalar(e.extent(v)))
	}
	groups := b.Add(shr(b.Sub(keys, loop.Int(1)), bitmaps*wordShift), loop.Int(1))
	b.For("group", loop.Int(0), groups, func(g loop.Expr) {
		word := b.Let("word", b.Load(top, g))
		b.If(b.Ne(word, loop.Number(loop.U64, 0)), func() {
			b.Store(top, g, loop.Number(loop.U64, 0))
			d.descend(e, w, bitmaps-1, g, word, n, visit)
		}, nil)
	})
	return b.Let("n", n)
}

// descend visits what the bits of word number at of a level's bitmap stand for.
func (d *denseStore) descend(e *emitter, w *workspace, level int, at, word loop.Expr, n *loop.Ref, visit func(p, key loop.Expr)) {
	b := e.B
	if level == 0 && visit == nil {
		b.Assign(n, b.Add(n, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, word))))
		return
	}
	rest := b.Var("rest", word)
	b.While(b.Ne(rest, loop.Number(loop.U64, 0)), func() {
		low := b.Cast(loop.I64, loop.NewUnary(loop.TrailingZeros, rest))
		below := b.Let("below", b.Add(loop.NewBinary(loop.Shl, at, loop.Int(wordShift)), low))
		b.Assign(rest, b.And(rest, b.Sub(rest, loop.Number(loop.U64, 1))))
		if level == 0 {
			visit(n, below)
			b.Assign(n, b.Add(n, loop.Int(1)))
			return
		}
		bits := e.Write(d.bits[level-1])
		next := b.Let("word", b.Load(bits, below))
		b.Store(bits, below, loop.Number(loop.U64, 0))
		d.descend(e, w, level-1, below, next, n, visit)
	})
}

func (d *denseStore) element(e *emitter, w *workspace, p loop.Expr) loop.Expr {
	b := e.B
	var key loop.Expr = loop.Int(0)
	for axis, v := range w.vars {
		key = b.Add(b.Mul(key, e.Scalar(e.extent(v))), b.LoadIndex(e.Read(w.crd[axis]), p))
	}
	return key
}

func (d *denseStore) complete() bool { return true }

func (d *denseStore) visited(_ *emitter, _, key loop.Expr) loop.Expr { return key }

func shr(x loop.Expr, n int64) loop.Expr { return loop.NewBinary(loop.Shr, x, loop.Int(n)) }

// bitOf is the bit of number x within its word.
func bitOf(b *loop.Builder, x loop.Expr) loop.Expr {
	return loop.NewBinary(loop.Shl, loop.Number(loop.U64, 1), b.Cast(loop.U64, b.And(x, loop.Int(wordMask))))
}
