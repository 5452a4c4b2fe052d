package gpu

import (
	"math/bits"
	"reflect"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Sizes of grids whose warps own elements.
const (
	// mostOwners is how many warps go through a loop: as many as a large device runs at once.
	mostOwners = 1 << 11
	// ownerAhead is how many iterations of each lane are looked at together, so that their
	// loads are under way at once.
	ownerAhead = 8
)

var _ = register(mapping{of: ofOneCall, place: 6, word: "owners", take: (*mapper).owners, says: map[string]string{
	"check":  "a thread for each index",
	"owners": "every warp goes through all iterations and folds what falls to its elements, in order",
}})

// owners maps a stage of one call whose only loop folds something into elements that iterations
// share, a[i] = a[i] + x, where the order matters, as it does for floats. Every warp goes
// through all iterations, a lane for each, and does what falls to the elements that it owns, in
// the order of the iterations: so the result is that of one thread. What is wrong with an
// iteration is found before, by threads that take them in turns. It reports whether that
// could be done.
func (m *mapper) owners(s *loop.Stage) bool {
	warps := m.opts.Threads / 32
	blocks := min(mostOwners/int64(warps), max(2, m.opts.Workers/int64(m.opts.Threads)))
	blocks = 1 << (bits.Len64(uint64(blocks)) - 1)
	if bits.OnesCount(uint(warps)) != 1 {
		return false // owners are told by some bits
	}
	l := onlyLoop(s.Func)
	if l == nil {
		return false
	}
	fold, ok := orderedFold(l, outsideLoops)
	if !ok {
		return false
	}
	checks, folds := m.newFunc(s.Func.Name+"_check"), m.newFunc(s.Func.Name)
	checks.withoutStores(s, l)
	folds.byOwners(s, l, fold, blocks*int64(warps))
	if len(s.Func.Fails) > 0 && !m.launchVerified(s, "check", checks, m.blocksForAtomics()) {
		return false
	}
	return m.launchVerified(s, "owners", folds, loop.SizeConst(blocks))
}

// withoutStores runs the iterations of l in turns, but for their stores.
func (g *gridFunc) withoutStores(s *loop.Stage, l *loop.For) {
	in := g.parameters(s)
	g.iterations(&in, func(x *loop.For) bool { return x == l })
	in.Store = func(*loop.Store, *loop.Inliner) bool { return true }
	g.Builder.Inline(s.Func, in)
}

// byOwners goes through the iterations of l with every warp. None of them fails: then the
// function is not run. owners is how many warps there are, a power of two.
func (g *gridFunc) byOwners(s *loop.Stage, l *loop.For, fold *inOrder, owners int64) {
	in := g.onlyCall(s)
	b := g.Builder
	warps := loop.Int(int64(g.m.opts.Threads / 32))
	me := b.Let("me", b.Add(b.Mul(g.block(), warps), g.Warp()))
	var atStore func(*loop.Store) // what is done with the loop's store at the moment
	in.Loop = instead(l, func(n *loop.Inliner) {
		body := withoutFails(l.Body)
		run := func(i loop.Expr, store func(*loop.Store)) {
			atStore = store
			n.Bind(l.Var, i)
			n.Block(body)
		}
		lo, hi := n.Expr(l.Lo), b.Let("to", n.Expr(l.Hi))
		at := b.Var("at", lo)
		// steps does as many iterations of each lane at once; bounded looks where the loop ends.
		steps := func(ahead int64, bounded func(i loop.Expr, then func())) {
			first := b.Let("first", b.Add(at, g.Lane()))
			mine := b.Var("mine", loop.Number(loop.U32, 0)) // a bit for each iteration
			for k := range ahead {
				i := b.Let("i", b.Add(first, loop.Int(32*k)))
				bounded(i, func() {
					run(i, func(st *loop.Store) {
						owns := b.Eq(ownerOf(n.Expr(st.Index), owners), me)
						b.Assign(mine, b.Or(mine, b.Select(owns, loop.Number(loop.U32, 1<<k), loop.Number(loop.U32, 0))))
					})
				})
			}
			b.If(b.Ne(b.Ballot("some", b.Ne(mine, loop.Number(loop.U32, 0))), loop.Number(loop.U32, 0)), func() {
				b.For("k", loop.Int(0), loop.Int(ahead), func(k loop.Expr) {
					bit := b.And(loop.NewBinary(loop.Shr, mine, b.Cast(loop.U32, k)), loop.Number(loop.U32, 1))
					hit := b.Let("hit", b.Ne(bit, loop.Number(loop.U32, 0)))
					g.foldInOrder(in, n, fold, hit, func(store func(*loop.Store)) {
						run(b.Let("i", b.Add(first, b.Mul(loop.Int(32), k))), store)
					})
				})
			}, nil)
			b.Assign(at, b.Add(at, loop.Int(32*ahead)))
		}
		if !hasLoops(body) { // which have enough to do
			b.While(b.Le(at, b.Sub(hi, loop.Int(32*ownerAhead))), func() {
				steps(ownerAhead, func(_ loop.Expr, then func()) { then() })
			})
		}
		b.While(b.Lt(at, hi), func() {
			steps(1, func(i loop.Expr, then func()) { b.If(b.Lt(i, hi), then, nil) })
		})
	})
	in.Store = func(st *loop.Store, _ *loop.Inliner) bool {
		atStore(st)
		return true
	}
	b.Inline(s.Func, in)
}

// foldInOrder folds what the lanes with a hit have, one after another. run is an iteration of
// theirs, up to the store.
func (g *gridFunc) foldInOrder(in loop.Inlining, n *loop.Inliner, fold *inOrder, hit loop.Expr, run func(store func(*loop.Store))) {
	b := g.Builder
	left := b.Var("left", b.Ballot("hits", hit))
	index := b.Var("index", loop.Int(0))
	var operands []*loop.Ref
	var vals []loop.Expr
	for _, e := range fold.operands {
		v := b.Var("operand", loop.Number(e.Type(), 0))
		operands, vals = append(operands, v), append(vals, v)
	}
	b.If(hit, func() {
		run(func(st *loop.Store) {
			b.Assign(index, n.Expr(st.Index))
			for j, e := range fold.operands {
				b.Assign(operands[j], n.Expr(e))
			}
		})
	}, nil)
	b.While(b.Ne(left, loop.Number(loop.U32, 0)), func() {
		turn := b.Cast(loop.I64, loop.NewUnary(loop.TrailingZeros, left))
		b.If(b.Eq(g.Lane(), turn), func() {
			buf := in.Bufs[fold.store.Buf]
			b.Store(buf, index, fold.value(b.Load(buf, index), vals))
		}, nil)
		b.Barrier(loop.WarpScope) // the next lane may read what this one stored
		b.Assign(left, b.And(left, b.Sub(left, loop.Number(loop.U32, 1))))
	})
}

// ownerOf is who owns an element: the highest bits of its index times the golden ratio (D. Knuth,
// "The Art of Computer Programming", 6.4), for indices that are used may all be multiples of
// a number.
func ownerOf(index loop.Expr, owners int64) loop.Expr {
	const golden = -7046029254386353131 // 2^64 divided by the golden ratio
	product := loop.NewBinary(loop.Mul, loop.NewCast(loop.U64, index), loop.Number(loop.U64, golden))
	down := int64(65 - bits.Len64(uint64(owners)))
	return loop.NewCast(loop.I64, loop.NewBinary(loop.Shr, product, loop.Number(loop.U64, down)))
}

// withoutFails is a body that goes on where it would fail.
func withoutFails(body []loop.Stmt) []loop.Stmt {
	var out []loop.Stmt
	for _, s := range body {
		switch x := s.(type) {
		case *loop.Fail:
			continue
		case *loop.If:
			s = &loop.If{Cond: x.Cond, Then: withoutFails(x.Then), Else: withoutFails(x.Else), Seldom: x.Seldom, Origin: x.Origin}
		case *loop.For:
			y := *x
			y.Body = withoutFails(x.Body)
			s = &y
		case *loop.While:
			s = &loop.While{Cond: x.Cond, Body: withoutFails(x.Body), Origin: x.Origin}
		}
		out = append(out, s)
	}
	return out
}

// inOrder is the only store of a loop, of an element that is made of what it was.
type inOrder struct {
	store    *loop.Store
	operands []loop.Expr // what is folded into the element
	value    func(element loop.Expr, operands []loop.Expr) loop.Expr
}

// storePlaces says where in a loop its store may stand.
type storePlaces uint8

const (
	outsideLoops storePlaces = iota // iterations store once or not
	anywhere
)

// orderedFold finds what a loop folds. It is not ok if iterations have anything else to do with
// each other, or store elsewhere.
func orderedFold(l *loop.For, where storePlaces) (*inOrder, bool) {
	list := storesOf(l.Body)
	if len(list) != 1 || !keepsVariables(l.Body) {
		return nil, false
	}
	f, ok := &inOrder{store: list[0]}, true
	var exprs []loop.Expr
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		ok = ok && (where == anywhere || !has(bodyOf(s), isStore))
		if kindOf(s) != isStore {
			exprs = append(exprs, loop.Exprs(s)...)
		}
	})
	var is bool
	if f.value, is = f.apart(f.store.Value); !is || !ok {
		return nil, false
	}
	exprs = append(append(exprs, f.store.Index), f.operands...)
	return f, !slices.ContainsFunc(exprs, f.reads)
}

// reads reports whether an expression reads the buffer that is stored.
func (f *inOrder) reads(e loop.Expr) bool {
	return readsAny(e, map[loop.BufID]bool{f.store.Buf: true})
}

// isElement reports whether an expression is the element as it was.
func (f *inOrder) isElement(e loop.Expr) bool {
	x, ok := e.(*loop.Load)
	return ok && x.Buf == f.store.Buf && reflect.DeepEqual(x.Index, f.store.Index)
}

// apart takes an expression apart into the element and what is beside it, the operands; it
// returns a function that puts it together.
func (f *inOrder) apart(e loop.Expr) (func(element loop.Expr, operands []loop.Expr) loop.Expr, bool) {
	switch e := e.(type) {
	case *loop.Load:
		return func(element loop.Expr, _ []loop.Expr) loop.Expr { return element }, f.isElement(e)
	case *loop.Cast:
		inner, ok := f.apart(e.X)
		return func(element loop.Expr, operands []loop.Expr) loop.Expr {
			return loop.NewCast(e.Typ, inner(element, operands))
		}, ok
	case *loop.Binary:
		inner, other, first := e.X, e.Y, true
		if !f.reads(inner) {
			inner, other, first = e.Y, e.X, false
		}
		at := len(f.operands)
		f.operands = append(f.operands, other)
		of, ok := f.apart(inner)
		return func(element loop.Expr, operands []loop.Expr) loop.Expr {
			if first {
				return loop.NewBinary(e.Op, of(element, operands), operands[at])
			}
			return loop.NewBinary(e.Op, operands[at], of(element, operands))
		}, ok
	}
	return nil, false
}
