package cpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// address is the address of element index of a buffer, or of one part (0 or 1) of
// a complex one. In bounds is a promise that the loop language makes: a load or
// store happens where it stands, and only inside the buffer.
func (f *function) address(buf loop.BufID, index value.Value, part int64) value.Value {
	b := f.bufs[buf]
	elem := memoryType(b.elem)
	path := []value.Value{llirIndex(index)}
	from := elem
	if b.shared != nil {
		from = b.shared
		path = append([]value.Value{constant.NewInt(types.I64, 0)}, path...)
	}
	if b.elem.IsComplex() {
		path = append(path, constant.NewInt(types.I32, part)) // fields are numbered in i32
	}
	p := f.block.NewGetElementPtr(from, b.base, path...)
	p.InBounds = true
	if b.shared != nil { // llir takes all results for addresses of space 0
		p.Typ = &types.PointerType{ElemType: p.Typ.(*types.PointerType).ElemType, AddrSpace: sharedSpace}
	}
	return p
}

// llirIndex is an I64 as an index that llir takes: of constants only its own.
func llirIndex(index value.Value) value.Value {
	if c, ok := index.(intValue); ok {
		return constant.NewInt(types.I64, c.value)
	}
	return index
}

// load reads an element.
func (f *function) load(e *loop.Load) val {
	elem := f.bufs[e.Buf].elem
	index := f.expr(e.Index).re
	parts := make([]value.Value, len(partNames(elem)))
	for i := range parts {
		place := f.address(e.Buf, index, int64(i))
		var v value.Value
		if f.bufs[e.Buf].once {
			v = f.loadOnce(place)
		} else {
			l := f.block.NewLoad(place.Type().(*types.PointerType).ElemType, place)
			l.Metadata = f.accessGroup()
			v = l
		}
		parts[i] = f.fromMemory(elem, v)
	}
	return fromParts(parts)
}

// store writes an element.
func (f *function) store(s *loop.Store) {
	elem := f.bufs[s.Buf].elem
	index := f.expr(s.Index).re
	for i, part := range f.stored(s.Value).parts() {
		st := f.block.NewStore(f.toMemory(elem, part), f.address(s.Buf, index, int64(i)))
		st.Metadata = f.accessGroup()
	}
}

// fromMemory turns a loaded value into the one computed with: any byte but 0 is
// true, half-precision values are widened.
func (f *function) fromMemory(elem loop.Type, v value.Value) value.Value {
	switch elem {
	case loop.Bool:
		return f.block.NewICmp(enum.IPredNE, v, intConst(loop.U8, 0))
	case loop.F16, loop.BF16:
		return f.widenHalf(elem, f.block.NewZExt(v, types.I32))
	}
	return v
}

// toMemory is the inverse of fromMemory.
func (f *function) toMemory(elem loop.Type, v value.Value) value.Value {
	switch elem {
	case loop.Bool:
		return f.block.NewZExt(v, types.I8)
	case loop.F16, loop.BF16:
		return f.block.NewTrunc(f.narrowHalf(elem, v), types.I16)
	}
	return v
}

// slot is the place of a mutable variable: one alloca for each part. LLVM turns
// them into registers.
type slot []*ir.InstAlloca

// newSlot makes the place of a variable, in the entry block.
func (f *function) newSlot(v loop.Var) slot {
	var s slot
	for _, part := range partNames(v.Type) {
		a := ir.NewAlloca(registerType(v.Type))
		a.SetName(f.unique(v.Name + part))
		f.allocas = append(f.allocas, a)
		s = append(s, a)
	}
	return s
}

// assign writes a variable.
func (f *function) assign(s slot, v val) {
	for i, part := range v.parts() {
		f.block.NewStore(part, s[i])
	}
}

// read reads a variable.
func (f *function) read(s slot) val {
	parts := make([]value.Value, len(s))
	for i, a := range s {
		parts[i] = f.block.NewLoad(a.ElemType, a)
	}
	return fromParts(parts)
}
