package aot

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// The driver of a kernel is written as LLVM IR. It keeps all that it knows in the
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
//
// The driver is not optimised (optnone): that would take three times as long as the kernel's
// loops, to save some 40 ns of a call.
const (
	stateAt, stateFailure, stateStage, stateHead = 0, 1, 2, 3

	cutElements, cutChunks, cutStep, cutBounds, cutWords = 0, 1, 2, 3, 4
)

// runOver is what stateAt holds after the end.
const runOver = -1

// smallBytes is the size up to which temporaries live in the state.
const smallBytes = 64

// driver writes the driver of one program.
type driver struct {
	*irWriter
	p       *Program
	loops   *loop.Program
	kernels []string // by stage: the LLVM name of its function, "" if it has none
	// levels are the suffixes of the functions' variants, by processor; one if all run
	// the same.
	levels []string

	inState []int // by buffer: the word of the state where it lives, -1 if elsewhere
	bounds  []int // by partition: the stage that uses it last
	last    []int // by buffer: the stage that uses it last, -1 if none
	words   int   // of the state

	resumes int // points so far
}

// newDriver lays out the state of a program.
func newDriver(p *Program, kernels, levels []string) *driver {
	d := &driver{irWriter: newIRWriter(p.Name), p: p, loops: p.Loops, kernels: kernels, levels: levels}
	d.words = stateHead + len(d.loops.Scalars) + 2*len(d.loops.Buffers) + cutWords*len(d.loops.Partitions)
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

// placeSmall gives a temporary of a small constant size a place in the state.
func (d *driver) placeSmall(a loop.Alloc) {
	b := d.loops.Buffers[a.Buffer]
	n, ok := a.Len.(loop.SizeConst)
	if !ok || b.Role != loop.Temp || n < 0 || int64(n)*int64(b.Elem.Size()) > smallBytes {
		return
	}
	d.inState[a.Buffer] = d.words
	d.words += (int(n)*b.Elem.Size() + 7) / 8
}

// findLastUses notes which stage uses a temporary, or the boundaries of a partition,
// last. Fills of results are read in the end.
func (d *driver) findLastUses() {
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

func (d *driver) bufferWord(id loop.BufferID) int {
	return stateHead + len(d.loops.Scalars) + 2*int(id)
}

func (d *driver) cutWord(part int) int {
	return stateHead + len(d.loops.Scalars) + 2*len(d.loops.Buffers) + cutWords*part
}

// temporary reports whether the caller gives memory for a buffer that is no result.
func (d *driver) temporary(id loop.BufferID) bool {
	role := d.loops.Buffers[id].Role
	return (role == loop.Temp || role == loop.Scratch) && d.inState[id] < 0
}

// failure says what a check that fails tells the caller.
type failure struct {
	code    Status
	tensor  int // -1: none
	message string
}

// failIf goes to the end if a condition holds. It is for functions that have the call as
// %call.
func (d *driver) failIf(cond string, f failure) {
	bad, good := d.block("bad"), d.block("good")
	d.branch(cond, bad, good)
	d.enter(bad)
	d.fail(f)
	d.enter(good)
}

// fail ends the run.
func (d *driver) fail(f failure) {
	r := d.op("call i32 @%s.fail(i64* %%call, i32 %d, i64 %d, i8* %s)", d.prefix, f.code, f.tensor, d.text(f.message))
	d.do("ret i32 %s", r)
}

// pause returns to the caller and goes on behind it when it calls again.
func (d *driver) pause(s Status) {
	d.resumes++
	d.store("%state", stateAt, integer(int64(d.resumes)))
	d.do("ret i32 %d", s)
	d.enter(resumeBlock(d.resumes))
}

func resumeBlock(n int) string { return fmt.Sprintf("resume%d", n) }

// eval computes a size, or fails.
func (d *driver) eval(e loop.SizeExpr, f failure) string {
	switch e := e.(type) {
	case loop.SizeConst:
		return integer(int64(e))
	case loop.SizeScalar:
		return d.load("%state", scalarWord(loop.ScalarID(e)))
	case *loop.SizeLoad:
		return d.evalLoad(e, f)
	case loop.SizeLen:
		return d.load("%state", d.bufferWord(e.Buffer)+1)
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
			d.failIf(d.op("icmp eq i64 %s, 0", y), f)
			least, minus := d.op("icmp eq i64 %s, %d", x, -largest-1), d.op("icmp eq i64 %s, -1", y)
			d.failIf(d.op("and i1 %s, %s", least, minus), f)
			return d.op("sdiv i64 %s, %s", x, y)
		case loop.Min:
			return d.least(x, y)
		case loop.Max:
			return d.op("select i1 %s, i64 %s, i64 %s", d.op("icmp sgt i64 %s, %s", x, y), x, y)
		}
		panic("BUG: operator " + e.Op.String() + " in a size")
	}
	panic(fmt.Sprintf("BUG: size expression %T", e))
}

func (d *driver) least(x, y string) string {
	return d.op("select i1 %s, i64 %s, i64 %s", d.op("icmp slt i64 %s, %s", x, y), x, y)
}

func (d *driver) checked(name, x, y string, f failure) string {
	pair := d.op("call {i64, i1} @llvm.%s.with.overflow.i64(i64 %s, i64 %s)", name, x, y)
	d.failIf(d.op("extractvalue {i64, i1} %s, 1", pair), f)
	return d.op("extractvalue {i64, i1} %s, 0", pair)
}

// evalLoad loads an element of a buffer, if it is there and fits 63 bits.
func (d *driver) evalLoad(e *loop.SizeLoad, f failure) string {
	i := d.eval(e.Index, f)
	word := d.bufferWord(e.Buffer)
	address, n := d.load("%state", word), d.load("%state", word+1)
	d.failIf(d.op("icmp uge i64 %s, %s", i, n), f)
	elem := d.loops.Buffers[e.Buffer].Elem
	v := d.loadInt(address, i, elem)
	if elem == loop.U64 {
		d.failIf(d.op("icmp slt i64 %s, 0", v), f)
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
		d.store("%state", scalarWord(l.Scalar), v)
	}
}
