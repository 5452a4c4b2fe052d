// Package partition cuts the domains of stages into chunks. Where they are cut follows from the data and the grain alone, so that
// results do not depend on the number of threads.
package partition

import (
	"fmt"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// maxChunks bounds the number of chunks of a partition. It is large enough to
// balance any machine and small enough that per-chunk workspaces and the list
// of cuts stay small; the grain is raised to keep it.
const maxChunks = 1 << 16

// Cut is a domain 0 … N-1 cut into chunks.
type Cut struct {
	N      int64
	Chunks int64
	step   int64   // chunks of equal size, when bounds is nil
	bounds []int64 // chunks+1 boundaries, when the domain was cut by weight
	spare  []int64 // memory of an earlier run's bounds
}

// Whole is a domain in one chunk.
func Whole(n int64) Cut { return Cut{N: n, Chunks: 1, step: n} }

// Weights are the rising sums of the weights of N elements, N+1 of them, of an integer type.
type Weights struct {
	Ptr  unsafe.Pointer
	Len  int64
	Elem loop.Type
}

// Chunk returns the part [lo, hi) of the domain that is chunk k.
func (c *Cut) Chunk(k int64) (lo, hi int64) {
	if c.bounds != nil {
		return c.bounds[k], c.bounds[k+1]
	}
	lo = k * c.step
	return lo, lo + min(c.step, c.N-lo)
}

// Even cuts n elements of weight 1 into chunks of grain elements.
func (c *Cut) Even(n, grain int64) {
	c.N, c.bounds = n, nil
	chunks, step := chunksFor(uint64(n), grain)
	c.Chunks, c.step = chunks, int64(step)
}

// chunksFor returns how many chunks a total weight is cut into, and the weight
// of each: grain, or more if that would make too many.
func chunksFor(total uint64, grain int64) (chunks int64, step uint64) {
	if total == 0 {
		return 0, uint64(grain)
	}
	step = max(uint64(grain), (total-1)/maxChunks+1)
	return int64((total-1)/step) + 1, step
}

// ByWeight cuts n elements so that each chunk has about grain of weight plus
// elements, the weight of element i being w[i+1]-w[i]. An element is never
// split, so a heavy one makes a heavy chunk, and the chunks that would have
// begun inside it do not exist.
//
// The weights are data. If they do not rise, or leave 63 bits, any cut or an
// error may come of it, but no chunk outside the domain.
func (c *Cut) ByWeight(n, grain int64, w Weights) error {
	if w.Len <= n {
		return fmt.Errorf("the weights have %d elements, want at least %d", w.Len, n+1)
	}
	c.N, c.bounds = n, nil
	if n == 0 {
		c.Chunks = 0
		return nil
	}
	return cutBy[w.Elem](c, w.Ptr, grain)
}

// cutBy holds the instances of byWeight by the weights' element type.
var cutBy = [...]func(c *Cut, weights unsafe.Pointer, grain int64) error{
	loop.I8: byWeight[int8], loop.I16: byWeight[int16], loop.I32: byWeight[int32], loop.I64: byWeight[int64],
	loop.U8: byWeight[uint8], loop.U16: byWeight[uint16], loop.U32: byWeight[uint32], loop.U64: byWeight[uint64],
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func byWeight[T integer](c *Cut, weights unsafe.Pointer, grain int64) error {
	n := c.N
	w := unsafe.Slice((*T)(weights), n+1)
	first, last := int64(w[0]), int64(w[n]) // what has more than 63 bits is negative
	if first < 0 || last < first {
		return fmt.Errorf("the weights do not rise from element 0 to element %d within 63 bits", n)
	}
	chunks, step := chunksFor(uint64(last-first)+uint64(n), grain)
	if chunks == 1 {
		c.Chunks, c.step = 1, n
		return nil
	}
	c.bounds = boundaries(w, chunks, step, c.spare[:0])
	c.spare = c.bounds
	c.Chunks = int64(len(c.bounds)) - 1
	return nil
}

// boundaries appends the boundaries of the chunks to bounds, which is empty.
//
// The load of elements 0 … i-1, load(i) = w[i]-w[0]+i, rises strictly with i,
// so each boundary is found by a search for the first i whose load is at least
// k·step. Each search starts where the boundary would be if the chunk were as
// long as the one before, which for most matrices is a few cache lines off.
func boundaries[T integer](w []T, chunks int64, step uint64, bounds []int64) []int64 {
	n := int64(len(w)) - 1
	bounds = append(bounds, 0)
	at, length := int64(0), n/chunks
	for k := int64(1); k < chunks && at < n; k++ {
		next := search(w, uint64(k)*step, at, n, min(at+length, n-1))
		if next > at && next < n {
			bounds = append(bounds, next)
			length = next - at
			at = next
		}
	}
	return append(bounds, n)
}

// search returns the first i in [lo, hi) with load(i) at least target, or hi.
// It gallops from guess, which is in [lo, hi), and then bisects.
func search[T integer](w []T, target uint64, lo, hi, guess int64) int64 {
	first := uint64(w[0])
	reached := func(i int64) bool { return uint64(w[i])-first+uint64(i) >= target }
	if reached(guess) {
		hi = guess
		for stride := int64(1); lo < hi; stride *= 2 {
			probe := max(hi-stride, lo)
			if !reached(probe) {
				lo = probe + 1
				break
			}
			hi = probe
		}
	} else {
		lo = guess + 1
		for stride := int64(1); lo < hi; stride *= 2 {
			probe := min(lo+stride, hi) - 1
			if reached(probe) {
				hi = probe
				break
			}
			lo = probe + 1
		}
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		if reached(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
