package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// NewDense is a store with a place for each key.
func NewDense(s *Space) Store { return &dense{Space: s} }

// dense has an element for each key. Three bitmaps, each with one bit for 64
// bits of the one below, say which are in use, so that the keys come out in order
// without a sort: by the lowest bit of each word that is not zero. Inserting
// touches the upper ones only when a word of the lowest was zero, and draining
// visits and clears only words that have bits; a word of the highest stands for
// 2^18 keys.
type dense struct {
	*Space
	bits [bitmaps]loop.BufferID // from the one with a bit for each key up
}

const (
	bitmaps   = 3
	wordShift = 6
	wordMask  = 1<<wordShift - 1
)

func (d *dense) Prepare(b *emit.Builder) {
	d.Values = b.Buffer(d.Tensor.Name+"_vals", d.ValueType(), loop.Scratch)
	for i, name := range [bitmaps]string{"_bits", "_words", "_groups"} {
		d.bits[i] = b.Buffer(d.Tensor.Name+name, loop.U64, loop.Scratch)
	}
}

func (*dense) Facts() Facts { return Facts{Distinct: true, Complete: true} }

func (d *dense) Allocs() []loop.Alloc {
	n := d.Keys()
	list := []loop.Alloc{{Buffer: d.Values, Len: n}}
	for _, crd := range d.Crd {
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

func (d *dense) Open(*Use) {}

func (d *dense) Insert(u *Use, key, x loop.Expr) {
	b := u.B
	at := b.Let("at", shr(key, wordShift))
	bits := u.Write(d.bits[0])
	word := b.Let("word", b.Load(bits, at))
	bit := b.Let("bit", bitOf(b, key))
	if x != nil {
		vals := u.Write(d.Values)
		known := b.Ne(b.And(word, bit), loop.Number(loop.U64, 0))
		var old loop.Expr
		if u.Grids {
			// Memory that was never written is not read there, not even for nothing.
			held := b.Var("old", d.Identity())
			b.If(known, func() { b.Assign(held, b.Load(vals, key)) }, nil)
			old = b.Let("old", held)
		} else {
			old = b.Let("old", b.Select(known, b.Load(vals, key), d.Identity()))
		}
		b.Store(vals, key, fold.Step(u.B, d.Fold(), old, x))
	}
	b.Store(bits, at, b.Or(word, bit))
	d.mark(u, 1, word, at)
}

// mark sets the bit of word number at in the bitmap of the given level, if the
// word was zero.
func (d *dense) mark(u *Use, level int, word, at loop.Expr) {
	if level == bitmaps {
		return
	}
	b := u.B
	b.If(b.Eq(word, loop.Number(loop.U64, 0)), func() {
		bits := u.Write(d.bits[level])
		up := b.Let("up", shr(at, wordShift))
		above := b.Let("word", b.Load(bits, up))
		b.Store(bits, up, b.Or(above, bitOf(b, at)))
		d.mark(u, level+1, above, up)
	}, nil)
}

// Drain walks the bitmaps from the top and clears what it has read.
func (d *dense) Drain(u *Use, visit func(p, key loop.Expr)) loop.Expr {
	b := u.B
	n := b.Var("n_"+d.Tensor.Name, loop.Int(0))
	top := u.Write(d.bits[bitmaps-1])
	groups := b.Add(shr(b.Sub(d.keys(u.Func), loop.Int(1)), bitmaps*wordShift), loop.Int(1))
	b.For("group", loop.Int(0), groups, func(g loop.Expr) {
		word := b.Let("word", b.Load(top, g))
		b.If(b.Ne(word, loop.Number(loop.U64, 0)), func() {
			b.Store(top, g, loop.Number(loop.U64, 0))
			d.descend(u, bitmaps-1, g, word, n, visit)
		}, nil)
	})
	return b.Let("n", n)
}

// descend visits what the bits of word number at of a level's bitmap stand for.
func (d *dense) descend(u *Use, level int, at, word loop.Expr, n *loop.Ref, visit func(p, key loop.Expr)) {
	b := u.B
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
		bits := u.Write(d.bits[level-1])
		next := b.Let("word", b.Load(bits, below))
		b.Store(bits, below, loop.Number(loop.U64, 0))
		d.descend(u, level-1, below, next, n, visit)
	})
}

func (d *dense) Element(f *emit.Func, p loop.Expr) loop.Expr {
	b := f.B
	var key loop.Expr = loop.Int(0)
	for axis, v := range d.Vars {
		key = b.Add(b.Mul(key, f.Scalar(d.Extent(v))), b.LoadIndex(f.Read(d.Crd[axis]), p))
	}
	return key
}

func shr(x loop.Expr, n int64) loop.Expr { return loop.NewBinary(loop.Shr, x, loop.Int(n)) }

// bitOf is the bit of number x within its word.
func bitOf(b *loop.Builder, x loop.Expr) loop.Expr {
	return loop.NewBinary(loop.Shl, loop.Number(loop.U64, 1), b.Cast(loop.U64, b.And(x, loop.Int(wordMask))))
}
