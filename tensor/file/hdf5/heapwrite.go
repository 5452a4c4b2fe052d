package hdf5

import (
	"math"
	"strings"
)

// heapWriter gathers strings in collections of the global heap (III.E). The room of a
// collection is set aside when it is begun, because references have its address.
type heapWriter struct {
	block encoder // the collection that is being filled
	size  int     // its room; 0 if there is none
	addr  uint64
	count int // objects in it
	next  int // room of the next one
}

const (
	heapMinimum = 4096    // collections are no smaller, says the HDF5 library
	heapUsual   = 1 << 16 // nor larger, unless for a long string
	heapHead    = 16      // bytes before a collection's objects, and before each of their data
)

// add puts a string into the heap and returns an element that refers to it.
func (h *heapWriter) add(w *Writer, s string) ([]byte, error) {
	s, _, _ = strings.Cut(s, "\x00")
	if uint64(len(s)) > math.MaxUint32 {
		return nil, errorf("a string has %d bytes; 2^32-1 is the most", len(s))
	}
	var ref encoder
	ref.u32(uint32(len(s)))
	if s == "" {
		ref.u64(0)
		ref.u32(0)
		return ref.b, nil
	}
	need := heapHead + (len(s)+7)&^7
	if len(h.block.b)+need > h.size || h.count == math.MaxUint16 {
		if err := h.begin(w, heapHead+need); err != nil {
			return nil, err
		}
	}
	h.count++
	ref.u64(h.addr)
	ref.u32(uint32(h.count))
	h.block.u16(h.count)
	h.block.u16(1) // references
	h.block.u32(0)
	h.block.u64(uint64(len(s)))
	h.block.b = append(h.block.b, s...)
	h.block.pad(8)
	return ref.b, nil
}

// begin ends the collection and begins one with room for n bytes at least.
func (h *heapWriter) begin(w *Writer, n int) error {
	if err := h.flush(w); err != nil {
		return err
	}
	size := max(h.next, n)
	h.next = min(2*h.next, heapUsual)
	addr, err := w.reserve(uint64(size), 8)
	if err != nil {
		return err
	}
	*h = heapWriter{size: size, addr: addr, next: h.next}
	h.block.b = append(make([]byte, 0, size), "GCOL"...)
	h.block.bytes(1, 0, 0, 0)
	h.block.u64(uint64(size))
	return nil
}

// flush writes the collection; what room is left becomes object 0, free space.
func (h *heapWriter) flush(w *Writer) error {
	if h.size == 0 {
		return nil
	}
	if free := h.size - len(h.block.b); free >= heapHead {
		h.block.u64(0)
		h.block.u64(uint64(free))
	}
	h.block.b = append(h.block.b, make([]byte, h.size-len(h.block.b))...)
	h.size = 0
	return w.write(h.block.b, h.addr)
}
