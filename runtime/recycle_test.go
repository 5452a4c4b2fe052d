package runtime

import (
	goruntime "runtime"
	"testing"
	"time"
	"unsafe"
)

const (
	recycledClass = 40
	roomForTwo    = 2
)

// newTestRecycler has room for two blocks of the test's class.
func newTestRecycler() *recycler {
	return &recycler{limit: func() int64 { return roomForTwo * classSize(recycledClass) }}
}

func newBlock(size int64) unsafe.Pointer { return goMemory(size, anything) }

// idleBytes waits for finalizers, which run some time after a collection, until
// the recycler has the wanted number of idle bytes.
func (r *recycler) idleBytes(want int64) int64 {
	for range 1000 {
		r.mu.Lock()
		got := r.idle
		r.mu.Unlock()
		if got == want {
			return got
		}
		time.Sleep(time.Millisecond)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.idle
}

func TestRecyclerReusesBlocksThatNobodyHas(t *testing.T) {
	r, size := newTestRecycler(), classSize(recycledClass)
	// An interior pointer keeps a block in use, as a slice of a result does.
	inside := func() *byte {
		p, used := r.block(size, newBlock)
		if used {
			t.Fatal("an empty recycler had a block")
		}
		return (*byte)(unsafe.Add(p, size/2))
	}()
	start := uintptr(unsafe.Pointer(inside)) - uintptr(size/2)
	*inside = 42
	goruntime.GC()
	goruntime.GC()
	if got := r.idleBytes(0); got != 0 {
		t.Fatalf("%d bytes are idle while they are in use", got)
	}
	if p, used := r.block(size, newBlock); used {
		t.Fatalf("the block at %p is in use and was handed out again", p)
	}
	if *inside != 42 {
		t.Fatalf("the block in use holds %d, want 42", *inside)
	}
	goruntime.KeepAlive(inside)
	goruntime.GC()
	if got := r.idleBytes(2 * size); got != 2*size {
		t.Fatalf("%d bytes are idle, want the %d of two blocks", got, 2*size)
	}
	found := false
	for range 2 {
		p, used := r.block(size, newBlock)
		if !used {
			t.Error("an idle block was not used")
		}
		found = found || uintptr(p) == start
	}
	if !found {
		t.Error("another block was handed out than the one that was idle")
	}
}

func TestRecyclerLetsGoOfIdleBlocks(t *testing.T) {
	r, size := newTestRecycler(), classSize(recycledClass)
	r.put((*byte)(newBlock(size)), recycledClass)
	if r.idle != size {
		t.Fatalf("%d bytes are idle, want %d", r.idle, size)
	}
	for range keepsIdle + 2 {
		goruntime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if got := r.idleBytes(0); got != 0 {
		t.Errorf("%d bytes are still idle after %d collections", got, keepsIdle+2)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.blocks[recycledClass]); n != 0 {
		t.Errorf("%d blocks are still listed", n)
	}
	for _, b := range r.blocks[recycledClass][:1] {
		if b.base != nil {
			t.Error("the list still holds a block that was let go")
		}
	}
}

func TestRecyclerKeepsWithinItsLimit(t *testing.T) {
	r, size := newTestRecycler(), classSize(recycledClass)
	for range roomForTwo + 1 {
		r.put((*byte)(newBlock(size)), recycledClass)
	}
	if r.idle != roomForTwo*size || len(r.blocks[recycledClass]) != roomForTwo {
		t.Errorf("%d blocks of %d bytes are idle, want %d", len(r.blocks[recycledClass]), r.idle, roomForTwo)
	}
}

func TestResultsOfUsedBlocksAreCleared(t *testing.T) {
	a := newAllocator()
	a.idle = newTestRecycler()
	size := classSize(recycledClass)
	dirty := unsafe.Slice((*byte)(newBlock(size)), size)
	for i := range dirty {
		dirty[i] = 0xFF
	}
	a.idle.put(&dirty[0], recycledClass)
	const unused = 100
	b := unsafe.Slice((*byte)(a.result(size-unused, zeroed)), size-unused)
	if a.idle.idle != 0 {
		t.Fatal("the idle block was not used")
	}
	for i, x := range b {
		if x != 0 {
			t.Fatalf("byte %d of a zeroed result is %#x", i, x)
		}
	}
}
