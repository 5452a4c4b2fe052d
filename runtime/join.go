package runtime

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// The chunks of a stage with a loop.Join append to lists. One thread at a time is in
// front: all chunks before its own have ended, so it appends to the lists themselves. The
// others are ahead of it by some chunks, which they append to slots, memory of each thread
// that is small enough to stay in the caches. When the thread in front gets to those, they
// have places, to which their threads copy them, and another thread is in front. So what is
// appended is written to memory once, as by one thread, and a part of it to caches before.
// Where it is known how much each chunk appends, all append to the lists themselves.

// Threads that are ahead leave maxLead chunks to the thread in front, fewer where there are
// not many, and have slots for twice as many: chunks that follow each other are read faster
// than others, which is what a longer lead is good for, and slots must fit the caches.
const (
	maxLead     = 4
	leadShare   = 8 // of the chunks, at most one in so many
	slotsOfLead = 2
)

// maxSlot is the largest size of a slot, and minSlots what all slots of a thread may take,
// its own cache, even if that is more than the lists. Only the thread in front runs chunks that may need
// more. Tests change them.
var maxSlot, minSlots int64 = 16 << 20, ownCache()

// largestShared is about the largest cache that processors share. What is appended to lists that exceed it is not
// there any more when it is read. Tests change it.
var largestShared int64 = 32 << 20

// copied copies what stays in caches.
func copied(to, from []byte) { copy(to, from) }

// ownCache is the second-level cache of this machine's processors.
func ownCache() int64 {
	c, _ := machine.HostCaches()
	return c.L2
}

// ErrInexact is wrapped by the error of a run whose chunks were expected to append a
// certain number of entries and have appended fewer.
var ErrInexact = errors.New("a chunk has appended fewer entries than it was expected to")

// joinPlan is a loop.Join made ready to run.
type joinPlan struct {
	ends          int // its place among the stage's buffers
	lists         int64
	chunk, lo, hi loop.ScalarID
	room          sizeCode
	exact         bool
	moves         []movePlan
	entry         int64         // bytes of an entry of each list together
	shift, rows   loop.BufferID // -1: none
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
	out := &joinPlan{ends: placeOf(s, j.Ends), chunk: j.Chunk, lo: j.Lo, hi: j.Hi, room: p.size(j.Room), exact: j.Exact, shift: j.Shift, rows: j.Rows}
	for _, m := range j.Moves {
		out.moves = append(out.moves, movePlan{placeOf(s, m.Buffer), m.List, m.First, p.elemSize[m.Buffer]})
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
	rows     []int64  // at which chunks begin; nil: where their domain does
	rooms    []int64  // by chunk
	capacity int64    // entries of a slot
	slots    alloc.Temporary
	perSlot  int64 // bytes
	copy     func(to, from []byte)
	each     int64 // slots of a thread
	lead     int64

	mu    sync.Mutex
	moved sync.Cond // placed has risen, or chunks will not end
	// Chunk c begins in list i at marks[c*lists+i], up to the chunk placed. Behind that are
	// the numbers of entries of the chunk before, if it has ended.
	marks  []int64
	states []chunkState
	placed int64 // the first chunk that has not ended
	next   int64 // the first that was not taken, where all have places
	left   int64 // chunks that were not taken
	over   bool  // chunks will not end
}

type chunkState uint8

const (
	untaken chunkState = iota
	running
	ended
)

// open prepares the run of a stage by several threads, and reports whether there is
// anything to be had from it: memory for slots, and bounds for what they hold.
func (j *joiner) open(x *Executable, s *state, st *stagePlan, o Options, threads int64) bool {
	p, c := st.join, &s.cuts[st.domain]
	if s.mem[st.bufs[p.ends]].Len != p.lists {
		return false // there are ends of more than what is moved
	}
	j.plan, j.team, j.moved.L = p, &s.team, &j.mu
	j.rooms = j.rooms[:0]
	most, all := int64(0), int64(0)
	for i := range c.Chunks {
		lo, hi := c.Chunk(i)
		s.scalars[p.chunk], s.scalars[p.lo], s.scalars[p.hi] = i, lo, hi
		room, fault := s.eval(&p.room)
		if fault != "" || room < 0 || room > maxObject {
			return false
		}
		j.rooms = append(j.rooms, room)
		most, all = max(most, room), saturatingAdd(all, room)
	}
	j.lead = max(1, min(maxLead, c.Chunks/leadShare))
	j.each = min(slotsOfLead*maxLead, (c.Chunks-1+threads-1)/threads)
	budget := max(bytesOf(all, p.entry), threads*minSlots) / threads
	j.capacity = min(most, maxSlot/p.entry, budget/p.entry)
	j.each = max(1, min(j.each, budget/(max(1, j.capacity)*p.entry)))
	if p.exact {
		j.capacity, j.each = 0, 0
	}
	if j.copy = copied; bytesOf(all, p.entry) > largestShared {
		j.copy = machine.CopyPast
	}
	j.perSlot = 0
	for _, m := range p.moves {
		j.perSlot += alloc.Padded((j.capacity + m.first) * m.size)
	}
	bytes := alloc.Padded(j.perSlot * j.each * threads)
	if !s.account.Reserve(bytes, o.MemoryLimit, x.memory.Machine) {
		return false
	}
	var err error
	if j.slots, err = x.memory.Temporary(bytes, alloc.Anything); err != nil {
		s.account.InUse -= bytes
		return false
	}
	j.mem = j.mem[:0]
	for _, id := range st.bufs {
		j.mem = append(j.mem, s.mem[id])
	}
	j.shift, j.rows = nil, nil
	if p.shift >= 0 {
		j.shift = SliceOf[uint64](s.mem[p.shift])
	}
	if p.rows >= 0 {
		j.rows = SliceOf[int64](s.mem[p.rows])
	}
	j.marks = resized(j.marks, (c.Chunks+1)*p.lists)
	j.states = resized(j.states, c.Chunks)
	copy(j.marks, SliceOf[int64](j.mem[p.ends]))
	j.placed, j.next, j.left, j.over = 0, 0, c.Chunks, false
	if p.exact {
		j.placed = c.Chunks
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
	s.account.InUse -= j.slots.Bytes
	x.memory.Release(j.slots)
	j.slots, j.shift, j.rows = alloc.Temporary{}, nil, nil
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
	free  []int64        // slots
	wait  []waitingChunk // chunks in slots, in the order in which they were taken
}

// waitingChunk is a chunk in a slot.
type waitingChunk struct{ chunk, slot int64 }

// work runs chunks until there are none, one fails or the run is cancelled.
func (j *joiner) work(f *frame, thread int64) {
	const line = alloc.Align / 8 // no other thread writes to the line of the ends
	t := joinThread{joiner: j, frame: f, ends: make([]int64, j.plan.lists, j.plan.lists+line)}
	for i := range j.each {
		t.free = append(t.free, thread*j.each+i)
	}
	f.set(j.plan.ends, Memory{Ptr: unsafe.Pointer(unsafe.SliceData(t.ends)), Len: j.plan.lists})
	for {
		i, inSlot := t.take()
		if i < 0 {
			return
		}
		t.begin(i, inSlot)
		failed := j.team.chunks(f, i, i+1)
		if !failed.failed() {
			failed.err = t.end(i, inSlot)
		}
		if failed.failed() {
			j.team.fail(i, failed)
			j.wake()
		}
	}
}

// take finds the next chunk for the thread, and moves what has a place by now. It is -1 if
// there is nothing left to do.
func (t *joinThread) take() (i int64, inSlot bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		limit := min(t.team.cut.Chunks, t.team.stop.Load())
		if len(t.wait) > 0 && t.placed > t.wait[0].chunk {
			t.mu.Unlock()
			t.move()
			t.mu.Lock()
			continue
		}
		if t.placed >= limit && (!t.plan.exact || t.next >= limit) {
			return -1, false
		}
		// A run whose chunks were all taken ends as if it had not been cancelled, or by the
		// chunk that is told to stop.
		if t.over = t.over || t.left > 0 && t.team.cancelled(); t.over {
			t.moved.Broadcast()
			return -1, false
		}
		switch i := t.ahead(limit); {
		case t.plan.exact:
			t.next++
			t.left--
			return t.next - 1, false
		case t.states[t.placed] == untaken:
			t.states[t.placed] = running
			t.left--
			return t.placed, false
		case i >= 0:
			t.states[i] = running
			t.left--
			return i, true
		}
		t.moved.Wait()
	}
}

// ahead is a chunk to append to a slot, -1 for none: one that is not soon the turn of the
// thread in front, if possible.
func (t *joinThread) ahead(limit int64) int64 {
	if len(t.free) == 0 {
		return -1
	}
	from := t.placed + 1
	if to := from + t.lead; to < limit {
		from = to
	}
	// So many may have been taken, or be too large.
	const window = 1 << 10
	for i := from; i < min(limit, from+window); i++ {
		if t.states[i] == untaken && t.rooms[i] <= t.capacity {
			return i
		}
	}
	for i := t.placed + 1; i < min(limit, from); i++ {
		if t.states[i] == untaken && t.rooms[i] <= t.capacity {
			return i
		}
	}
	return -1
}

// begin says where a chunk appends.
func (t *joinThread) begin(i int64, inSlot bool) {
	if !inSlot {
		copy(t.ends, t.marks[i*t.plan.lists:])
		for _, m := range t.plan.moves {
			t.frame.set(m.place, t.mem[m.place])
		}
		return
	}
	clear(t.ends)
	slot := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	t.wait = append(t.wait, waitingChunk{i, slot})
	t.eachArray(slot, func(m *movePlan, array Memory) { t.frame.set(m.place, array) })
}

// eachArray visits the arrays of a slot.
func (j *joiner) eachArray(slot int64, visit func(m *movePlan, array Memory)) {
	at := unsafe.Add(j.slots.Ptr, slot*j.perSlot)
	for k := range j.plan.moves {
		m := &j.plan.moves[k]
		visit(m, Memory{Ptr: at, Len: j.capacity + m.first})
		at = unsafe.Add(at, alloc.Padded((j.capacity+m.first)*m.size))
	}
}

// end takes over what a chunk has appended.
func (t *joinThread) end(i int64, inSlot bool) error {
	p, room := t.plan, t.rooms[i]
	for l := range t.ends {
		if !inSlot {
			t.ends[l] -= t.marks[i*p.lists+int64(l)]
		}
		if n := t.ends[l]; n < 0 || n > room {
			return fmt.Errorf("BUG: a chunk has appended %d entries and has room for %d", t.ends, room)
		} else if p.exact && n < room {
			return ErrInexact
		}
	}
	if p.exact {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	copy(t.marks[(i+1)*p.lists:], t.ends)
	t.states[i] = ended
	before := t.placed
	for t.placed < int64(len(t.states)) && t.states[t.placed] == ended {
		for l := range p.lists {
			t.marks[(t.placed+1)*p.lists+l] += t.marks[t.placed*p.lists+l]
		}
		t.placed++
	}
	if t.placed > before {
		t.moved.Broadcast()
	}
	return nil
}

// move copies the thread's first chunk in a slot to where it belongs.
func (t *joinThread) move() {
	p, w := t.plan, t.wait[0]
	starts := t.marks[w.chunk*p.lists:]
	t.eachArray(w.slot, func(m *movePlan, array Memory) {
		start := starts[m.list]
		n := (starts[p.lists+m.list] - start) * m.size
		to := t.mem[m.place]
		t.copy(unsafe.Slice((*byte)(unsafe.Add(to.Ptr, (start+m.first)*m.size)), n),
			unsafe.Slice((*byte)(unsafe.Add(array.Ptr, m.first*m.size)), n))
	})
	if t.shift != nil && starts[0] != 0 {
		lo, hi := t.team.cut.Chunk(w.chunk)
		if t.rows != nil {
			lo, hi = t.rows[lo], t.rows[hi]
		}
		by := uint64(starts[0])
		rows := t.shift[lo+1 : hi+1]
		for i := range rows {
			rows[i] += by
		}
	}
	t.wait = append(t.wait[:0], t.wait[1:]...)
	t.free = append(t.free, w.slot)
}

// wake lets threads look again whether what they wait for will ever be.
func (j *joiner) wake() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved.Broadcast()
}
