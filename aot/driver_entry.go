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

	d.line("define i32 @%s_step(i64* %%call) nounwind \"no-builtins\" {", d.p.Name)
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

// bytes is the address, as an i8*, of constant memory.
func (d *driver) bytes(b []byte) string {
	s := string(b)
	name, ok := d.strings["bytes "+s]
	if !ok {
		name = fmt.Sprintf("@%s.const.%d", d.prefix, len(d.strings))
		d.strings["bytes "+s] = name
		var text strings.Builder
		for _, c := range b {
			fmt.Fprintf(&text, "\\%02X", c)
		}
		fmt.Fprintf(&d.globals, "%s = private unnamed_addr constant [%d x i8] c\"%s\", align 16\n", name, len(b), text.String())
	}
	return fmt.Sprintf("getelementptr ([%d x i8], [%d x i8]* %s, i64 0, i64 0)", len(b), len(b), name)
}

// chunkFunc writes NAME_chunk.
func (d *driver) chunkFunc() {
	d.line("define i32 @%s_chunk(i64* %%call, i64 %%chunk, i64 %%thread) nounwind \"no-builtins\" {", d.p.Name)
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

// runFunc writes NAME, which steps and gets memory from the callbacks.
func (d *driver) runFunc() {
	saved := d.resultArrays()
	d.line("define i32 @%s(i64* %%args) nounwind \"no-builtins\" {", d.p.Name)
	d.enter("entry")
	d.line("\t%%callMemory = alloca [%d x i64], align 16", callWords)
	d.line("\t%%stateMemory = alloca [%d x i64], align 16", d.words)
	d.line("\t%%savedMemory = alloca [%d x i64], align 16", max(1, len(saved)*arrayWords))
	d.line("\t%%call = getelementptr [%d x i64], [%d x i64]* %%callMemory, i64 0, i64 0", callWords, callWords)
	d.line("\t%%state = getelementptr [%d x i64], [%d x i64]* %%stateMemory, i64 0, i64 0", d.words, d.words)
	d.line("\t%%saved = getelementptr [%d x i64], [%d x i64]* %%savedMemory, i64 0, i64 0", max(1, len(saved)*arrayWords), max(1, len(saved)*arrayWords))
	d.do("br i1 %s, label %%null, label %%there", d.op("icmp eq i64* %%args, null"))
	d.enter("null")
	d.do("ret i32 %d", ErrNull)
	d.enter("there")
	d.do("br i1 %s, label %%same, label %%other", d.op("icmp eq i64 %s, %d", d.load("%args", argsABI), ABIVersion))
	d.enter("other")
	d.do("ret i32 %d", ErrABI)
	d.enter("same")
	d.do("call void @%s.zero(i64 %s, i64 %d)", d.prefix, d.op("ptrtoint i64* %%call to i64"), 8*callWords)
	d.do("call void @%s.zero(i64 %s, i64 %d)", d.prefix, d.op("ptrtoint i64* %%saved to i64"), 8*max(1, len(saved)*arrayWords))
	d.do("call void @%s.zero(i64 %s, i64 %d)", d.prefix, d.op("ptrtoint i64* %%state to i64"), 8*d.words)
	d.store("%call", callABI, integer(ABIVersion))
	d.store("%call", callFlags, integer(FlagRelease))
	d.store("%call", callCount, d.load("%args", argsCount))
	d.store("%call", callTensors, d.load("%args", argsTensors))
	d.store("%call", callState, d.op("ptrtoint i64* %%state to i64"))
	d.store("%call", callStateWords, integer(int64(d.words)))
	d.store("%call", callStop, d.load("%args", argsStop))
	d.store("%call", callThreads, "1")
	d.jump("step")
	d.enter("step")
	d.line("\t%%r = call i32 @%s_step(i64* %%call)", d.p.Name)
	d.do("switch i32 %%r, label %%ended [")
	d.do("\ti32 %d, label %%need", Need)
	d.do("\ti32 %d, label %%release", Release)
	d.do("]")
	d.enter("need")
	allocate := d.load("%args", argsAllocate)
	d.do("br i1 %s, label %%again, label %%allocate", d.op("icmp eq i64 %s, 0", allocate))
	d.enter("allocate")
	f := d.op("inttoptr i64 %s to i8* (i8*, i64)*", allocate)
	user := d.op("inttoptr i64 %s to i8*", d.load("%args", argsUser))
	p := d.op("call i8* %s(i8* %s, i64 %s)", f, user, d.load("%call", callNeed+needBytes))
	d.store("%call", callNeed+needData, d.op("ptrtoint i8* %s to i64", p))
	d.runRemember(saved)
	d.jump("again")
	d.enter("release")
	d.giveBack(d.load("%call", callNeed+needData), d.load("%call", callNeed+needBytes))
	d.jump("again")
	d.enter("again")
	d.jump("step")
	d.enter("ended")
	d.do("br i1 %s, label %%failed, label %%done", d.op("icmp slt i32 %%r, 0"))
	d.enter("failed")
	d.runCleanup(saved)
	d.jump("done")
	d.enter("done")
	d.store("%args", argsTensor, d.load("%call", callTensor))
	d.store("%args", argsMessage, d.load("%call", callMessage))
	d.do("ret i32 %%r")
	d.line("}\n")
}

// resultArrays lists the buffers that are arrays of results.
func (d *driver) resultArrays() []loop.BufferID {
	var list []loop.BufferID
	for id := range d.loops.Buffers {
		if _, _, _, ok := d.resultArray(loop.BufferID(id)); ok {
			list = append(list, loop.BufferID(id))
		}
	}
	return list
}

// runRemember keeps an array of a result as it was before it gets memory of the
// allocator.
func (d *driver) runRemember(arrays []loop.BufferID) {
	done := d.block("remembered")
	tensor, level, kind := d.load("%call", callNeed+needTensor), d.load("%call", callNeed+needLevel), d.load("%call", callNeed+needArray)
	for k, id := range arrays {
		t, l, a, _ := d.resultArray(id)
		is, next := d.block("is"), d.block("next")
		same := d.op("and i1 %s, %s", d.op("icmp eq i64 %s, %d", tensor, t), d.op("icmp eq i64 %s, %d", level, l))
		d.branch(d.op("and i1 %s, %s", same, d.op("icmp eq i64 %s, %d", kind, a)), is, next)
		d.enter(is)
		array := d.arrayOf(id)
		d.store("%saved", k*arrayWords+arrayData, d.load(array, arrayData))
		d.store("%saved", k*arrayWords+arrayCap, d.load(array, arrayCap))
		d.store("%saved", k*arrayWords+arrayLen, d.load("%call", callNeed+needData))
		d.store("%saved", k*arrayWords+arrayType, d.load("%call", callNeed+needBytes))
		d.jump(done)
		d.enter(next)
	}
	d.jump(done)
	d.enter(done)
}

// giveBack calls the release callback, if there is one.
func (d *driver) giveBack(address, size string) {
	give, done := d.block("give"), d.block("gave")
	callback := d.load("%args", argsRelease)
	there := d.op("and i1 %s, %s", d.op("icmp ne i64 %s, 0", callback), d.op("icmp ne i64 %s, 0", address))
	d.branch(there, give, done)
	d.enter(give)
	f := d.op("inttoptr i64 %s to void (i8*, i8*, i64)*", callback)
	user := d.op("inttoptr i64 %s to i8*", d.load("%args", argsUser))
	d.do("call void %s(i8* %s, i8* %s, i64 %s)", f, user, d.op("inttoptr i64 %s to i8*", address), size)
	d.jump(done)
	d.enter(done)
}

// runCleanup gives back everything that a failed run holds: temporaries that the state
// knows, and memory of results. The last of the words that runRemember keeps hold what the
// allocator gave.
func (d *driver) runCleanup(arrays []loop.BufferID) {
	home := d.op("ptrtoint i64* %%state to i64")
	for id := range d.loops.Buffers {
		if !d.temporary(loop.BufferID(id)) {
			continue
		}
		give, next := d.block("held"), d.block("next")
		address := d.load("%state", d.bufferWord(loop.BufferID(id)))
		there := d.op("and i1 %s, %s", d.op("icmp ne i64 %s, 0", address), d.op("icmp ne i64 %s, %s", address, home))
		d.branch(there, give, next)
		d.enter(give)
		d.giveBack(address, d.temporaryBytes(loop.BufferID(id)))
		d.jump(next)
		d.enter(next)
	}
	for k, id := range arrays {
		give, next := d.block("held"), d.block("next")
		address := d.load("%saved", k*arrayWords+arrayLen)
		d.branch(d.op("icmp ne i64 %s, 0", address), give, next)
		d.enter(give)
		array := d.arrayOf(id)
		d.store(array, arrayData, d.load("%saved", k*arrayWords+arrayData))
		d.store(array, arrayCap, d.load("%saved", k*arrayWords+arrayCap))
		d.giveBack(address, d.load("%saved", k*arrayWords+arrayType))
		d.jump(next)
		d.enter(next)
	}
}

// helperSource are the functions that all drivers have; NAME is the kernel's.
const helperSource = `
define internal i32 @NAME.fail(i64* %call, i32 %code, i64 %tensor, i8* %message) noinline cold nounwind "no-builtins" {
entry:
	%tensor.word = getelementptr i64, i64* %call, i64 TENSOR
	store i64 %tensor, i64* %tensor.word
	%message.word = getelementptr i64, i64* %call, i64 MESSAGE
	%message.address = ptrtoint i8* %message to i64
	store i64 %message.address, i64* %message.word
	%state.word = getelementptr i64, i64* %call, i64 STATE
	%state.address = load i64, i64* %state.word
	%state = inttoptr i64 %state.address to i64*
	store i64 -1, i64* %state
	ret i32 %code
}

define internal i1 @NAME.same(i8* %x, i8* %y) noinline nounwind "no-builtins" {
entry:
	br label %next
next:
	%i = phi i64 [ 0, %entry ], [ %i.next, %more ]
	%px = getelementptr i8, i8* %x, i64 %i
	%py = getelementptr i8, i8* %y, i64 %i
	%cx = load i8, i8* %px
	%cy = load i8, i8* %py
	%equal = icmp eq i8 %cx, %cy
	br i1 %equal, label %more, label %differ
more:
	%i.next = add i64 %i, 1
	%end = icmp eq i8 %cx, 0
	br i1 %end, label %same, label %next
same:
	ret i1 true
differ:
	ret i1 false
}

define internal i1 @NAME.overlap(i64 %p, i64 %pn, i64 %q, i64 %qn) noinline nounwind "no-builtins" {
entry:
	%pend = add i64 %p, %pn
	%qend = add i64 %q, %qn
	%a = icmp ult i64 %p, %qend
	%b = icmp ult i64 %q, %pend
	%some.p = icmp ne i64 %pn, 0
	%some.q = icmp ne i64 %qn, 0
	%ab = and i1 %a, %b
	%some = and i1 %some.p, %some.q
	%r = and i1 %ab, %some
	ret i1 %r
}

define internal void @NAME.zero(i64 %address, i64 %n) noinline nounwind "no-builtins" {
entry:
	%p = inttoptr i64 %address to i8*
	%some = icmp sgt i64 %n, 0
	br i1 %some, label %next, label %done
next:
	%i = phi i64 [ 0, %entry ], [ %i.next, %next ]
	%at = getelementptr i8, i8* %p, i64 %i
	store i8 0, i8* %at
	%i.next = add nuw nsw i64 %i, 1
	%more = icmp slt i64 %i.next, %n
	br i1 %more, label %next, label %done
done:
	ret void
}

define internal void @NAME.copy(i64 %to, i64 %from, i64 %n) noinline nounwind "no-builtins" {
entry:
	%p = inttoptr i64 %to to i8*
	%q = inttoptr i64 %from to i8*
	br label %next
next:
	%i = phi i64 [ 0, %entry ], [ %i.next, %next ]
	%pi = getelementptr i8, i8* %p, i64 %i
	%qi = getelementptr i8, i8* %q, i64 %i
	%byte = load i8, i8* %qi
	store i8 %byte, i8* %pi
	%i.next = add nuw nsw i64 %i, 1
	%more = icmp slt i64 %i.next, %n
	br i1 %more, label %next, label %done
done:
	ret void
}
`

// helpers writes those functions.
func (d *driver) helpers() {
	d.b.WriteString(strings.NewReplacer("NAME", d.prefix, "TENSOR", integer(callTensor), "MESSAGE", integer(callMessage),
		"STATE", integer(callState)).Replace(helperSource))
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
