package runtime

import (
	goruntime "runtime"
	"sync"
	"unsafe"
)

// recycler keeps blocks of results that the garbage collector found unreachable,
// for results to come. A result belongs to the caller, who says nothing when he is
// done with it; only the collector knows. A finalizer on the block tells us: it
// runs once nothing points into the block any more, and until the block is handed
// out again nothing but the list here does. So this is as safe as the heap itself.
//
// What it saves: where the rest of the heap is small, a collection for every few
// results, and pages that the Go runtime gives back to the system while nobody uses
// them, to be faulted in and cleared again one by one. Results of some hundred KiB,
// made one after the other, otherwise take up to twice their time. Larger blocks
// are left alone: a collection costs little next to writing them, and keeping idle
// ones raises the heap's target, so that more pages are new.
//
// What it costs is bounded: idle blocks are at most limit bytes, and those that two
// collections in a row found idle are let go.
type recycler struct {
	limit func() int64 // on idle bytes

	mu       sync.Mutex
	idle     int64
	blocks   [recycledClasses][]idleBlock
	now      uint32 // collections seen while there were idle blocks
	watching bool   // a clock is set
}

// idleBlock is a block that nobody uses.
type idleBlock struct {
	base  *byte
	since uint32
}

// The sizes of blocks that are recycled.
const (
	minRecycled     = 64 << 10
	maxRecycledBits = 22
	maxRecycled     = 1 << maxRecycledBits
	recycledClasses = (maxRecycledBits-minClassBits)*4 + 1 // by size, as of temporaries
)

// Idle blocks take at most maxIdle bytes, and 1/idleShare of the memory that the
// process may use.
const (
	maxIdle   = 32 << 20
	idleShare = 64
)

// idleResults are shared by all engines: they are a claim on the whole process.
var idleResults = &recycler{limit: sync.OnceValue(func() int64 { return min(maxIdle, readMachineMemory().total/idleShare) })}

// keepsIdle is how many collections a block may be idle for.
const keepsIdle = 2

// recycles reports whether blocks of that size are recycled.
func recycles(size int64) bool { return minRecycled <= size && size <= maxRecycled }

// block returns a block of at least size bytes, which has been used before or is
// made by fresh, a function of its size.
func (r *recycler) block(size int64, fresh func(int64) unsafe.Pointer) (p unsafe.Pointer, used bool) {
	class := classOf(size)
	base := r.take(class)
	if used = base != nil; !used {
		base = (*byte)(fresh(classSize(class)))
	}
	goruntime.SetFinalizer(base, func(base *byte) { r.put(base, class) })
	return unsafe.Pointer(base), used
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

// put keeps a block to which nothing else points, unless there are enough.
func (r *recycler) put(base *byte, class int) {
	limit := r.limit()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle+classSize(class) > limit {
		return
	}
	r.idle += classSize(class)
	r.blocks[class] = append(r.blocks[class], idleBlock{base, r.now})
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
		list := r.blocks[class]
		old := 0 // the list is by age
		for old < len(list) && r.now-list[old].since > keepsIdle {
			old++
		}
		if old == 0 {
			continue
		}
		n := copy(list, list[old:])
		clear(list[n:])
		r.blocks[class] = list[:n]
		r.idle -= int64(old) * classSize(class)
	}
	if r.watching = r.idle > 0; r.watching {
		watchCollections(c)
	}
}
