package ptx

import (
	"fmt"
	"math"
	"strconv"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// This file emits what only grid functions have, as NVVM intrinsics. Their names are
// those of LLVM 14; newer versions read them as what they are called now.

// registerIntrinsics read the special registers, which are of 32 bits.
var registerIntrinsics = map[loop.Register]string{
	loop.BlockIndex: "ctaid.x", loop.BlockCount: "nctaid.x", loop.ThreadIndex: "tid.x",
}

// Special reads a special register.
func (k *kernel) Special(r loop.Register) value.Value {
	read := func(r loop.Register) value.Value {
		fn := k.Module.Intrinsic("llvm.nvvm.read.ptx.sreg."+registerIntrinsics[r], types.I32)
		call := k.Block.NewCall(fn)
		call.Metadata = append(call.Metadata, &metadata.Attachment{Name: "range", Node: k.bounds(r)})
		return call
	}
	var v value.Value
	switch r {
	case loop.WarpIndex:
		v = k.Block.NewLShr(read(loop.ThreadIndex), i32(5))
	case loop.LaneIndex:
		v = k.Block.NewAnd(read(loop.ThreadIndex), i32(loop.WarpSize-1))
	default:
		v = read(r)
	}
	return k.Block.NewZExt(v, types.I64)
}

// bounds says between which numbers a special register is. Newer versions of LLVM know it from
// the size of the blocks; LLVM 14 would take any thread to be one of 1024, and then adds where
// it could set bits (a third of the time of y = A*x on an H100).
func (k *kernel) bounds(r loop.Register) *metadata.Tuple {
	least, end := int64(0), int64(math.MaxInt32)
	switch r {
	case loop.ThreadIndex:
		end = int64(k.threads)
	case loop.BlockCount:
		least = 1
	}
	node, ok := k.ranges[r]
	if !ok {
		node = k.Module.NewNode(&metadata.Tuple{Fields: []metadata.Field{i32(least), i32(end)}})
		k.ranges[r] = node
	}
	return node
}

func i32(n int64) *constant.Int { return constant.NewInt(types.I32, n) }

// allLanes is the mask of a whole warp.
func allLanes() *constant.Int { return i32(-1) }

// barrier emits a barrier.
func (k *kernel) barrier(s *loop.Barrier) {
	if s.Scope == loop.WarpScope {
		k.Block.NewCall(k.Module.Intrinsic("llvm.nvvm.bar.warp.sync", types.Void, types.I32), allLanes())
		return
	}
	k.Block.NewCall(k.Module.Intrinsic("llvm.nvvm.barrier0", types.Void))
}

// shuffleModes gives for each kind of shuffle its intrinsic and the bits of its last
// operand that bound the lanes.
var shuffleModes = [...]struct {
	name  string
	bound int64
}{
	loop.ShuffleIndex: {"idx", 31}, loop.ShuffleXor: {"bfly", 31}, loop.ShuffleUp: {"up", 0}, loop.ShuffleDown: {"down", 31},
}

// shuffle emits a shuffle, in pieces of 32 bits.
func (k *kernel) shuffle(s *loop.Shuffle) {
	mode := shuffleModes[s.Kind]
	v := k.Expr(s.Value)
	lane := value.Value(k.Block.NewTrunc(llvm.Index(k.Expr(s.Lane).Re), types.I32))
	if s.Kind == loop.ShuffleXor {
		lane = k.Block.NewAnd(lane, i32(int64(s.Width)-1))
	}
	segment := i32(int64(loop.WarpSize-s.Width)<<8 | mode.bound)
	fn := k.Module.Intrinsic("llvm.nvvm.shfl.sync."+mode.name+".i32", types.I32, types.I32, types.I32, types.I32, types.I32)
	parts := v.Parts()
	out := make([]value.Value, len(parts))
	for i, part := range parts {
		out[i] = k.in32(part, func(piece value.Value) value.Value {
			return k.Block.NewCall(fn, allLanes(), piece, lane, segment)
		})
	}
	k.Bind(s.Var, llvm.FromParts(out))
}

// in32 applies a function of 32 bits to all bits of v.
func (k *kernel) in32(v value.Value, apply func(value.Value) value.Value) value.Value {
	b := k.Block
	t := v.Type()
	switch t := t.(type) {
	case *types.FloatType:
		bits := types.I32
		if t.Kind == types.FloatKindDouble {
			bits = types.I64
		}
		return b.NewBitCast(k.in32(b.NewBitCast(v, bits), apply), t)
	case *types.IntType:
		switch {
		case t.BitSize == 32:
			return apply(v)
		case t.BitSize < 32:
			return b.NewTrunc(apply(b.NewZExt(v, types.I32)), t)
		}
		low := apply(b.NewTrunc(v, types.I32))
		high := apply(b.NewTrunc(b.NewLShr(v, constant.NewInt(t, 32)), types.I32))
		return b.NewOr(b.NewZExt(low, t), b.NewShl(b.NewZExt(high, t), constant.NewInt(t, 32)))
	}
	panic(fmt.Sprintf("BUG: a shuffle of %v", t))
}

// ballot emits a ballot.
func (k *kernel) ballot(s *loop.Ballot) {
	fn := k.Module.Intrinsic("llvm.nvvm.vote.ballot.sync", types.I32, types.I32, types.I1)
	k.Bind(s.Var, llvm.Val{Re: k.Block.NewCall(fn, allLanes(), k.Expr(s.Cond).Re)})
}

// atomicOps gives LLVM's name of an operation, for signed and unsigned integers.
var atomicOps = map[loop.AtomicOp][2]enum.AtomicOp{
	loop.AtomicAdd: {enum.AtomicOpAdd, enum.AtomicOpAdd},
	loop.AtomicMin: {enum.AtomicOpMin, enum.AtomicOpUMin},
	loop.AtomicMax: {enum.AtomicOpMax, enum.AtomicOpUMax},
	loop.AtomicAnd: {enum.AtomicOpAnd, enum.AtomicOpAnd},
	loop.AtomicOr:  {enum.AtomicOpOr, enum.AtomicOpOr},

	loop.AtomicExchange: {enum.AtomicOpXChg, enum.AtomicOpXChg},
}

// deviceScope is the scope of atomics: the threads of one device.
const deviceScope = "device"

// atomic emits an atomic.
func (k *kernel) atomic(s *loop.Atomic) {
	elem := k.Bufs[s.Buf].Elem
	place := value.Value(k.Address(s.Buf, k.Expr(s.Index).Re, 0))
	if k.Bufs[s.Buf].Space == 0 {
		// LLVM finds out the address space of ordinary accesses, but not of volatile ones.
		place = k.Block.NewAddrSpaceCast(place, &types.PointerType{ElemType: llvm.MemoryType(elem), AddrSpace: globalSpace})
	}
	var old value.Value
	if s.Op == loop.AtomicCompareAndSwap {
		expected := k.Expr(s.Expected).Re
		swap := k.Block.NewCmpXchg(place, expected, k.Expr(s.Value).Re, enum.AtomicOrderingMonotonic, enum.AtomicOrderingMonotonic)
		swap.SyncScope = deviceScope
		old = k.Block.NewExtractValue(swap, 0)
	} else {
		op := atomicOps[s.Op][0]
		if !elem.IsSigned() {
			op = atomicOps[s.Op][1]
		}
		change := k.Block.NewAtomicRMW(op, place, k.Expr(s.Value).Re, enum.AtomicOrderingMonotonic)
		change.SyncScope = deviceScope
		// What changes nothing or wants no result LLVM would else turn into an atomic
		// load or store, for which NVPTX has no code in older versions.
		change.Volatile = true
		old = change
	}
	if s.Var != loop.NoVar {
		k.Bind(s.Var, llvm.Val{Re: old})
	}
}

// sharedArray makes an array that the threads of a block share. Accesses to it name its
// address space: through casts LLVM would not see how they are aligned, and so makes no
// vectors of neighbouring ones.
func (m *module) sharedArray(kernel string, s loop.Shared) llvm.Buffer {
	t := types.NewArray(uint64(s.Len), llvm.MemoryType(s.Elem))
	g := m.IR.NewGlobal(fmt.Sprintf("%s.%s.%d", kernel, s.Name, len(m.IR.Globals)), t)
	g.AddrSpace = sharedSpace
	g.Typ.AddrSpace = sharedSpace
	g.Linkage = enum.LinkageInternal
	g.Init = constant.NewUndef(t)
	g.Align = ir.Align(16)
	m.keep(g)
	return llvm.Buffer{Elem: s.Elem, Base: g, Array: t, Space: sharedSpace}
}

// keep lists a shared array among what is used in ways that LLVM does not see. LLVM 14
// takes an internal variable that it knows all uses of as untouched by barriers, and
// so by other threads.
func (m *module) keep(g *ir.Global) {
	bytes := types.NewPointer(types.I8)
	if m.used == nil {
		m.used = m.IR.NewGlobalDef("llvm.used", constant.NewArray(types.NewArray(0, bytes)))
		m.used.Linkage = enum.LinkageAppending
		m.used.Section = "llvm.metadata"
	}
	list := m.used.Init.(*constant.Array)
	inShared := &types.PointerType{ElemType: types.I8, AddrSpace: sharedSpace}
	list.Elems = append(list.Elems, constant.NewAddrSpaceCast(constant.NewBitCast(g, inShared), bytes))
	list.Typ = types.NewArray(uint64(len(list.Elems)), bytes)
	m.used.ContentType, m.used.Typ = list.Typ, types.NewPointer(list.Typ)
}

// NVPTX's address spaces of the device's memory and of a block's.
const (
	globalSpace = 1
	sharedSpace = 3
)

// loadOnce reads what is not read again: caches give it up before other data. LLVM has
// no such load for NVPTX; as assembly that has no effects it may be moved like one.
func (k *kernel) loadOnce(place value.Value) value.Value {
	elem := place.Type().(*types.PointerType).ElemType
	kind, result, register := "", elem, "r"
	switch t := elem.(type) {
	case *types.IntType:
		kind = "u" + strconv.FormatUint(t.BitSize, 10)
		switch {
		case t.BitSize < 32:
			result = types.I16
			register = "h"
		case t.BitSize == 64:
			register = "l"
		}
	case *types.FloatType:
		kind, register = "f32", "f"
		if t.Kind == types.FloatKindDouble {
			kind, register = "f64", "d"
		}
	}
	global := types.NewPointer(elem)
	global.AddrSpace = globalSpace
	asm := ir.NewInlineAsm(types.NewPointer(types.NewFunc(result, global)), "ld.global.cs.nc."+kind+" $0, [$1];", "="+register+",l")
	call := k.Block.NewCall(asm, k.Block.NewAddrSpaceCast(place, global))
	call.FuncAttrs = []ir.FuncAttribute{enum.FuncAttrNoUnwind, enum.FuncAttrReadNone}
	if result != elem {
		return k.Block.NewTrunc(call, elem)
	}
	return call
}
