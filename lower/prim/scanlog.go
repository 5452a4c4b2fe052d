package prim

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// A running log of a sum of exponentials needs an exponential and a logarithm for each
// element, and neither depends on another's: only the running maximum m and the scaled
// sum s do, by an operation or two. So pieces of a line are walked in passes: the maxima,
// the exponentials in vectors, the sums, the logarithms in vectors. Every element gets the
// bits that foldLSE and finish give.

// logPiece is the number of elements of a piece: its working memory fits the first cache.
const logPiece = 1 << 8

// logScan is the working memory of a scan in passes, of a piece for each chunk.
type logScan struct {
	maxima loop.BufferID // m of each element
	scales loop.BufferID // x - m, then the factor of the sum so far
	terms  loop.BufferID // of the sum, then the sum
}

// inPasses reports whether lines are run so: the elements are all there, one behind the
// other.
func (x *scanner) inPasses() bool {
	return x.step.Fold == ir.FoldLogSumExp && !x.opts.Grids && !x.planar() && (x.how == ir.Planes || x.step.Stored)
}

// newLogScan makes the working memory.
func (x *scanner) newLogScan() logScan {
	return logScan{
		maxima: x.Buffer("maxima", loop.F64, loop.Temp),
		scales: x.Buffer("scales", loop.F64, loop.Temp),
		terms:  x.Buffer("terms", loop.F64, loop.Temp),
	}
}

// allocs are the allocations for so many chunks.
func (w logScan) allocs(chunks loop.SizeExpr) []loop.Alloc {
	var list []loop.Alloc
	for _, id := range []loop.BufferID{w.maxima, w.scales, w.terms} {
		list = append(list, loop.Alloc{Buffer: id, Len: emit.Times(chunks, loop.SizeConst(logPiece))})
	}
	return list
}

// run emits the scan of the blocks of the chunk.
func (w logScan) run(x *scanner, e *emit.Func) {
	b := e.B
	maxima, scales, terms, out := e.Write(w.maxima), e.Write(w.scales), e.Write(w.terms), e.Write(x.out)
	x.spans(e, func(s span) {
		acc := x.fresh(e)
		x.resume(e, acc, s.slot)
		m, sum := acc.Vars[0], acc.Vars[1]
		room := b.Let("room", b.Mul(b.Chunk(), loop.Int(logPiece)))
		base := x.base(e, s)
		one := loop.Float(loop.F64, 1)
		done := b.Var("done", s.from)
		b.While(b.Lt(done, s.until), func() {
			first := b.Let("first", done)
			n := b.Let("n", b.Min(loop.Int(logPiece), b.Sub(s.until, first)))
			end := b.Let("end", b.Add(room, n))
			// keep writes a part of the state where it is read as the running value.
			keep := func(buf loop.BufID, k loop.Expr, v *loop.Ref, next loop.Expr) {
				if x.step.Exclusive {
					b.Store(buf, k, v)
					b.Assign(v, next)
					return
				}
				b.Assign(v, next)
				b.Store(buf, k, v)
			}
			place := func(k loop.Expr) loop.Expr {
				return b.Let("p", b.Add(base, x.at(e, s, b.Add(first, b.Sub(k, room)))))
			}
			before := b.Let("before", m)
			b.For("k", room, end, func(k loop.Expr) {
				v := b.Let("v", b.Cast(loop.F64, x.load(e, place(k))))
				b.Store(scales, k, fold.Distance(b, v, m))
				keep(maxima, k, m, fold.Larger(b, v, m))
			})
			b.ForIndependent("k", room, end, func(k loop.Expr) {
				d := b.Let("d", b.Load(scales, k))
				smaller := b.Let("w", b.Call("exp_f64", loop.F64, fold.Exponent(d)))
				up := b.Let("up", b.Gt(d, loop.Float(loop.F64, 0)))
				b.Store(scales, k, b.Select(up, smaller, one))
				b.Store(terms, k, b.Select(up, one, smaller))
			})
			// Where the maximum stays, every scale is 1, and the chain is of sums alone.
			b.If(b.Eq(m, before), func() {
				b.For("k", room, end, func(k loop.Expr) {
					keep(terms, k, sum, b.Let("sum", b.Add(sum, b.Load(terms, k))))
				})
			}, func() {
				b.For("k", room, end, func(k loop.Expr) {
					keep(terms, k, sum, b.Let("sum", b.Add(b.Mul(sum, b.Load(scales, k)), b.Load(terms, k))))
				})
			})
			b.ForIndependent("k", room, end, func(k loop.Expr) {
				log := b.Call("log_f64", loop.F64, b.Load(terms, k))
				b.Store(out, place(k), b.Cast(emit.ComputeType(x.fold.Typ), b.Add(b.Load(maxima, k), log)))
			})
			b.Assign(done, b.Add(first, n))
		})
	})
}
