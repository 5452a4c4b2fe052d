package declare

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Keys holds memory for keys.
var Keys = sync.Pool{New: func() any { return new([]byte) }}

// AppendKey appends bytes that tell a program and its declarations from any other.
// Everything of no fixed length comes with it.
func (d *Declarations) AppendKey(b []byte, src string) []byte {
	slices.SortFunc(d.list, func(x, y declaration) int { return strings.Compare(x.name, y.name) })
	b = appendString(appendString(b, src), d.schedule)
	b = append(b, flags(d.strict, d.asWritten, d.some, d.tuned), byte(len(d.wanted)))
	for _, name := range d.wanted {
		b = appendString(b, name)
	}
	b = append(b, byte(len(d.list)), byte(len(d.list)>>8))
	for i := range d.list {
		b = d.list[i].appendKey(b)
	}
	return b
}

func (r *declaration) appendKey(b []byte) []byte {
	b = appendString(b, r.name)
	says := &r.says
	b = append(b, flags(says.HasFormat, says.HasDType, says.Shape != nil, r.result, r.example != nil), byte(says.DType), byte(says.Rank))
	b = says.Relaxed.AppendKey(says.Format.AppendKey(b))
	b = appendScalar(b, r.fill)
	b = binary.AppendUvarint(b, uint64(len(says.Shape)))
	for _, n := range says.Shape {
		b = binary.AppendVarint(b, n)
	}
	b = append(b, byte(len(r.parts)), byte(r.structure))
	for _, f := range r.parts {
		b = f.AppendKey(b)
	}
	if r.assumed != nil {
		b = appendString(append(b, 254), r.assumed.Class())
	}
	switch t := r.example.(type) {
	case *tensor.Tensor:
		b = appendTensor(append(b, 0), t)
	case *tensor.Blocks:
		b = append(formatOf(t).AppendKey(append(b, 255)), byte(t.DType()))
		b = appendScalar(b, t.Fill())
	case *tensor.Parts:
		parts := t.Parts()
		b = append(b, byte(len(parts)))
		for _, t := range parts {
			b = appendTensor(b, t)
		}
	}
	return b
}

// appendTensor appends what a kernel depends on of an operand.
func appendTensor(b []byte, t *tensor.Tensor) []byte {
	b = append(t.Format().AppendKey(b), byte(t.DType()), byte(t.Structure()))
	b = appendScalar(b, t.Fill())
	return appendIndexTypes(b, t)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendScalar(b []byte, v tensor.Scalar) []byte {
	lo, hi := v.Bits()
	b = append(b, byte(v.DType()))
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, lo), hi)
}

// appendIndexTypes appends the widths of a tensor's index arrays.
func appendIndexTypes(b []byte, t *tensor.Tensor) []byte {
	for k := range t.Rank() {
		l := t.LevelAt(k)
		b = append(b, byte(l.Pos.DType()), byte(l.Crd.DType()))
	}
	return b
}

// flags packs truth values.
func flags(list ...bool) (b byte) {
	for i, f := range list {
		if f {
			b |= 1 << i
		}
	}
	return b
}

// TuningKey tells a program, what is declared of it, and operands by formats, types and how many entries they have, to powers of
// two, from others; and the engine and the number of threads that were measured.
func (d *Declarations) TuningKey(src string, args map[string]tensor.Operand, engine string, threads int) string {
	c := d.WithoutExamples()
	c.tuned = false
	for name, o := range args {
		c.operand(name, o)
	}
	key := c.AppendKey(nil, src)
	for i := range c.list {
		var entries uint64
		for _, t := range PartsOf(c.list[i].example) {
			if t != nil {
				entries += uint64(t.NNZ())
			}
		}
		key = append(key, byte(bits.Len64(entries)))
	}
	return fmt.Sprintf("%q %s %d", key, engine, threads)
}

// Examples are the operands that were given.
func (d *Declarations) Examples() map[string]tensor.Operand {
	args := map[string]tensor.Operand{}
	for i := range d.list {
		if o := d.list[i].example; o != nil {
			args[d.list[i].name] = o
		}
	}
	return args
}
