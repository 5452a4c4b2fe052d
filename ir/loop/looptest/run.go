package looptest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// maxSteps bounds the statements that Run executes.
const maxSteps = 1 << 20

// Run calls the function of a case on a copy of its memory and returns the
// status and the memory after it. It walks the tree with the reference rules
// for operators (loop.EvalUnary and the like) and checks every index: slow, and
// a judge for engines. The error tells what no engine may be given: an index
// out of range, an endless loop, an unknown function.
func (c Case) Run(resolve loop.Resolver) (status int, memory [][]byte, err error) {
	r := &runner{bufs: c.Func.Bufs, vars: make([]loop.Const, len(c.Func.Vars)), memory: c.CopyMemory(), resolve: resolve}
	r.steps = new(int)
	for i, id := range c.Func.Args {
		r.vars[id] = *loop.Int(c.Args[i])
	}
	r.vars[c.Func.Chunk], r.vars[c.Func.Lo], r.vars[c.Func.Hi] = *loop.Int(c.Chunk), *loop.Int(c.Lo), *loop.Int(c.Hi)
	end := r.block(c.Func.Body)
	if end.err != nil {
		return 0, nil, end.err
	}
	if end.kind == failed {
		return 1 + end.code, r.memory, nil
	}
	return 0, r.memory, nil
}

// RunScalar applies a scalar function to constants of its parameters' types.
func RunScalar(s *loop.Scalar, args []loop.Const, resolve loop.Resolver) (loop.Const, error) {
	r := &runner{resolve: resolve, steps: new(int)}
	return r.scalar(s, args)
}

// An ending says how a block ended.
type ending struct {
	kind   endKind
	code   int        // of a Fail
	result loop.Const // of a Return
	err    error
}

type endKind uint8

const (
	through endKind = iota
	failed
	returned
	broken // with err
)

func wrong(format string, args ...any) ending {
	return ending{kind: broken, err: fmt.Errorf(format, args...)}
}

type runner struct {
	bufs    []loop.Buf // shared arrays included
	special [loop.LaneIndex + 1]int64
	vars    []loop.Const
	memory  [][]byte
	resolve loop.Resolver
	steps   *int
	depth   int   // calls around this one
	err     error // of an expression
}

func (r *runner) block(body []loop.Stmt) ending {
	for _, s := range body {
		if *r.steps++; *r.steps > maxSteps {
			return wrong("more than %d statements were run", maxSteps)
		}
		end := r.stmt(s)
		if r.err != nil {
			return ending{kind: broken, err: r.err}
		}
		if end.kind != through {
			return end
		}
	}
	return ending{}
}

func (r *runner) stmt(s loop.Stmt) ending {
	switch s := s.(type) {
	case *loop.Let:
		r.vars[s.Var] = r.expr(s.Value)
	case *loop.Assign:
		r.vars[s.Var] = r.expr(s.Value)
	case *loop.Store:
		index, value := int64(r.expr(s.Index).Bits), r.expr(s.Value)
		if r.err == nil {
			r.store(s.Buf, index, value)
		}
	case *loop.For:
		lo, hi := int64(r.expr(s.Lo).Bits), int64(r.expr(s.Hi).Bits)
		for i := lo; i < hi && r.err == nil; i++ {
			r.vars[s.Var] = *loop.Int(i)
			if end := r.turn(s.Body); end.kind != through {
				return end
			}
		}
	case *loop.While:
		for r.expr(s.Cond).Bits != 0 && r.err == nil {
			if end := r.turn(s.Body); end.kind != through {
				return end
			}
		}
	case *loop.If:
		if r.expr(s.Cond).Bits != 0 {
			return r.block(s.Then)
		}
		return r.block(s.Else)
	case *loop.Fail:
		return ending{kind: failed, code: s.Code}
	case *loop.Return:
		return ending{kind: returned, result: r.expr(s.Value)}
	}
	return ending{}
}

// turn runs the body of a loop, counting a step even if it is empty.
func (r *runner) turn(body []loop.Stmt) ending {
	if *r.steps++; *r.steps > maxSteps {
		return wrong("more than %d statements were run", maxSteps)
	}
	return r.block(body)
}

// expr evaluates e. After an error it returns zero.
func (r *runner) expr(e loop.Expr) loop.Const {
	if r.err != nil {
		return loop.Const{Typ: e.Type()}
	}
	ok := true
	var c loop.Const
	switch e := e.(type) {
	case *loop.Const:
		c = *e
	case *loop.Ref:
		c = r.vars[e.Var]
	case *loop.Load:
		c = r.load(e.Buf, int64(r.expr(e.Index).Bits))
	case *loop.Unary:
		c, ok = loop.EvalUnary(e.Op, r.expr(e.X))
	case *loop.Binary:
		x := r.expr(e.X)
		c, ok = loop.EvalBinary(e.Op, x, r.expr(e.Y))
	case *loop.Select:
		cond, x, y := r.expr(e.Cond), r.expr(e.X), r.expr(e.Y)
		if c = y; cond.Bits != 0 {
			c = x
		}
	case *loop.FMA:
		x, y := r.expr(e.X), r.expr(e.Y)
		c, ok = loop.EvalFMA(x, y, r.expr(e.Z))
	case *loop.Cast:
		c = loop.EvalCast(e.Typ, r.expr(e.X))
	case *loop.Call:
		c = r.call(e)
	case *loop.Special:
		c = *loop.Int(r.special[e.Reg])
	}
	if r.err == nil && (!ok || c.Typ != e.Type()) {
		r.err = fmt.Errorf("%T of type %s gave a %s", e, e.Type(), c.Typ)
	}
	return c
}

// maxCalls bounds how deep calls nest; the verifier forbids recursion.
const maxCalls = 100

func (r *runner) call(e *loop.Call) loop.Const {
	args := make([]loop.Const, len(e.Args))
	for i, a := range e.Args {
		args[i] = r.expr(a)
	}
	if r.err != nil {
		return loop.Const{Typ: e.Typ}
	}
	if r.resolve == nil {
		r.err = errors.New("a call without a library")
		return loop.Const{}
	}
	s, ok := r.resolve(e.Fn)
	if !ok || r.depth > maxCalls {
		r.err = fmt.Errorf("cannot call %s", e.Fn)
		return loop.Const{}
	}
	inner := &runner{resolve: r.resolve, steps: r.steps, depth: r.depth + 1}
	c, err := inner.scalar(s, args)
	r.err = err
	return c
}

func (r *runner) scalar(s *loop.Scalar, args []loop.Const) (loop.Const, error) {
	if len(args) != len(s.Args) {
		return loop.Const{}, fmt.Errorf("%s takes %d arguments, not %d", s.Name, len(s.Args), len(args))
	}
	r.vars = make([]loop.Const, len(s.Vars))
	for i, id := range s.Args {
		r.vars[id] = args[i]
	}
	end := r.block(s.Body)
	if end.kind == broken {
		return loop.Const{}, end.err
	}
	if end.kind != returned {
		return loop.Const{}, fmt.Errorf("%s did not return", s.Name)
	}
	return end.result, nil
}

// element is the memory of one element, nil when there is none.
func (r *runner) element(id loop.BufID, index int64) []byte {
	b := r.bufs[id]
	size := int64(b.Elem.Size())
	if n := int64(len(r.memory[id])) / size; index < 0 || index >= n {
		r.err = fmt.Errorf("%s[%d]: the buffer has %d elements", b.Name, index, n)
		return nil
	}
	return r.memory[id][index*size : (index+1)*size]
}

func (r *runner) load(id loop.BufID, index int64) loop.Const {
	t := r.bufs[id].Elem
	m := r.element(id, index)
	if m == nil {
		return loop.Const{Typ: t.Compute()}
	}
	switch {
	case t == loop.F16:
		return single(loop.F16ToF32(binary.LittleEndian.Uint16(m)))
	case t == loop.BF16:
		return single(loop.BF16ToF32(binary.LittleEndian.Uint16(m)))
	case t.IsComplex():
		half := len(m) / 2
		return loop.Const{Typ: t, Bits: word(m[:half]), Imag: word(m[half:])}
	}
	c := loop.Const{Typ: t, Bits: word(m)}
	if t.IsSigned() {
		shift := 64 - 8*uint(len(m))
		c.Bits = uint64(int64(c.Bits<<shift) >> shift)
	}
	return c
}

func single(x float32) loop.Const {
	return loop.Const{Typ: loop.F32, Bits: uint64(math.Float32bits(x))}
}

// word reads up to eight bytes, little endian.
func word(m []byte) uint64 {
	var w [8]byte
	copy(w[:], m)
	return binary.LittleEndian.Uint64(w[:])
}

func (r *runner) store(id loop.BufID, index int64, c loop.Const) {
	b := r.bufs[id]
	m := r.element(id, index)
	switch {
	case m == nil:
	case b.ReadOnly || c.Typ != b.Elem.Compute():
		r.err = fmt.Errorf("storing %s to %s", c.Typ, b.Name)
	case b.Elem == loop.F16:
		binary.LittleEndian.PutUint16(m, loop.F32ToF16(math.Float32frombits(uint32(c.Bits))))
	case b.Elem == loop.BF16:
		binary.LittleEndian.PutUint16(m, loop.F32ToBF16(math.Float32frombits(uint32(c.Bits))))
	default:
		part := b.Elem.Real().Size()
		copy(m[:part], binary.LittleEndian.AppendUint64(nil, c.Bits))
		copy(m[part:], binary.LittleEndian.AppendUint64(nil, c.Imag))
	}
}
