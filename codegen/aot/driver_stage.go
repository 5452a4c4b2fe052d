package aot

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// stage writes what a run does for one stage.
func (d *driver) stage(i int) {
	s := &d.loops.Stages[i]
	d.store("%call", callStage, integer(int64(i)))
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
	d.failIf(d.op("icmp ugt i64 %s, %s", n, d.load("%state", word)), f)
	d.store("%state", word, n)
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
func (d *driver) arrayOf(id loop.BufferID) string {
	tensor, level, array, _ := d.resultArray(id)
	base := d.word(d.pointer(d.load("%call", callTensors)), tensor*tensorWords)
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
	d.failIf(d.op("icmp slt i64 %s, 0", n), f)
	if name, ok := d.p.Counted[a.Buffer]; ok {
		d.failIf(d.op("icmp ugt i64 %s, %d", n, math.MaxUint32), failure{ErrSize, -1, tooMany(name)})
	}
	word := d.bufferWord(a.Buffer)
	d.store("%state", word+1, n)
	if at := d.inState[a.Buffer]; at >= 0 {
		place := d.word("%state", at)
		d.store("%state", word, d.op("ptrtoint i64* %s to i64", place))
		if a.Zero {
			for i := range (int(a.Len.(loop.SizeConst))*b.Elem.Size() + 7) / 8 {
				d.store("%state", at+i, "0")
			}
		}
		return
	}
	size := d.checked("smul", n, integer(int64(b.Elem.Size())), f)
	if b.Role == loop.Scratch && s.Partition >= 0 {
		size = d.checked("smul", d.padded(size, f), d.threads(), f)
	}
	d.acquire(a, size)
}

// padded rounds a size up to cache lines, so that copies of threads do not share any.
func (d *driver) padded(size string, f failure) string {
	return d.op("and i64 %s, -64", d.checked("sadd", size, "63", f))
}

// threads is how many threads run chunks.
func (d *driver) threads() string {
	chunked := d.op("icmp ne i64 %s, 0", d.op("and i64 %s, %d", d.load("%call", callFlags), FlagChunks))
	return d.op("select i1 %s, i64 %s, i64 1", chunked, d.load("%call", callThreads))
}

// acquire gets memory of a size for a buffer. One without elements has an address, too:
// that of the state.
func (d *driver) acquire(a loop.Alloc, size string) {
	b := d.loops.Buffers[a.Buffer]
	slot := d.word("%state", d.bufferWord(a.Buffer))
	messages := d.texts([]string{
		fmt.Sprintf("there is no memory for %s", b.Name),
		fmt.Sprintf("the memory of %s is not aligned to %d bytes", b.Name, alignment(b.Elem)),
		fmt.Sprintf("the memory of %s overlaps that of an operand or of another result", b.Name),
	})
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
		d.do("call void @%s.ask(i64* %%call, i64* %s, i64 %s, i64 %d, i64 %d, i64 %d, i64 %d, i64 %d)", d.prefix,
			slot, size, zero, RoleTemporary, tensor, level, kind)
	} else {
		d.do("call void @%s.own(i64* %%call, i64* %s, i64* %s, i64 %s, i64 %d, i64 %d, i64 %d, i64 %d, i64 %d)", d.prefix,
			d.arrayOf(a.Buffer), slot, size, b.Elem, zero, tensor, level, kind)
	}
	wait, have := d.block("wait"), d.block("have")
	d.branch(d.op("icmp eq i64 %s, 0", d.load("%call", callNeed+needBytes)), have, wait)
	d.enter(wait)
	d.pause(Need)
	slot = d.word("%state", d.bufferWord(a.Buffer))
	array := "null"
	if isResult {
		array = d.arrayOf(a.Buffer)
	}
	d.bail(d.op("call i32 @%s.given(i64* %%call, i64* %s, i64* %s, i64 %d, i64 %d, i8* %s)", d.prefix, array, slot, alignment(b.Elem)-1, tensor, messages))
	d.jump(have)
	d.enter(have)
	if isResult {
		d.apart(a.Buffer, messages)
	}
}

// bytesOf is the size of the elements of a buffer that has its length.
func (d *driver) bytesOf(id loop.BufferID) string {
	return d.op("mul i64 %s, %d", d.load("%state", d.bufferWord(id)+1), d.loops.Buffers[id].Elem.Size())
}

// apart fails if memory of a result is not aligned, or also an operand's or another
// result's.
func (d *driver) apart(id loop.BufferID, messages string) {
	tensor, _, _, _ := d.resultArray(id)
	var others []int64 // the word of the state and the size of an element, by buffer
	for other := range d.loops.Buffers {
		b := d.loops.Buffers[other]
		if _, constant := d.p.Constants[loop.BufferID(other)]; constant || loop.BufferID(other) == id || b.Role != loop.Input && b.Role != loop.Output {
			continue
		}
		others = append(others, int64(d.bufferWord(loop.BufferID(other))), int64(b.Elem.Size()))
	}
	d.bail(d.op("call i32 @%s.apart(i64* %%call, i64* %%state, i64* %s, i64 %s, i64 %d, i64 %d, i64* %s, i64 %d, i8* %s)", d.prefix,
		d.word("%state", d.bufferWord(id)), d.bytesOf(id), alignment(d.loops.Buffers[id].Elem)-1, tensor, d.words64(others), len(others)/2, messages))
}

// cut cuts the domain of a partition, as package runtime does.
func (d *driver) cut(part int) {
	p := &d.loops.Partitions[part]
	f := sizeFailure("partition " + p.Name)
	n := d.eval(p.N, f)
	d.failIf(d.op("icmp slt i64 %s, 0", n), f)
	at := d.cutWord(part)
	d.store("%state", at+cutElements, n)
	d.store("%state", at+cutBounds, "0")
	if p.Weights < 0 {
		d.chunksFor(part, n)
		return
	}
	word := d.bufferWord(p.Weights)
	d.failIf(d.op("icmp sle i64 %s, %s", d.load("%state", word+1), n), f)
	total := d.weight(p, n, f)
	d.chunksFor(part, total)
	d.boundaries(part)
}

// weight is the load of all elements of a partition: its weights, and 1 for each.
func (d *driver) weight(p *loop.Partition, n string, f failure) string {
	address := d.load("%state", d.bufferWord(p.Weights))
	elem := d.loops.Buffers[p.Weights].Elem
	first, last := d.loadInt(address, "0", elem), d.loadInt(address, n, elem)
	d.failIf(d.op("icmp slt i64 %s, 0", first), f)
	d.failIf(d.op("icmp slt i64 %s, %s", last, first), f)
	total := d.checked("sadd", d.op("sub i64 %s, %s", last, first), n, f)
	return d.op("select i1 %s, i64 0, i64 %s", d.op("icmp eq i64 %s, 0", n), total)
}

// chunksFor computes how many chunks a weight is cut into, at most, and of what weight.
func (d *driver) chunksFor(part int, total string) {
	p := &d.loops.Partitions[part]
	grain := integer(p.Grain)
	before := d.op("sub i64 %s, 1", total)
	wide := d.op("add i64 %s, 1", d.op("ashr i64 %s, %d", before, bits.TrailingZeros(maxChunks)))
	step := d.op("select i1 %s, i64 %s, i64 %s", d.op("icmp sgt i64 %s, %s", wide, grain), wide, grain)
	chunks := d.op("add i64 %s, 1", d.op("sdiv i64 %s, %s", before, step))
	none := d.op("icmp eq i64 %s, 0", total)
	chunks = d.op("select i1 %s, i64 0, i64 %s", none, chunks)
	at := d.cutWord(part)
	d.store("%state", at+cutChunks, chunks)
	d.store("%state", at+cutStep, step)
	d.store("%state", scalarWord(p.Chunks), chunks)
}

// boundaries counts the chunks of a partition by weight; there are fewer than by
// weight alone where elements are heavy. Where the caller runs chunks, which may be in
// any order, it keeps the boundaries.
func (d *driver) boundaries(part int) {
	at := d.cutWord(part)
	several, single, done := d.block("several"), d.block("single"), d.block("cut")
	d.branch(d.op("icmp sgt i64 %s, 1", d.load("%state", at+cutChunks)), several, single)
	d.enter(single)
	d.store("%state", at+cutStep, d.load("%state", at+cutElements)) // one chunk has all
	d.jump(done)
	d.enter(several)
	keep, count := d.block("keep"), d.block("count")
	chunked := d.op("icmp ne i64 %s, 0", d.op("and i64 %s, %d", d.load("%call", callFlags), FlagChunks))
	d.branch(chunked, keep, count)
	d.enter(keep)
	size := d.op("shl i64 %s, 3", d.op("add i64 %s, 1", d.load("%state", at+cutChunks)))
	d.do("call void @%s.ask(i64* %%call, i64* %s, i64 %s, i64 0, i64 %d, i64 -1, i64 -1, i64 -1)", d.prefix, d.word("%state", at+cutBounds), size, RoleTemporary)
	d.pause(Need)
	messages := d.texts([]string{"there is no memory for the boundaries of chunks", "the memory for the boundaries of chunks is not aligned to 8 bytes"})
	d.bail(d.op("call i32 @%s.given(i64* %%call, i64* null, i64* %s, i64 7, i64 -1, i8* %s)", d.prefix, d.word("%state", at+cutBounds), messages))
	d.jump(count)
	d.enter(count)
	n := d.op("call i64 @%s.count%d(i64* %%state)", d.prefix, part)
	d.store("%state", scalarWord(d.loops.Partitions[part].Chunks), n)
	d.jump(done)
	d.enter(done)
}

// run calls the function of a stage.
func (d *driver) run(i int) {
	s := &d.loops.Stages[i]
	stop := d.load("%call", callStop)
	if s.Partition < 0 {
		status := d.op("call i64 @%s.stage%d(i64* %%state, i64 %s, i64 0, i64 0, i64 0, i64 0)", d.prefix, i, stop)
		d.outcome(i, status)
		return
	}
	done := d.block("ran")
	alone := d.block("alone")
	chunks := scalarWord(d.loops.Partitions[s.Partition].Chunks)
	if !s.Ordered {
		// Threads of the caller's are worth their start from two chunks on.
		share := d.block("share")
		chunked := d.op("icmp ne i64 %s, 0", d.op("and i64 %s, %d", d.load("%call", callFlags), FlagChunks))
		several := d.op("icmp sgt i64 %s, 1", d.load("%state", chunks))
		d.branch(d.op("and i1 %s, %s", chunked, several), share, alone)
		d.enter(share)
		d.store("%state", stateStage, integer(int64(i)))
		d.store("%state", stateFailure, "0")
		d.store("%call", callChunks, d.load("%state", chunks))
		d.pause(Chunks)
		d.store("%state", stateStage, "-1")
		failed := d.op("load atomic i64, i64* %s acquire, align 8", d.word("%state", stateFailure))
		first := d.op("xor i64 %s, -1", failed)
		status := d.op("sub i64 %s, 1", d.op("and i64 %s, 65535", first))
		none := d.op("icmp eq i64 %s, 0", failed)
		d.outcome(i, d.op("select i1 %s, i64 0, i64 %s", none, status))
		d.jump(done)
	} else {
		d.jump(alone)
	}
	d.enter(alone)
	status := d.op("call i64 @%s.all%d(i64* %%state, i64 %s)", d.prefix, i, stop)
	d.outcome(i, status)
	d.jump(done)
	d.enter(done)
}

// outcome ends the run if a function has failed.
func (d *driver) outcome(stage int, status string) {
	good, bad := d.block("good"), d.block("bad")
	d.branch(d.op("icmp eq i64 %s, 0", status), good, bad)
	d.enter(bad)
	f := d.loops.Stages[stage].Func
	stopped := d.block("stopped")
	var cases []string
	for range f.Fails {
		cases = append(cases, d.block("fail"))
	}
	d.do("switch i64 %s, label %%%s [", status, stopped)
	for code, name := range cases {
		d.do("\ti64 %d, label %%%s", code+1, name)
	}
	d.do("]")
	for code, name := range cases {
		d.enter(name)
		d.fail(failure{ErrKernel, -1, f.Fails[code]})
	}
	d.enter(stopped)
	d.fail(failure{ErrStopped, -1, "stopped by the stop word"})
	d.enter(good)
}

// releases tells the caller of temporaries that are not used any more.
func (d *driver) releases(stage int) {
	for id := range d.loops.Buffers {
		if d.last[id] == stage && d.temporary(loop.BufferID(id)) {
			d.release(d.bufferWord(loop.BufferID(id)), func() string { return d.temporaryBytes(loop.BufferID(id)) })
		}
	}
	for part := range d.loops.Partitions {
		if p := &d.loops.Partitions[part]; p.Weights >= 0 && d.bounds[part] == stage {
			at := d.cutWord(part)
			d.release(at+cutBounds, func() string {
				return d.op("shl i64 %s, 3", d.op("add i64 %s, 1", d.load("%state", at+cutChunks)))
			})
		}
	}
}

// temporaryBytes is how much was asked for for a temporary.
func (d *driver) temporaryBytes(id loop.BufferID) string {
	size := d.bytesOf(id)
	if d.loops.Buffers[id].Role == loop.Scratch && d.scratchOfPartition(id) {
		padded := d.op("and i64 %s, -64", d.op("add i64 %s, 63", size))
		return d.op("mul i64 %s, %s", padded, d.threads())
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
func (d *driver) release(word int, size func() string) {
	give, done := d.block("give"), d.block("given")
	wanted := d.op("icmp ne i64 %s, 0", d.op("and i64 %s, %d", d.load("%call", callFlags), FlagRelease))
	n := size()
	address := d.load("%state", word)
	there := d.op("icmp ne i64 %s, 0", address)
	some := d.op("icmp ne i64 %s, 0", n)
	d.branch(d.op("and i1 %s, %s", d.op("and i1 %s, %s", wanted, there), some), give, done)
	d.enter(give)
	d.store("%state", word, "0")
	d.store("%call", callNeed+needData, address)
	d.store("%call", callNeed+needBytes, n)
	d.store("%call", callNeed+needZero, "0")
	d.store("%call", callNeed+needRole, integer(RoleTemporary))
	d.pause(Release)
	d.jump(done)
	d.enter(done)
}
