package aot

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// stage writes what a run does for one stage.
func (d *driver) stage(i int) {
	s := &d.loops.Stages[i]
	d.store(d.call, callStage, num(i))
	d.lets(s.Lets)
	for _, t := range s.Trims {
		d.trim(t)
	}
	for _, a := range s.Allocs {
		d.alloc(a, s)
	}
	if s.Partition >= 0 && d.firstUse(i) {
		d.cut(s.Partition)
	}
	d.lets(s.PartitionLets)
	for _, a := range s.PartitionAllocs {
		d.alloc(a, s)
	}
	if s.Func != nil {
		d.run(i)
	}
	d.releases(i)
}

// firstUse reports whether a stage is the first that uses its partition.
func (d *driver) firstUse(stage int) bool {
	for i := range stage {
		if d.loops.Stages[i].Partition == d.loops.Stages[stage].Partition {
			return false
		}
	}
	return true
}

// trim makes a buffer shorter.
func (d *driver) trim(t loop.Trim) {
	f := sizeFailure(d.loops.Buffers[t.Buffer].Name)
	n := d.eval(t.Len, f)
	word := d.bufferWord(t.Buffer) + 1
	d.failIf(d.icmp(ugt, n, d.load(d.state, word)), f)
	d.store(d.state, word, n)
	if _, _, _, ok := d.resultArray(t.Buffer); ok {
		d.store(d.arrayOf(t.Buffer), arrayLen, n)
	}
}

// resultArray finds the array of a result that a buffer is.
func (d *driver) resultArray(id loop.BufferID) (tensor, level, array int, ok bool) {
	for i := d.p.Operands; i < len(d.p.Tensors); i++ {
		t := &d.p.Tensors[i]
		if t.Values.Buffer == id {
			return i, -1, ArrayValues, true
		}
		for l := range t.Levels {
			switch id {
			case t.Levels[l].Pointers.Buffer:
				return i, l, ArrayPointers, true
			case t.Levels[l].Indices.Buffer:
				return i, l, ArrayIndices, true
			}
		}
	}
	return 0, 0, 0, false
}

// arrayOf is the array structure of a result's buffer.
func (d *driver) arrayOf(id loop.BufferID) value.Value {
	tensor, level, array, _ := d.resultArray(id)
	base := d.word(d.pointer(d.load(d.call, callTensors)), tensor*tensorWords)
	switch array {
	case ArrayValues:
		return d.word(base, tensorValues)
	case ArrayPointers:
		return d.word(d.pointer(d.load(base, tensorLevels)), level*levelWords+levelPointers)
	}
	return d.word(d.pointer(d.load(base, tensorLevels)), level*levelWords+levelIndices)
}

// alloc gives a buffer memory: of the state, of the caller's result, or what the caller
// is asked for.
func (d *driver) alloc(a loop.Alloc, s *loop.Stage) {
	b := d.loops.Buffers[a.Buffer]
	f := sizeFailure(b.Name)
	n := d.eval(a.Len, f)
	d.failIf(d.icmp(slt, n, num(0)), f)
	if name, ok := d.p.Counted[a.Buffer]; ok {
		d.failIf(d.icmp(ugt, n, num(math.MaxUint32)), failure{ErrSize, -1, tooMany(name)})
	}
	word := d.bufferWord(a.Buffer)
	d.store(d.state, word+1, n)
	if at := d.inState[a.Buffer]; at >= 0 {
		place := d.word(d.state, at)
		d.store(d.state, word, d.address(place))
		if a.Zero {
			for i := range (int(a.Len.(loop.SizeConst))*b.Elem.Size() + 7) / 8 {
				d.store(d.state, at+i, num(0))
			}
		}
		return
	}
	size := d.checked("smul", n, num(int64(b.Elem.Size())), f)
	if b.Role == loop.Scratch && s.Partition >= 0 {
		size = d.checked("smul", d.padded(size, f), d.threads(), f)
	}
	d.acquire(a, size)
}

// padded rounds a size up to cache lines, so that copies of threads do not share any.
func (d *driver) padded(size value.Value, f failure) value.Value {
	return d.and(d.checked("sadd", size, num(63), f), num(-64))
}

// threads is how many threads run chunks.
func (d *driver) threads() value.Value {
	return d.either(d.chunked(), d.load(d.call, callThreads), num(1))
}

// acquire gets memory of a size for a buffer. One without elements has an address, too:
// that of the state.
func (d *driver) acquire(a loop.Alloc, size value.Value) {
	b := d.loops.Buffers[a.Buffer]
	slot := d.word(d.state, d.bufferWord(a.Buffer))
	messages := d.texts(
		fmt.Sprintf("there is no memory for %s", b.Name),
		fmt.Sprintf("the memory of %s is not aligned to %d bytes", b.Name, alignment(b.Elem)),
		fmt.Sprintf("the memory of %s overlaps that of an operand or of another result", b.Name),
	)
	zero := 0
	switch {
	case a.Zero && b.Role == loop.Scratch:
		zero = ZeroAgain
	case a.Zero:
		zero = Zero
	}
	tensor, level, kind, isResult := d.resultArray(a.Buffer)
	if !isResult {
		tensor, level, kind = -1, -1, -1
		d.do(d.helpers.ask, d.call, slot, size, num(zero), num(RoleTemporary), num(tensor), num(level), num(kind))
	} else {
		d.do(d.helpers.own, d.call, d.arrayOf(a.Buffer), slot, size, num(b.Elem), num(zero), num(tensor), num(level), num(kind))
	}
	wait, have := d.NewBlock("wait"), d.NewBlock("have")
	d.branch(d.icmp(eq, d.load(d.call, callNeed+needBytes), num(0)), have, wait)
	d.Enter(wait)
	d.pause(Need)
	slot = d.word(d.state, d.bufferWord(a.Buffer))
	array := value.Value(nullWords)
	if isResult {
		array = d.arrayOf(a.Buffer)
	}
	d.bail(d.do(d.helpers.given, d.call, array, slot, num(alignment(b.Elem)-1), num(tensor), messages))
	d.jump(have)
	d.Enter(have)
	if isResult {
		d.apart(a.Buffer, messages)
	}
}

// bytesOf is the size of the elements of a buffer that has its length.
func (d *driver) bytesOf(id loop.BufferID) value.Value {
	return d.mul(d.load(d.state, d.bufferWord(id)+1), num(d.loops.Buffers[id].Elem.Size()))
}

// apart fails if memory of a result is not aligned, or also an operand's or another
// result's.
func (d *driver) apart(id loop.BufferID, messages value.Value) {
	tensor, _, _, _ := d.resultArray(id)
	var others []int64 // the word of the state and the size of an element, by buffer
	for other := range d.loops.Buffers {
		b := d.loops.Buffers[other]
		if _, constant := d.p.Constants[loop.BufferID(other)]; constant || loop.BufferID(other) == id || b.Role != loop.Input && b.Role != loop.Output {
			continue
		}
		others = append(others, int64(d.bufferWord(loop.BufferID(other))), int64(b.Elem.Size()))
	}
	d.bail(d.do(d.helpers.apart, d.call, d.state, d.word(d.state, d.bufferWord(id)), d.bytesOf(id), num(alignment(d.loops.Buffers[id].Elem)-1), num(tensor), d.words(others), num(len(others)/2), messages))
}

// cut cuts the domain of a partition, as package runtime does.
func (d *driver) cut(part int) {
	p := &d.loops.Partitions[part]
	f := sizeFailure("partition " + p.Name)
	n := d.eval(p.N, f)
	d.failIf(d.icmp(slt, n, num(0)), f)
	at := d.cutWord(part)
	d.store(d.state, at+cutElements, n)
	d.store(d.state, at+cutBounds, num(0))
	if p.Weights < 0 {
		d.chunksFor(part, n)
		return
	}
	word := d.bufferWord(p.Weights)
	d.failIf(d.icmp(sle, d.load(d.state, word+1), n), f)
	total := d.weight(p, n, f)
	d.chunksFor(part, total)
	d.boundaries(part)
}

// weight is the load of all elements of a partition: its weights, and 1 for each.
func (d *driver) weight(p *loop.Partition, n value.Value, f failure) value.Value {
	address := d.load(d.state, d.bufferWord(p.Weights))
	elem := d.loops.Buffers[p.Weights].Elem
	first, last := d.loadInt(address, num(0), elem), d.loadInt(address, n, elem)
	d.failIf(d.icmp(slt, first, num(0)), f)
	d.failIf(d.icmp(slt, last, first), f)
	total := d.checked("sadd", d.sub(last, first), n, f)
	return d.either(d.icmp(eq, n, num(0)), num(0), total)
}

// chunksFor computes how many chunks a weight is cut into, at most, and of what weight.
func (d *driver) chunksFor(part int, total value.Value) {
	p := &d.loops.Partitions[part]
	grain := num(p.Grain)
	before := d.sub(total, num(1))
	wide := d.add(d.Block.NewAShr(before, num(bits.TrailingZeros(maxChunks))), num(1))
	step := d.either(d.icmp(sgt, wide, grain), wide, grain)
	chunks := d.add(d.Block.NewSDiv(before, step), num(1))
	none := d.icmp(eq, total, num(0))
	chunks = d.either(none, num(0), chunks)
	at := d.cutWord(part)
	d.store(d.state, at+cutChunks, chunks)
	d.store(d.state, at+cutStep, step)
	d.store(d.state, scalarWord(p.Chunks), chunks)
}

// boundaries counts the chunks of a partition by weight; there are fewer than by
// weight alone where elements are heavy. Where the caller runs chunks, which may be in
// any order, it keeps the boundaries.
func (d *driver) boundaries(part int) {
	at := d.cutWord(part)
	several, single, done := d.NewBlock("several"), d.NewBlock("single"), d.NewBlock("cut")
	d.branch(d.icmp(sgt, d.load(d.state, at+cutChunks), num(1)), several, single)
	d.Enter(single)
	d.store(d.state, at+cutStep, d.load(d.state, at+cutElements)) // one chunk has all
	d.jump(done)
	d.Enter(several)
	keep, count := d.NewBlock("keep"), d.NewBlock("count")
	d.branch(d.chunked(), keep, count)
	d.Enter(keep)
	size := d.Block.NewShl(d.add(d.load(d.state, at+cutChunks), num(1)), num(3))
	d.do(d.helpers.ask, d.call, d.word(d.state, at+cutBounds), size, num(0), num(RoleTemporary), num(-1), num(-1), num(-1))
	d.pause(Need)
	messages := d.texts("there is no memory for the boundaries of chunks", "the memory for the boundaries of chunks is not aligned to 8 bytes")
	d.bail(d.do(d.helpers.given, d.call, nullWords, d.word(d.state, at+cutBounds), num(7), num(-1), messages))
	d.jump(count)
	d.Enter(count)
	n := d.do(d.counts[part], d.state)
	d.store(d.state, scalarWord(d.loops.Partitions[part].Chunks), n)
	d.jump(done)
	d.Enter(done)
}

// run calls the function of a stage.
func (d *driver) run(i int) {
	s := &d.loops.Stages[i]
	stop := d.load(d.call, callStop)
	if s.Partition < 0 {
		status := d.do(d.stages[i], d.state, stop, num(0), num(0), num(0), num(0))
		d.outcome(i, status)
		return
	}
	done := d.NewBlock("ran")
	alone := d.NewBlock("alone")
	chunks := scalarWord(d.loops.Partitions[s.Partition].Chunks)
	if !s.Ordered {
		// Threads of the caller's are worth their start from two chunks on.
		share := d.NewBlock("share")
		several := d.icmp(sgt, d.load(d.state, chunks), num(1))
		d.branch(d.and(d.chunked(), several), share, alone)
		d.Enter(share)
		d.store(d.state, stateStage, num(i))
		d.store(d.state, stateFailure, num(0))
		d.store(d.call, callChunks, d.load(d.state, chunks))
		d.pause(Chunks)
		d.store(d.state, stateStage, num(-1))
		failed := d.Block.NewLoad(types.I64, d.word(d.state, stateFailure))
		failed.Atomic, failed.Ordering, failed.Align = true, enum.AtomicOrderingAcquire, 8
		first := d.Block.NewXor(failed, num(-1))
		status := d.sub(d.and(first, num(65535)), num(1))
		none := d.icmp(eq, failed, num(0))
		d.outcome(i, d.either(none, num(0), status))
		d.jump(done)
	} else {
		d.jump(alone)
	}
	d.Enter(alone)
	status := d.do(d.alls[i], d.state, stop)
	d.outcome(i, status)
	d.jump(done)
	d.Enter(done)
}

// outcome ends the run if a function has failed.
func (d *driver) outcome(stage int, status value.Value) {
	d.bad(d.icmp(ne, status, num(0)), func() {
		stopped := d.NewBlock("stopped")
		choice := d.Block.NewSwitch(status, stopped)
		for code, message := range d.loops.Stages[stage].Func.Fails {
			fail := d.NewBlock("fail")
			choice.Cases = append(choice.Cases, ir.NewCase(num(code+1), fail))
			d.Enter(fail)
			d.fail(failure{ErrKernel, -1, message})
		}
		d.Enter(stopped)
		d.fail(failure{ErrStopped, -1, "stopped by the stop word"})
	})
}

// releases tells the caller of temporaries that are not used any more.
func (d *driver) releases(stage int) {
	for id := range d.loops.Buffers {
		if d.last[id] == stage && d.temporary(loop.BufferID(id)) {
			d.release(d.bufferWord(loop.BufferID(id)), func() value.Value { return d.temporaryBytes(loop.BufferID(id)) })
		}
	}
	for part := range d.loops.Partitions {
		if p := &d.loops.Partitions[part]; p.Weights >= 0 && d.bounds[part] == stage {
			at := d.cutWord(part)
			d.release(at+cutBounds, func() value.Value {
				return d.Block.NewShl(d.add(d.load(d.state, at+cutChunks), num(1)), num(3))
			})
		}
	}
}

// temporaryBytes is how much was asked for for a temporary.
func (d *driver) temporaryBytes(id loop.BufferID) value.Value {
	size := d.bytesOf(id)
	if d.loops.Buffers[id].Role == loop.Scratch && d.scratchOfPartition(id) {
		padded := d.and(d.add(size, num(63)), num(-64))
		return d.mul(padded, d.threads())
	}
	return size
}

// scratchOfPartition reports whether every thread has a copy of a scratch buffer.
func (d *driver) scratchOfPartition(id loop.BufferID) bool {
	for i := range d.loops.Stages {
		s := &d.loops.Stages[i]
		for _, list := range [][]loop.Alloc{s.Allocs, s.PartitionAllocs} {
			for _, a := range list {
				if a.Buffer == id {
					return s.Partition >= 0
				}
			}
		}
	}
	return false
}

// release gives one block back, if the caller wants that and there is one.
func (d *driver) release(word int, size func() value.Value) {
	wanted := d.icmp(ne, d.and(d.load(d.call, callFlags), num(FlagRelease)), num(0))
	n := size()
	address := d.load(d.state, word)
	there := d.icmp(ne, address, num(0))
	some := d.icmp(ne, n, num(0))
	d.when(d.and(d.and(wanted, there), some), func() {
		d.store(d.state, word, num(0))
		d.store(d.call, callNeed+needData, address)
		d.store(d.call, callNeed+needBytes, n)
		d.store(d.call, callNeed+needZero, num(0))
		d.store(d.call, callNeed+needRole, num(RoleTemporary))
		d.pause(Release)
	})
}
