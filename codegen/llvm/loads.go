package llvm

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// Address is the address of element index of a buffer, or of one part (0 or 1) of
// a complex one. In bounds is a promise that the loop language makes: a load or
// store happens where it stands, and only inside the buffer.
func (f *Function) Address(buf loop.BufID, index value.Value, part int64) value.Value {
	b := f.Bufs[buf]
	elem := MemoryType(b.Elem)
	path := []value.Value{Index(index)}
	from := elem
	if b.Array != nil {
		from = b.Array
		path = append([]value.Value{constant.NewInt(types.I64, 0)}, path...)
	}
	if b.Elem.IsComplex() {
		path = append(path, constant.NewInt(types.I32, part)) // fields are numbered in i32
	}
	p := f.Block.NewGetElementPtr(from, b.Base, path...)
	p.InBounds = true
	if b.Space != 0 { // llir takes all results for addresses of space 0
		p.Typ = &types.PointerType{ElemType: p.Typ.(*types.PointerType).ElemType, AddrSpace: b.Space}
	}
	return p
}

// Index is an I64 as an index that llir takes: of constants only its own.
func Index(index value.Value) value.Value {
	if c, ok := index.(intValue); ok {
		return constant.NewInt(types.I64, c.value)
	}
	return index
}

// load reads an element.
func (f *Function) load(e *loop.Load) Val {
	elem := f.Bufs[e.Buf].Elem
	index := f.Expr(e.Index).Re
	parts := make([]value.Value, len(partNames(elem)))
	for i := range parts {
		place := f.Address(e.Buf, index, int64(i))
		var v value.Value
		if load := f.Bufs[e.Buf].Load; load != nil {
			v = load(place)
		} else {
			l := f.Block.NewLoad(place.Type().(*types.PointerType).ElemType, place)
			l.Metadata = f.accessGroup()
			v = l
		}
		parts[i] = f.fromMemory(elem, v)
	}
	return FromParts(parts)
}

// store writes an element.
func (f *Function) store(s *loop.Store) {
	elem := f.Bufs[s.Buf].Elem
	index := f.Expr(s.Index).Re
	for i, part := range f.stored(s.Value).Parts() {
		st := f.Block.NewStore(f.toMemory(elem, part), f.Address(s.Buf, index, int64(i)))
		st.Metadata = f.accessGroup()
	}
}

// fromMemory turns a loaded value into the one computed with: any byte but 0 is
// true, half-precision values are widened.
func (f *Function) fromMemory(elem loop.Type, v value.Value) value.Value {
	switch elem {
	case loop.Bool:
		return f.Block.NewICmp(enum.IPredNE, v, IntConst(loop.U8, 0))
	case loop.F16, loop.BF16:
		return f.widenHalf(elem, f.Block.NewZExt(v, types.I32))
	}
	return v
}

// toMemory is the inverse of fromMemory.
func (f *Function) toMemory(elem loop.Type, v value.Value) value.Value {
	switch elem {
	case loop.Bool:
		return f.Block.NewZExt(v, types.I8)
	case loop.F16, loop.BF16:
		return f.Block.NewTrunc(f.narrowHalf(elem, v), types.I16)
	}
	return v
}

// slot is the place of a mutable variable: one alloca for each part. LLVM turns
// them into registers.
type slot []*ir.InstAlloca

// newSlot makes the place of a variable, in the entry block.
func (f *Function) newSlot(v loop.Var) slot {
	var s slot
	for _, part := range partNames(v.Type) {
		a := ir.NewAlloca(registerType(v.Type))
		a.SetName(f.Unique(v.Name + part))
		f.allocas = append(f.allocas, a)
		s = append(s, a)
	}
	return s
}

// Assign writes a mutable variable.
func (f *Function) Assign(id loop.VarID, v Val) {
	for i, part := range v.Parts() {
		f.Block.NewStore(part, f.slots[id][i])
	}
}

// read reads a variable.
func (f *Function) read(s slot) Val {
	parts := make([]value.Value, len(s))
	for i, a := range s {
		parts[i] = f.Block.NewLoad(a.ElemType, a)
	}
	return FromParts(parts)
}
