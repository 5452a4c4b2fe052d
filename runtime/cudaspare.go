package runtime

import (
	"math/bits"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
)

// spareBlocks are small blocks of a device that nothing uses any more, kept for results to
// come: to ask the driver for memory takes about as long as to start a kernel. No work
// that is under way has to do with them, so that any stream may take one.
type spareBlocks struct {
	mu     sync.Mutex
	list   [spareClasses][]spareBlock // by the binary logarithm of the size
	bytes  int64
	closed bool
}

// spareBlock is a block and a stream that can give it back.
type spareBlock struct {
	at     cuda.Ptr
	stream *cuda.Stream
}

const (
	// largestSpare is the largest size that is kept, and most how many bytes there are of all.
	largestSpare = 1 << 20
	mostSpare    = 32 << 20
	spareClasses = 21
	// leastSpare is the size of the smallest block.
	leastSpare = 256
)

// spareClass is the binary logarithm of the size of a block for so many bytes. It is not ok
// for those that are not kept.
func spareClass(bytes int64) (class int, ok bool) {
	if bytes > largestSpare {
		return 0, false
	}
	return bits.Len64(uint64(max(bytes, leastSpare) - 1)), true
}

// take gives a block of the class, if there is one.
func (s *spareBlocks) take(class int) (cuda.Ptr, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list[class]
	if len(list) == 0 {
		return 0, false
	}
	b := list[len(list)-1]
	s.list[class] = list[:len(list)-1]
	s.bytes -= 1 << class
	return b.at, true
}

// keep takes a block of the class over, unless there are many.
func (s *spareBlocks) keep(class int, b spareBlock) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.bytes+1<<class > mostSpare {
		return false
	}
	s.list[class] = append(s.list[class], b)
	s.bytes += 1 << class
	return true
}

// flush gives all blocks back to the driver.
func (s *spareBlocks) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for class, list := range s.list {
		for _, b := range list {
			_ = b.stream.Free(b.at) // only a lost device fails to, and then all memory is lost
		}
		s.list[class] = nil
	}
	s.bytes = 0
}

// close is flush, after which nothing is kept.
func (s *spareBlocks) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.flush()
}
