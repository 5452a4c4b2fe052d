package llvm

import (
	"fmt"
	"strconv"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// Function is an LLVM function under construction.
type Function struct {
	Module *Module
	Fn     *ir.Func
	Block  *ir.Block // where code goes now; nil where none is reached
	Bufs   []Buffer  // by BufID
	Target Target
	// Scatters is whether the loop around stores elements whose places it loads.
	Scatters bool
	// Merges is whether the loop around is one whose iterations are not counted, as those that merge operands.
	Merges bool

	vars    []loop.Var
	vals    []Val            // by VarID: variables that are names of values
	slots   []slot           // by VarID: places of mutable variables
	allocas []ir.Instruction // for the entry block
	groups  []*metadata.Tuple
	used    map[string]bool // local names
	extrema int             // how many variables are given minima or maxima of floats in the block around
}

// Target is what a function does in a way of its machine's. A Function is a Target itself:
// that of scalar functions, which have no other statements, and loops that nobody stops.
// A machine's target embeds it, and replaces what is different there.
type Target interface {
	// For and While emit loops.
	For(*loop.For)
	While(*loop.While)
	// Stmt emits a Fail, or a statement that only grids have.
	Stmt(loop.Stmt)
	// Special reads a special register.
	Special(loop.Register) value.Value
	// OrdersZeros reports whether MinNum and MaxNum are instructions that take -0 for less than 0.
	OrdersZeros() bool
}

// Buffer is a buffer of a function.
type Buffer struct {
	Elem  loop.Type
	Base  value.Value
	Array types.Type // what Base is the address of, if that is an array and not its first element
	Space types.AddrSpace
	// Load replaces the plain load from an address, unless it is nil.
	Load func(address value.Value) value.Value
}

// NewFunction starts the body of fn.
func (m *Module) NewFunction(fn *ir.Func, vars []loop.Var) *Function {
	f := &Function{
		Module: m, Fn: fn, vars: vars,
		vals: make([]Val, len(vars)), slots: make([]slot, len(vars)), used: map[string]bool{},
	}
	f.Target = f
	for _, p := range fn.Params {
		p.SetName(f.Unique(p.Name()))
	}
	f.Enter(f.NewBlock("entry"))
	return f
}

// Finish puts the places of variables where LLVM looks for them: at the start.
func (f *Function) Finish() {
	entry := f.Fn.Blocks[0]
	entry.Insts = append(f.allocas, entry.Insts...)
}

// NewBlock makes a basic block, to be placed by Enter.
func (f *Function) NewBlock(name string) *ir.Block {
	b := ir.NewBlock(f.Unique(name))
	b.Parent = f.Fn
	return b
}

// Enter places a block after the others; code goes there from now on.
func (f *Function) Enter(b *ir.Block) {
	f.Fn.Blocks = append(f.Fn.Blocks, b)
	f.Block = b
}

// Unique makes a local name that is not in use.
func (f *Function) Unique(name string) string {
	candidate := name
	for n := 1; f.used[candidate]; n++ {
		candidate = name + "." + strconv.Itoa(n)
	}
	f.used[candidate] = true
	return candidate
}

// Bind makes a variable that is not mutable the name of a value.
func (f *Function) Bind(id loop.VarID, v Val) { f.vals[id] = v }

// IsMutable reports whether a variable that has been introduced is mutable.
func (f *Function) IsMutable(id loop.VarID) bool { return f.slots[id] != nil }

// Stmt emits nothing: a scalar function has none of those statements.
func (f *Function) Stmt(s loop.Stmt) { panic(fmt.Sprintf("BUG: statement %T", s)) }

// Special is not there: only grids have such registers.
func (f *Function) Special(r loop.Register) value.Value { panic(fmt.Sprintf("BUG: register %v", r)) }

// OrdersZeros is false: of processors' instructions none does.
func (f *Function) OrdersZeros() bool { return false }
