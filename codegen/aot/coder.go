package aot

import (
	"fmt"
	"math"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// coder builds functions of LLVM IR that work on 64-bit integers: structures are
// arrays of words, and an address is a number until something is loaded from it.
type coder struct {
	*llvm.Function // under construction
	m              *llvm.Module
	prefix         string // of the names of functions and constants
	constants      map[string]constant.Constant
}

func newCoder(m *llvm.Module, prefix string) *coder {
	return &coder{m: m, prefix: prefix, constants: map[string]constant.Constant{}}
}

// The types of pointers.
var (
	wordPtr = types.NewPointer(types.I64)
	bytePtr = types.NewPointer(types.I8)
)

// nullWords is the null pointer to words.
var nullWords = constant.NewNull(wordPtr)

// Comparisons of integers.
const (
	eq, ne             = enum.IPredEQ, enum.IPredNE
	slt, sle, sgt, sge = enum.IPredSLT, enum.IPredSLE, enum.IPredSGT, enum.IPredSGE
	ult, ule, ugt, uge = enum.IPredULT, enum.IPredULE, enum.IPredUGT, enum.IPredUGE
)

// num is a word that is known.
func num[T ~int | ~int64 | ~int32 | ~uint8](n T) constant.Constant {
	return llvm.IntConst(loop.I64, int64(n))
}

// num32 is a status, or a part of one.
func num32[T ~int | ~int32 | ~uint32](n T) constant.Constant {
	return llvm.IntConst(loop.I32, int64(int32(n)))
}

const largest = math.MaxInt64

// param is a parameter: a word, or of another type.
func param(name string, t ...types.Type) *ir.Param {
	return ir.NewParam(name, append(t, types.I64)[0])
}

// begin starts a function, at its entry. One whose name begins with a dot is internal. None is
// optimised: that would take three times as long as the kernel's loops, to save some 40 ns of a call.
func (c *coder) begin(name string, result types.Type, params ...*ir.Param) *ir.Func {
	f := c.m.IR.NewFunc(c.prefix+name, result, params...)
	f.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoInline, enum.FuncAttrOptNone, enum.FuncAttrNoUnwind, ir.AttrString("no-builtins")}
	if strings.HasPrefix(name, ".") {
		f.Linkage = enum.LinkageInternal
	}
	c.Function = c.m.NewFunction(f, nil)
	return f
}

func (c *coder) ret(v value.Value)                          { c.Block.NewRet(v) }
func (c *coder) jump(b *ir.Block)                           { c.Block.NewBr(b) }
func (c *coder) branch(cond value.Value, yes, no *ir.Block) { c.Block.NewCondBr(cond, yes, no) }
func (c *coder) do(f value.Value, args ...value.Value) value.Value {
	return c.Block.NewCall(f, args...)
}
func (c *coder) icmp(p enum.IPred, x, y value.Value) value.Value { return c.Block.NewICmp(p, x, y) }
func (c *coder) add(x, y value.Value) value.Value                { return c.Block.NewAdd(x, y) }
func (c *coder) sub(x, y value.Value) value.Value                { return c.Block.NewSub(x, y) }
func (c *coder) mul(x, y value.Value) value.Value                { return c.Block.NewMul(x, y) }
func (c *coder) and(x, y value.Value) value.Value                { return c.Block.NewAnd(x, y) }
func (c *coder) either(cond, yes, no value.Value) value.Value {
	return c.Block.NewSelect(cond, yes, no)
}

// phi is a word that has a value for each block before.
func (c *coder) phi(values []value.Value, from []*ir.Block) *ir.InstPhi {
	var list []*ir.Incoming
	for i, v := range values {
		list = append(list, ir.NewIncoming(v, from[i]))
	}
	return c.Block.NewPhi(list...)
}

// counter is a word at the start of a loop that counts from 0; the loop says with count
// what comes next.
func (c *coder) counter(before *ir.Block) *ir.InstPhi {
	return c.Block.NewPhi(ir.NewIncoming(num(0), before))
}

// count adds one to a counter.
func (c *coder) count(k *ir.InstPhi) value.Value {
	next := c.add(k, num(1))
	k.Incs = append(k.Incs, ir.NewIncoming(next, c.Block))
	return next
}

// bad branches to a new block if a condition holds, which fail ends; code goes on where it
// does not.
func (c *coder) bad(cond value.Value, fail func()) {
	bad, good := c.NewBlock("bad"), c.NewBlock("good")
	c.branch(cond, bad, good)
	c.Enter(bad)
	fail()
	c.Enter(good)
}

// when does something if a condition holds.
func (c *coder) when(cond value.Value, do func()) {
	yes, end := c.NewBlock("if"), c.NewBlock("end")
	c.branch(cond, yes, end)
	c.Enter(yes)
	do()
	c.jump(end)
	c.Enter(end)
}

// at is the address of an element of an array.
func (c *coder) at(base, index value.Value) value.Value {
	return c.Block.NewGetElementPtr(base.Type().(*types.PointerType).ElemType, base, llvm.Index(index))
}

// word is the address of a word of a structure.
func (c *coder) word(base value.Value, index int) value.Value {
	if index == 0 {
		return base
	}
	return c.at(base, num(index))
}

func (c *coder) load(base value.Value, index int) value.Value {
	return c.Block.NewLoad(types.I64, c.word(base, index))
}

func (c *coder) store(base value.Value, index int, v value.Value) {
	c.Block.NewStore(v, c.word(base, index))
}

// pointer turns an address into a pointer to words, or to what it is told.
func (c *coder) pointer(address value.Value, to ...types.Type) value.Value {
	return c.Block.NewIntToPtr(address, append(to, wordPtr)[0])
}

// address turns a pointer into a number.
func (c *coder) address(pointer value.Value) value.Value {
	return c.Block.NewPtrToInt(pointer, types.I64)
}

// array is the address, as a pointer, of words on the stack.
func (c *coder) array(words int, align ir.Align) value.Value {
	t := types.NewArray(uint64(words), types.I64)
	place := c.Block.NewAlloca(t)
	place.Align = align
	return c.Block.NewGetElementPtr(t, place, constant.NewInt(types.I64, 0), constant.NewInt(types.I64, 0))
}

// loadInt loads element index of an array of integers as an i64.
func (c *coder) loadInt(address, index value.Value, elem loop.Type) value.Value {
	t := types.NewInt(uint64(8 * elem.Size()))
	v := c.Block.NewLoad(t, c.at(c.pointer(address, types.NewPointer(t)), index))
	switch {
	case elem.Size() == 8:
		return v
	case elem.IsSigned():
		return c.Block.NewSExt(v, types.I64)
	}
	return c.Block.NewZExt(v, types.I64)
}

// global is the address, as a pointer to its first element, of a constant array. Equal
// constants are one.
func (c *coder) global(kind string, v constant.Constant, align ir.Align) constant.Constant {
	key := kind + v.String()
	if known, ok := c.constants[key]; ok {
		return known
	}
	g := c.m.IR.NewGlobalDef(fmt.Sprintf("%s.%s.%d", c.prefix, kind, len(c.constants)), v)
	g.Linkage, g.UnnamedAddr, g.Immutable, g.Align = enum.LinkagePrivate, enum.UnnamedAddrUnnamedAddr, true, align
	zero := constant.NewInt(types.I64, 0)
	c.constants[key] = constant.NewGetElementPtr(v.Type(), g, zero, zero)
	return c.constants[key]
}

// text is the address, as an i8*, of a constant string.
func (c *coder) text(s string) constant.Constant {
	return c.global("str", constant.NewCharArrayFromString(s+"\x00"), 0)
}

// texts is the address, as an i8*, of several strings, one after the other.
func (c *coder) texts(list ...string) constant.Constant { return c.text(strings.Join(list, "\x00")) }

// bytes is the address, as an i8*, of constant memory.
func (c *coder) bytes(b []byte) constant.Constant {
	return c.global("const", constant.NewCharArray(b), 16)
}

// words is the address, as an i64*, of constant numbers.
func (c *coder) words(list []int64) constant.Constant {
	elems := make([]constant.Constant, len(list))
	for i, n := range list {
		elems[i] = num(n)
	}
	return c.global("words", constant.NewArray(types.NewArray(uint64(len(list)), types.I64), elems...), 0)
}
