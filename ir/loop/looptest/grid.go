package looptest

import (
	"bytes"
	"fmt"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A GridCase is a grid function with everything that one call of it takes.
type GridCase struct {
	Func   *loop.Func
	Memory [][]byte // initial contents of each buffer, little endian
	Args   []int64
	Blocks int64
}

// CopyMemory returns fresh memory for one run of the case.
func (c GridCase) CopyMemory() [][]byte { return Case{Memory: c.Memory}.CopyMemory() }

// DrawGrid draws a grid function and what to call it with. Like the functions of Draw
// it verifies, ends, and touches only elements that exist; its threads do not race,
// and what it computes does not depend on their order.
//
// It is so by construction. A variable and an expression are the same for all
// threads of a block, of a warp, or of none, and threads meet only where what
// decides is even enough. Read-only buffers are read anywhere, accumulators are
// changed by one commutative atomic each. Every other element belongs to a
// thread between two barriers, or is read by all, or is changed by atomics; between
// two barriers of a warp its threads read what belongs to one of them.
func DrawGrid(t *rapid.T, scalars ...*loop.Scalar) GridCase {
	g := &gridGenerator{
		generator: &generator{t: t, scalars: scalars, loopsLeft: 2, stmtsLeft: 40, exclusive: noBuffer},
		levels:    map[loop.VarID]level{},
	}
	return g.draw()
}

// A level says for which threads something is the same.
type level uint8

const (
	inBlock level = iota
	inWarp
	nowhere
)

// A mode says what threads do with an array between two barriers.
type mode uint8

const (
	owned   mode = iota // element k is the matter of thread k
	read                // anybody reads
	counted             // anybody changes it by one kind of atomic
)

// An array is something that the threads of a block share: a shared array, or
// the part of a buffer that is the block's.
type array struct {
	id     loop.BufID
	elem   loop.Type
	buffer bool
	mode   mode
	op     loop.AtomicOp // when counted
}

type gridGenerator struct {
	*generator
	levels   map[loop.VarID]level
	control  level
	threads  int64
	thread   *loop.Ref // the number of the thread
	place    *loop.Ref // block * threads
	own      *loop.Ref // block * threads + thread
	readable []loop.BufID
	sums     []array // accumulators
	arrays   []array
	barriers int
	longest  int // statements of a block
}

var commutative = []loop.AtomicOp{loop.AtomicAdd, loop.AtomicMin, loop.AtomicMax, loop.AtomicAnd, loop.AtomicOr}

// counters are the types that integer atomics take.
var counters = []loop.Type{loop.U32, loop.I32, loop.I64, loop.U64}

func (g *gridGenerator) draw() GridCase {
	// Few types, so that values flow from one variable to another.
	g.types = []loop.Type{loop.I64}
	for range 2 + g.upto(2) {
		g.types = append(g.types, pick(g.generator, elemTypes))
	}
	g.threads = pick(g.generator, []int64{32, 64})
	c := GridCase{Blocks: int64(1 + g.upto(3))}
	g.f = &loop.Func{
		Name: "random", Fails: []string{"first", "second"}, Chunk: loop.NoVar, Lo: loop.NoVar, Hi: loop.NoVar,
		Grid: &loop.Grid{Threads: int(g.threads)},
	}
	buffer := func(name string, elem loop.Type, n int64, access loop.Access) loop.BufID {
		id := loop.BufID(len(g.f.Bufs))
		g.f.Bufs = append(g.f.Bufs, loop.Buf{Name: fmt.Sprint(name, id), Elem: elem, ReadOnly: access == loop.ReadOnly})
		g.lens = append(g.lens, n)
		if access == loop.ReadOnly {
			c.Memory = append(c.Memory, g.memory(elem, int(n)))
		} else {
			c.Memory = append(c.Memory, bytes.Repeat([]byte{1}, int(n)*elem.Size()))
		}
		return id
	}
	for range 1 + g.upto(2) {
		g.readable = append(g.readable, buffer("in", pick(g.generator, g.types), pick(g.generator, []int64{4, 1, 16}), loop.ReadOnly))
	}
	for range 1 + g.upto(2) {
		elem := pick(g.generator, g.types)
		id := buffer("out", elem, c.Blocks*g.threads, loop.ReadWrite)
		g.arrays = append(g.arrays, array{id: id, elem: elem, buffer: true})
	}
	for range g.upto(3) {
		elem := pick(g.generator, counters)
		id := buffer("sum", elem, 8, loop.ReadWrite)
		g.sums = append(g.sums, array{id: id, elem: elem, op: pick(g.generator, commutative)})
	}
	for range g.upto(3) {
		elem := pick(g.generator, g.types)
		id := loop.BufID(len(g.f.Bufs) + len(g.f.Grid.Shared))
		g.f.Grid.Shared = append(g.f.Grid.Shared, loop.Shared{Name: pick(g.generator, gridNames), Elem: elem, Len: g.threads})
		g.lens = append(g.lens, g.threads)
		g.arrays = append(g.arrays, array{id: id, elem: elem})
	}
	g.bufs = g.f.Buffers()
	for range g.upto(3) {
		id := g.declare(g.fresh(loop.I64))
		g.f.Args = append(g.f.Args, id)
		g.levels[id] = inBlock
		c.Args = append(c.Args, int64(g.constant(loop.I64).Bits))
	}
	g.longest = 16
	g.f.Body = g.block(g.start())
	if g.oneIn(3) {
		g.f.Body = append(g.f.Body, g.failure(nowhere)...)
	}
	g.f = loop.Compact(g.f)
	c.Func = g.f
	return c
}

// gridNames are names of shared arrays; the text must tell some from statements.
var gridNames = []string{"s", "shared", "barrier", "atomic_add", "thread"}

// start names the special registers and defines what is shared.
func (g *gridGenerator) start() []loop.Stmt {
	var body []loop.Stmt
	let := func(l level, value loop.Expr) *loop.Ref {
		r := g.named(l, loop.I64)
		body = append(body, &loop.Let{Var: r.Var, Value: value})
		return r
	}
	block := let(inBlock, &loop.Special{Reg: loop.BlockIndex})
	let(inBlock, &loop.Special{Reg: loop.BlockCount})
	let(inWarp, &loop.Special{Reg: loop.WarpIndex})
	let(nowhere, &loop.Special{Reg: loop.LaneIndex})
	g.thread = let(nowhere, &loop.Special{Reg: loop.ThreadIndex})
	g.place = let(inBlock, &loop.Binary{Op: loop.Mul, Typ: loop.I64, X: block, Y: loop.Int(g.threads)})
	g.own = let(nowhere, &loop.Binary{Op: loop.Add, Typ: loop.I64, X: g.place, Y: g.thread})
	for _, a := range g.arrays {
		if !a.buffer {
			body = append(body, &loop.Store{Buf: a.id, Index: g.thread, Value: g.even(nowhere, a.elem.Compute(), 2)})
		}
	}
	return body
}

// named makes a variable of a level.
func (g *gridGenerator) named(l level, t loop.Type) *loop.Ref {
	r := g.fresh(t)
	g.declare(r)
	g.levels[r.Var] = l
	return r
}

// even draws an expression that is the same for the threads of a level.
func (g *gridGenerator) even(l level, t loop.Type, height int) loop.Expr {
	scope, lens := g.scope, g.lens
	defer func() { g.scope, g.lens = scope, lens }()
	g.scope, g.lens = nil, make([]int64, len(lens))
	for _, v := range scope {
		if g.levels[v.ref.Var] <= l {
			g.scope = append(g.scope, v)
		}
	}
	for _, id := range g.readable {
		g.lens[id] = lens[id]
	}
	for _, a := range g.arrays {
		if a.mode == read && !a.buffer {
			g.lens[a.id] = lens[a.id]
		}
	}
	return g.expr(t, height)
}

func (g *gridGenerator) level() level { return pick(g.generator, []level{nowhere, inBlock, inWarp}) }

// block draws statements after those given, all in one scope.
func (g *gridGenerator) block(body []loop.Stmt) []loop.Stmt {
	mark := len(g.scope)
	for range 1 + g.upto(g.longest) {
		if g.stmtsLeft > 0 {
			g.stmtsLeft--
			body = append(body, g.stmt()...)
		}
	}
	g.scope = g.scope[:mark]
	return body
}

// under draws a block whose running something of a level decides. Where there are
// barriers in it, the arrays are at its end what they were at its start.
func (g *gridGenerator) under(l level, before []loop.Stmt) []loop.Stmt {
	control, barriers, arrays := g.control, g.barriers, append([]array{}, g.arrays...)
	g.control = max(control, l)
	longest := g.longest
	g.longest = 6
	body := g.block(before)
	g.control, g.longest = control, longest
	if g.barriers != barriers {
		body = append(body, &loop.Barrier{})
		g.arrays = arrays
	}
	return body
}

func (g *gridGenerator) stmt() []loop.Stmt {
	switch g.upto(16) {
	case 0, 1:
		return g.access()
	case 2:
		l := g.level()
		value := g.even(l, g.computeType(), 3)
		return []loop.Stmt{&loop.Let{Var: g.named(l, value.Type()).Var, Value: value}}
	case 3:
		return g.variable()
	case 4, 5:
		return g.assign()
	case 6, 7:
		return g.shuffle()
	case 8:
		return g.ballot()
	case 9, 10:
		return g.barrier()
	case 11:
		return g.sum()
	case 12:
		l := g.level()
		s := &loop.If{Cond: g.even(l, loop.Bool, 2)}
		s.Then = g.under(l, nil)
		if g.oneIn(2) {
			s.Else = g.under(l, nil)
		}
		return []loop.Stmt{s}
	case 13:
		return g.loop()
	case 14:
		return g.while()
	}
	if g.control > inBlock || !g.oneIn(8) {
		return g.access()
	}
	return g.failure(inBlock)
}

// access draws a load, a store or an atomic of an array as its mode allows.
func (g *gridGenerator) access() []loop.Stmt {
	a := pick(g.generator, g.arrays)
	index := loop.Expr(g.thread)
	if a.buffer {
		index = g.own
	}
	t := a.elem.Compute()
	switch a.mode {
	case counted:
		index = masked(g.even(nowhere, loop.I64, 2), g.threads)
		if a.buffer {
			index = &loop.Binary{Op: loop.Add, Typ: loop.I64, X: g.place, Y: index}
		}
		return []loop.Stmt{&loop.Atomic{Var: loop.NoVar, Op: a.op, Buf: a.id, Index: index, Value: g.even(nowhere, t, 2)}}
	case read:
		index = masked(g.even(nowhere, loop.I64, 2), g.threads)
		if a.buffer {
			index = &loop.Binary{Op: loop.Add, Typ: loop.I64, X: g.place, Y: index}
		}
	case owned:
		switch {
		case loop.AtomicExchange.Takes(a.elem) && g.oneIn(3):
			return g.ownAtomic(a, index)
		case !g.oneIn(3):
			return []loop.Stmt{&loop.Store{Buf: a.id, Index: index, Value: g.even(nowhere, t, 3)}}
		}
	}
	r := g.named(nowhere, t)
	return g.kept(&loop.Let{Var: r.Var, Value: &loop.Load{Buf: a.id, Elem: a.elem, Index: index}}, r)
}

// ownAtomic draws an atomic on an element that is the thread's own.
func (g *gridGenerator) ownAtomic(a array, index loop.Expr) []loop.Stmt {
	s := &loop.Atomic{Op: pick(g.generator, append(commutative, loop.AtomicExchange, loop.AtomicCompareAndSwap)), Buf: a.id, Index: index}
	if s.Op == loop.AtomicCompareAndSwap {
		s.Expected = g.even(nowhere, a.elem, 1)
	}
	s.Value = g.even(nowhere, a.elem, 2)
	r := g.named(nowhere, a.elem)
	s.Var = r.Var
	return g.kept(s, r)
}

func (g *gridGenerator) variable() []loop.Stmt {
	l := g.level()
	value := g.even(l, g.computeType(), 3)
	r := g.fresh(value.Type())
	g.scope = append(g.scope, variable{ref: r, usage: assignable})
	g.levels[r.Var] = max(l, g.control)
	return []loop.Stmt{&loop.Let{Var: r.Var, Mutable: true, Value: value}}
}

func (g *gridGenerator) assign() []loop.Stmt {
	var able []*loop.Ref
	for _, v := range g.scope {
		if v.usage == assignable && g.levels[v.ref.Var] >= g.control {
			able = append(able, v.ref)
		}
	}
	if len(able) == 0 {
		return g.variable()
	}
	r := pick(g.generator, able)
	return []loop.Stmt{&loop.Assign{Var: r.Var, Value: g.even(g.levels[r.Var], r.Typ, 3)}}
}

func (g *gridGenerator) shuffle() []loop.Stmt {
	if g.control > inWarp {
		return g.assign()
	}
	s := &loop.Shuffle{Width: pick(g.generator, []int{32, 8, 1, 16, 2, 4})}
	s.Kind = pick(g.generator, []loop.ShuffleKind{loop.ShuffleIndex, loop.ShuffleXor, loop.ShuffleUp, loop.ShuffleDown})
	l, from := g.level(), g.level()
	s.Value, s.Lane = g.even(l, g.computeType(), 2), g.even(from, loop.I64, 2)
	if s.Kind == loop.ShuffleIndex && s.Width == loop.WarpSize {
		l = max(min(l, inWarp), from)
	}
	r := g.named(l, s.Value.Type())
	s.Var = r.Var
	return g.kept(s, r)
}

// kept is s and, often, a store of what it gives to the variable r, so that it is
// seen.
func (g *gridGenerator) kept(s loop.Stmt, r *loop.Ref) []loop.Stmt {
	for _, a := range g.arrays {
		if a.mode == owned && !g.oneIn(3) {
			index := g.thread
			if a.buffer {
				index = g.own
			}
			return []loop.Stmt{s, &loop.Store{Buf: a.id, Index: index, Value: loop.NewCast(a.elem.Compute(), r)}}
		}
	}
	return []loop.Stmt{s}
}

func (g *gridGenerator) ballot() []loop.Stmt {
	if g.control > inWarp {
		return g.assign()
	}
	l := g.level()
	s := &loop.Ballot{Cond: g.even(l, loop.Bool, 2)}
	if l == nowhere && g.oneIn(2) {
		s.Cond = &loop.Binary{Op: loop.Lt, Typ: loop.Bool, X: g.thread, Y: loop.Int(int64(g.upto(64)))}
	}
	r := g.named(min(l, inWarp), loop.U32)
	s.Var = r.Var
	return g.kept(s, r)
}

// barrier draws a barrier and what becomes of the arrays behind it.
func (g *gridGenerator) barrier() []loop.Stmt {
	if g.control <= inWarp && g.oneIn(3) {
		return g.inWarp()
	}
	if g.control > inBlock {
		return g.sum()
	}
	g.barriers++
	for i := range g.arrays {
		a := &g.arrays[i]
		a.mode = pick(g.generator, []mode{owned, read, counted})
		a.op = pick(g.generator, commutative)
		if a.mode == counted && !loop.AtomicExchange.Takes(a.elem) {
			a.mode = read
		}
	}
	return []loop.Stmt{&loop.Barrier{}}
}

// inWarp draws a load of an element of another thread of the warp, between two
// barriers of the warp.
func (g *gridGenerator) inWarp() []loop.Stmt {
	wait := &loop.Barrier{Scope: loop.WarpScope}
	a := pick(g.generator, g.arrays)
	if a.mode != owned {
		return []loop.Stmt{wait}
	}
	first := &loop.Binary{Op: loop.And, Typ: loop.I64, X: g.thread, Y: loop.Int(-loop.WarpSize)}
	index := loop.NewBinary(loop.Add, first, masked(g.even(nowhere, loop.I64, 2), loop.WarpSize))
	if a.buffer {
		index = loop.NewBinary(loop.Add, g.place, index)
	}
	r := g.named(nowhere, a.elem.Compute())
	load := &loop.Let{Var: r.Var, Value: &loop.Load{Buf: a.id, Elem: a.elem, Index: index}}
	return append([]loop.Stmt{wait, load, wait}, g.kept(&loop.Comment{Text: "of the warp"}, r)...)
}

// sum draws a change of an accumulator.
func (g *gridGenerator) sum() []loop.Stmt {
	if len(g.sums) == 0 {
		return g.access()
	}
	a := pick(g.generator, g.sums)
	index := masked(g.even(nowhere, loop.I64, 2), g.lens[a.id])
	return []loop.Stmt{&loop.Atomic{Var: loop.NoVar, Op: a.op, Buf: a.id, Index: index, Value: g.even(nowhere, a.elem, 2)}}
}

// failure draws a failure on a condition of a level.
func (g *gridGenerator) failure(l level) []loop.Stmt {
	return []loop.Stmt{&loop.If{Cond: g.even(l, loop.Bool, 2), Then: []loop.Stmt{&loop.Fail{Code: g.upto(2)}}}}
}

// loop draws a loop of at most four turns.
func (g *gridGenerator) loop() []loop.Stmt {
	if !g.enterLoop() {
		return g.access()
	}
	l := g.level()
	s := &loop.For{Lo: loop.Int(int64(g.upto(3)) - 1), Hi: masked(g.even(l, loop.I64, 2), 4)}
	mark := len(g.scope)
	s.Var = g.named(max(l, g.control), loop.I64).Var
	s.Body = g.under(l, nil)
	g.scope = g.scope[:mark]
	g.loopsLeft++
	return []loop.Stmt{s}
}

// while draws a loop with a counter that lets it end after three turns.
func (g *gridGenerator) while() []loop.Stmt {
	if !g.enterLoop() {
		return g.access()
	}
	l := g.level()
	counter := g.named(max(l, g.control), loop.I64)
	start := &loop.Let{Var: counter.Var, Mutable: true, Value: loop.Int(0)}
	cond := loop.Expr(&loop.Binary{Op: loop.Lt, Typ: loop.Bool, X: counter, Y: loop.Int(3)})
	if g.oneIn(2) {
		cond = &loop.Binary{Op: loop.And, Typ: loop.Bool, X: cond, Y: g.even(l, loop.Bool, 2)}
	}
	next := &loop.Assign{Var: counter.Var, Value: &loop.Binary{Op: loop.Add, Typ: loop.I64, X: counter, Y: loop.Int(1)}}
	body := g.under(l, []loop.Stmt{next})
	g.loopsLeft++
	return []loop.Stmt{start, &loop.While{Cond: cond, Body: body}}
}
