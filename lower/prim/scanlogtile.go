package prim

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// How the elements of a tile come to the threads, and go back.

// region is the room of a warp in tile: behind every 32 elements is a gap of a vector, so
// that vectors of neighbouring lanes and those one thread's elements apart lie in
// different banks.
func (w *narrowScan) region() int64 {
	n := w.quads * quadSize * warpSize
	return n + n/(2*quadSize)
}

// padded is the place of vector q of a warp in its region.
func padded(b *loop.Builder, q loop.Expr) loop.Expr {
	return b.Mul(b.Add(q, loop.NewBinary(loop.Shr, q, loop.Int(3))), loop.Int(quadSize))
}

// count is how many elements the tile at start has.
func (w *narrowScan) count(s span, start loop.Expr) loop.Expr {
	b := w.t.B
	return b.Let("count", b.Min(loop.Int(w.perTile()), b.Sub(s.until, start)))
}

// fetch brings the elements of the tile at start into the shared one.
func (w *narrowScan) fetch(s span, base, start, n loop.Expr) {
	b, x, e := w.t.B, w.x, w.t.Func
	store := func(wide bool, values []loop.Expr) {
		w.places(wide, func(r int, place loop.Expr) { b.Store(w.tile, place, values[r]) })
		b.Assign(w.wide, loop.Truth(wide))
	}
	single := func() {
		var values []loop.Expr
		for r := range int(x.teams.perThread) {
			k, v := w.single(loop.Int(int64(r))), b.Var("v", loop.Float(loop.F32, math.Inf(-1)))
			b.If(b.Lt(k, n), func() { b.Assign(v, x.load(e, w.element(s, base, start, k))) }, nil)
			values = append(values, v)
		}
		store(false, values)
	}
	if w.t.Quick {
		w.fetchQuickly(s, base, start, n)
		return
	}
	if x.step.Reverse {
		single()
		return
	}
	// A condition on the sum would tell LLVM that the sum need not be rounded, but not
	// what that says of addresses.
	whole := b.Let("whole", b.Eq(b.And(b.Or(base, start), loop.Int(quadSize-1)), loop.Int(0)))
	vectors := func(start loop.Expr) (values []loop.Expr) {
		p := w.vectors(b.Add(base, start))
		for r := range int(x.teams.perThread) {
			values = append(values, x.load(e, b.Add(p, inVectors(r))))
		}
		return values
	}
	b.If(w.ahead, func() {
		var values []loop.Expr
		for _, v := range w.next {
			values = append(values, v)
		}
		store(true, values)
	}, func() {
		b.If(b.And(b.Eq(n, loop.Int(w.perTile())), whole), func() { store(true, vectors(start)) }, single)
	})
	b.Assign(w.ahead, b.And(whole, b.Le(b.Add(start, loop.Int(2*w.perTile())), s.until)))
	b.If(w.ahead, func() {
		for r, v := range vectors(b.Let("later", b.Add(start, loop.Int(w.perTile())))) {
			b.Assign(w.next[r], v)
		}
	}, nil)
}

// inVectors is where value r of a lane is behind its first one.
func inVectors(r int) loop.Expr { return loop.Int(int64(r/quadSize*quadSize*warpSize + r%quadSize)) }

// vectors is the place of the lane's first vector of the tile at a multiple of the size
// of vectors, written so that compilers see that it is one, too.
func (w *narrowScan) vectors(at loop.Expr) loop.Expr {
	b := w.t.B
	whole := loop.NewBinary(loop.Shl, loop.NewBinary(loop.Shr, at, loop.Int(2)), loop.Int(2))
	return b.Let("p", b.Add(whole, b.Add(w.firstOf(), b.Mul(w.lane, loop.Int(quadSize)))))
}

// single is the number in the tile of value r of the lane, where there are no vectors.
func (w *narrowScan) single(r loop.Expr) loop.Expr {
	b := w.t.B
	return b.Let("k", b.Add(b.Add(w.firstOf(), w.lane), b.Mul(r, loop.Int(warpSize))))
}

func (w *narrowScan) element(s span, base, start, k loop.Expr) loop.Expr {
	b := w.t.B
	return b.Let("p", b.Add(base, w.x.at(w.t.Func, s, b.Add(start, k))))
}

// places runs body for the lane's values and their places in the shared tile.
func (w *narrowScan) places(wide bool, body func(r int, place loop.Expr)) {
	b := w.t.B
	if wide {
		at := b.Let("at", b.Add(w.origin, padded(b, w.lane)))
		for r := range int(w.x.teams.perThread) {
			g := int64(r / quadSize)
			body(r, b.Add(at, loop.Int(g*(warpSize+warpSize/8)*quadSize+int64(r%quadSize))))
		}
		return
	}
	at := b.Let("at", b.Add(w.origin, w.lane))
	for r := range int(w.x.teams.perThread) {
		body(r, b.Add(at, loop.Int(int64(r)*(warpSize+quadSize))))
	}
}

// eachSingle runs body for the numbers of the lane's values, where there are no vectors, and their places.
func (w *narrowScan) eachSingle(body func(k, place loop.Expr)) {
	b := w.t.B
	at := b.Let("at", b.Add(w.origin, w.lane))
	w.t.Times(w.x.teams.perThread, func(r loop.Expr) {
		body(w.single(r), b.Add(at, b.Mul(r, loop.Int(warpSize+quadSize))))
	})
}

// write stores the results that are in the shared tile.
func (w *narrowScan) write(s span, base, start, n loop.Expr) {
	b, out := w.t.B, w.t.Func.Write(w.x.out)
	ahead := func() {
		w.eachSingle(func(k, place loop.Expr) {
			b.If(b.Lt(k, n), func() { b.Store(out, w.element(s, base, start, k), b.Load(w.tile, place)) }, nil)
		})
	}
	if w.t.Quick || w.x.step.Reverse {
		ahead()
		return
	}
	b.If(w.wide, func() {
		p := w.vectors(b.Add(base, start))
		var results []loop.Expr
		w.places(true, func(r int, place loop.Expr) { results = append(results, b.Let("y", b.Load(w.tile, place))) })
		for r, y := range results {
			b.Store(out, b.Add(p, inVectors(r)), y)
		}
	}, ahead)
}
