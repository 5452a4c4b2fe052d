package aot

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// helpers are the functions that all drivers have.
type helpers struct {
	fail, failn, same, zero, copy, head, extents, array, ask, own, given, apart *ir.Func
}

// makeHelpers builds them.
func (c *coder) makeHelpers() *helpers {
	h := &helpers{}
	h.fail = c.failFunc()
	h.failn = c.failnFunc(h)
	h.same = c.sameFunc()
	h.zero = c.zeroFunc()
	h.copy = c.copyFunc()
	h.head = c.headFunc(h)
	h.extents = c.extentsFunc(h)
	h.array = c.arrayFunc(h)
	h.ask = c.askFunc()
	h.own = c.ownFunc(h)
	h.given = c.givenFunc(h)
	h.apart = c.apartFunc(h)
	return h
}

// failFunc ends a run with an error: what it is about, and a sentence.
func (c *coder) failFunc() *ir.Func {
	call, code, tensor, message := param("call", wordPtr), param("code", types.I32), param("tensor"), param("message", bytePtr)
	f := c.begin(".fail", types.I32, call, code, tensor, message)
	c.store(call, callTensor, tensor)
	c.store(call, callMessage, c.address(message))
	c.store(c.pointer(c.load(call, callState)), stateAt, num(runOver))
	c.ret(code)
	return f
}

// failnFunc ends a run with sentence k of several, which stand one after the other.
func (c *coder) failnFunc(h *helpers) *ir.Func {
	call, code, tensor, messages, k := param("call", wordPtr), param("code", types.I32), param("tensor"), param("messages", bytePtr), param("k")
	f := c.begin(".failn", types.I32, call, code, tensor, messages, k)
	entry, test, count, done := c.Block, c.NewBlock("test"), c.NewBlock("count"), c.NewBlock("done")
	c.jump(test)
	c.Enter(test)
	at := c.Block.NewPhi(ir.NewIncoming(messages, entry))
	left := c.Block.NewPhi(ir.NewIncoming(k, entry))
	c.branch(c.icmp(eq, left, num(0)), done, count)
	c.Enter(count)
	char := c.Block.NewLoad(types.I8, at)
	at.Incs = append(at.Incs, ir.NewIncoming(c.at(at, num(1)), count))
	end := c.Block.NewZExt(c.icmp(eq, char, constant.NewInt(types.I8, 0)), types.I64)
	left.Incs = append(left.Incs, ir.NewIncoming(c.sub(left, end), count))
	c.jump(test)
	c.Enter(done)
	c.ret(c.do(h.fail, call, code, tensor, at))
	return f
}

// sameFunc compares strings.
func (c *coder) sameFunc() *ir.Func {
	x, y := param("x", bytePtr), param("y", bytePtr)
	f := c.begin(".same", types.I1, x, y)
	entry, next, more := c.Block, c.NewBlock("next"), c.NewBlock("more")
	same, differ := c.NewBlock("same"), c.NewBlock("differ")
	c.jump(next)
	c.Enter(next)
	i := c.counter(entry)
	cx, cy := c.Block.NewLoad(types.I8, c.at(x, i)), c.Block.NewLoad(types.I8, c.at(y, i))
	c.branch(c.icmp(eq, cx, cy), more, differ)
	c.Enter(more)
	c.count(i)
	c.branch(c.icmp(eq, cx, constant.NewInt(types.I8, 0)), same, next)
	c.Enter(same)
	c.ret(constant.True)
	c.Enter(differ)
	c.ret(constant.False)
	return f
}

// zeroFunc clears memory. It is worth LLVM's time.
func (c *coder) zeroFunc() *ir.Func {
	address, n := param("address"), param("n")
	f := c.begin(".zero", types.Void, address, n)
	f.FuncAttrs = append(f.FuncAttrs[:1], f.FuncAttrs[2:]...)
	p := c.pointer(address, bytePtr)
	entry, next, done := c.Block, c.NewBlock("next"), c.NewBlock("done")
	c.branch(c.icmp(sgt, n, num(0)), next, done)
	c.Enter(next)
	i := c.counter(entry)
	c.Block.NewStore(constant.NewInt(types.I8, 0), c.at(p, i))
	c.branch(c.icmp(slt, c.count(i), n), next, done)
	c.Enter(done)
	c.ret(nil)
	return f
}

// copyFunc copies an element.
func (c *coder) copyFunc() *ir.Func {
	to, from, n := param("to"), param("from"), param("n")
	f := c.begin(".copy", types.Void, to, from, n)
	p, q := c.pointer(to, bytePtr), c.pointer(from, bytePtr)
	entry, next, done := c.Block, c.NewBlock("next"), c.NewBlock("done")
	c.jump(next)
	c.Enter(next)
	i := c.counter(entry)
	place := c.at(p, i)
	b := c.Block.NewLoad(types.I8, c.at(q, i))
	b.Volatile = true // or LLVM would call memcpy
	c.Block.NewStore(b, place)
	c.branch(c.icmp(slt, c.count(i), n), next, done)
	c.Enter(done)
	c.ret(nil)
	return f
}

// What a tensor must have, for the helper head.
const needsExtents, needsLevels = 1, 2

// headFunc checks the rank and the format of a tensor, and that it has what it needs.
func (c *coder) headFunc(h *helpers) *ir.Func {
	call, t, tensor, rank := param("call", wordPtr), param("t", wordPtr), param("tensor"), param("rank")
	format, needs, messages := param("format", bytePtr), param("needs"), param("messages", bytePtr)
	f := c.begin(".head", types.I32, call, t, tensor, rank, format, needs, messages)
	fails := func(cond value.Value, s Status, k int) {
		c.bad(cond, func() { c.ret(c.do(h.failn, call, num32(s), tensor, messages, num(k))) })
	}
	fails(c.icmp(ne, c.load(t, tensorRank), rank), ErrRank, 0)
	named := c.load(t, tensorFormat)
	compare, pointers := c.NewBlock("compare"), c.NewBlock("pointers")
	c.branch(c.icmp(eq, named, num(0)), pointers, compare)
	c.Enter(compare)
	same := c.do(h.same, c.pointer(named, bytePtr), format)
	fails(c.Block.NewXor(same, constant.True), ErrFormat, 1)
	c.jump(pointers)
	c.Enter(pointers)
	for k, part := range []struct{ word, need int }{{tensorExtents, needsExtents}, {tensorLevels, needsLevels}} {
		null := c.icmp(eq, c.load(t, part.word), num(0))
		wants := c.icmp(ne, c.and(needs, num(part.need)), num(0))
		fails(c.and(null, wants), ErrNull, 2+k)
	}
	c.ret(num32(OK))
	return f
}

// extentsFunc takes the extents of an operand over.
func (c *coder) extentsFunc(h *helpers) *ir.Func {
	call, extents, scalars := param("call", wordPtr), param("extents", wordPtr), param("scalars", wordPtr)
	rank, tensor, message := param("rank"), param("tensor"), param("message", bytePtr)
	f := c.begin(".extents", types.I32, call, extents, scalars, rank, tensor, message)
	entry, next, done := c.Block, c.NewBlock("next"), c.NewBlock("done")
	c.jump(next)
	c.Enter(next)
	axis := c.counter(entry)
	from, to := c.at(extents, axis), c.at(scalars, axis)
	n := c.load(from, 0)
	c.bad(c.icmp(slt, n, num(0)), func() { c.ret(c.do(h.fail, call, num32(ErrExtent), tensor, message)) })
	c.store(to, 0, n)
	c.branch(c.icmp(slt, c.count(axis), rank), next, done)
	c.Enter(done)
	c.ret(num32(OK))
	return f
}

// arrayFunc checks an array of an operand and takes it over: type, length, address, alignment.
func (c *coder) arrayFunc(h *helpers) *ir.Func {
	call, array, slot, wanted := param("call", wordPtr), param("array", wordPtr), param("slot", wordPtr), param("wanted")
	typ, mask, tensor, typed, messages := param("type"), param("mask"), param("tensor"), param("typed", types.I32), param("messages", bytePtr)
	f := c.begin(".array", types.I32, call, array, slot, wanted, typ, mask, tensor, typed, messages)
	fails := func(cond, status value.Value, k int) {
		c.bad(cond, func() { c.ret(c.do(h.failn, call, status, tensor, messages, num(k))) })
	}
	fails(c.icmp(ne, c.load(array, arrayType), typ), typed, 0)
	n := c.load(array, arrayLen)
	fails(c.Block.NewOr(c.icmp(slt, n, wanted), c.icmp(slt, n, num(0))), num32(ErrLength), 1)
	data := c.load(array, arrayData)
	fails(c.and(c.icmp(eq, data, num(0)), c.icmp(ne, n, num(0))), num32(ErrNull), 2)
	fails(c.icmp(ne, c.and(data, mask), num(0)), num32(ErrAlign), 3)
	c.store(slot, 0, data)
	c.store(slot, 1, n)
	c.ret(num32(OK))
	return f
}

// askFunc says in the call what memory is needed; none if the size is 0. The slot gets an
// address meanwhile.
func (c *coder) askFunc() *ir.Func {
	call, slot, bytes, zero := param("call", wordPtr), param("slot", wordPtr), param("bytes"), param("zero")
	role, tensor, level, array := param("role"), param("tensor"), param("level"), param("array")
	f := c.begin(".ask", types.Void, call, slot, bytes, zero, role, tensor, level, array)
	c.store(slot, 0, c.address(slot))
	for word, v := range []value.Value{needData: num(0), needBytes: bytes, needZero: zero, needRole: role, needTensor: tensor, needLevel: level, needArray: array} {
		c.store(call, callNeed+word, v)
	}
	c.ret(nil)
	return f
}

// ownFunc uses the memory that an array of a result has, or asks for some.
func (c *coder) ownFunc(h *helpers) *ir.Func {
	call, array, slot, bytes := param("call", wordPtr), param("array", wordPtr), param("slot", wordPtr), param("bytes")
	typ, zero, tensor, level, kind := param("type"), param("zero"), param("tensor"), param("level"), param("kind")
	f := c.begin(".own", types.Void, call, array, slot, bytes, typ, zero, tensor, level, kind)
	n := c.load(slot, 1)
	c.store(array, arrayLen, n)
	c.store(array, arrayType, typ)
	data := c.load(array, arrayData)
	usable := c.and(c.icmp(ne, data, num(0)), c.icmp(sge, c.load(array, arrayCap), n))
	take, ask, done := c.NewBlock("take"), c.NewBlock("ask"), c.NewBlock("done")
	c.branch(c.and(usable, c.icmp(ne, bytes, num(0))), take, ask)
	c.Enter(take)
	c.store(slot, 0, data)
	c.store(call, callNeed+needBytes, num(0))
	c.when(c.icmp(ne, zero, num(0)), func() { c.do(h.zero, data, bytes) })
	c.jump(done)
	c.Enter(ask)
	c.do(h.ask, call, slot, bytes, zero, num(RoleResult), tensor, level, kind)
	c.jump(done)
	c.Enter(done)
	c.ret(nil)
	return f
}

// givenFunc takes over the memory that the caller has provided.
func (c *coder) givenFunc(h *helpers) *ir.Func {
	call, array, slot := param("call", wordPtr), param("array", wordPtr), param("slot", wordPtr)
	mask, tensor, messages := param("mask"), param("tensor"), param("messages", bytePtr)
	f := c.begin(".given", types.I32, call, array, slot, mask, tensor, messages)
	fails := func(cond value.Value, s Status, k int) {
		c.bad(cond, func() { c.ret(c.do(h.failn, call, num32(s), tensor, messages, num(k))) })
	}
	data := c.load(call, callNeed+needData)
	fails(c.icmp(eq, data, num(0)), ErrMemory, 0)
	fails(c.icmp(ne, c.and(data, mask), num(0)), ErrAlign, 1)
	c.store(slot, 0, data)
	c.when(c.icmp(ne, c.load(call, callNeed+needZero), num(0)), func() {
		c.do(h.zero, data, c.load(call, callNeed+needBytes))
	})
	c.when(c.icmp(ne, array, constant.NewNull(wordPtr)), func() {
		c.store(array, arrayData, data)
		c.store(array, arrayCap, c.load(slot, 1))
	})
	c.ret(num32(OK))
	return f
}

// apartFunc checks that memory of a result is aligned and overlaps none of several buffers, whose
// words of the state and sizes of elements are listed.
func (c *coder) apartFunc(h *helpers) *ir.Func {
	call, state, slot, bytes, mask := param("call", wordPtr), param("state", wordPtr), param("slot", wordPtr), param("bytes"), param("mask")
	tensor, others, count, messages := param("tensor"), param("others", wordPtr), param("count"), param("messages", bytePtr)
	f := c.begin(".apart", types.I32, call, state, slot, bytes, mask, tensor, others, count, messages)
	fails := func(cond value.Value, s Status, k int) {
		c.bad(cond, func() { c.ret(c.do(h.failn, call, num32(s), tensor, messages, num(k))) })
	}
	p := c.load(slot, 0)
	fails(c.icmp(ne, c.and(p, mask), num(0)), ErrAlign, 1)
	end := c.add(p, bytes)
	start, test, next, done := c.Block, c.NewBlock("test"), c.NewBlock("next"), c.NewBlock("done")
	c.branch(c.icmp(eq, bytes, num(0)), done, test)
	c.Enter(test)
	k := c.counter(start)
	c.branch(c.icmp(slt, k, count), next, done)
	c.Enter(next)
	entry := c.at(others, c.Block.NewShl(k, num(1)))
	other := c.at(state, c.load(entry, 0))
	size := c.load(entry, 1)
	q := c.load(other, 0)
	length := c.mul(c.load(other, 1), size)
	crossing := c.and(c.icmp(ult, p, c.add(q, length)), c.icmp(ult, q, end))
	fails(c.and(crossing, c.icmp(ne, length, num(0))), ErrOverlap, 2)
	c.count(k)
	c.jump(test)
	c.Enter(done)
	c.ret(num32(OK))
	return f
}
