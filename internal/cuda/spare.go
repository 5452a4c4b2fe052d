package cuda

import (
	"math/bits"
	"slices"
	"sync"
)

// Spare are blocks of a device that nothing uses any more, kept for results to
// come: to ask the driver for memory takes about as long as to start a kernel, and longer where other
// threads ask it for something. No work that is under way has to do with them, so that any stream may take one; those of an engine with one stream are for
// work that comes later in it.
type Spare struct {
	most int64 // how many bytes there are of all

	mu     sync.Mutex
	list   map[int64][]spareBlock // by size
	bytes  int64
	closed bool
}

// spareBlock is a block and a stream that can give it back.
type spareBlock struct {
	at     Ptr
	stream *Stream
}

const (
	// leastSpare is the size of the smallest block, and finestSpare up to which sizes are powers of two.
	leastSpare  = 256
	finestSpare = 1 << 20
)

// NewSpare has no blocks, and keeps at most so many bytes.
func NewSpare(most int64) *Spare { return &Spare{most: most, list: map[int64][]spareBlock{}} }

// Size is the size of a block for so many bytes: a power of two up to 1 MiB, above that a multiple of it. It is not ok
// for those that are not kept.
func (s *Spare) Size(bytes int64) (size int64, ok bool) {
	switch {
	case bytes > s.most:
		return 0, false
	case bytes > finestSpare:
		return (bytes + finestSpare - 1) / finestSpare * finestSpare, true
	}
	return 1 << bits.Len64(uint64(max(bytes, leastSpare)-1)), true
}

// Take gives a block of the size, if there is one: that of the lowest address, so that a program that runs again
// gets what it had, in whatever order it was given back (replay.go).
func (s *Spare) Take(size int64) (Ptr, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list[size]
	if len(list) == 0 {
		return 0, false
	}
	i := 0
	for j := range list {
		if list[j].at < list[i].at {
			i = j
		}
	}
	b := list[i]
	s.list[size] = slices.Delete(list, i, i+1)
	s.bytes -= size
	return b.at, true
}

// Keep takes a block of the size over. Where there are too many, which may be of sizes that do not come again, those before are given back.
func (s *Spare) Keep(size int64, at Ptr, stream *Stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || size > s.most {
		return false
	}
	if s.bytes > s.most-size {
		s.giveBack()
	}
	s.list[size] = append(s.list[size], spareBlock{at, stream})
	s.bytes += size
	return true
}

// Flush gives all blocks back to the driver.
func (s *Spare) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack()
}

// giveBack is Flush with the lock held.
func (s *Spare) giveBack() {
	for _, list := range s.list {
		for _, b := range list {
			_ = b.stream.Free(b.at) // only a lost device fails to, and then all memory is lost
		}
	}
	clear(s.list)
	s.bytes = 0
}

// Close is Flush, after which nothing is kept.
func (s *Spare) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Flush()
}

// Bytes is how much is kept.
func (s *Spare) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
