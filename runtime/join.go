package runtime

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// The chunks of a stage with a loop.Join append to lists. Threads take them in order.
// A chunk before which all have ended appends to the lists themselves. Another one
// appends to a slot, memory of its thread small enough to stay in the caches, and is
// copied to where it belongs when all before it have ended: most often soon, for they
// were begun before it. So what is appended is written to memory once, as by one thread.
// Where it is known how much each chunk appends, all append to the lists themselves.

const (
	// slotsPerThread is how many chunks of a thread may wait for those before them.
	slotsPerThread = 2
	// maxSlot is the largest size of a slot. A chunk that may need more waits for its
	// turn and appends to the lists themselves.
	maxSlot = 1 << 20
)

// joinPlan is a loop.Join made ready to run.
type joinPlan struct {
	ends          int // its place among the stage's buffers
	lists         int64
	chunk, lo, hi loop.ScalarID
	room          sizeCode
	exact         bool
	moves         []movePlan
	entry         int64         // bytes of an entry of each list together
	shift         loop.BufferID // -1: none
}

// movePlan is a buffer with an element for each entry of a list.
type movePlan struct {
	place       int // among the stage's buffers
	list        int64
	first, size int64 // the element of entry 0, bytes of an element
}

// join makes the plan of a stage's join, nil for none.
func (p *plan) join(s *loop.Stage) *joinPlan {
	j := s.Join
	if j == nil {
		return nil
	}
	place := func(id loop.BufferID) int {
		for i, b := range s.Bufs {
			if b == id {
				return i
			}
		}
		panic("BUG: a join of a buffer that its function does not get")
	}
	out := &joinPlan{ends: place(j.Ends), chunk: j.Chunk, lo: j.Lo, hi: j.Hi, room: p.size(j.Room), exact: j.Exact, shift: j.Shift}
	for _, m := range j.Moves {
		out.moves = append(out.moves, movePlan{place(m.Buffer), m.List, m.First, p.elemSize[m.Buffer]})
		out.lists = max(out.lists, m.List+1)
		out.entry += p.elemSize[m.Buffer]
	}
	return out
}

// joiner runs the chunks of one stage that joins them.
type joiner struct {
	plan     *joinPlan
	team     *team
	mem      []Memory // of the stage's buffers
	shift    []uint64 // nil: none
	rooms    []int64  // by chunk
	capacity int64    // entries of a slot
	slots    temporary
	perSlot  int64 // bytes
	each     int64 // slots of a thread

	mu    sync.Mutex
	moved sync.Cond // placed has risen, or chunks will not end
	// Of list i, chunk c has marks[c*lists+i] entries, or, from where placed is on
	// downwards, begins there. Where the last chunk ends is behind it.
	marks  []int64
	ended  []bool // by chunk
	placed int64  // the first chunk that has not ended: it and all before it have places
	over   bool   // chunks will not end
}

// open prepares the run of a stage by several threads, and reports whether there is
// anything to be had from it: memory for slots, and bounds for what they hold.
func (j *joiner) open(x *Executable, s *state, st *stagePlan, o Options, threads int64) bool {
	p, c := st.join, &s.cuts[st.domain]
	j.plan, j.team = p, &s.team
	j.moved.L = &j.mu
	j.rooms = j.rooms[:0]
	most := int64(0)
	for i := range c.chunks {
		lo, hi := c.chunk(i)
		s.scalars[p.chunk], s.scalars[p.lo], s.scalars[p.hi] = i, lo, hi
		room, fault := s.eval(&p.room)
		if fault != "" || room < 0 {
			return false
		}
		j.rooms = append(j.rooms, room)
		most = max(most, room)
	}
	j.capacity = min(most, maxSlot/p.entry)
	j.each = min(slotsPerThread, (c.chunks-1+threads-1)/threads)
	if p.exact {
		j.capacity, j.each = 0, 0
	}
	j.perSlot = 0
	for _, m := range p.moves {
		j.perSlot += padded((j.capacity + m.first) * m.size)
	}
	bytes := padded(j.perSlot * j.each * threads)
	if !s.account.reserve(bytes, o.MemoryLimit, x.memory.machine) {
		return false
	}
	var err error
	if j.slots, err = x.memory.temporary(bytes, anything); err != nil {
		s.account.inUse -= bytes
		return false
	}
	j.mem = j.mem[:0]
	for _, id := range st.bufs {
		j.mem = append(j.mem, s.mem[id])
	}
	j.shift = nil
	if p.shift >= 0 {
		j.shift = SliceOf[uint64](s.mem[p.shift])
	}
	j.marks = resized(j.marks, (c.chunks+1)*p.lists)
	j.ended = resized(j.ended, c.chunks)
	copy(j.marks, SliceOf[int64](j.mem[p.ends]))
	j.placed, j.over = 0, false
	if p.exact {
		j.placed = c.chunks
		for i, n := range j.rooms {
			for l := range p.lists {
				at := int64(i)*p.lists + l
				j.marks[at+p.lists] = j.marks[at] + n
			}
		}
	}
	return true
}

// close gives the slots back, and leaves the ends of the lists where the stage does.
func (j *joiner) close(x *Executable, s *state) {
	copy(SliceOf[int64](j.mem[j.plan.ends]), j.marks[j.placed*j.plan.lists:])
	s.account.inUse -= j.slots.bytes
	x.memory.release(j.slots)
	j.slots, j.shift = temporary{}, nil
	clear(j.mem)
}

// resized is a slice of n zeros, in the memory of an earlier one if that is enough.
func resized[T any](s []T, n int64) []T {
	if int64(cap(s)) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// joinThread is what one of the threads has.
type joinThread struct {
	*joiner
	frame *frame
	ends  []int64
	free  []int64         // slots
	wait  []waitingChunk  // chunks in slots, in order
	space [2]waitingChunk // for wait
}

// waitingChunk is a chunk that has ended in a slot.
type waitingChunk struct{ chunk, slot int64 }

// work runs chunks until there are none, one fails or the run is cancelled.
func (j *joiner) work(f *frame, thread int64) {
	t := joinThread{joiner: j, frame: f, ends: make([]int64, j.plan.lists, blockAlign/8+j.plan.lists)}
	t.wait = t.space[:0]
	for i := range j.each {
		t.free = append(t.free, thread*j.each+i)
	}
	f.set(j.plan.ends, Memory{Ptr: unsafe.Pointer(unsafe.SliceData(t.ends)), Len: j.plan.lists})
	team := j.team
	for {
		if team.cancelled() {
			j.giveUp()
			return
		}
		i := team.next.Add(1) - 1
		if i >= team.cut.chunks || i >= team.stop.Load() {
			break
		}
		if !t.begin(i) {
			return
		}
		if failed := team.chunk(f, i); failed.failed() {
			team.fail(i, failed)
			j.wake()
			return
		}
		if err := t.end(i); err != nil {
			team.fail(i, failure{chunk: i, err: err})
			j.wake()
			return
		}
	}
	t.settle(0)
}

// begin says where a chunk appends, and reports false if it need not run.
func (t *joinThread) begin(i int64) bool {
	start := t.start(i)
	if start == nil && (t.rooms[i] > t.capacity || len(t.free) == 0) {
		kept := t.each - 1
		if t.rooms[i] > t.capacity {
			kept = 0
		}
		if !t.settle(kept) {
			return false
		}
		if start = t.start(i); start == nil && t.rooms[i] > t.capacity {
			start = t.awaited(i)
			if start == nil {
				return false
			}
		}
	}
	if start != nil {
		copy(t.ends, start)
		for _, m := range t.plan.moves {
			t.frame.set(m.place, t.mem[m.place])
		}
		return true
	}
	clear(t.ends)
	slot := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	t.wait = append(t.wait, waitingChunk{i, slot})
	t.eachArray(slot, func(m *movePlan, array Memory) { t.frame.set(m.place, array) })
	return true
}

// eachArray visits the arrays of a slot.
func (j *joiner) eachArray(slot int64, visit func(m *movePlan, array Memory)) {
	at := unsafe.Add(j.slots.ptr, slot*j.perSlot)
	for k := range j.plan.moves {
		m := &j.plan.moves[k]
		visit(m, Memory{Ptr: at, Len: j.capacity + m.first})
		at = unsafe.Add(at, padded((j.capacity+m.first)*m.size))
	}
}

// end takes over what a chunk has appended, and moves what has got a place by now.
func (t *joinThread) end(i int64) error {
	p, room := t.plan, t.rooms[i]
	if inSlot := len(t.wait) > 0 && t.wait[len(t.wait)-1].chunk == i; !inSlot {
		for l := range t.ends {
			t.ends[l] -= t.marks[i*p.lists+int64(l)]
		}
	}
	for _, n := range t.ends {
		if n < 0 || n > room || p.exact && n < room {
			return fmt.Errorf("BUG: a chunk has appended %d entries and has room for %d", t.ends, room)
		}
	}
	if p.exact {
		return nil
	}
	t.mu.Lock()
	copy(t.marks[(i+1)*p.lists:], t.ends)
	t.ended[i] = true
	before := t.placed
	for t.placed < int64(len(t.ended)) && t.ended[t.placed] {
		// The marks behind a chunk are its counts until it has a place.
		for l := range p.lists {
			t.marks[(t.placed+1)*p.lists+l] += t.marks[t.placed*p.lists+l]
		}
		t.placed++
	}
	if t.placed > before {
		t.moved.Broadcast()
	}
	t.mu.Unlock()
	for len(t.wait) > 0 {
		start := t.start(t.wait[0].chunk)
		if start == nil {
			break
		}
		t.move(start)
	}
	return nil
}

// start is where a chunk begins in each list, nil if that is not known yet; and then
// where it ends, if it has.
func (j *joiner) start(i int64) []int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.placed < i {
		return nil
	}
	return j.marks[i*j.plan.lists : (i+2)*j.plan.lists]
}

// awaited is start, once that is known; nil if it never will be.
func (j *joiner) awaited(i int64) []int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.placed < i {
		if j.over || j.team.stop.Load() <= i {
			return nil
		}
		j.moved.Wait()
	}
	return j.marks[i*j.plan.lists : (i+2)*j.plan.lists]
}

// settle waits until no more than so many chunks of the thread are in slots, and
// reports false if that will never be.
func (t *joinThread) settle(kept int64) bool {
	for int64(len(t.wait)) > kept {
		start := t.awaited(t.wait[0].chunk)
		if start == nil {
			return false
		}
		t.move(start)
	}
	return true
}

// move copies the thread's first chunk in a slot to where it belongs.
func (t *joinThread) move(start []int64) {
	p, w := t.plan, t.wait[0]
	size := func(list int64) int64 { return start[p.lists+list] - start[list] }
	t.eachArray(w.slot, func(m *movePlan, array Memory) {
		n := size(m.list) * m.size
		to := t.mem[m.place]
		copy(unsafe.Slice((*byte)(unsafe.Add(to.Ptr, (start[m.list]+m.first)*m.size)), n),
			unsafe.Slice((*byte)(unsafe.Add(array.Ptr, m.first*m.size)), n))
	})
	if t.shift != nil && start[0] != 0 {
		lo, hi := t.team.cut.chunk(w.chunk)
		by := uint64(start[0])
		rows := t.shift[lo+1 : hi+1]
		for i := range rows {
			rows[i] += by
		}
	}
	t.wait = append(t.wait[:0], t.wait[1:]...)
	t.free = append(t.free, w.slot)
}

// giveUp says that chunks will not end.
func (j *joiner) giveUp() {
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	j.moved.Broadcast()
}

// wake lets threads look again whether what they wait for will ever be.
func (j *joiner) wake() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved.Broadcast()
}
