package cpu

import (
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// EmitInstrumented is Emit of instrumented kernels (ir/loop/instrument.go), with the loops that each tells of: those of the function as it
// is after Tile and Jam. The code is that of any other kernel, with stores around its loops. The address of a call's instruments stands
// in the argument block behind that of the stop word.
func EmitInstrumented(name string, funcs []*loop.Func, lookup func(string) (*loop.Scalar, bool)) (text string, loops [][]loop.InstrumentedLoop, err error) {
	m := llvm.NewModule(name, lookup)
	for _, f := range funcs {
		i := &instruments{numbers: map[loop.Stmt]int{}}
		emitKernel(m, f, i)
		loops = append(loops, i.loops)
	}
	text, err = m.Text()
	return text, loops, err
}

// instruments are those of a kernel.
type instruments struct {
	loops   []loop.InstrumentedLoop
	numbers map[loop.Stmt]int
	address *ir.Param // of a call's
}

// of prepares for the loops of a function, and returns the parameter to be.
func (i *instruments) of(f *loop.Func) *ir.Param {
	i.loops = loop.InstrumentedLoops(f)
	for number, l := range i.loops {
		i.numbers[l.Loop] = number
	}
	i.address = ir.NewParam("instruments", types.NewPointer(types.I64))
	i.address.Attrs = []ir.ParamAttribute{enum.ParamAttrNoAlias}
	return i.address
}

// number is that of a loop, or -1 if the kernel does not tell of it.
func (k *kernel) number(s loop.Stmt) int {
	if k.instruments != nil {
		if n, ok := k.instruments.numbers[s]; ok {
			return n
		}
	}
	return -1
}

// instrumented emits a loop, and around it what the kernel tells of it.
func (k *kernel) instrumented(s loop.Stmt, emit func()) {
	number := k.number(s)
	if number < 0 {
		emit()
		return
	}
	k.count(loop.VisitsAt(number), llvm.IntConst(loop.I64, 1))
	if f, ok := s.(*loop.For); ok {
		lo, hi := k.Expr(f.Lo).Re, k.Expr(f.Hi).Re
		some := k.Block.NewICmp(enum.IPredSLT, lo, hi)
		k.count(loop.VisitsAt(number)+1, k.Block.NewSelect(some, k.Block.NewSub(hi, lo), llvm.IntConst(loop.I64, 0)))
	}
	k.isIn(number)
	emit()
	k.isIn(k.instruments.loops[number].Around)
}

// iterated counts an iteration of a while.
func (k *kernel) iterated(s *loop.While) {
	if number := k.number(s); number >= 0 {
		k.count(loop.VisitsAt(number)+1, llvm.IntConst(loop.I64, 1))
	}
}

// isIn has others know which loop the kernel is in.
func (k *kernel) isIn(number int) {
	k.Block.NewStore(llvm.IntConst(loop.I64, int64(1+number)), k.instruments.address).Volatile = true
}

// count adds to a word of the instruments.
func (k *kernel) count(at int, more value.Value) {
	p := k.Block.NewGetElementPtr(types.I64, k.instruments.address, constant.NewInt(types.I64, int64(at)))
	p.InBounds = true
	k.Block.NewStore(k.Block.NewAdd(k.Block.NewLoad(types.I64, p), more), p)
}
