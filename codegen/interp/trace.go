package interp

import (
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// An Event is a statement that a traced kernel ran: a Let, Assign or Store that is done, an If
// whose condition is known, or a For or While that begins an iteration.
type Event struct {
	Stmt loop.Stmt
	// Value is what a variable was set to or what was stored, as memory holds it, the
	// coordinate of a For, or the condition of an If or While.
	Value loop.Const
	Reads []Place // the elements that the statement itself loads, but those found through other loads
	Write Place   // the element that a Store stores to
}

// Place is an element of a buffer.
type Place struct {
	Buf   loop.BufID
	Index int64
}

// CompileTraced is Compile of a function that calls trace for each statement as it runs. The
// event is valid during the call. Statements inside scalar functions are not told of.
func CompileTraced(f *loop.Func, lookup func(string) (*loop.Scalar, bool), trace func(*Event)) (*Kernel, error) {
	return compile(f, &compiler{lookup: lookup, trace: trace})
}

// traced compiles a statement that is not in a scalar function so that it tells of itself.
func (c *compiler) traced(s loop.Stmt) exec {
	switch s := s.(type) {
	case *loop.Let:
		return c.tell(s, c.untraced(s), c.register(s.Var))
	case *loop.Assign:
		return c.tell(s, c.untraced(s), c.register(s.Var))
	case *loop.Store:
		return c.tellStore(s, c.untraced(s))
	case *loop.If:
		cond, run := c.bool(s.Cond).code, c.untraced(s)
		if c.err != nil {
			return nil
		}
		holds := cond()
		test := c.tell(s, func(*frame) int64 { return 0 }, func(fr *frame) loop.Const { return boolConst(holds(fr)) })
		return sequence([]exec{test, run})
	}
	return c.untraced(s) // loops tell of each iteration
}

// iteration is the body of a loop, behind a word that an iteration begins.
func (c *compiler) iteration(s loop.Stmt, value func(*frame) loop.Const, body exec) exec {
	if c.trace == nil || c.result != nil || c.err != nil {
		return body
	}
	return sequence([]exec{c.tell(s, func(*frame) int64 { return 0 }, value), body})
}

// tell runs a statement and tells of it, with a value that is looked at afterwards.
func (c *compiler) tell(s loop.Stmt, run exec, value func(*frame) loop.Const) exec {
	reads, trace := c.accesses(s), c.trace
	if c.err != nil {
		return nil
	}
	return func(fr *frame) int64 {
		e := Event{Stmt: s, Reads: reads(fr)}
		if st := run(fr); st != 0 {
			return st
		}
		e.Value = value(fr)
		trace(&e)
		return 0
	}
}

// tellStore is tell of a store, whose place is looked at before it runs.
func (c *compiler) tellStore(s *loop.Store, run exec) exec {
	reads, trace, index := c.accesses(s), c.trace, c.index(s.Index)
	if c.err != nil {
		return nil
	}
	at, elem := index.code(), c.bufs[s.Buf].Elem
	b := c.buffer(s.Buf, elem)
	return func(fr *frame) int64 {
		e := Event{Stmt: s, Reads: reads(fr), Write: Place{s.Buf, at(fr)}}
		if st := run(fr); st != 0 {
			return st
		}
		m := (*Memory)(unsafe.Add(fr.bufs, b))
		e.Value = stored(elem, unsafe.Add(m.Ptr, uintptr(e.Write.Index)*uintptr(elem.Size())))
		trace(&e)
		return 0
	}
}

// accesses finds the elements that a statement loads. Those whose index is loaded itself are left
// out: a condition may guard such an index, and it has been told of where it was set.
func (c *compiler) accesses(s loop.Stmt) func(*frame) []Place {
	var bufs []loop.BufID
	var index []func(*frame) int64
	var find func(loop.Expr) (loads bool)
	find = func(e loop.Expr) (loads bool) {
		for _, x := range loop.Operands(e) {
			loads = find(x) || loads
		}
		l, ok := e.(*loop.Load)
		if ok && !loads && c.err == nil {
			bufs, index = append(bufs, l.Buf), append(index, c.index(l.Index).code())
		}
		return ok || loads
	}
	for _, e := range loop.Exprs(s) {
		find(e)
	}
	return func(fr *frame) []Place {
		list := make([]Place, len(bufs))
		for i, f := range index {
			list[i] = Place{bufs[i], f(fr)}
		}
		return list
	}
}

// register is the value of a variable.
func (c *compiler) register(id loop.VarID) func(*frame) loop.Const {
	if id < 0 || int(id) >= len(c.vars) {
		return nil // compiling its statement has failed
	}
	v := c.vars[id]
	return func(fr *frame) loop.Const { return stored(v.typ, unsafe.Pointer(reg[uint64](fr, v.slot))) }
}

// stored is the value of a type at an address.
func stored(t loop.Type, at unsafe.Pointer) loop.Const {
	k := loop.Const{Typ: t}
	switch t.Size() {
	case 1:
		k.Bits = uint64(*(*uint8)(at))
	case 2:
		k.Bits = uint64(*(*uint16)(at))
	case 4:
		k.Bits = uint64(*(*uint32)(at))
	default:
		k.Bits = *(*uint64)(at)
	}
	switch {
	case t == loop.F16:
		return loop.Const{Typ: loop.F32, Bits: uint64(math.Float32bits(loop.F16ToF32(uint16(k.Bits))))}
	case t == loop.BF16:
		return loop.Const{Typ: loop.F32, Bits: uint64(math.Float32bits(loop.BF16ToF32(uint16(k.Bits))))}
	case t == loop.C64:
		k.Bits, k.Imag = k.Bits&math.MaxUint32, k.Bits>>32
	case t == loop.C128:
		k.Imag = *(*uint64)(unsafe.Add(at, 8))
	case t.IsInt(): // extended from its width
		return loop.EvalCast(t, loop.Const{Typ: loop.U64, Bits: k.Bits})
	}
	return k
}

func boolConst(b bool) loop.Const {
	k := loop.Const{Typ: loop.Bool}
	if b {
		k.Bits = 1
	}
	return k
}
