package cpu

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// kernel is the target of a kernel's body: loops look at the stop word (poll.go), and a
// failure is what the function returns.
type kernel struct {
	*llvm.Function
	stop    value.Value // address of the stop word
	stopped *ir.Block   // returns StatusStopped; nil until needed
	depth   int         // of the loops around
	alone   bool        // the loop around, a for, holds one loop

	around []*loop.For // the fors around, up to a while
	parts  *loop.While // the while around, if there is no for between
	lets   map[loop.VarID]loop.Expr

	instruments *instruments // nil in most
}

// Stmt emits a Fail.
func (k *kernel) Stmt(s loop.Stmt) {
	fail, ok := s.(*loop.Fail)
	if !ok {
		panic(fmt.Sprintf("BUG: statement %T", s))
	}
	k.Block.NewRet(llvm.IntConst(loop.I64, 1+int64(fail.Code)))
	k.Block = nil
}

// Kernel adds a function to a module: its body and the entry that unpacks the
// argument block and calls it, which it returns; nil if something is wrong with f, which
// the module records.
func Kernel(m *llvm.Module, f *loop.Func) *ir.Func { return emitKernel(m, f, nil) }

// emitKernel is Kernel with or without instruments.
func emitKernel(m *llvm.Module, f *loop.Func, i *instruments) *ir.Func {
	name := f.Name + m.Variant.Suffix
	if !m.Claim(name, f) {
		return nil
	}
	if f.Grid != nil {
		m.Fail(fmt.Errorf("LLVM module: %s is a grid function; a processor has no grids", f.Name))
		return nil
	}
	tiled := loop.Tile(f)
	body := kernelBody(m, loop.Jam(tiled), i)
	if tiled != f || callsScalars(f.Body) {
		// Dense products, and functions such as exp: loops wait for arithmetic rather than memory, and gain a quarter to a half
		// from vectors of 512 bits, which LLVM avoids for the sake of the clock.
		body.FuncAttrs = append(body.FuncAttrs, ir.AttrPair{Key: "prefer-vector-width", Value: "512"})
	}

	args := ir.NewParam("args", types.NewPointer(types.I64))
	args.Attrs = []ir.ParamAttribute{enum.ParamAttrNoAlias, enum.ParamAttrReadOnly}
	triple := []*ir.Param{ir.NewParam("chunk", types.I64), ir.NewParam("lo", types.I64), ir.NewParam("hi", types.I64)}
	entry := m.IR.NewFunc(name, types.I64, append([]*ir.Param{args}, triple...)...)
	entry.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoUnwind}
	m.Publish(entry)
	m.Attributes(entry)
	block := entry.NewBlock("entry")
	never := block.NewAlloca(types.I32) // stands in for a stop word
	block.NewStore(llvm.IntConst(loop.I32, 0), never)
	var operands []value.Value
	for i, p := range body.Params[:len(body.Params)-len(triple)] {
		slot := block.NewGetElementPtr(types.I64, args, constant.NewInt(types.I64, int64(i)))
		slot.InBounds = true
		var place value.Value = slot
		if !p.Typ.Equal(types.I64) {
			place = block.NewBitCast(slot, types.NewPointer(p.Typ))
		}
		operand := block.NewLoad(p.Typ, place)
		operand.SetName(p.Name() + ".arg")
		operands = append(operands, operand)
	}
	last := len(f.Bufs) + len(f.Args)
	given := block.NewICmp(enum.IPredNE, operands[last], constant.NewNull(types.NewPointer(types.I32)))
	operands[last] = block.NewSelect(given, operands[last], never)
	for _, p := range triple {
		operands = append(operands, p)
	}
	block.NewRet(block.NewCall(body, operands...))
	return entry
}

// kernelBody adds the code of a function to a module, as an internal function of its
// buffers, its scalar arguments, the address of the stop word, that of instruments if there are some, and chunk, lo and hi.
func kernelBody(m *llvm.Module, f *loop.Func, told *instruments) *ir.Func {
	var params []*ir.Param
	for _, b := range f.Bufs {
		p := ir.NewParam(b.Name, types.NewPointer(llvm.MemoryType(b.Elem)))
		p.Attrs = []ir.ParamAttribute{enum.ParamAttrNoAlias}
		if b.ReadOnly {
			p.Attrs = append(p.Attrs, enum.ParamAttrReadOnly)
		}
		params = append(params, p)
	}
	for _, id := range f.Args {
		params = append(params, ir.NewParam(f.Vars[id].Name, types.I64))
	}
	stop := ir.NewParam("stop", types.NewPointer(types.I32))
	params = append(params, stop)
	if told != nil {
		params = append(params, told.of(f))
	}
	for _, id := range []loop.VarID{f.Chunk, f.Lo, f.Hi} {
		params = append(params, ir.NewParam(f.Vars[id].Name, types.I64))
	}
	fn := m.IR.NewFunc(f.Name+m.Variant.Suffix+".body", types.I64, params...)
	fn.Linkage = enum.LinkageInternal
	// Not inlined: in the entry the buffers would no longer be parameters, and
	// what is known about them weaker.
	fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoInline, enum.FuncAttrNoUnwind}
	m.Attributes(fn)

	k := &kernel{Function: m.NewFunction(fn, f.Vars), stop: stop, lets: loop.LetsOf(f.Body), instruments: told}
	k.Target = k
	for i, b := range f.Bufs {
		k.Bufs = append(k.Bufs, llvm.Buffer{Elem: b.Elem, Base: params[i]})
	}
	for i, id := range f.Args {
		k.Bind(id, llvm.Val{Re: params[len(f.Bufs)+i]})
	}
	for i, id := range []loop.VarID{f.Chunk, f.Lo, f.Hi} {
		k.Bind(id, llvm.Val{Re: params[len(params)-3+i]})
	}
	k.Stmts(f.Body)
	if k.Block != nil {
		k.Block.NewRet(llvm.IntConst(loop.I64, 0))
	}
	k.Finish()
	if k.stopped != nil {
		k.Enter(k.stopped)
	}
	return fn
}

// callsScalars reports whether a block calls functions of the library.
func callsScalars(body []loop.Stmt) bool {
	for e := range loop.AllExprs(body) {
		if _, calls := e.(*loop.Call); calls {
			return true
		}
	}
	return false
}
