package looptest

import (
	"encoding/binary"
	"fmt"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// elemTypes are the types a buffer may have.
var elemTypes = []loop.Type{
	loop.Bool, loop.I8, loop.I16, loop.I32, loop.I64, loop.U8, loop.U16, loop.U32, loop.U64,
	loop.F16, loop.BF16, loop.F32, loop.F64, loop.C64, loop.C128,
}

// variable is a variable in scope.
type variable struct {
	ref   *loop.Ref
	usage usage
}

// A usage says whether statements may assign a variable.
type usage uint8

const (
	fixed usage = iota
	assignable
)

// noBuffer is no buffer.
const noBuffer loop.BufID = -1

type generator struct {
	t         *rapid.T
	f         *loop.Func
	bufs      []loop.Buf // of f, shared arrays included
	scalars   []*loop.Scalar
	types     []loop.Type // that elements and variables have
	lens      []int64     // elements of each buffer: 0 or a power of two
	scope     []variable
	exclusive loop.BufID // in an independent loop: the buffer it stores to, not to be loaded
	loopsLeft int        // levels of loops that may still nest
	stmtsLeft int
}

// upto draws a number from 0 to n-1.
func (g *generator) upto(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "choice") }

// oneIn is true once in about n draws, and false for the simplest one.
func (g *generator) oneIn(n int) bool { return g.upto(n) == n-1 }

func pick[T any](g *generator, from []T) T { return from[g.upto(len(from))] }

// names are few, so that functions have variables of equal names.
var names = []string{"a", "b", "i", "p", "to", "s", "abs", "independent"}

func (g *generator) fresh(t loop.Type) *loop.Ref {
	g.f.Vars = append(g.f.Vars, loop.Var{Name: pick(g, names), Type: t})
	return &loop.Ref{Var: loop.VarID(len(g.f.Vars) - 1), Typ: t}
}

func (g *generator) declare(r *loop.Ref) loop.VarID {
	g.scope = append(g.scope, variable{ref: r})
	return r.Var
}

func (g *generator) draw() Case {
	g.f = &loop.Func{Name: "random", Fails: []string{"first", "a \"second\"\nfailure"}}
	g.exclusive = noBuffer
	var c Case
	for i := range 1 + g.upto(6) {
		b := loop.Buf{Name: fmt.Sprintf("m%d", i), Elem: pick(g, elemTypes), ReadOnly: g.oneIn(3)}
		g.f.Bufs = append(g.f.Bufs, b)
		n := pick(g, []int64{4, 1, 2, 8, 16, 0})
		g.lens = append(g.lens, n)
		c.Memory = append(c.Memory, g.memory(b.Elem, int(n)))
	}
	g.bufs = g.f.Bufs
	for range g.upto(3) {
		g.f.Args = append(g.f.Args, g.declare(g.fresh(loop.I64)))
		c.Args = append(c.Args, int64(g.constant(loop.I64).Bits))
	}
	g.f.Chunk = g.declare(g.fresh(loop.I64))
	g.f.Lo = g.declare(g.fresh(loop.I64))
	g.f.Hi = g.declare(g.fresh(loop.I64))
	c.Chunk, c.Lo = int64(g.upto(4)), int64(g.upto(4))
	c.Hi = c.Lo + int64(g.upto(5))
	g.f.Body = g.block(nil)
	g.f = loop.Compact(g.f)
	c.Func = g.f
	return c
}

// memory draws the contents of a buffer.
func (g *generator) memory(elem loop.Type, n int) []byte {
	var m []byte
	for range n {
		if elem == loop.F16 || elem == loop.BF16 {
			m = binary.LittleEndian.AppendUint16(m, rapid.Uint16().Draw(g.t, "half"))
			continue
		}
		c := g.constant(elem)
		part := elem.Real().Size()
		m = append(m, binary.LittleEndian.AppendUint64(nil, c.Bits)[:part]...)
		if elem.IsComplex() {
			m = append(m, binary.LittleEndian.AppendUint64(nil, c.Imag)[:part]...)
		}
	}
	return m
}

// block draws statements after those given, all in one scope.
func (g *generator) block(body []loop.Stmt) []loop.Stmt {
	mark := len(g.scope)
	for range 1 + g.upto(5) {
		if g.stmtsLeft > 0 {
			g.stmtsLeft--
			body = append(body, g.stmt()...)
		}
	}
	g.scope = g.scope[:mark]
	return body
}

func (g *generator) stmt() []loop.Stmt {
	switch g.upto(12) {
	case 0, 1, 2:
		return g.store()
	case 3:
		return []loop.Stmt{g.let(g.computeType(), fixed)}
	case 4:
		return []loop.Stmt{g.let(g.computeType(), assignable)}
	case 5, 6:
		return g.assign()
	case 7:
		return []loop.Stmt{g.branch()}
	case 8:
		return g.counted()
	case 9:
		return g.independent()
	case 10:
		return g.while()
	}
	if g.oneIn(2) {
		return []loop.Stmt{&loop.If{Cond: g.expr(loop.Bool, 2), Then: []loop.Stmt{&loop.Fail{Code: g.upto(2)}}}}
	}
	return []loop.Stmt{&loop.Comment{Text: pick(g, []string{"a comment", "", "  spaced {"})}}
}

func (g *generator) computeType() loop.Type { return pick(g, g.types).Compute() }

func (g *generator) let(t loop.Type, u usage) loop.Stmt {
	value := g.expr(t, 3)
	r := g.fresh(t)
	g.scope = append(g.scope, variable{ref: r, usage: u})
	return &loop.Let{Var: r.Var, Mutable: u == assignable, Value: value}
}

func (g *generator) assign() []loop.Stmt {
	var able []*loop.Ref
	for _, v := range g.scope {
		if v.usage == assignable {
			able = append(able, v.ref)
		}
	}
	if len(able) == 0 {
		return []loop.Stmt{g.let(g.computeType(), assignable)}
	}
	r := pick(g, able)
	return []loop.Stmt{&loop.Assign{Var: r.Var, Value: g.expr(r.Typ, 3)}}
}

// writable are the buffers with elements that a function may store to.
func (g *generator) writable() []loop.BufID {
	var ids []loop.BufID
	for i, b := range g.f.Bufs {
		if !b.ReadOnly && g.lens[i] > 0 {
			ids = append(ids, loop.BufID(i))
		}
	}
	return ids
}

func (g *generator) store() []loop.Stmt {
	ids := g.writable()
	if len(ids) == 0 {
		return nil
	}
	id := pick(g, ids)
	value := g.expr(g.f.Bufs[id].Elem.Compute(), 4)
	return []loop.Stmt{&loop.Store{Buf: id, Index: g.index(id), Value: value}}
}

func (g *generator) branch() loop.Stmt {
	s := &loop.If{Cond: g.expr(loop.Bool, 3), Then: g.block(nil), Seldom: g.upto(4) == 0}
	switch g.upto(3) {
	case 1:
		s.Else = g.block(nil)
	case 2:
		if g.stmtsLeft > 0 {
			g.stmtsLeft--
			s.Else = []loop.Stmt{g.branch()}
		}
	}
	return s
}

// masked is e reduced to 0 … n-1, for n a power of two.
func masked(e loop.Expr, n int64) loop.Expr {
	return &loop.Binary{Op: loop.And, Typ: loop.I64, X: e, Y: loop.Int(n - 1)}
}

// index is an index into a buffer that has elements.
func (g *generator) index(id loop.BufID) loop.Expr {
	if g.oneIn(2) {
		return loop.Int(int64(g.upto(int(g.lens[id]))))
	}
	return masked(g.expr(loop.I64, 2), g.lens[id])
}

// enterLoop counts a level of nesting; it is false when there are enough.
func (g *generator) enterLoop() bool {
	if g.loopsLeft == 0 {
		return false
	}
	g.loopsLeft--
	return true
}

// counted draws a loop of at most four turns.
func (g *generator) counted() []loop.Stmt {
	if !g.enterLoop() {
		return g.store()
	}
	s := &loop.For{Lo: &loop.Ref{Var: g.f.Lo, Typ: loop.I64}, Hi: &loop.Ref{Var: g.f.Hi, Typ: loop.I64}}
	if g.oneIn(2) {
		s.Lo = loop.Int(int64(g.upto(4)) - 2)
		s.Hi = masked(g.expr(loop.I64, 2), 4)
	}
	mark := len(g.scope)
	s.Var = g.declare(g.fresh(loop.I64))
	s.Body = g.block(nil)
	g.scope = g.scope[:mark]
	g.loopsLeft++
	return []loop.Stmt{s}
}

// while draws a loop with a counter that lets it end after three turns.
func (g *generator) while() []loop.Stmt {
	if !g.enterLoop() {
		return g.store()
	}
	counter := g.fresh(loop.I64)
	start := &loop.Let{Var: counter.Var, Mutable: true, Value: loop.Int(0)}
	g.declare(counter)
	cond := loop.Expr(&loop.Binary{Op: loop.Lt, Typ: loop.Bool, X: counter, Y: loop.Int(3)})
	if g.oneIn(2) {
		cond = &loop.Binary{Op: loop.And, Typ: loop.Bool, X: cond, Y: g.expr(loop.Bool, 2)}
	}
	next := &loop.Assign{Var: counter.Var, Value: &loop.Binary{Op: loop.Add, Typ: loop.I64, X: counter, Y: loop.Int(1)}}
	body := g.block([]loop.Stmt{next})
	g.loopsLeft++
	return []loop.Stmt{start, &loop.While{Cond: cond, Body: body}}
}

// independent draws a loop over all elements of a buffer, each computed from
// itself, from other buffers and from what is constant in the loop.
func (g *generator) independent() []loop.Stmt {
	ids := g.writable()
	if len(ids) == 0 || g.exclusive != noBuffer {
		return g.assign()
	}
	id := pick(g, ids)
	elem := g.f.Bufs[id].Elem
	mark := len(g.scope)
	i := g.fresh(loop.I64)
	g.declare(i)
	g.exclusive = id
	old := g.fresh(elem.Compute())
	body := []loop.Stmt{&loop.Let{Var: old.Var, Value: &loop.Load{Buf: id, Elem: elem, Index: i}}}
	g.declare(old)
	body = append(body, g.let(g.computeType(), fixed))
	body = append(body, &loop.Store{Buf: id, Index: i, Value: g.expr(elem.Compute(), 3)})
	g.exclusive = noBuffer
	g.scope = g.scope[:mark]
	return []loop.Stmt{&loop.For{Var: i.Var, Lo: loop.Int(0), Hi: loop.Int(g.lens[id]), Body: body, Independent: true}}
}
