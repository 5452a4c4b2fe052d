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
	// state is one of the states below, and above them how often the helper was called: one that has
	// done what a team called it for may do something for another when that team looks again.
	state atomic.Uint64
	// What to do, for whoever has changed the state to helperTaken or helperBusy.
	team   *team
	thread int64
}

// The states of a helper. Every change is made by one goroutine alone: a helper that is idle
// or cancelled may be taken by any run or begin to do something else itself.
const (
	helperIdle      uint64 = iota // watches for work
	helperTaken                   // a run is telling it what to do
	helperCalled                  // it has been told, and has not begun
	helperBusy                    // it works
	helperCancelled               // it need not begin, and does not know that yet
	helperGone
	helperStates = 8
)

// helperCall is a helper and its state when it was called.
type helperCall struct {
	*helper
	called uint64
}

// change changes the state, unless the helper is not as it was any more.
func (h *helper) change(was, to uint64) bool {
	return h.state.CompareAndSwap(was, was-was%helperStates+to)
}

// idleHelpers are where those that watch for work are found; and some that are not idle any more.
var idleHelpers [64]atomic.Pointer[helper]

// call has a helper work on the stage: the one that did so before, one that has nothing
// to do, or a new one.
func (t *team) call(thread int64) {
	k := int(thread - 1)
	if k == len(t.helpers) {
		t.helpers = append(t.helpers, helperCall{})
	}
	last := &t.helpers[k]
	if last.helper != nil && last.take(last.helper, t, thread) {
		return
	}
	for i := range idleHelpers {
		if h := idleHelpers[i].Load(); h != nil && last.take(h, t, thread) {
			return
		}
	}
	h := &helper{team: t, thread: thread}
	h.state.Store(helperCalled)
	*last = helperCall{h, helperCalled}
	go h.run()
}

// take calls a helper, unless it does something else.
func (c *helperCall) take(h *helper, t *team, thread int64) bool {
	was := h.state.Load()
	if s := was % helperStates; s != helperIdle && s != helperCancelled {
		return false
	}
	next := was - was%helperStates + helperStates
	if !h.state.CompareAndSwap(was, next+helperTaken) {
		return false
	}
	h.team, h.thread = t, thread
	*c = helperCall{h, next + helperCalled}
	h.state.Store(c.called)
	return true
}

// await waits for the helpers of a stage of which all chunks have been handed out.
func (t *team) await(threads int64) {
	for _, c := range t.helpers[:threads-1] {
		if c.change(c.called, helperCancelled) {
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
		switch now := h.state.Load(); now % helperStates {
		case helperCalled:
			if !h.change(now, helperBusy) {
				continue
			}
			t := h.team
			h.team = nil
			t.work(t.frames[h.thread-1], h.thread)
			h.state.Store(now - helperCalled + helperIdle)
			t.busy.Add(-1)
			t.wait.Done()
		case helperCancelled:
			if h.change(now, helperTaken) {
				h.team = nil
				h.state.Store(now - helperCancelled + helperIdle)
			}
		case helperIdle:
			if !h.waits(now) {
				return
			}
		default:
			goruntime.Gosched() // it is being told what to do
		}
	}
}

// waits watches for a call. It returns false when the helper is gone.
func (h *helper) waits(idle uint64) bool {
	for i := range idleHelpers {
		slot := &idleHelpers[i]
		if slot.CompareAndSwap(nil, h) {
			defer slot.Store(nil)
			break
		}
	}
	return spin(func() bool { return h.state.Load() != idle }) || !h.change(idle, helperGone)
}
