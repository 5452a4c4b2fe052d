package runtime

import (
	goruntime "runtime"
	"sync/atomic"
	"time"
)

// To wake a thread takes the system 5 to 50 microseconds, and a stage may take no longer
// itself. So a helper that is done watches for the next stage, of this run or another,
// for as long as it would take to wake another, and then is gone. The goroutine that
// called Run waits for helpers in the same way: one that is put to sleep may wake on
// another processor, away from its cache. And it does not wait for a helper that has not
// even begun when all chunks are done.

// linger is how long a goroutine watches a word before it gives up.
const linger = 30 * time.Microsecond

// spin watches a condition for as long as linger, and reports whether it came true.
func spin(done func() bool) bool {
	const looks = 64 // between looks at the clock
	for begun := time.Now(); ; {
		for range looks {
			if done() {
				return true
			}
		}
		if time.Since(begun) > linger {
			return false
		}
	}
}

// helper is a goroutine that runs chunks beside the one that called Run.
type helper struct {
	state atomic.Int32
	// What to do, for whoever has changed the state to helperTaken or helperBusy.
	team   *team
	thread int64
}

// The states of a helper. Every change is made by one goroutine alone: a helper that is idle
// or cancelled may be taken by any run or begin to do something else itself.
const (
	helperIdle      int32 = iota // watches for work
	helperTaken                  // a run is telling it what to do
	helperCalled                 // it has been told, and has not begun
	helperBusy                   // it works
	helperCancelled              // it need not begin, and does not know that yet
	helperGone
)

// idleHelpers are where those that watch for work are found; and some that are not idle any more.
var idleHelpers [64]atomic.Pointer[helper]

// call has a helper work on the stage: the one that did so before, one that has nothing
// to do, or a new one.
func (t *team) call(thread int64) {
	k := int(thread - 1)
	if k == len(t.helpers) {
		t.helpers = append(t.helpers, nil)
	}
	if h := t.helpers[k]; h != nil && h.take(t, thread) {
		return
	}
	for i := range idleHelpers {
		if h := idleHelpers[i].Load(); h != nil && h.take(t, thread) {
			t.helpers[k] = h
			return
		}
	}
	h := &helper{team: t, thread: thread}
	h.state.Store(helperCalled)
	t.helpers[k] = h
	go h.run()
}

// take calls a helper, unless it does something else.
func (h *helper) take(t *team, thread int64) bool {
	if !h.state.CompareAndSwap(helperIdle, helperTaken) && !h.state.CompareAndSwap(helperCancelled, helperTaken) {
		return false
	}
	h.team, h.thread = t, thread
	h.state.Store(helperCalled)
	return true
}

// await waits for the helpers of a stage of which all chunks have been handed out.
func (t *team) await(threads int64) {
	for _, h := range t.helpers[:threads-1] {
		if h.state.CompareAndSwap(helperCalled, helperCancelled) {
			t.busy.Add(-1)
			t.wait.Done()
		}
	}
	if !spin(func() bool { return t.busy.Load() == 0 }) {
		t.wait.Wait()
	}
}

// run works on stages until there is none for a while.
func (h *helper) run() {
	for {
		switch {
		case h.state.CompareAndSwap(helperCalled, helperBusy):
			t := h.team
			h.team = nil
			t.work(t.frames[h.thread-1], h.thread)
			h.state.Store(helperIdle)
			t.busy.Add(-1)
			t.wait.Done()
		case h.state.CompareAndSwap(helperCancelled, helperTaken):
			h.team = nil
			h.state.Store(helperIdle)
		case h.state.Load() == helperIdle:
			if !h.waits() {
				return
			}
		default:
			goruntime.Gosched() // it is being told what to do
		}
	}
}

// waits watches for a call. It returns false when the helper is gone.
func (h *helper) waits() bool {
	for i := range idleHelpers {
		slot := &idleHelpers[i]
		if slot.CompareAndSwap(nil, h) {
			defer slot.Store(nil)
			break
		}
	}
	return spin(func() bool { return h.state.Load() != helperIdle }) || !h.state.CompareAndSwap(helperIdle, helperGone)
}
