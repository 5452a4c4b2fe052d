package cpu

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
)

// This file emits grid functions for NVPTX targets. A kernel called spmv becomes
//
//	define void @spmv(i32* noalias readonly %pos, …, i64 %n, …, i32* %status)
//
// The parameters are the buffers (addresses in the device's memory), then the
// scalar arguments, then the address of the status word: a thread that reaches
// a Fail raises it to 1 plus the number of the failure, if it is lower, and
// ends. So of several failures the one with the highest number is reported,
// whichever came first. Nothing stops a kernel from outside.
//
// A buffer that is stored to is noalias only where the function has no barriers:
// behind one, a thread may find what another stored, through a pointer that LLVM
// does not see.
//
// Every buffer starts at a multiple of gridAlign, so that accesses side by side can
// become one.
//
// Kernels of a program run one after another without anybody looking in between.
// Where one before may fail, the word before the status word is its status; unless
// that is 0 the kernel does nothing but set its own to 1, so that the kernels after
// it do as little: none works on what a failed one left.

// gridAlign is what the addresses of buffers on a device are multiples of.
const gridAlign = ir.Align(16)

// After says what kernels there are before a grid function in its program.
type After uint8

// Whether one of the kernels before may fail.
const (
	NoFailure After = iota
	AFailure
)

// GridKernel adds a grid function to the module as a kernel.
func (m *Module) GridKernel(f *loop.Func, after After) {
	if m.kernels[f.Name] {
		m.fail(fmt.Errorf("LLVM module: two functions are called %s", f.Name))
		return
	}
	m.kernels[f.Name] = true
	if err := f.Verify(m.lookup); err != nil {
		m.fail(err)
		return
	}
	var params []*ir.Param
	alone := !f.HasBarriers()
	for _, b := range f.Bufs {
		p := ir.NewParam(b.Name, types.NewPointer(memoryType(b.Elem)))
		switch {
		case b.ReadOnly:
			p.Attrs = []ir.ParamAttribute{enum.ParamAttrNoAlias, enum.ParamAttrReadOnly}
		case alone:
			p.Attrs = []ir.ParamAttribute{enum.ParamAttrNoAlias}
		}
		p.Attrs = append(p.Attrs, gridAlign)
		params = append(params, p)
	}
	for _, id := range f.Args {
		params = append(params, ir.NewParam(f.Vars[id].Name, types.I64))
	}
	status := ir.NewParam("status", types.NewPointer(types.I32))
	fn := m.ir.NewFunc(f.Name, types.Void, append(params, status)...)
	fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoUnwind}
	m.annotate(fn, "kernel", 1)
	m.annotate(fn, "maxntidx", int64(f.Grid.Threads))
	if f.Grid.Resident > 0 {
		m.annotate(fn, "minctasm", int64(f.Grid.Resident))
	}

	g := m.newFunction(fn, f.Vars)
	g.status = status
	for i, b := range f.Bufs {
		g.bufs = append(g.bufs, buffer{elem: b.Elem, base: params[i], once: b.Once})
	}
	for _, a := range f.Grid.Shared {
		g.bufs = append(g.bufs, m.sharedArray(f.Name, a))
	}
	for i, id := range f.Args {
		g.vals[id] = val{re: params[len(f.Bufs)+i]}
	}
	if after == AFailure {
		g.unlessFailed()
	}
	g.stmts(f.Body)
	if g.block != nil {
		g.block.NewRet(nil)
	}
	g.finish()
}

// annotate says something about a kernel to the NVPTX backend.
func (m *Module) annotate(fn *ir.Func, what string, value int64) {
	node := m.newNode(&metadata.Tuple{Fields: []metadata.Field{
		fn, &metadata.String{Value: what}, constant.NewInt(types.I32, value),
	}})
	list, ok := m.ir.NamedMetadataDefs[annotations]
	if !ok {
		list = &metadata.NamedDef{Name: annotations}
		m.ir.NamedMetadataDefs[annotations] = list
	}
	list.Nodes = append(list.Nodes, node)
}

const annotations = "nvvm.annotations"

// unlessFailed ends the kernel if the status before its own is not 0.
func (f *function) unlessFailed() {
	before := f.block.NewGetElementPtr(types.I32, f.status, constant.NewInt(types.I64, -1))
	failed := f.block.NewICmp(enum.IPredNE, f.block.NewLoad(types.I32, before), constant.NewInt(types.I32, 0))
	end, on := f.newBlock("failed.before"), f.newBlock("start")
	f.block.NewCondBr(failed, end, on)
	f.enter(end)
	f.block.NewStore(constant.NewInt(types.I32, 1), f.status)
	f.block.NewRet(nil)
	f.enter(on)
}

// failGrid ends a thread of a grid with a failure.
func (f *function) failGrid(code int) {
	f.block.NewAtomicRMW(enum.AtomicOpUMax, f.status, constant.NewInt(types.I32, int64(code)+1), enum.AtomicOrderingMonotonic)
	f.block.NewRet(nil)
	f.block = nil
}
