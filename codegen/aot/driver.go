package aot

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// The driver of a kernel keeps all that it knows in the
// state, words of the caller's memory:
//
//	0             where to go on: 0 at first, a resume point, or runOver
//	1             the failure of chunks that threads of the caller's ran: the
//	              complement of chunk<<16 | status+1, so that the largest is the first chunk's
//	2             the stage whose chunks the caller runs
//	scalars       one word each
//	buffers       two words each: address, elements
//	partitions    four words each: elements, most chunks, weight or elements of each,
//	              address of the boundaries (0: they are not kept)
//	small         temporaries of a few elements
const (
	stateAt, stateFailure, stateStage, stateHead = 0, 1, 2, 3

	cutElements, cutChunks, cutStep, cutBounds, cutWords = 0, 1, 2, 3, 4
)

// runOver is what stateAt holds after the end.
const runOver = -1

// smallBytes is the size up to which temporaries live in the state.
const smallBytes = 64

// layout is where a driver keeps what of a program, and how long.
type layout struct {
	p       *Program
	loops   *loop.Program
	inState []int // by buffer: the word of the state where it lives, -1 if elsewhere
	bounds  []int // by partition: the stage that uses it last
	last    []int // by buffer: the stage that uses it last, -1 if none
	size    int   // of the state, in words
}

// newLayout lays out the state of a program.
func newLayout(p *Program) *layout {
	d := &layout{p: p, loops: p.Loops}
	d.size = stateHead + len(d.loops.Scalars) + 2*len(d.loops.Buffers) + cutWords*len(d.loops.Partitions)
	d.inState = make([]int, len(d.loops.Buffers))
	for i := range d.inState {
		d.inState[i] = -1
	}
	for i := range d.loops.Stages {
		for _, a := range d.loops.Stages[i].Allocs {
			d.placeSmall(a)
		}
	}
	d.findLastUses()
	return d
}

// driver builds the driver of one program.
type driver struct {
	*coder
	*layout
	helpers     *helpers
	kernels     [][]*ir.Func // by stage, in all variants; none if it has no function
	cuts        map[loop.Type]*ir.Func
	levels      []string // of processors, for which the variants are; one if all run the same
	call, state value.Value
	resumes     []*ir.Block // where a step may go on

	// The functions that call those of stages, by stage, and that find chunks, by partition.
	stages, alls, ones, nexts, counts map[int]*ir.Func
	level                             *ir.Func // tells the variant that this processor runs
}

// placeSmall gives a temporary of a small constant size a place in the state.
func (d *layout) placeSmall(a loop.Alloc) {
	b := d.loops.Buffers[a.Buffer]
	n, ok := a.Len.(loop.SizeConst)
	if !ok || b.Role != loop.Temp || n < 0 || int64(n)*int64(b.Elem.Size()) > smallBytes {
		return
	}
	d.inState[a.Buffer] = d.size
	d.size += (int(n)*b.Elem.Size() + 7) / 8
}

// findLastUses notes which stage uses a temporary, or the boundaries of a partition,
// last. Fills of results are read in the end.
func (d *layout) findLastUses() {
	d.last, d.bounds = make([]int, len(d.loops.Buffers)), make([]int, len(d.loops.Partitions))
	for i := range d.last {
		d.last[i] = -1
	}
	for i := range d.loops.Stages {
		s := &d.loops.Stages[i]
		use := func(id loop.BufferID) { d.last[id] = i }
		for _, list := range [][]loop.ScalarLet{s.Lets, s.PartitionLets} {
			for _, l := range list {
				sizeBuffers(l.Value, use)
			}
		}
		for _, list := range [][]loop.Alloc{s.Allocs, s.PartitionAllocs} {
			for _, a := range list {
				sizeBuffers(a.Len, use)
				use(a.Buffer)
			}
		}
		for _, t := range s.Trims {
			sizeBuffers(t.Len, use)
			use(t.Buffer)
		}
		if s.Blocks != nil {
			sizeBuffers(s.Blocks, use)
		}
		if s.Partition >= 0 {
			d.bounds[s.Partition] = i
			part := &d.loops.Partitions[s.Partition]
			sizeBuffers(part.N, use)
			if part.Weights >= 0 {
				use(part.Weights)
			}
		}
		for _, id := range s.Bufs {
			use(id)
		}
	}
	for i := range d.p.Tensors {
		if id := d.p.Tensors[i].FillBuffer; id >= 0 {
			d.last[id] = len(d.loops.Stages)
		}
	}
}

// sizeBuffers visits the buffers that a size reads.
func sizeBuffers(e loop.SizeExpr, visit func(loop.BufferID)) {
	mapSize(e, func(id loop.ScalarID) loop.SizeExpr { return loop.SizeScalar(id) }, func(id loop.BufferID) loop.BufferID {
		visit(id)
		return id
	})
}

func scalarWord(id loop.ScalarID) int { return stateHead + int(id) }

func (d *layout) bufferWord(id loop.BufferID) int {
	return stateHead + len(d.loops.Scalars) + 2*int(id)
}

func (d *layout) cutWord(part int) int {
	return stateHead + len(d.loops.Scalars) + 2*len(d.loops.Buffers) + cutWords*part
}

// temporary reports whether the caller gives memory for a buffer that is no result.
func (d *layout) temporary(id loop.BufferID) bool {
	role := d.loops.Buffers[id].Role
	return (role == loop.Temp || role == loop.Scratch) && d.inState[id] < 0
}

// failure says what a check that fails tells the caller.
type failure struct {
	code    Status
	tensor  int // -1: none
	message string
}

// failIf goes to the end if a condition holds.
func (d *driver) failIf(cond value.Value, f failure) { d.bad(cond, func() { d.fail(f) }) }

// fail ends the run.
func (d *driver) fail(f failure) {
	d.ret(d.do(d.helpers.fail, d.call, num32(f.code), num(f.tensor), d.text(f.message)))
}

// pause returns to the caller and goes on behind it when it calls again.
func (d *driver) pause(s Status) {
	d.resumes = append(d.resumes, d.NewBlock("resume"))
	d.store(d.state, stateAt, num(len(d.resumes)))
	d.ret(num32(s))
	d.Enter(d.resumes[len(d.resumes)-1])
}

// eval computes a size, or fails.
func (d *driver) eval(e loop.SizeExpr, f failure) value.Value {
	switch e := e.(type) {
	case loop.SizeConst:
		return num(e)
	case loop.SizeScalar:
		return d.load(d.state, scalarWord(loop.ScalarID(e)))
	case *loop.SizeLoad:
		return d.evalLoad(e, f)
	case loop.SizeLen:
		return d.load(d.state, d.bufferWord(e.Buffer)+1)
	case *loop.SizeOp:
		x, y := d.eval(e.X, f), d.eval(e.Y, f)
		switch e.Op {
		case loop.Add:
			return d.checked("sadd", x, y, f)
		case loop.Sub:
			return d.checked("ssub", x, y, f)
		case loop.Mul:
			return d.checked("smul", x, y, f)
		case loop.Div:
			d.failIf(d.icmp(eq, y, num(0)), f)
			least, minus := d.icmp(eq, x, num(-largest-1)), d.icmp(eq, y, num(-1))
			d.failIf(d.and(least, minus), f)
			return d.Block.NewSDiv(x, y)
		case loop.Min:
			return d.least(x, y)
		case loop.Max:
			return d.either(d.icmp(sgt, x, y), x, y)
		}
		panic("BUG: operator " + e.Op.String() + " in a size")
	}
	panic(fmt.Sprintf("BUG: size expression %T", e))
}

func (d *driver) least(x, y value.Value) value.Value { return d.either(d.icmp(slt, x, y), x, y) }

// checked is sadd, ssub or smul of two words, unless that does not fit one.
func (d *driver) checked(name string, x, y value.Value, f failure) value.Value {
	op := d.m.Intrinsic("llvm."+name+".with.overflow.i64", types.NewStruct(types.I64, types.I1), types.I64, types.I64)
	pair := d.do(op, x, y)
	d.failIf(d.Block.NewExtractValue(pair, 1), f)
	return d.Block.NewExtractValue(pair, 0)
}

// evalLoad loads an element of a buffer, if it is there and fits 63 bits.
func (d *driver) evalLoad(e *loop.SizeLoad, f failure) value.Value {
	i := d.eval(e.Index, f)
	word := d.bufferWord(e.Buffer)
	address, n := d.load(d.state, word), d.load(d.state, word+1)
	d.failIf(d.icmp(uge, i, n), f)
	elem := d.loops.Buffers[e.Buffer].Elem
	v := d.loadInt(address, i, elem)
	if elem == loop.U64 {
		d.failIf(d.icmp(slt, v, num(0)), f)
	}
	return v
}

// sizeFailure is that of a size which has no value.
func sizeFailure(what string) failure {
	return failure{ErrSize, -1, "the size of " + what + " does not fit 63 bits, or index arrays of operands are not valid"}
}

// lets computes scalars.
func (d *driver) lets(list []loop.ScalarLet) {
	for _, l := range list {
		v := d.eval(l.Value, sizeFailure(d.loops.Scalars[l.Scalar].Name))
		d.store(d.state, scalarWord(l.Scalar), v)
	}
}
