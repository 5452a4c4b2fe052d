package alloc

import (
	goruntime "runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// recycler keeps blocks of results that nobody uses any more, for results to come. They
// come to it in two ways.
//
// A caller who is done with a result may say so, by [tensor.Tensor.Release]. Then blocks
// of any size from minRecycled on come at once.
//
// A caller who says nothing leaves it to the garbage collector. A finalizer on the block
// tells us what it found: it runs once nothing points into the block any more, and until
// the block is handed out again nothing but the list here does. So this is as safe as the
// heap itself. Blocks over maxRecycled are left alone: a collection costs little next to
// writing them, and keeping idle ones raises the heap's target, so that more pages are
// new.
//
// What it saves: where the rest of the heap is small, a collection for every few
// results, and pages that the Go runtime gives back to the system while nobody uses
// them, to be faulted in and cleared again one by one. Results made one after the
// other otherwise take up to twice their time.
//
// What it costs is bounded: idle blocks are at most limit bytes, or releasedLimit where
// they were released, and those that two collections in a row found idle are let go.
type recycler struct {
	limit, releasedLimit func() int64 // on idle bytes

	mu       sync.Mutex
	idle     int64
	blocks   [recycledClasses][]idleBlock
	large    []idleBlock // those over maxRecycled; by age, as the others
	now      uint32      // collections seen while there were idle blocks
	watching bool        // a clock is set
}

// idleBlock is a block that nobody uses.
type idleBlock struct {
	base  *byte
	size  int64
	since uint32
}

// The sizes of blocks that are recycled. Above maxRecycled they have no classes.
const (
	minRecycled     = 32 << 10
	maxRecycledBits = 22
	maxRecycled     = 1 << maxRecycledBits
	recycledClasses = (maxRecycledBits-minClassBits)*4 + 1 // by size, as of temporaries
)

// Idle blocks that the collector found take at most maxIdle bytes, and 1/idleShare of the
// memory that the process may use; with those that were released, 1/releasedShare.
const (
	maxIdle       = 32 << 20
	idleShare     = 64
	releasedShare = 8
)

// idleResults are shared by all engines: they are a claim on the whole process.
var idleResults = &recycler{
	limit:         sync.OnceValue(func() int64 { return min(maxIdle, admission.Read().Total/idleShare) }),
	releasedLimit: sync.OnceValue(func() int64 { return admission.Read().Total / releasedShare }),
}

// keepsIdle is how many collections a block may be idle for.
const keepsIdle = 2

// block returns a block of at least size bytes, which must be minRecycled or more. It has
// been used before or is made by fresh, a function of its size.
func (r *recycler) block(size int64, fresh func(int64) unsafe.Pointer) (b *tensor.Pooled, used bool) {
	if size > maxRecycled {
		return r.largeBlock(size, fresh)
	}
	class := classOf(size)
	base := r.take(class)
	if used = base != nil; !used {
		base = (*byte)(fresh(classSize(class)))
	}
	goruntime.SetFinalizer(base, func(base *byte) { r.put(base, class, r.limit()) })
	return tensor.NewPooled(unsafe.Slice(base, classSize(class)), func() {
		goruntime.SetFinalizer(base, nil)
		r.put(base, class, r.releasedLimit())
	}), used
}

// largeBlock is block for sizes without classes.
func (r *recycler) largeBlock(size int64, fresh func(int64) unsafe.Pointer) (b *tensor.Pooled, used bool) {
	block := r.takeLarge(size)
	if used = block.base != nil; !used {
		block = idleBlock{base: (*byte)(fresh(size)), size: size}
	}
	return tensor.NewPooled(unsafe.Slice(block.base, block.size), func() { r.putLarge(block.base, block.size) }), used
}

// maxExcess is the part of a block that a result need not use.
const maxExcess = 4

// takeLarge returns the smallest idle block of at least size bytes, the one used last of
// several; one without base if there is none, or it is far too large.
func (r *recycler) takeLarge(size int64) idleBlock {
	r.mu.Lock()
	defer r.mu.Unlock()
	best := -1
	for i, b := range r.large {
		if size <= b.size && b.size-b.size/maxExcess <= size && (best < 0 || b.size <= r.large[best].size) {
			best = i
		}
	}
	if best < 0 {
		return idleBlock{}
	}
	b := r.large[best]
	r.large = slices.Delete(r.large, best, best+1)
	r.idle -= b.size
	return b
}

// putLarge keeps a block that was released, unless there are enough.
func (r *recycler) putLarge(base *byte, size int64) {
	limit := r.releasedLimit()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle+size > limit {
		return
	}
	r.large = append(r.large, idleBlock{base, size, r.now})
	r.keep(size)
}

// take returns the idle block that was used last, nil if there is none.
func (r *recycler) take(class int) *byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.blocks[class]
	if len(list) == 0 {
		return nil
	}
	last := &list[len(list)-1]
	base := last.base
	*last = idleBlock{}
	r.blocks[class] = list[:len(list)-1]
	r.idle -= classSize(class)
	return base
}

// put keeps a block that nobody uses, unless that makes more than limit idle bytes.
func (r *recycler) put(base *byte, class int, limit int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle+classSize(class) > limit {
		return
	}
	r.blocks[class] = append(r.blocks[class], idleBlock{base, classSize(class), r.now})
	r.keep(classSize(class))
}

// keep counts a block that was put.
func (r *recycler) keep(size int64) {
	r.idle += size
	if !r.watching {
		r.watching = true
		watchCollections(&clock{r})
	}
}

// clock is an object without references: its finalizer runs after each collection.
type clock struct{ r *recycler }

func watchCollections(c *clock) { goruntime.SetFinalizer(c, (*clock).tick) }

// tick lets go of blocks that have been idle for long. Finalizers of blocks that
// the same collection found may have run before or may run after.
func (c *clock) tick() {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	for class := range r.blocks {
		r.blocks[class] = r.young(r.blocks[class])
	}
	r.large = r.young(r.large)
	if r.watching = r.idle > 0; r.watching {
		watchCollections(c)
	}
}

// young lets go of the blocks of a list, which is by age, that have been idle for long.
func (r *recycler) young(list []idleBlock) []idleBlock {
	old := 0
	for old < len(list) && r.now-list[old].since > keepsIdle {
		r.idle -= list[old].size
		old++
	}
	return slices.Delete(list, 0, old)
}
