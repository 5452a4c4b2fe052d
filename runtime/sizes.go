package runtime

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/internal/overflow"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Size expressions are compiled to postfix code when the program is, and run
// on a stack that belongs to the run. That costs no allocation, and every step
// is checked: a size that does not fit an int64 is an error, never a wrapped
// value that something is then allocated by.

// sizeStep is one instruction of size code.
type sizeStep struct {
	do  sizeDo
	arg int64 // pushConst: the value; pushScalar, load, hint, pushLen: the id
}

// reads reports whether the step reads an element of the buffer arg.
func (s sizeStep) reads() bool { return s.do == load || s.do == hint }

type sizeDo uint8

const (
	pushConst sizeDo = iota
	pushScalar
	load // index -> element
	hint // index, otherwise -> element or otherwise
	pushLen
	addSize
	subSize
	mulSize
	divSize
	minSize
	maxSize
)

// sizeOps maps the operators that size expressions may use to their steps.
var sizeOps = map[loop.BinaryOp]sizeDo{
	loop.Add: addSize, loop.Sub: subSize, loop.Mul: mulSize,
	loop.Div: divSize, loop.Min: minSize, loop.Max: maxSize,
}

// sizeCode is a compiled size expression.
type sizeCode struct {
	steps []sizeStep
	depth int           // stack words it needs
	expr  loop.SizeExpr // for messages
}

// compileSize compiles an expression that has passed loop's verifier.
func compileSize(e loop.SizeExpr) sizeCode {
	code := sizeCode{expr: e}
	code.emit(e, 0)
	return code
}

// emit appends the code that pushes e onto a stack of the given height.
func (c *sizeCode) emit(e loop.SizeExpr, height int) {
	c.depth = max(c.depth, height+1)
	switch e := e.(type) {
	case loop.SizeConst:
		c.steps = append(c.steps, sizeStep{pushConst, int64(e)})
	case loop.SizeScalar:
		c.steps = append(c.steps, sizeStep{pushScalar, int64(e)})
	case loop.SizeLen:
		c.steps = append(c.steps, sizeStep{pushLen, int64(e.Buffer)})
	case *loop.SizeLoad:
		c.emit(e.Index, height)
		c.steps = append(c.steps, sizeStep{load, int64(e.Buffer)})
	case *loop.SizeHint:
		c.emit(e.Index, height)
		c.emit(e.Else, height+1)
		c.steps = append(c.steps, sizeStep{hint, int64(e.Buffer)})
	case *loop.SizeOp:
		do, ok := sizeOps[e.Op]
		if !ok {
			panic("BUG: operator " + e.Op.String() + " in a size")
		}
		c.emit(e.X, height)
		c.emit(e.Y, height+1)
		c.steps = append(c.steps, sizeStep{do, 0})
	default:
		panic(fmt.Sprintf("BUG: size expression %T", e))
	}
}

// sizeFault says why a size has no value; "" means it has one.
type sizeFault string

// fetch reads an element of a buffer that is not in this process's memory.
type fetch func(id loop.BufferID, i int64) (v int64, ok bool)

// eval runs the code. The stack has at least depth words. Elements are read from
// mem, or by elsewhere if that is not nil.
func (c *sizeCode) eval(stack, scalars []int64, mem []Memory, buffers []loop.Buffer, elsewhere fetch) (int64, sizeFault) {
	top := -1
	for _, s := range c.steps {
		switch s.do {
		case pushConst:
			top++
			stack[top] = s.arg
			continue
		case pushScalar:
			top++
			stack[top] = scalars[s.arg]
			continue
		case pushLen:
			top++
			stack[top] = mem[s.arg].Len
			continue
		case load, hint:
			if s.do == hint {
				top--
				if i := stack[top]; i < 0 || i >= mem[s.arg].Len {
					stack[top] = stack[top+1]
					continue
				}
			}
			i, m := stack[top], mem[s.arg]
			if i < 0 || i >= m.Len {
				return 0, sizeFault(fmt.Sprintf("element %d of buffer %s does not exist: it has %d", i, buffers[s.arg].Name, m.Len))
			}
			v, ok := int64(0), false
			if elsewhere != nil {
				v, ok = elsewhere(loop.BufferID(s.arg), i)
			} else {
				v, ok = loadInt(m, buffers[s.arg].Elem, i)
			}
			if !ok {
				return 0, sizeFault(fmt.Sprintf("element %d of buffer %s is %d, more than the largest size %d", i, buffers[s.arg].Name, uint64(v), int64(math.MaxInt64)))
			}
			stack[top] = v
			continue
		}
		x, y := stack[top-1], stack[top]
		top--
		var ok bool
		switch s.do {
		case addSize:
			stack[top], ok = overflow.Add(x, y)
		case subSize:
			stack[top], ok = overflow.Sub(x, y)
		case mulSize:
			stack[top], ok = overflow.Mul(x, y)
		case divSize:
			if y == 0 {
				return 0, "division by zero"
			}
			stack[top], ok = x/y, x != math.MinInt64 || y != -1
		case minSize:
			stack[top], ok = min(x, y), true
		case maxSize:
			stack[top], ok = max(x, y), true
		}
		if !ok {
			return 0, "the value exceeds 64 bits"
		}
	}
	return stack[0], ""
}
