package interp

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// gridCode is what the compiler collects of a grid function besides its body.
type gridCode struct {
	registers [loop.LaneIndex + 1]slot
	used      [loop.LaneIndex + 1]bool
	meets     bool // threads wait for each other somewhere
}

// special is the register of the file that holds a special register.
func (c *compiler) special(r loop.Register) slot {
	if c.grid == nil || c.result != nil || r == loop.InvalidRegister || int(r) >= len(c.grid.registers) {
		c.fail("%s() has no value here", r)
		return 0
	}
	if !c.grid.used[r] {
		c.grid.used[r] = true
		c.grid.registers[r] = c.allocate(loop.I64)
	}
	return c.grid.registers[r]
}

// place compiles the index of an access. In a grid function it also has the access
// looked at, just before it happens: the closures that fuse an index with the
// access do not see through that.
func (c *compiler) place(id loop.BufID, elem loop.Type, index loop.Expr, how access) (bufRef, value[int64]) {
	b, i := c.buffer(id, elem), c.index(index)
	if c.err != nil || c.grid == nil || c.bufs[id].ReadOnly {
		return b, i
	}
	f, n := i.code(), int(id)
	return b, computed(func(fr *frame) int64 {
		i := f(fr)
		fr.thread.touch(n, i, how)
		return i
	})
}

// A meeting is a statement at which threads wait for each other.
type meeting struct {
	text  string // for messages
	scope loop.Scope
	// exchange is what happens when all threads of a warp are there; nil for
	// barriers.
	exchange func(*warp)
}

// abandoned is the status of a thread that never gets on from a meeting.
const abandoned = -100

// wait is a statement that waits at m.
func (m *meeting) wait(fr *frame) int64 {
	t := fr.thread
	t.at = m
	if !t.yield(struct{}{}) {
		t.given = true
		return abandoned
	}
	return 0
}

func (c *compiler) gridStmt(s loop.Stmt) exec {
	if c.grid == nil || c.result != nil {
		c.fail("%T belongs into a grid function", s)
		return nil
	}
	switch s := s.(type) {
	case *loop.Barrier:
		c.grid.meets = true
		m := &meeting{text: "a barrier", scope: s.Scope}
		return m.wait
	case *loop.Shuffle:
		return c.shuffle(s)
	case *loop.Ballot:
		return c.ballot(s)
	case *loop.Atomic:
		return c.atomic(s)
	}
	return nil
}

// introduce declares a variable that a statement gives its value.
func (c *compiler) introduce(id loop.VarID, t loop.Type) slot {
	s := c.declare(id, fixed)
	if c.err == nil && c.vars[id].typ != t {
		c.fail("variable %d has type %s, its value %s", id, c.vars[id].typ, t)
	}
	return s
}

func (c *compiler) shuffle(s *loop.Shuffle) exec {
	c.grid.meets = true
	t := s.Value.Type()
	own := c.allocate(t)
	set := c.set(variable{typ: t, slot: own}, s.Value)
	lane := c.index(s.Lane)
	to := c.introduce(s.Var, t)
	if c.err != nil {
		return nil
	}
	words := max(1, t.Size()/8)
	m := &meeting{text: s.Kind.String(), scope: loop.WarpScope, exchange: func(w *warp) {
		for i, t := range w.threads {
			from := w.threads[s.Kind.Source(int64(i), t.operand, s.Width)]
			copy(t.frame.file[to/8:][:words], from.frame.file[own/8:][:words])
		}
	}}
	operand := lane.code()
	return func(fr *frame) int64 {
		set(fr)
		fr.thread.operand = operand(fr)
		return m.wait(fr)
	}
}

func (c *compiler) ballot(s *loop.Ballot) exec {
	c.grid.meets = true
	c.expect(s.Cond, loop.Bool, "the condition of a ballot")
	if c.err != nil {
		return nil
	}
	cond := c.bool(s.Cond).code()
	to := c.introduce(s.Var, loop.U32)
	m := &meeting{text: "a ballot", scope: loop.WarpScope, exchange: func(w *warp) {
		votes := int64(0)
		for i, t := range w.threads {
			votes |= t.operand << i
		}
		for _, t := range w.threads {
			*reg[int64](t.frame, to) = votes
		}
	}}
	return func(fr *frame) int64 {
		fr.thread.operand = 0
		if cond(fr) {
			fr.thread.operand = 1
		}
		return m.wait(fr)
	}
}

func (c *compiler) atomic(s *loop.Atomic) exec {
	if s.Buf < 0 || int(s.Buf) >= len(c.bufs) {
		c.fail("there is no buffer %d", s.Buf)
		return nil
	}
	buf := c.bufs[s.Buf]
	if buf.ReadOnly || !s.Op.Takes(buf.Elem) {
		c.fail("%s does not apply to buffer %s", s.Op, buf.Name)
		return nil
	}
	switch buf.Elem {
	case loop.I32:
		return atomicOn[int32](c, s)
	case loop.U32:
		return atomicOn[uint32](c, s)
	case loop.I64:
		return atomicOn[int64](c, s)
	}
	return atomicOn[uint64](c, s)
}

// atomicOn compiles an atomic on elements of type E.
func atomicOn[E int32 | uint32 | int64 | uint64](c *compiler, s *loop.Atomic) exec {
	elemType := c.bufs[s.Buf].Elem
	how := changing
	if s.Op == loop.AtomicExchange {
		how = exchanging
	}
	b, i := c.place(s.Buf, elemType, s.Index, how)
	c.expect(s.Value, elemType, "the value of an atomic")
	expected := func(*frame) int64 { return 0 }
	if s.Op == loop.AtomicCompareAndSwap {
		c.expect(s.Expected, elemType, "the expected value of an atomic")
		if c.err == nil {
			expected = c.int(s.Expected).code()
		}
	}
	if c.err != nil {
		return nil
	}
	index, value, op := i.code(), c.int(s.Value).code(), s.Op
	keep := func(*frame, int64) {}
	if s.Var != loop.NoVar {
		to := c.introduce(s.Var, elemType)
		keep = func(fr *frame, old int64) { *reg[int64](fr, to) = old }
	}
	return func(fr *frame) int64 {
		want, v := E(expected(fr)), E(value(fr))
		p := elem[E](fr, b, index(fr))
		old := *p
		*p = changed(op, old, v, want)
		keep(fr, int64(old))
		return 0
	}
}

// changed is the new value of an element.
func changed[E int32 | uint32 | int64 | uint64](op loop.AtomicOp, old, v, expected E) E {
	switch op {
	case loop.AtomicAdd:
		return old + v
	case loop.AtomicMin:
		return min(old, v)
	case loop.AtomicMax:
		return max(old, v)
	case loop.AtomicAnd:
		return old & v
	case loop.AtomicOr:
		return old | v
	case loop.AtomicCompareAndSwap:
		if old != expected {
			return old
		}
	}
	return v
}
