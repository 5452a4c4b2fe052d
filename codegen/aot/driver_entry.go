package aot

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// This file builds the functions that callers see.

// addDriver adds the driver of a program to the module that has its functions.
func addDriver(m *llvm.Module, p *Program, kernels [][]*ir.Func, cuts map[loop.Type]*ir.Func, levels []string) {
	d := &driver{coder: newCoder(m, p.Name), layout: newLayout(p), kernels: kernels, cuts: cuts, levels: levels}
	d.helpers = d.makeHelpers()
	if len(levels) > 1 {
		d.level = d.levelFunc(levels)
	}
	d.callers()
	step := d.stepFunc()
	d.descriptor(step, d.chunkFunc(), d.runFunc(step))
}

// stepFunc builds NAME_step.
func (d *driver) stepFunc() *ir.Func {
	call := param("call", wordPtr)
	f := d.begin("_step", types.I32, call)
	d.call = call
	d.open()
	start, over := d.NewBlock("start"), d.NewBlock("over")
	where := d.Block.NewSwitch(d.load(d.state, stateAt), over, ir.NewCase(num(0), start))
	d.Enter(over)
	d.fail(failure{ErrState, -1, "the run is over, or the state was not zeroed before it"})
	d.Enter(start)
	d.bind()
	for i := range d.loops.Stages {
		d.stage(i)
	}
	d.finish()
	for n, b := range d.resumes {
		where.Cases = append(where.Cases, ir.NewCase(num(n+1), b))
	}
	return f
}

// openCall checks that there is a call structure, of this version.
func (d *driver) openCall() {
	d.bad(d.icmp(eq, d.call, nullWords), func() { d.ret(num32(ErrNull)) })
	d.bad(d.icmp(ne, d.load(d.call, callABI), num(ABIVersion)), func() { d.ret(num32(ErrABI)) })
}

// open checks the call structure and names its state.
func (d *driver) open() {
	d.openCall()
	address := d.load(d.call, callState)
	d.state = d.pointer(address)
	// Without a state, none may be written to: this returns by itself.
	small := d.icmp(slt, d.load(d.call, callStateWords), num(d.size))
	d.bad(d.Block.NewOr(small, d.icmp(eq, address, num(0))), func() {
		d.store(d.call, callTensor, num(-1))
		d.store(d.call, callMessage, d.address(d.text(fmt.Sprintf("the state must have %d words", d.size))))
		d.ret(num32(ErrState))
	})
	d.failIf(d.icmp(ne, d.load(d.call, callCount), num(len(d.p.Tensors))),
		failure{ErrCount, -1, fmt.Sprintf("there must be %d tensors: %s", len(d.p.Tensors), d.p.Signature())})
	d.failIf(d.icmp(eq, d.load(d.call, callTensors), num(0)), failure{ErrNull, -1, "the tensors are null"})
	idle := d.icmp(slt, d.load(d.call, callThreads), num(1))
	d.failIf(d.and(d.chunked(), idle), failure{ErrState, -1, "with LACUNA_FLAG_CHUNKS there must be at least 1 thread"})
}

// chunked is whether the caller runs chunks.
func (d *driver) chunked() value.Value {
	return d.icmp(ne, d.and(d.load(d.call, callFlags), num(FlagChunks)), num(0))
}

// finish tells the fills of results and ends the run.
func (d *driver) finish() {
	tensors := d.pointer(d.load(d.call, callTensors))
	for i := d.p.Operands; i < len(d.p.Tensors); i++ {
		t := &d.p.Tensors[i]
		if !t.FillKnown && t.FillBuffer < 0 {
			continue
		}
		fill := d.load(d.word(tensors, i*tensorWords), tensorFill)
		d.when(d.icmp(ne, fill, num(0)), func() {
			var from value.Value
			if t.FillBuffer >= 0 {
				from = d.load(d.state, d.bufferWord(t.FillBuffer))
			} else {
				from = d.address(d.bytes(scalarBytes(t.Fill)))
			}
			d.do(d.helpers.copy, fill, from, num(t.DType.Size()))
		})
	}
	for i := range d.p.Tensors {
		if id := d.p.Tensors[i].FillBuffer; i >= d.p.Operands && id >= 0 && d.temporary(id) {
			d.release(d.bufferWord(id), func() value.Value { return d.temporaryBytes(id) })
		}
	}
	d.store(d.state, stateAt, num(runOver))
	d.ret(num32(OK))
}

// chunkFunc builds NAME_chunk.
func (d *driver) chunkFunc() *ir.Func {
	call, chunk, thread := param("call", wordPtr), param("chunk"), param("thread")
	f := d.begin("_chunk", types.I32, call, chunk, thread)
	d.call = call
	d.openCall()
	order, find, choose := d.NewBlock("order"), d.NewBlock("find"), d.NewBlock("choose")
	d.state = d.pointer(d.load(d.call, callState))
	d.branch(d.icmp(eq, d.state, nullWords), order, find)
	d.Enter(order)
	d.ret(num32(ErrState))
	d.Enter(find)
	inside := d.icmp(ult, chunk, d.load(d.call, callChunks))
	known := d.icmp(ult, thread, d.load(d.call, callThreads))
	d.branch(d.and(inside, known), choose, order)
	d.Enter(choose)
	stop := d.load(d.call, callStop)
	choice := d.Block.NewSwitch(d.load(d.state, stateStage), order)
	ran := d.NewBlock("ran")
	var statuses []value.Value
	var from []*ir.Block
	for i := range d.loops.Stages {
		if d.ones[i] == nil {
			continue
		}
		b := d.NewBlock("stage")
		choice.Cases = append(choice.Cases, ir.NewCase(num(i), b))
		d.Enter(b)
		statuses, from = append(statuses, d.do(d.ones[i], d.state, stop, chunk, thread)), append(from, b)
		d.jump(ran)
	}
	if len(from) == 0 {
		return f
	}
	d.Enter(ran)
	status := d.phi(statuses, from)
	d.bad(d.icmp(ne, status, num(0)), func() {
		packed := d.Block.NewOr(d.Block.NewShl(chunk, num(16)), d.and(d.add(status, num(1)), num(65535)))
		d.Block.NewAtomicRMW(enum.AtomicOpUMax, d.word(d.state, stateFailure), d.Block.NewXor(packed, num(-1)), enum.AtomicOrderingAcquireRelease)
		d.ret(d.either(d.icmp(eq, status, num(loop.StatusStopped)), num32(ErrStopped), num32(ErrKernel)))
	})
	d.ret(num32(OK))
	return f
}

// descriptor builds the constant NAME_kernel.
func (d *driver) descriptor(step, chunk, run *ir.Func) {
	fields := constant.NewStruct(nil, num(ABIVersion), d.text(d.p.Name), d.text(d.p.Source), d.text(d.p.Signature()),
		num(d.p.Operands), num(len(d.p.Tensors)-d.p.Operands), num(d.size), num(len(d.loops.Stages)), run, step, chunk)
	var list []types.Type
	for _, x := range fields.Fields {
		list = append(list, x.Type())
	}
	fields.Typ = types.NewStruct(list...)
	d.m.IR.NewGlobalDef(d.prefix+"_kernel", fields).Immutable = true
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
