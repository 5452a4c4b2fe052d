package aot

import (
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
)

// table is the module of the library's table and of the function that searches it.
func (lib *Library) table(t Target) (string, error) {
	m := llvm.NewModule(lib.Name, nil)
	m.IR.TargetTriple = t.Triple
	c := newCoder(m, lib.Name)
	descriptor := types.NewArray(11, types.I64) // lacuna_kernel
	rowType := types.NewArray(3, bytePtr)
	var kernels, names []constant.Constant
	for _, u := range lib.Units {
		k := m.IR.NewGlobal(u.Program.Name+"_kernel", descriptor)
		k.Linkage, k.Immutable = enum.LinkageExternal, true
		kernels = append(kernels, k)
		names = append(names, constant.NewArray(rowType, c.text(u.Program.Name), c.text(u.Family), c.text(u.Program.OperandSignature())))
	}
	kernels = append(kernels, constant.NewNull(types.NewPointer(descriptor)))
	list := m.IR.NewGlobalDef(lib.Name+"_kernels", constant.NewArray(types.NewArray(uint64(len(kernels)), kernels[0].Type()), kernels...))
	table := m.IR.NewGlobalDef(lib.Name+".names", constant.NewArray(types.NewArray(uint64(len(names)), rowType), names...))
	list.Immutable, table.Immutable, table.Linkage = true, true, enum.LinkageInternal
	c.findFunc(c.sameFunc(), list, table, len(names))
	return m.Text()
}

// findFunc builds the function that searches the table.
func (c *coder) findFunc(same *ir.Func, list, table *ir.Global, count int) {
	name, operands := param("name", bytePtr), param("operands", bytePtr)
	found := list.ContentType.(*types.ArrayType).ElemType.(*types.PointerType)
	c.begin("_find", found, name, operands)
	entry, none, test, look := c.Block, c.NewBlock("none"), c.NewBlock("test"), c.NewBlock("look")
	named, compare, other, hit := c.NewBlock("named"), c.NewBlock("compare"), c.NewBlock("other"), c.NewBlock("found")
	c.branch(c.icmp(eq, name, constant.NewNull(bytePtr)), none, test)
	c.Enter(test)
	k := c.counter(entry)
	c.branch(c.icmp(slt, k, num(count)), look, none)
	c.Enter(look)
	byFamily := c.icmp(ne, operands, constant.NewNull(bytePtr))
	zero := constant.NewInt(types.I64, 0)
	row := c.Block.NewGetElementPtr(table.ContentType, table, zero, k, zero)
	chosen := c.either(byFamily, c.at(row, num(1)), row)
	c.branch(c.do(same, name, c.Block.NewLoad(bytePtr, chosen)), named, other)
	c.Enter(named)
	c.branch(byFamily, compare, hit)
	c.Enter(compare)
	c.branch(c.do(same, operands, c.Block.NewLoad(bytePtr, c.at(row, num(2)))), hit, other)
	c.Enter(other)
	c.count(k)
	c.jump(test)
	c.Enter(hit)
	c.ret(c.Block.NewLoad(found, c.Block.NewGetElementPtr(list.ContentType, list, zero, k)))
	c.Enter(none)
	c.ret(constant.NewNull(found))
}
