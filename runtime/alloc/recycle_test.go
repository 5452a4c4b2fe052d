package alloc

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
	room := func() int64 { return roomForTwo * classSize(recycledClass) }
	return &recycler{limit: room, releasedLimit: room}
}

func newBlock(size int64) unsafe.Pointer { return goMemory(size, Anything) }

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
		return (*byte)(unsafe.Add(p.Pointer(), size/2))
	}()
	start := uintptr(unsafe.Pointer(inside)) - uintptr(size/2)
	*inside = 42
	goruntime.GC()
	goruntime.GC()
	if got := r.idleBytes(0); got != 0 {
		t.Fatalf("%d bytes are idle while they are in use", got)
	}
	if p, used := r.block(size, newBlock); used {
		t.Fatalf("the block at %p is in use and was handed out again", p.Pointer())
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
		found = found || uintptr(p.Pointer()) == start
	}
	if !found {
		t.Error("another block was handed out than the one that was idle")
	}
}

func TestRecyclerLetsGoOfIdleBlocks(t *testing.T) {
	r, size := newTestRecycler(), classSize(recycledClass)
	r.put((*byte)(newBlock(size)), recycledClass, r.limit())
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
		r.put((*byte)(newBlock(size)), recycledClass, r.limit())
	}
	if r.idle != roomForTwo*size || len(r.blocks[recycledClass]) != roomForTwo {
		t.Errorf("%d blocks of %d bytes are idle, want %d", len(r.blocks[recycledClass]), r.idle, roomForTwo)
	}
}

func TestResultsOfUsedBlocksAreCleared(t *testing.T) {
	a := New()
	a.idle = newTestRecycler()
	size := classSize(recycledClass)
	dirty := unsafe.Slice((*byte)(newBlock(size)), size)
	for i := range dirty {
		dirty[i] = 0xFF
	}
	a.idle.put(&dirty[0], recycledClass, a.idle.limit())
	const unused = 100
	p, _ := a.Result(size-unused, Zeroed)
	b := unsafe.Slice((*byte)(p), size-unused)
	if a.idle.idle != 0 {
		t.Fatal("the idle block was not used")
	}
	for i, x := range b {
		if x != 0 {
			t.Fatalf("byte %d of a Zeroed result is %#x", i, x)
		}
	}
}

// Blocks that were released are handed out again at once, the large ones too, where they
// are not far larger than what is wanted.
func TestRecyclerReusesReleasedBlocks(t *testing.T) {
	for _, size := range []int64{minRecycled, classSize(recycledClass), maxRecycled, maxRecycled + Align, 3 * maxRecycled} {
		room := func() int64 { return 3 * size }
		r := &recycler{limit: room, releasedLimit: room}
		b, _ := r.block(size, newBlock)
		start := b.Pointer()
		b.GiveBack()
		b.GiveBack() // does nothing
		if r.idle < size {
			t.Fatalf("%d bytes are idle after a block of %d was given back", r.idle, size)
		}
		if half := size / 2; half >= minRecycled {
			if _, used := r.block(half, newBlock); used {
				t.Errorf("a block of %d bytes was used for %d", size, half)
			}
		}
		less := size
		if size > 2*maxRecycled {
			less -= size / 8
		}
		again, used := r.block(less, newBlock)
		if !used || again.Pointer() != start || r.idle != 0 {
			t.Errorf("a block of %d bytes is not used again: %v, %d bytes are idle", size, used, r.idle)
		}
	}
}

func TestRecyclerKeepsReleasedBlocksWithinItsLimit(t *testing.T) {
	const size = 2 * maxRecycled
	r := &recycler{limit: func() int64 { return 0 }, releasedLimit: func() int64 { return 2 * size }}
	for range 3 {
		b, used := r.block(size, newBlock)
		if used {
			t.Fatal("an empty recycler had a block")
		}
		defer b.GiveBack()
	}
	b, _ := r.block(size, newBlock)
	b.GiveBack()
	if r.idle != size {
		t.Fatalf("%d bytes are idle, want %d", r.idle, size)
	}
	b = nil
	for range keepsIdle + 2 {
		goruntime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if got := r.idleBytes(0); got != 0 {
		t.Errorf("%d bytes are still idle after %d collections", got, keepsIdle+2)
	}
	for range 3 {
		r.putLarge((*byte)(newBlock(size)), size)
	}
	if r.idle != 2*size || len(r.large) != 2 {
		t.Errorf("%d blocks are idle, of %d bytes, want 2", len(r.large), r.idle)
	}
}

// A result whose size has no class is released as a whole.
func TestLargeResultsAreReleased(t *testing.T) {
	room := func() int64 { return 1 << 30 }
	a := New()
	a.idle = &recycler{limit: room, releasedLimit: room}
	_, b := a.Result(8<<20, Anything)
	b.GiveBack()
	if want := int64(8 << 20); a.idle.idle != want {
		t.Errorf("%d bytes are idle, want %d", a.idle.idle, want)
	}
}
