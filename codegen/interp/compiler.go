package interp

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// exec is a compiled statement. It returns 0 to go on, or the status that ends
// the function.
type exec func(*frame) int64

// The compiler walks a function once. It checks, as it goes, every rule of the
// language that the closures rely on, so that no input can make them go astray;
// loop's verifier gives the better messages.
type compiler struct {
	lookup func(string) (*loop.Scalar, bool)
	err    error // the first mistake found; code made after it is never run

	words     int // registers given out so far
	constants map[loop.Const]slot
	scalars   map[string]*callee
	depth     int          // of nested statements and expressions
	grid      *gridCode    // of a grid function; nil in others
	trace     func(*Event) // told of each statement that runs; nil in most
	loops     []loop.InstrumentedLoop
	numbers   map[loop.Stmt]int // of the loops

	function
}

// A function is what the compiler knows of the one it is in.
type function struct {
	where  string // "func f" or "scalar f"
	bufs   []loop.Buf
	fails  int
	result *result // of a scalar function; nil in a func
	vars   []variable
	opened []loop.VarID // visible variables, in order of declaration
}

// A variable is what the compiler knows of a loop.Var.
type variable struct {
	typ   loop.Type
	slot  slot
	state state
}

type state uint8

const (
	hidden   state = iota // not declared yet, or out of scope
	fixed                 // readable
	writable              // readable and assignable
)

// maxDepth bounds the nesting of a function, as the compiler and the closures
// that it makes recurse into it.
const maxDepth = 10000

// maxWords bounds the register file (8 bytes each).
const maxWords = 1 << 24

// fail records a mistake in the function being compiled.
func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("interp: %s: %s", c.where, fmt.Sprintf(format, args...))
	}
}

// enter starts function f with the given variables: each gets a register.
func (c *compiler) enter(f function, vars []loop.Var) {
	c.function = f
	c.vars = make([]variable, len(vars))
	for i, v := range vars {
		if !v.Type.IsCompute() {
			c.fail("variable %s has type %s, which only buffers may have", v.Name, v.Type)
			continue
		}
		c.vars[i] = variable{typ: v.Type, slot: c.allocate(v.Type)}
	}
}

// allocate gives out a register for a value of type t.
func (c *compiler) allocate(t loop.Type) slot {
	s := slot(c.words) * 8
	c.words += max(1, t.Size()/8)
	if c.words > maxWords {
		c.fail("the function needs more than %d registers", maxWords)
		c.words = 0
	}
	return s
}

// registers is the register file at the start of a call.
func (c *compiler) registers() []uint64 {
	file := make([]uint64, max(1, c.words))
	for k, s := range c.constants {
		at := unsafe.Pointer(&file[s/8])
		switch k.Typ {
		case loop.Bool:
			*(*bool)(at) = k.Bits != 0
		case loop.F32:
			*(*float32)(at) = math.Float32frombits(uint32(k.Bits))
		case loop.C64:
			*(*[2]uint32)(at) = [2]uint32{uint32(k.Bits), uint32(k.Imag)}
		case loop.C128:
			*(*[2]uint64)(at) = [2]uint64{k.Bits, k.Imag}
		default:
			file[s/8] = k.Bits
		}
	}
	return file
}

// parameter declares v as a parameter of type t.
func (c *compiler) parameter(v loop.VarID, t loop.Type) slot {
	s := c.declare(v, fixed)
	if c.err == nil && c.vars[v].typ != t {
		c.fail("parameter %d has type %s, want %s", v, c.vars[v].typ, t)
	}
	return s
}

// declare makes v visible until the block that is open now closes.
func (c *compiler) declare(v loop.VarID, st state) slot {
	if v < 0 || int(v) >= len(c.vars) {
		c.fail("there is no variable %d", v)
		return 0
	}
	if c.vars[v].state != hidden {
		c.fail("variable %d is declared twice", v)
	}
	c.vars[v].state = st
	c.opened = append(c.opened, v)
	return c.vars[v].slot
}

// close hides the variables that were declared since mark = len(c.opened).
func (c *compiler) close(mark int) {
	for _, v := range c.opened[mark:] {
		c.vars[v].state = hidden
	}
	c.opened = c.opened[:mark]
}

// variable returns what is known of v, which must be in the given state or one
// that allows more.
func (c *compiler) variable(v loop.VarID, least state) variable {
	switch {
	case v < 0 || int(v) >= len(c.vars):
		c.fail("there is no variable %d", v)
		return variable{}
	case c.vars[v].state == hidden:
		c.fail("variable %d is used where it is not declared", v)
	case c.vars[v].state < least:
		c.fail("variable %d is assigned but is not mutable", v)
	}
	return c.vars[v]
}

// buffer returns the place of buffer b, whose elements are of type t.
func (c *compiler) buffer(b loop.BufID, t loop.Type) bufRef {
	switch {
	case b < 0 || int(b) >= len(c.bufs):
		c.fail("there is no buffer %d", b)
		return 0
	case c.bufs[b].Elem != t:
		c.fail("buffer %s has elements of type %s, not %s", c.bufs[b].Name, c.bufs[b].Elem, t)
	}
	return bufRef(uintptr(b) * unsafe.Sizeof(Memory{}))
}

// descend notes one more level of nesting; the caller must call ascend. It
// reports false, with an error recorded, when there are too many.
func (c *compiler) descend() bool {
	c.depth++
	if c.depth > maxDepth {
		c.fail("code is nested more than %d deep", maxDepth)
	}
	return c.err == nil
}

func (c *compiler) ascend() { c.depth-- }

// expect records a mistake when e does not have type t.
func (c *compiler) expect(e loop.Expr, t loop.Type, what string) {
	if got := e.Type(); got != t {
		c.fail("%s has type %s, want %s", what, got, t)
	}
}
