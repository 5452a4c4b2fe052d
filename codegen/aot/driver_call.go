package aot

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// This file builds the functions that call the functions of stages: once, for one
// chunk, or for all chunks in order.

// callers builds those of every stage, and those that cut domains by weight.
func (d *driver) callers() {
	d.stages, d.alls, d.ones = map[int]*ir.Func{}, map[int]*ir.Func{}, map[int]*ir.Func{}
	d.nexts, d.counts = map[int]*ir.Func{}, map[int]*ir.Func{}
	for part := range d.loops.Partitions {
		if d.loops.Partitions[part].Weights >= 0 {
			d.nextChunk(part)
			d.countChunks(part)
		}
	}
	for i := range d.loops.Stages {
		s := &d.loops.Stages[i]
		if s.Func == nil {
			continue
		}
		d.stageCall(i)
		if s.Partition >= 0 {
			d.allChunks(i)
			if !s.Ordered {
				d.oneChunk(i)
			}
		}
	}
}

// stageCall builds the function that packs a stage's arguments and calls its function.
func (d *driver) stageCall(i int) {
	s := &d.loops.Stages[i]
	state, stop, chunk, lo, hi, thread := param("state", wordPtr), param("stop"), param("chunk"), param("lo"), param("hi"), param("thread")
	d.stages[i] = d.begin(fmt.Sprintf(".stage%d", i), types.I64, state, stop, chunk, lo, hi, thread)
	d.state = state
	args := d.array(len(s.Bufs)+len(s.Args)+1, 8)
	for k, id := range s.Bufs {
		address := d.load(d.state, d.bufferWord(id))
		if d.loops.Buffers[id].Role == loop.Scratch && s.Partition >= 0 {
			padded := d.and(d.add(d.bytesOf(id), num(63)), num(-64))
			address = d.add(address, d.mul(padded, thread))
		}
		d.store(args, k, address)
	}
	for k, id := range s.Args {
		d.store(args, len(s.Bufs)+k, d.load(d.state, scalarWord(id)))
	}
	d.store(args, len(s.Bufs)+len(s.Args), stop)
	d.dispatch(d.kernels[i], args, chunk, lo, hi)
}

// dispatch returns what the function of a stage does, in the variant for this processor.
func (d *driver) dispatch(variants []*ir.Func, args ...value.Value) {
	if len(variants) == 1 {
		d.ret(d.do(variants[0], args...))
		return
	}
	least := d.NewBlock("level")
	choice := d.Block.NewSwitch(d.do(d.level), least)
	for n, kernel := range variants {
		b := least
		if n > 0 {
			b = d.NewBlock("level")
			choice.Cases = append(choice.Cases, ir.NewCase(num(n), b))
		}
		d.Enter(b)
		d.ret(d.do(kernel, args...))
	}
}

// nextChunk builds the function that finds the next chunk of a partition by weight.
func (d *driver) nextChunk(part int) {
	p := &d.loops.Partitions[part]
	at := d.cutWord(part)
	state, iter := param("state", wordPtr), param("iter", wordPtr)
	d.nexts[part] = d.begin(fmt.Sprintf(".next%d", part), types.Void, state, iter)
	args := d.array(6, 8)
	for k, v := range []value.Value{
		d.load(state, d.bufferWord(p.Weights)), d.address(iter),
		d.load(state, at+cutElements), d.load(state, at+cutStep), d.load(state, at+cutChunks), num(0),
	} {
		d.store(args, k, v)
	}
	d.do(d.cuts[d.loops.Buffers[p.Weights].Elem], args, num(0), num(0), num(0))
	d.ret(nil)
}

// iterate makes what nextChunk goes on from, at the first chunk.
func (d *driver) iterate(part int) (iter value.Value) {
	at := d.cutWord(part)
	iter = d.array(iterWords, 8)
	d.store(iter, iterNext, num(1))
	d.store(iter, iterAt, num(0))
	most := d.load(d.state, at+cutChunks)
	most = d.either(d.icmp(eq, most, num(0)), num(1), most)
	d.store(iter, iterLength, d.Block.NewSDiv(d.load(d.state, at+cutElements), most))
	d.store(iter, iterLo, num(0))
	d.store(iter, iterHi, num(0))
	return iter
}

// countChunks builds the function that counts the chunks of a partition by weight, and
// keeps their boundaries if there is memory for them.
func (d *driver) countChunks(part int) {
	at := d.cutWord(part)
	state := param("state", wordPtr)
	d.counts[part] = d.begin(fmt.Sprintf(".count%d", part), types.I64, state)
	d.state = state
	iter := d.iterate(part)
	n := d.load(d.state, at+cutElements)
	kept := d.load(d.state, at+cutBounds)
	bounds := d.pointer(kept)
	keeps := d.icmp(ne, kept, num(0))
	entry, chunk, done := d.Block, d.NewBlock("chunk"), d.NewBlock("done")
	d.jump(chunk)
	d.Enter(chunk)
	k := d.counter(entry)
	d.do(d.nexts[part], d.state, iter)
	next := d.add(k, num(1))
	d.when(keeps, func() {
		d.store(d.at(bounds, k), 0, d.load(iter, iterLo))
		d.store(d.at(bounds, next), 0, d.load(iter, iterHi))
	})
	k.Incs = append(k.Incs, ir.NewIncoming(next, d.Block))
	d.branch(d.icmp(slt, d.load(iter, iterHi), n), chunk, done)
	d.Enter(done)
	d.ret(next)
}

// evenRange is chunk k of a partition in which every element weighs the same.
func (d *driver) evenRange(part int, k value.Value) (lo, hi value.Value) {
	at := d.cutWord(part)
	step := d.load(d.state, at+cutStep)
	lo = d.mul(k, step)
	return lo, d.add(lo, d.least(step, d.sub(d.load(d.state, at+cutElements), lo)))
}

// keptRange is chunk k of a partition by weight whose boundaries are kept.
func (d *driver) keptRange(part int, k value.Value) (lo, hi value.Value) {
	at := d.at(d.pointer(d.load(d.state, d.cutWord(part)+cutBounds)), k)
	return d.load(at, 0), d.load(at, 1)
}

// chunkRange is chunk k of a stage: among those found one after the other, of which
// iter, unless it is nil, holds the place.
func (d *driver) chunkRange(part int, k, iter value.Value) (lo, hi value.Value) {
	if d.loops.Partitions[part].Weights < 0 {
		return d.evenRange(part, k)
	}
	at := d.cutWord(part)
	kept, alone, single, found := d.NewBlock("kept"), d.NewBlock("alone"), d.NewBlock("single"), d.NewBlock("found")
	d.branch(d.icmp(ne, d.load(d.state, at+cutBounds), num(0)), kept, alone)
	d.Enter(kept)
	keptLo, keptHi := d.keptRange(part, k)
	d.jump(found)
	d.Enter(alone)
	n := d.load(d.state, at+cutElements)
	los, his, froms := []value.Value{keptLo, num(0)}, []value.Value{keptHi, n}, []*ir.Block{kept, single}
	if iter != nil {
		search := d.NewBlock("search")
		d.branch(d.icmp(sgt, d.load(d.state, at+cutChunks), num(1)), search, single)
		d.Enter(search)
		d.do(d.nexts[part], d.state, iter)
		los, his, froms = append(los, d.load(iter, iterLo)), append(his, d.load(iter, iterHi)), append(froms, search)
		d.jump(found)
	} else {
		d.jump(single)
	}
	d.Enter(single)
	d.jump(found)
	d.Enter(found)
	return d.phi(los, froms), d.phi(his, froms)
}

// allChunks builds the function that runs the chunks of a stage in order.
func (d *driver) allChunks(i int) {
	part := d.loops.Stages[i].Partition
	state, stop := param("state", wordPtr), param("stop")
	d.alls[i] = d.begin(fmt.Sprintf(".all%d", i), types.I64, state, stop)
	d.state = state
	var iter value.Value
	if d.loops.Partitions[part].Weights >= 0 {
		iter = d.iterate(part)
	}
	chunks := d.load(d.state, scalarWord(d.loops.Partitions[part].Chunks))
	entry, test, chunk, next, done := d.Block, d.NewBlock("test"), d.NewBlock("chunk"), d.NewBlock("next"), d.NewBlock("done")
	d.jump(test)
	d.Enter(test)
	k := d.counter(entry)
	after := d.add(k, num(1))
	d.branch(d.icmp(slt, k, chunks), chunk, done)
	d.Enter(chunk)
	lo, hi := d.chunkRange(part, k, iter)
	status := d.do(d.stages[i], d.state, stop, k, lo, hi, num(0))
	d.bad(d.icmp(ne, status, num(0)), func() { d.ret(status) })
	look := d.NewBlock("look")
	d.branch(d.icmp(eq, stop, num(0)), next, look)
	d.Enter(look)
	word := d.Block.NewLoad(types.I32, d.pointer(stop, types.NewPointer(types.I32)))
	word.Volatile = true
	d.bad(d.icmp(slt, word, num32(0)), func() { d.ret(num(loop.StatusStopped)) })
	d.jump(next)
	d.Enter(next)
	k.Incs = append(k.Incs, ir.NewIncoming(after, next))
	d.jump(test)
	d.Enter(done)
	d.ret(num(0))
}

// oneChunk builds the function that runs one chunk of a stage.
func (d *driver) oneChunk(i int) {
	state, stop, k, thread := param("state", wordPtr), param("stop"), param("k"), param("thread")
	d.ones[i] = d.begin(fmt.Sprintf(".one%d", i), types.I64, state, stop, k, thread)
	d.state = state
	lo, hi := d.chunkRange(d.loops.Stages[i].Partition, k, nil)
	d.ret(d.do(d.stages[i], d.state, stop, k, lo, hi, thread))
}
