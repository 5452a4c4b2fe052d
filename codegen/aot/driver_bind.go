package aot

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/llir/llvm/ir/value"
)

// bind checks the tensors of a call, and enters those of operands in the state.
func (d *driver) bind() {
	tensors := d.pointer(d.load(d.call, callTensors))
	for i := range d.p.Tensors {
		t := &d.p.Tensors[i]
		base := d.word(tensors, i*tensorWords)
		d.bindHead(i, t, base)
		if i < d.p.Operands {
			d.bindOperand(i, t, base)
		}
	}
	for id := range d.loops.Buffers { // in order: maps have none
		v, ok := d.p.Constants[loop.BufferID(id)]
		if ok {
			d.bindConstant(loop.BufferID(id), v)
		}
	}
	for _, c := range d.p.Checks {
		d.check(c)
	}
	d.lets(d.p.Extents)
	for i := d.p.Operands; i < len(d.p.Tensors); i++ {
		t := &d.p.Tensors[i]
		if len(t.Extents) == 0 {
			continue
		}
		at := d.pointer(d.load(d.word(tensors, i*tensorWords), tensorExtents))
		for axis, e := range t.Extents {
			d.store(at, axis, d.eval(e, sizeFailure(fmt.Sprintf("dimension %d of %s", axis, t.Name))))
		}
	}
}

// sparse reports whether a tensor has index arrays.
func (t *Tensor) sparse() bool { return !t.Format.IsDense() }

// bindHead checks rank and format, and that there are extents and levels.
func (d *driver) bindHead(i int, t *Tensor, base value.Value) {
	needs := 0
	if t.Format.Rank() > 0 {
		needs |= needsExtents
	}
	if t.sparse() {
		needs |= needsLevels
	}
	messages := d.texts(
		fmt.Sprintf("%s must have rank %d", t.Name, t.Format.Rank()),
		fmt.Sprintf("%s must be stored as %s", t.Name, t.Format),
		"the extents of "+t.Name+" are null",
		"the levels of "+t.Name+" are null",
	)
	d.bail(d.do(d.helpers.head, d.call, base, num(i), num(t.Format.Rank()), d.text(t.Format.String()), num(needs), messages))
}

// bail returns what a helper returns, unless that is 0.
func (d *driver) bail(status value.Value) {
	d.bad(d.icmp(ne, status, num32(OK)), func() { d.ret(status) })
}

// bindOperand enters the extents and the arrays of an operand.
func (d *driver) bindOperand(i int, t *Tensor, base value.Value) {
	if len(t.Dims) > 0 { // their scalars stand one after the other
		d.bail(d.do(d.helpers.extents, d.call, d.pointer(d.load(base, tensorExtents)), d.word(d.state, scalarWord(t.Dims[0])), num(len(t.Dims)), num(i), d.text("an extent of "+t.Name+" is negative")))
	}
	if t.sparse() {
		levels := d.pointer(d.load(base, tensorLevels))
		for l := range t.Levels {
			what := fmt.Sprintf("of level %d of %s", l, t.Name)
			d.bindArray(i, t.Levels[l].Pointers, d.word(levels, l*levelWords+levelPointers), "the pointers "+what, ErrWidth)
			d.bindArray(i, t.Levels[l].Indices, d.word(levels, l*levelWords+levelIndices), "the indices "+what, ErrWidth)
		}
	}
	d.bindArray(i, t.Values, d.word(base, tensorValues), "the values of "+t.Name, ErrType)
	d.bindFill(i, t, base)
}

// bindArray enters an array of an operand, if it has what the levels before it ask for.
func (d *driver) bindArray(i int, a Array, base value.Value, what string, typed Status) {
	if a.Buffer < 0 {
		return
	}
	short := failure{ErrLength, i, what + " are fewer than the extents and the levels before ask for"}
	messages := d.texts(
		fmt.Sprintf("%s must be %s", what, a.Type), short.message, what+" are null",
		fmt.Sprintf("%s are not aligned to %d bytes", what, alignment(a.Type)),
	)
	d.bail(d.do(d.helpers.array, d.call, base, d.word(d.state, d.bufferWord(a.Buffer)), d.eval(a.Len, short), num(a.Type), num(alignment(a.Type)-1), num(i), num32(typed), messages))
}

// alignment is that of elements: their size, or for complex types that of the parts.
func alignment(t loop.Type) int { return t.Real().Size() }

// bindFill enters the fill of an operand that may have any, and compares that of others.
func (d *driver) bindFill(i int, t *Tensor, base value.Value) {
	given := d.load(base, tensorFill)
	if t.FillBuffer >= 0 {
		zero := d.address(d.bytes(make([]byte, t.DType.Size())))
		chosen := d.either(d.icmp(eq, given, num(0)), zero, given)
		word := d.bufferWord(t.FillBuffer)
		d.store(d.state, word, chosen)
		d.store(d.state, word+1, num(1))
		return
	}
	if !t.sparse() || !t.FillKnown {
		return
	}
	d.when(d.icmp(ne, given, num(0)), func() {
		d.failIf(d.otherFill(given, t.Fill), failure{ErrFill, i, fmt.Sprintf("%s must have the fill %s", t.Name, t.Fill)})
	})
}

// otherFill is whether the element at an address differs from a value. A NaN is the same
// as any other.
func (d *driver) otherFill(address value.Value, want tensor.Scalar) value.Value {
	elem := loop.Type(want.DType())
	lo, hi := partBits(want)
	part := elem.Real()
	differs := d.otherPart(address, 0, part, lo)
	if elem.IsComplex() {
		return d.Block.NewOr(differs, d.otherPart(address, 1, part, hi))
	}
	return differs
}

func (d *driver) otherPart(address value.Value, index int, part loop.Type, bits uint64) value.Value {
	unsigned := []loop.Type{1: loop.U8, 2: loop.U16, 4: loop.U32, 8: loop.U64}[part.Size()]
	v := d.loadInt(address, num(index), unsigned)
	inf, isFloat := map[loop.Type]uint64{loop.F16: 0x7c00, loop.BF16: 0x7f80, loop.F32: 0x7f80_0000, loop.F64: 0x7ff0_0000_0000_0000}[part]
	mask := uint64(math.MaxUint64) >> (64 - 8*part.Size())
	if isFloat && bits&(mask>>1) > inf {
		magnitude := d.and(v, num(int64(mask>>1)))
		return d.icmp(ule, magnitude, num(int64(inf)))
	}
	return d.icmp(ne, v, num(int64(bits&mask)))
}

// bindConstant enters a buffer that holds one value known now.
func (d *driver) bindConstant(id loop.BufferID, v tensor.Scalar) {
	word := d.bufferWord(id)
	d.store(d.state, word, d.address(d.bytes(scalarBytes(v))))
	d.store(d.state, word+1, num(1))
}

// scalarBytes is a value as it is in memory. (Its Bits are wider for half-precision numbers.)
func scalarBytes(v tensor.Scalar) []byte {
	one, _ := tensor.MakeArray(v.DType(), 1)
	one.SetScalar(0, v)
	return one.Raw()
}

// partBits are the bits of a value as it is in memory, of a complex one those of its parts.
func partBits(v tensor.Scalar) (lo, hi uint64) {
	data := scalarBytes(v)
	bits := func(part []byte) uint64 {
		var word [8]byte
		copy(word[:], part)
		return binary.LittleEndian.Uint64(word[:])
	}
	if size := loop.Type(v.DType()).Real().Size(); size < len(data) {
		return bits(data[:size]), bits(data[size:])
	}
	return bits(data), 0
}

// check makes a check of the program.
func (d *driver) check(c Check) {
	f := failure{c.Code, c.Tensor, c.Message}
	done := d.NewBlock("checked")
	for _, e := range c.If {
		next := d.NewBlock("if")
		d.branch(d.icmp(sgt, d.eval(e, f), num(0)), next, done)
		d.Enter(next)
	}
	x, y := d.eval(c.X, f), d.eval(c.Y, f)
	wrong := sgt
	if c.Equal {
		wrong = ne
	}
	d.failIf(d.icmp(wrong, x, y), f)
	d.jump(done)
	d.Enter(done)
}
