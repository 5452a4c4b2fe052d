package aot

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file writes the functions that callers see, and the helpers of the driver.

// module is the whole driver as LLVM IR.
func (d *driver) module() string {
	step := d.stepFunc()
	d.chunkFunc()
	d.runFunc()
	d.callers()
	d.helpers()
	var out strings.Builder
	for _, name := range []string{"sadd", "ssub", "smul"} {
		fmt.Fprintf(&out, "declare {i64, i1} @llvm.%s.with.overflow.i64(i64, i64)\n", name)
	}
	out.WriteString(d.descriptor())
	out.WriteString(d.globals.String())
	out.WriteString("\n" + step + d.b.String())
	return out.String()
}

// stepFunc writes NAME_step. The switch that goes on where the call before has paused
// comes first, and its targets are known last.
func (d *driver) stepFunc() string {
	d.enter("start")
	d.bind()
	for i := range d.loops.Stages {
		d.stage(i)
	}
	d.finish()
	body := d.b.String()
	d.b.Reset()

	d.line("define i32 @%s_step(i64* %%call) noinline optnone nounwind \"no-builtins\" {", d.p.Name)
	d.enter("entry")
	d.open()
	at := d.load("%state", stateAt)
	d.do("switch i64 %s, label %%over [", at)
	d.do("\ti64 0, label %%start")
	for n := 1; n <= d.resumes; n++ {
		d.do("\ti64 %d, label %%%s", n, resumeBlock(n))
	}
	d.do("]")
	d.enter("over")
	d.fail(failure{ErrState, -1, "the run is over, or the state was not zeroed before it"})
	head := d.b.String()
	d.b.Reset()
	return head + body + "}\n\n"
}

// open checks the call structure and names its state.
func (d *driver) open() {
	null, call := d.block("null"), d.block("call")
	d.branch(d.op("icmp eq i64* %%call, null"), null, call)
	d.enter(null)
	d.do("ret i32 %d", ErrNull)
	d.enter(call)
	other, same := d.block("other"), d.block("same")
	d.branch(d.op("icmp eq i64 %s, %d", d.load("%call", callABI), ABIVersion), same, other)
	d.enter(other)
	d.do("ret i32 %d", ErrABI)
	d.enter(same)
	address := d.load("%call", callState)
	d.line("\t%%state = inttoptr i64 %s to i64*", address)
	// Without a state, none may be written to: these return by themselves.
	small := d.op("icmp slt i64 %s, %d", d.load("%call", callStateWords), d.words)
	none := d.op("icmp eq i64 %s, 0", address)
	bad, good := d.block("bad"), d.block("good")
	d.branch(d.op("or i1 %s, %s", small, none), bad, good)
	d.enter(bad)
	d.store("%call", callTensor, "-1")
	message := d.text(fmt.Sprintf("the state must have %d words", d.words))
	d.store("%call", callMessage, d.op("ptrtoint i8* %s to i64", message))
	d.do("ret i32 %d", ErrState)
	d.enter(good)
	d.failIf(d.op("icmp ne i64 %s, %d", d.load("%call", callCount), len(d.p.Tensors)),
		failure{ErrCount, -1, fmt.Sprintf("there must be %d tensors: %s", len(d.p.Tensors), d.p.Signature())})
	d.failIf(d.op("icmp eq i64 %s, 0", d.load("%call", callTensors)), failure{ErrNull, -1, "the tensors are null"})
	chunked := d.op("icmp ne i64 %s, 0", d.op("and i64 %s, %d", d.load("%call", callFlags), FlagChunks))
	idle := d.op("icmp slt i64 %s, 1", d.load("%call", callThreads))
	d.failIf(d.op("and i1 %s, %s", chunked, idle), failure{ErrState, -1, "with LACUNA_FLAG_CHUNKS there must be at least 1 thread"})
}

// finish tells the fills of results and ends the run.
func (d *driver) finish() {
	tensors := d.pointer(d.load("%call", callTensors))
	for i := d.p.Operands; i < len(d.p.Tensors); i++ {
		t := &d.p.Tensors[i]
		if !t.FillKnown && t.FillBuffer < 0 {
			continue
		}
		fill := d.load(d.word(tensors, i*tensorWords), tensorFill)
		give, done := d.block("give"), d.block("given")
		d.branch(d.op("icmp ne i64 %s, 0", fill), give, done)
		d.enter(give)
		from := ""
		if t.FillBuffer >= 0 {
			from = d.load("%state", d.bufferWord(t.FillBuffer))
		} else {
			from = d.op("ptrtoint i8* %s to i64", d.bytes(scalarBytes(t.Fill)))
		}
		d.do("call void @%s.copy(i64 %s, i64 %s, i64 %d)", d.prefix, fill, from, t.DType.Size())
		d.jump(done)
		d.enter(done)
	}
	for i := range d.p.Tensors {
		if id := d.p.Tensors[i].FillBuffer; i >= d.p.Operands && id >= 0 && d.temporary(id) {
			d.release(d.bufferWord(id), func() string { return d.temporaryBytes(id) })
		}
	}
	d.store("%state", stateAt, integer(runOver))
	d.do("ret i32 %d", OK)
}

// chunkFunc writes NAME_chunk.
func (d *driver) chunkFunc() {
	d.line("define i32 @%s_chunk(i64* %%call, i64 %%chunk, i64 %%thread) noinline optnone nounwind \"no-builtins\" {", d.p.Name)
	d.enter("entry")
	d.line("\t%%none = icmp eq i64* %%call, null")
	d.do("br i1 %%none, label %%null, label %%call.there")
	d.enter("null")
	d.do("ret i32 %d", ErrNull)
	d.enter("call.there")
	d.line("\t%%abi = icmp eq i64 %s, %d", d.load("%call", callABI), ABIVersion)
	d.do("br i1 %%abi, label %%same, label %%other")
	d.enter("other")
	d.do("ret i32 %d", ErrABI)
	d.enter("same")
	d.line("\t%%state = inttoptr i64 %s to i64*", d.load("%call", callState))
	d.do("br i1 %s, label %%order, label %%find", d.op("icmp eq i64* %%state, null"))
	d.enter("order")
	d.do("ret i32 %d", ErrState)
	d.enter("find")
	inside := d.op("icmp ult i64 %%chunk, %s", d.load("%call", callChunks))
	thread := d.op("icmp ult i64 %%thread, %s", d.load("%call", callThreads))
	d.do("br i1 %s, label %%choose, label %%order", d.op("and i1 %s, %s", inside, thread))
	d.enter("choose")
	stop := d.load("%call", callStop)
	stage := d.load("%state", stateStage)
	var stages []int
	for i := range d.loops.Stages {
		s := &d.loops.Stages[i]
		if s.Func != nil && s.Partition >= 0 && !s.Ordered {
			stages = append(stages, i)
		}
	}
	if len(stages) == 0 {
		d.jump("order")
		d.line("}\n")
		return
	}
	d.do("switch i64 %s, label %%order [", stage)
	for _, i := range stages {
		d.do("\ti64 %d, label %%stage%d", i, i)
	}
	d.do("]")
	var incoming []string
	for _, i := range stages {
		d.enter(fmt.Sprintf("stage%d", i))
		status := d.op("call i64 @%s.one%d(i64* %%state, i64 %s, i64 %%chunk, i64 %%thread)", d.prefix, i, stop)
		incoming = append(incoming, fmt.Sprintf("[ %s, %%stage%d ]", status, i))
		d.jump("ran")
	}
	d.enter("ran")
	status := d.op("phi i64 %s", strings.Join(incoming, ", "))
	d.do("br i1 %s, label %%good, label %%bad", d.op("icmp eq i64 %s, 0", status))
	d.enter("good")
	d.do("ret i32 0")
	d.enter("bad")
	packed := d.op("or i64 %s, %s", d.op("shl i64 %%chunk, 16"), d.op("and i64 %s, 65535", d.op("add i64 %s, 1", status)))
	d.op("atomicrmw umax i64* %s, i64 %s acq_rel", d.word("%state", stateFailure), d.op("xor i64 %s, -1", packed))
	stopped := d.op("icmp eq i64 %s, %d", status, loop.StatusStopped)
	d.do("ret i32 %s", d.op("select i1 %s, i32 %d, i32 %d", stopped, ErrStopped, ErrKernel))
	d.line("}\n")
}

// runFunc writes NAME, which steps and gets memory from the callbacks. What those gave is
// kept in a list, with room for everything that the kernel may ask for.
func (d *driver) runFunc() {
	entries := len(d.loops.Partitions)
	for id := range d.loops.Buffers {
		if _, _, _, ok := d.resultArray(loop.BufferID(id)); ok || d.temporary(loop.BufferID(id)) {
			entries++
		}
	}
	list := max(1, entries*heldWords)
	d.line("define i32 @%s(i64* %%args) noinline optnone nounwind \"no-builtins\" {", d.p.Name)
	d.enter("entry")
	d.line("\t%%callMemory = alloca [%d x i64], align 16", callWords)
	d.line("\t%%stateMemory = alloca [%d x i64], align 16", d.words)
	d.line("\t%%listMemory = alloca [%d x i64], align 16", list)
	d.line("\t%%call = getelementptr [%d x i64], [%d x i64]* %%callMemory, i64 0, i64 0", callWords, callWords)
	d.line("\t%%state = getelementptr [%d x i64], [%d x i64]* %%stateMemory, i64 0, i64 0", d.words, d.words)
	d.line("\t%%list = getelementptr [%d x i64], [%d x i64]* %%listMemory, i64 0, i64 0", list, list)
	d.do("ret i32 %s", d.op("call i32 @%s.drive(i64* %%args, i64* %%call, i64* %%state, i64 %d, i64* %%list)", d.prefix, d.words))
	d.line("}\n")
}

// helpers writes those functions.
func (d *driver) helpers() {
	d.b.WriteString(helpersFor(d.prefix))
	if len(d.levels) > 1 {
		d.b.WriteString(strings.ReplaceAll(levelSource(d.levels), "NAME", d.prefix))
	}
}

// descriptor is the constant NAME_kernel.
func (d *driver) descriptor() string {
	text := func(s string) string { return "i8* " + d.text(s) }
	fields := []string{
		"i64 " + integer(ABIVersion), text(d.p.Name), text(d.p.Source), text(d.p.Signature()),
		"i64 " + integer(int64(d.p.Operands)), "i64 " + integer(int64(len(d.p.Tensors)-d.p.Operands)),
		"i64 " + integer(int64(d.words)), "i64 " + integer(int64(len(d.loops.Stages))),
		fmt.Sprintf("i32 (i64*)* @%s", d.p.Name), fmt.Sprintf("i32 (i64*)* @%s_step", d.p.Name),
		fmt.Sprintf("i32 (i64*, i64, i64)* @%s_chunk", d.p.Name),
	}
	return fmt.Sprintf("@%s_kernel = constant { i64, i8*, i8*, i8*, i64, i64, i64, i64, i32 (i64*)*, i32 (i64*)*, i32 (i64*, i64, i64)* } { %s }\n",
		d.p.Name, strings.Join(fields, ", "))
}

// Signature lists the tensors with formats and types.
func (p *Program) Signature() string {
	var list []string
	for i := range p.Tensors {
		t := &p.Tensors[i]
		list = append(list, fmt.Sprintf("%s:%s[%s]", t.Name, t.Format, t.DType))
	}
	return strings.Join(list, " ")
}
