package cpu

import (
	"fmt"
	"strconv"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// function is an LLVM function under construction.
type function struct {
	m    *Module
	fn   *ir.Func
	vars []loop.Var
	bufs []buffer
	vals []val // by VarID: variables that are names of values

	slots   []slot           // by VarID: places of mutable variables
	block   *ir.Block        // where code goes now; nil where none is reached
	allocas []ir.Instruction // for the entry block
	groups  []*metadata.Tuple
	used    map[string]bool // local names

	stop     value.Value // address of the stop word; nil in scalar functions
	stopped  *ir.Block   // returns StatusStopped; nil until needed
	depth    int         // of the loops around
	alone    bool        // the loop around, a for, holds one loop
	scatters bool        // the loop around stores elements whose places it loads
	extrema  int         // how many variables are given minima or maxima of floats in the block around
	status   value.Value // address of a grid's status word; nil in other functions
}

// buffer is a buffer parameter.
type buffer struct {
	elem   loop.Type
	base   value.Value
	shared types.Type // the array of a block that it is, else nil
	once   bool       // see loop.Buf
}

// newFunction starts the body of fn.
func (m *Module) newFunction(fn *ir.Func, vars []loop.Var) *function {
	f := &function{
		m: m, fn: fn, vars: vars,
		vals: make([]val, len(vars)), slots: make([]slot, len(vars)), used: map[string]bool{},
	}
	for _, p := range fn.Params {
		p.SetName(f.unique(p.Name()))
	}
	f.enter(f.newBlock("entry"))
	return f
}

// finish puts the places of variables where LLVM looks for them: at the start.
func (f *function) finish() {
	entry := f.fn.Blocks[0]
	entry.Insts = append(f.allocas, entry.Insts...)
	if f.stopped != nil {
		f.enter(f.stopped)
	}
}

// newBlock makes a basic block, to be placed by enter.
func (f *function) newBlock(name string) *ir.Block {
	b := ir.NewBlock(f.unique(name))
	b.Parent = f.fn
	return b
}

// enter places a block after the others; code goes there from now on.
func (f *function) enter(b *ir.Block) {
	f.fn.Blocks = append(f.fn.Blocks, b)
	f.block = b
}

// unique makes a local name that is not in use.
func (f *function) unique(name string) string {
	candidate := name
	for n := 1; f.used[candidate]; n++ {
		candidate = name + "." + strconv.Itoa(n)
	}
	f.used[candidate] = true
	return candidate
}

// Kernel adds a function to the module: its body and the entry that unpacks the
// argument block and calls it.
func (m *Module) Kernel(f *loop.Func) {
	name := f.Name + m.variant.Suffix
	if m.kernels[name] {
		m.fail(fmt.Errorf("LLVM module: two functions are called %s", name))
		return
	}
	m.kernels[name] = true
	body, err := m.Body(f)
	if err != nil {
		return // recorded
	}

	args := ir.NewParam("args", types.NewPointer(types.I64))
	args.Attrs = []ir.ParamAttribute{enum.ParamAttrNoAlias, enum.ParamAttrReadOnly}
	triple := []*ir.Param{ir.NewParam("chunk", types.I64), ir.NewParam("lo", types.I64), ir.NewParam("hi", types.I64)}
	entry := m.ir.NewFunc(name, types.I64, append([]*ir.Param{args}, triple...)...)
	entry.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoUnwind}
	m.publish(entry)
	m.attributes(entry)
	block := entry.NewBlock("entry")
	never := block.NewAlloca(types.I32) // stands in for a stop word
	block.NewStore(intConst(loop.I32, 0), never)
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
	last := len(operands) - 1
	given := block.NewICmp(enum.IPredNE, operands[last], constant.NewNull(types.NewPointer(types.I32)))
	operands[last] = block.NewSelect(given, operands[last], never)
	for _, p := range triple {
		operands = append(operands, p)
	}
	block.NewRet(block.NewCall(body, operands...))
}

// Body adds the code of a function to the module, as an internal function of its
// buffers, its scalar arguments, the address of the stop word, and chunk, lo and
// hi. It is for emitters that write other entries. The error is a
// *loop.VerifyError, or says that f is a grid function.
func (m *Module) Body(f *loop.Func) (*ir.Func, error) {
	if err := f.Verify(m.lookup); err != nil {
		m.fail(err)
		return nil, err
	}
	if f.Grid != nil {
		err := fmt.Errorf("LLVM module: %s is a grid function; a processor has no grids", f.Name)
		m.fail(err)
		return nil, err
	}
	var params []*ir.Param
	for _, b := range f.Bufs {
		p := ir.NewParam(b.Name, types.NewPointer(memoryType(b.Elem)))
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
	for _, id := range []loop.VarID{f.Chunk, f.Lo, f.Hi} {
		params = append(params, ir.NewParam(f.Vars[id].Name, types.I64))
	}
	fn := m.ir.NewFunc(f.Name+m.variant.Suffix+".body", types.I64, params...)
	fn.Linkage = enum.LinkageInternal
	// Not inlined: in the entry the buffers would no longer be parameters, and
	// what is known about them weaker.
	fn.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoInline, enum.FuncAttrNoUnwind}
	if callsScalars(f.Body) {
		// Such as exp: loops wait for arithmetic rather than memory, and gain a quarter
		// from vectors of 512 bits, which LLVM avoids for the sake of the clock.
		fn.FuncAttrs = append(fn.FuncAttrs, ir.AttrPair{Key: "prefer-vector-width", Value: "512"})
	}
	m.attributes(fn)

	g := m.newFunction(fn, f.Vars)
	g.stop = stop
	for i, b := range f.Bufs {
		g.bufs = append(g.bufs, buffer{elem: b.Elem, base: params[i]})
	}
	for i, id := range f.Args {
		g.vals[id] = val{re: params[len(f.Bufs)+i]}
	}
	for i, id := range []loop.VarID{f.Chunk, f.Lo, f.Hi} {
		g.vals[id] = val{re: params[len(params)-3+i]}
	}
	g.stmts(f.Body)
	if g.block != nil {
		g.block.NewRet(intConst(loop.I64, 0))
	}
	g.finish()
	return fn, nil
}

// callsScalars reports whether a block calls functions of the library.
func callsScalars(body []loop.Stmt) bool {
	calls := false
	loop.WalkStmts(body, func(s loop.Stmt) {
		for _, e := range loop.Exprs(s) {
			loop.WalkExpr(e, func(e loop.Expr) {
				_, call := e.(*loop.Call)
				calls = calls || call
			})
		}
	})
	return calls
}
