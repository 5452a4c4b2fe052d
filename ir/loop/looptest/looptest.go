// Package looptest makes random functions of the loop language for tests of
// whatever prints, changes or runs them. Draw gives a function that verifies,
// ends, and touches only elements that exist, together with memory to run it
// on; SameMemory judges what two engines made of that memory. DrawGrid does the same
// for grid functions.
//
// Random functions never look at the bits of a NaN that arithmetic made, which
// the loop language leaves open, so all else must agree bit for bit.
package looptest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A Case is a function with everything that one call of it takes.
type Case struct {
	Func          *loop.Func
	Memory        [][]byte // initial contents of each buffer, little endian
	Args          []int64
	Chunk, Lo, Hi int64
}

// Func draws a function alone; see Draw.
func Func(t *rapid.T) *loop.Func { return Draw(t).Func }

// Draw draws a function and what to call it with. The function may call the
// given scalar functions; it needs a resolver that knows them to verify.
// Variables are numbered as in the text (see loop.Compact).
func Draw(t *rapid.T, scalars ...*loop.Scalar) Case {
	g := &generator{t: t, scalars: scalars, types: elemTypes, loopsLeft: 3, stmtsLeft: 40}
	return g.draw()
}

// CopyMemory returns fresh memory for one run of the case.
func (c Case) CopyMemory() [][]byte {
	m := make([][]byte, len(c.Memory))
	for i, b := range c.Memory {
		m[i] = bytes.Clone(b)
	}
	return m
}

// SameMemory compares the buffers of f after two runs. Elements must have the
// same bits, except that any NaN equals any other. The error names the first
// element that differs.
func SameMemory(f *loop.Func, got, want [][]byte) error {
	if len(got) != len(f.Bufs) || len(want) != len(f.Bufs) {
		return fmt.Errorf("%d and %d buffers; %s has %d", len(got), len(want), f.Name, len(f.Bufs))
	}
	for i, b := range f.Bufs {
		if len(got[i]) != len(want[i]) {
			return fmt.Errorf("buffer %s has %d bytes, want %d", b.Name, len(got[i]), len(want[i]))
		}
		size := b.Elem.Size()
		for k := 0; k+size <= len(got[i]); k += size {
			x, y := got[i][k:k+size], want[i][k:k+size]
			if !sameElem(b.Elem, x, y) {
				return fmt.Errorf("%s[%d] of type %s has bytes %x, want %x", b.Name, k/size, b.Elem, x, y)
			}
		}
	}
	return nil
}

func sameElem(t loop.Type, x, y []byte) bool {
	if t.IsComplex() {
		half := len(x) / 2
		return sameElem(t.Real(), x[:half], y[:half]) && sameElem(t.Real(), x[half:], y[half:])
	}
	return bytes.Equal(x, y) || isNaN(t, x) && isNaN(t, y)
}

// isNaN looks at the bits of one real element.
func isNaN(t loop.Type, x []byte) bool {
	switch t {
	case loop.F16:
		return binary.LittleEndian.Uint16(x)&0x7fff > 0x7c00
	case loop.BF16:
		return binary.LittleEndian.Uint16(x)&0x7fff > 0x7f80
	case loop.F32:
		return binary.LittleEndian.Uint32(x)&0x7fffffff > 0x7f800000
	case loop.F64:
		return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(x)))
	}
	return false
}
