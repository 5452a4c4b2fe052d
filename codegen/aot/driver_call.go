package aot

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file writes the functions that call the functions of stages: once, for one
// chunk, or for all chunks in order.

// callers writes those of every stage, and those that cut domains by weight.
func (d *driver) callers() {
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

// stageCall writes the function that packs a stage's arguments and calls its function.
func (d *driver) stageCall(i int) {
	s := &d.loops.Stages[i]
	d.line("define internal i64 @%s.stage%d(i64* %%state, i64 %%stop, i64 %%chunk, i64 %%lo, i64 %%hi, i64 %%thread) noinline optnone nounwind \"no-builtins\" {", d.prefix, i)
	d.enter("entry")
	d.line("\t%%block = alloca [%d x i64], align 8", len(s.Bufs)+len(s.Args)+1)
	d.line("\t%%args = getelementptr [%d x i64], [%d x i64]* %%block, i64 0, i64 0", len(s.Bufs)+len(s.Args)+1, len(s.Bufs)+len(s.Args)+1)
	for k, id := range s.Bufs {
		address := d.load("%state", d.bufferWord(id))
		if d.loops.Buffers[id].Role == loop.Scratch && s.Partition >= 0 {
			padded := d.op("and i64 %s, -64", d.op("add i64 %s, 63", d.bytesOf(id)))
			address = d.op("add i64 %s, %s", address, d.op("mul i64 %s, %%thread", padded))
		}
		d.store("%args", k, address)
	}
	for k, id := range s.Args {
		d.store("%args", len(s.Bufs)+k, d.load("%state", scalarWord(id)))
	}
	d.store("%args", len(s.Bufs)+len(s.Args), "%stop")
	d.dispatch(d.kernels[i], "i64* %args, i64 %chunk, i64 %lo, i64 %hi")
	d.line("}\n")
}

// dispatch returns what the function of a stage does, in the variant for this processor.
func (d *driver) dispatch(kernel, args string) {
	if len(d.levels) == 1 {
		d.do("ret i64 %s", d.op("call i64 @%s%s(%s)", kernel, d.levels[0], args))
		return
	}
	level := d.op("call i64 @%s.level()", d.prefix)
	var blocks []string
	for range d.levels {
		blocks = append(blocks, d.block("level"))
	}
	d.do("switch i64 %s, label %%%s [", level, blocks[0])
	for n := 1; n < len(blocks); n++ {
		d.do("\ti64 %d, label %%%s", n, blocks[n])
	}
	d.do("]")
	for n, suffix := range d.levels {
		d.enter(blocks[n])
		d.do("ret i64 %s", d.op("call i64 @%s%s(%s)", kernel, suffix, args))
	}
}

// nextChunk writes the function that finds the next chunk of a partition by weight.
func (d *driver) nextChunk(part int) {
	p := &d.loops.Partitions[part]
	at := d.cutWord(part)
	d.line("define internal void @%s.next%d(i64* %%state, i64* %%iter) noinline optnone nounwind \"no-builtins\" {", d.prefix, part)
	d.enter("entry")
	d.line("\t%%block = alloca [6 x i64], align 8")
	d.line("\t%%args = getelementptr [6 x i64], [6 x i64]* %%block, i64 0, i64 0")
	for k, v := range []string{
		d.load("%state", d.bufferWord(p.Weights)), d.op("ptrtoint i64* %%iter to i64"),
		d.load("%state", at+cutElements), d.load("%state", at+cutStep), d.load("%state", at+cutChunks), "0",
	} {
		d.store("%args", k, v)
	}
	d.op("call i64 @%s(i64* %%args, i64 0, i64 0, i64 0)", d.cutName(part))
	d.do("ret void")
	d.line("}\n")
}

// cutName is the name of the function that cuts by weights of a partition's type.
func (d *driver) cutName(part int) string {
	return cutName(d.prefix, d.loops.Buffers[d.loops.Partitions[part].Weights].Elem)
}

func cutName(prefix string, elem loop.Type) string { return fmt.Sprintf("%s_cut_%s", prefix, elem) }

// iterate declares what nextChunk goes on from, at the first chunk.
func (d *driver) iterate(part int) {
	at := d.cutWord(part)
	d.line("\t%%iteration = alloca [%d x i64], align 8", iterWords)
	d.line("\t%%iter = getelementptr [%d x i64], [%d x i64]* %%iteration, i64 0, i64 0", iterWords, iterWords)
	d.store("%iter", iterNext, "1")
	d.store("%iter", iterAt, "0")
	most := d.load("%state", at+cutChunks)
	most = d.op("select i1 %s, i64 1, i64 %s", d.op("icmp eq i64 %s, 0", most), most)
	d.store("%iter", iterLength, d.op("sdiv i64 %s, %s", d.load("%state", at+cutElements), most))
	d.store("%iter", iterLo, "0")
	d.store("%iter", iterHi, "0")
}

// countChunks writes the function that counts the chunks of a partition by weight, and
// keeps their boundaries if there is memory for them.
func (d *driver) countChunks(part int) {
	at := d.cutWord(part)
	d.line("define internal i64 @%s.count%d(i64* %%state) noinline optnone nounwind \"no-builtins\" {", d.prefix, part)
	d.enter("entry")
	d.iterate(part)
	n := d.load("%state", at+cutElements)
	kept := d.load("%state", at+cutBounds)
	bounds := d.pointer(kept)
	keeps := d.op("icmp ne i64 %s, 0", kept)
	d.jump("chunk")
	d.enter("chunk")
	d.line("\t%%k = phi i64 [ 0, %%entry ], [ %%k.next, %%counted ]")
	d.do("call void @%s.next%d(i64* %%state, i64* %%iter)", d.prefix, part)
	d.line("\t%%k.next = add i64 %%k, 1")
	d.branch(keeps, "keep", "counted")
	d.enter("keep")
	d.do("store i64 %s, i64* %s", d.load("%iter", iterLo), d.op("getelementptr i64, i64* %s, i64 %%k", bounds))
	d.do("store i64 %s, i64* %s", d.load("%iter", iterHi), d.op("getelementptr i64, i64* %s, i64 %%k.next", bounds))
	d.jump("counted")
	d.enter("counted")
	d.branch(d.op("icmp slt i64 %s, %s", d.load("%iter", iterHi), n), "chunk", "done")
	d.enter("done")
	d.do("ret i64 %%k.next")
	d.line("}\n")
}

// evenRange is chunk %k of a partition in which every element weighs the same.
func (d *driver) evenRange(part int) (lo, hi string) {
	at := d.cutWord(part)
	step := d.load("%state", at+cutStep)
	lo = d.op("mul i64 %%k, %s", step)
	return lo, d.op("add i64 %s, %s", lo, d.least(step, d.op("sub i64 %s, %s", d.load("%state", at+cutElements), lo)))
}

// keptRange is chunk %k of a partition by weight whose boundaries are kept.
func (d *driver) keptRange(part int) (lo, hi string) {
	bounds := d.pointer(d.load("%state", d.cutWord(part)+cutBounds))
	at := d.op("getelementptr i64, i64* %s, i64 %%k", bounds)
	return d.load(at, 0), d.load(at, 1)
}

// chunkRange is chunk %k of a stage: among those found one after the other, of which
// %iter holds the place, if next is set.
func (d *driver) chunkRange(part int, next bool) (lo, hi string) {
	if d.loops.Partitions[part].Weights < 0 {
		return d.evenRange(part)
	}
	at := d.cutWord(part)
	kept, single, search, found := d.block("kept"), d.block("single"), d.block("search"), d.block("found")
	alone := d.block("alone")
	d.branch(d.op("icmp ne i64 %s, 0", d.load("%state", at+cutBounds)), kept, alone)
	d.enter(kept)
	keptLo, keptHi := d.keptRange(part)
	d.jump(found)
	d.enter(alone)
	n := d.load("%state", at+cutElements)
	los, his := []string{keptLo, "0"}, []string{keptHi, n}
	froms := []string{kept, single}
	if next {
		d.branch(d.op("icmp sgt i64 %s, 1", d.load("%state", at+cutChunks)), search, single)
		d.enter(search)
		d.do("call void @%s.next%d(i64* %%state, i64* %%iter)", d.prefix, part)
		los, his, froms = append(los, d.load("%iter", iterLo)), append(his, d.load("%iter", iterHi)), append(froms, search)
		d.jump(found)
	} else {
		d.jump(single)
	}
	d.enter(single)
	d.jump(found)
	d.enter(found)
	phi := func(values []string) string {
		list := ""
		for i, v := range values {
			if i > 0 {
				list += ", "
			}
			list += fmt.Sprintf("[ %s, %%%s ]", v, froms[i])
		}
		return d.op("phi i64 %s", list)
	}
	return phi(los), phi(his)
}

// allChunks writes the function that runs the chunks of a stage in order.
func (d *driver) allChunks(i int) {
	part := d.loops.Stages[i].Partition
	weighted := d.loops.Partitions[part].Weights >= 0
	d.line("define internal i64 @%s.all%d(i64* %%state, i64 %%stop) noinline optnone nounwind \"no-builtins\" {", d.prefix, i)
	d.enter("entry")
	if weighted {
		d.iterate(part)
	}
	chunks := d.load("%state", scalarWord(d.loops.Partitions[part].Chunks))
	d.jump("test")
	d.enter("test")
	d.line("\t%%k = phi i64 [ 0, %%entry ], [ %%k.next, %%next ]")
	d.line("\t%%k.next = add i64 %%k, 1")
	d.branch(d.op("icmp slt i64 %%k, %s", chunks), "chunk", "done")
	d.enter("chunk")
	lo, hi := d.chunkRange(part, weighted)
	status := d.op("call i64 @%s.stage%d(i64* %%state, i64 %%stop, i64 %%k, i64 %s, i64 %s, i64 0)", d.prefix, i, lo, hi)
	d.branch(d.op("icmp eq i64 %s, 0", status), "good", "bad")
	d.enter("bad")
	d.do("ret i64 %s", status)
	d.enter("good")
	d.branch(d.op("icmp eq i64 %%stop, 0"), "next", "look")
	d.enter("look")
	word := d.op("load volatile i32, i32* %s", d.op("inttoptr i64 %%stop to i32*"))
	d.branch(d.op("icmp slt i32 %s, 0", word), "stopped", "next")
	d.enter("stopped")
	d.do("ret i64 %d", loop.StatusStopped)
	d.enter("next")
	d.jump("test")
	d.enter("done")
	d.do("ret i64 0")
	d.line("}\n")
}

// oneChunk writes the function that runs one chunk of a stage.
func (d *driver) oneChunk(i int) {
	part := d.loops.Stages[i].Partition
	d.line("define internal i64 @%s.one%d(i64* %%state, i64 %%stop, i64 %%k, i64 %%thread) noinline optnone nounwind \"no-builtins\" {", d.prefix, i)
	d.enter("entry")
	lo, hi := d.chunkRange(part, false)
	d.do("ret i64 %s", d.op("call i64 @%s.stage%d(i64* %%state, i64 %%stop, i64 %%k, i64 %s, i64 %s, i64 %%thread)", d.prefix, i, lo, hi))
	d.line("}\n")
}
