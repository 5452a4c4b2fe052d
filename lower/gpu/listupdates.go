package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// list adds the stages that list the updates of a loop whose iterations make several: one
// counts those of each iteration, running sums of the counts say where they go, and another
// writes the key of each and what it folds. The first and the last are stages of chunks of
// the iterations, mapped as others are.
func (x *scatter) list() bool {
	m, s := x.m, x.s
	turns := m.scalar(s.Name + "_turns")
	m.sizes(s.Name+"_turns", []loop.ScalarLet{{Scalar: turns, Value: x.iterations()}}, nil, nil)
	iterations := loop.SizeExpr(loop.SizeScalar(turns))
	part := m.partition(s.Name+"_turns", iterations)
	counts, total := m.temp(s.Name+"_counts", loop.I64), m.temp(s.Name+"_total", loop.I64)
	m.sizes(s.Name+"_counts", nil, nil, []loop.Alloc{
		{Buffer: counts, Len: sizeOp(loop.Add, iterations, loop.SizeConst(1)), Zero: true}, {Buffer: total, Len: loop.SizeConst(1)},
	})
	count := x.countUpdates(part, counts)
	if !verified(count) {
		return false
	}
	m.stage(&count)
	m.prefix(s, &loop.Prefix{Buffer: counts, Stride: 1, N: sizeOp(loop.Add, iterations, loop.SizeConst(1)), Total: total})
	m.sizes(s.Name+"_updates", x.lets(&loop.SizeLoad{Buffer: total, Index: loop.SizeConst(0)}), nil, x.sort.allocs())
	n := sizeOp(loop.Mul, loop.SizeScalar(x.sorts), loop.SizeScalar(x.n))
	var allocs []loop.Alloc
	for _, e := range x.fold.operands {
		id := m.temp(s.Name+"_operands", e.Type())
		x.operands, allocs = append(x.operands, id), append(allocs, loop.Alloc{Buffer: id, Len: n})
	}
	m.sizes(s.Name+"_operands", nil, nil, allocs)
	fill := x.writeUpdates(part, counts)
	if !verified(fill) {
		return false
	}
	m.when(loop.SizeScalar(x.sorts), func() { m.stage(&fill) })
	return true
}

// partition adds one of n elements, cut into single ones.
func (m *mapper) partition(name string, n loop.SizeExpr) int {
	m.from.Partitions = append(m.from.Partitions, loop.Partition{
		Name: name, N: n, Weights: -1, Grain: 1, Chunks: m.scalar(name + "_chunks"),
	})
	m.style, m.cuts = append(m.style, single), append(m.cuts, nil)
	return len(m.from.Partitions) - 1
}

// listFunc is a function over chunks of the iterations under construction.
type listFunc struct {
	mappedFunc
	in loop.Inlining
}

// listFunc begins a function with the parameters of a stage's.
func (m *mapper) listFunc(s *loop.Stage, name string) *listFunc {
	f := &listFunc{mappedFunc: mappedFunc{Code: coop.Code{Builder: loop.NewBuilder(name)}, m: m}}
	f.in = f.onlyCall(s)
	return f
}

// stage finishes the function. Buffers that it does not store are only read.
func (f *listFunc) stage(s *loop.Stage, what string, part int) loop.Stage {
	fn := loop.RemoveDead(f.Builder.Func())
	written := stored(fn.Body)
	for i := range fn.Bufs {
		fn.Bufs[i].ReadOnly = !written[loop.BufID(i)]
	}
	return loop.Stage{Name: s.Name + what, Partition: part, Func: fn, Bufs: f.bufs, Args: f.args, Symbolic: s.Symbolic}
}

// turns inlines the stage's function, its loop cut down to the iterations of the chunk, with
// a body of its own.
func (f *listFunc) turns(x *scatter, iteration []loop.Stmt, body func(k loop.Expr, run func())) {
	b := f.Builder
	f.in.Loop = instead(x.l, func(n *loop.Inliner) {
		lo := n.Expr(x.l.Lo)
		if _, plain := lo.(*loop.Const); !plain {
			lo = b.Let("from", lo)
		}
		b.For("i", b.Lo(), b.Hi(), func(k loop.Expr) {
			body(k, func() {
				i := b.Add(lo, k)
				if _, plain := i.(*loop.Ref); !plain {
					i = b.Let("i", i)
				}
				n.Bind(x.l.Var, i)
				n.Block(iteration)
			})
		})
	})
	b.Inline(x.s.Func, f.in)
}

// countUpdates is the stage that counts the updates of each iteration.
func (x *scatter) countUpdates(part int, counts loop.BufferID) loop.Stage {
	f := x.m.listFunc(x.s, x.s.Func.Name+"_counts")
	b := f.Builder
	out := f.buffer(counts, loop.ReadWrite)
	var n *loop.Ref
	f.in.Store = func(*loop.Store, *loop.Inliner) bool {
		b.Assign(n, b.Add(n, loop.Int(1)))
		return true
	}
	f.turns(x, x.l.Body, func(k loop.Expr, run func()) {
		n = b.Var("n", loop.Int(0))
		run()
		b.Store(out, k, n)
	})
	return f.stage(x.s, "_counts", part)
}

// writeUpdates is the stage that writes the list.
func (x *scatter) writeUpdates(part int, starts loop.BufferID) loop.Stage {
	f := x.m.listFunc(x.s, x.s.Func.Name+"_list")
	b := f.Builder
	start := f.buffer(starts, loop.ReadOnly)
	into := x.sort.writer(&f.mappedFunc)
	var out []loop.BufID
	for _, id := range x.operands {
		out = append(out, f.buffer(id, loop.ReadWrite))
	}
	at := b.Var("at", b.Load(start, b.Lo()))
	f.in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		into(at, n.Expr(st.Index))
		for k, e := range x.fold.operands {
			b.Store(out[k], at, n.Expr(e))
		}
		b.Assign(at, b.Add(at, loop.Int(1)))
		return true
	}
	// Where anything fails, counting has.
	f.turns(x, withoutFails(x.l.Body), func(_ loop.Expr, run func()) { run() })
	return f.stage(x.s, "_list", part)
}
