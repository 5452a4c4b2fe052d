package ptx

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// A grid function becomes a kernel for NVPTX. One called spmv becomes
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

// after says what kernels there are before a grid function in its program.
type after uint8

// Whether one of the kernels before may fail.
const (
	noFailure after = iota
	aFailure
)

// module is an LLVM module of grid functions.
type module struct {
	*llvm.Module
	used *ir.Global // the list of shared arrays; nil until there is one
}

// kernel is the target of a grid function.
type kernel struct {
	*llvm.Function
	status  value.Value // address of the status word
	threads int         // of a block
	ranges  map[loop.Register]*metadata.Tuple
}

// kernel adds a grid function to the module.
func (m *module) kernel(f *loop.Func, after after) {
	if !m.Claim(f.Name, f) {
		return
	}
	var params []*ir.Param
	alone := !f.HasBarriers()
	for _, b := range f.Bufs {
		p := ir.NewParam(b.Name, types.NewPointer(llvm.MemoryType(b.Elem)))
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
	fn := m.IR.NewFunc(f.Name, types.Void, append(params, status)...)
	fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoUnwind}
	m.annotate(fn, "kernel", 1)
	m.annotate(fn, "maxntidx", int64(f.Grid.Threads))
	if f.Grid.Resident > 0 {
		m.annotate(fn, "minctasm", int64(f.Grid.Resident))
	}

	k := &kernel{Function: m.NewFunction(fn, f.Vars), status: status, threads: f.Grid.Threads, ranges: map[loop.Register]*metadata.Tuple{}}
	k.Target = k
	for i, b := range f.Bufs {
		buf := llvm.Buffer{Elem: b.Elem, Base: params[i]}
		if b.Once {
			buf.Load = k.loadOnce
		}
		k.Bufs = append(k.Bufs, buf)
	}
	for _, a := range f.Grid.Shared {
		k.Bufs = append(k.Bufs, m.sharedArray(f.Name, a))
	}
	for i, id := range f.Args {
		k.Bind(id, llvm.Val{Re: params[len(f.Bufs)+i]})
	}
	if after == aFailure {
		k.unlessFailed()
	}
	k.Stmts(f.Body)
	if k.Block != nil {
		k.Block.NewRet(nil)
	}
	k.Finish()
}

// Stmt emits a failure, or what only grid functions have.
func (k *kernel) Stmt(s loop.Stmt) {
	switch s := s.(type) {
	case *loop.Fail:
		k.fail(s.Code)
	case *loop.Barrier:
		k.barrier(s)
	case *loop.Shuffle:
		k.shuffle(s)
	case *loop.Ballot:
		k.ballot(s)
	case *loop.Atomic:
		k.atomic(s)
	default:
		panic(fmt.Sprintf("BUG: statement %T", s))
	}
}

// OrdersZeros is true: PTX says so of its min and max.
func (k *kernel) OrdersZeros() bool { return true }

// annotate says something about a kernel to the NVPTX backend.
func (m *module) annotate(fn *ir.Func, what string, value int64) {
	node := m.NewNode(&metadata.Tuple{Fields: []metadata.Field{
		fn, &metadata.String{Value: what}, constant.NewInt(types.I32, value),
	}})
	list, ok := m.IR.NamedMetadataDefs[annotations]
	if !ok {
		list = &metadata.NamedDef{Name: annotations}
		m.IR.NamedMetadataDefs[annotations] = list
	}
	list.Nodes = append(list.Nodes, node)
}

const annotations = "nvvm.annotations"

// unlessFailed ends the kernel if the status before its own is not 0.
func (k *kernel) unlessFailed() {
	before := k.Block.NewGetElementPtr(types.I32, k.status, constant.NewInt(types.I64, -1))
	failed := k.Block.NewICmp(enum.IPredNE, k.Block.NewLoad(types.I32, before), constant.NewInt(types.I32, 0))
	end, on := k.NewBlock("failed.before"), k.NewBlock("start")
	k.Block.NewCondBr(failed, end, on)
	k.Enter(end)
	k.Block.NewStore(constant.NewInt(types.I32, 1), k.status)
	k.Block.NewRet(nil)
	k.Enter(on)
}

// fail ends a thread of a grid with a failure.
func (k *kernel) fail(code int) {
	k.Block.NewAtomicRMW(enum.AtomicOpUMax, k.status, constant.NewInt(types.I32, int64(code)+1), enum.AtomicOrderingMonotonic)
	k.Block.NewRet(nil)
	k.Block = nil
}
