package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// watchInterval is how often the contexts of runs are looked at.
const watchInterval = 10 * time.Millisecond

// stopNow is what stop words are set to: as an int32 it is negative, as native code
// wants it (codegen/cpu).
const stopNow = 1 << 31

// watcher sets the stop words of runs whose context is done. Kernels look at
// those words, not at contexts, and a context that is asked to call back costs a
// run several allocations; so one goroutine looks at the contexts of all runs of
// an executable now and then. It is there only while there are runs, and up to
// an interval longer.
type watcher struct {
	mu   sync.Mutex
	runs []*watched
	on   bool // the goroutine is there
}

// watched is a run that is to be stopped when its context is done.
type watched struct {
	ctx  context.Context
	stop *atomic.Uint32
	at   int // in watcher.runs
}

// add starts to watch a run.
func (w *watcher) add(r *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.at = len(w.runs)
	w.runs = append(w.runs, r)
	if !w.on {
		w.on = true
		go w.watch()
	}
}

// remove ends that; the stop word is the caller's again, and clear.
func (w *watcher) remove(r *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.runs) - 1
	w.runs[r.at] = w.runs[last]
	w.runs[r.at].at = r.at
	w.runs[last] = nil
	w.runs = w.runs[:last]
	r.ctx = nil
	r.stop.Store(0)
}

// watch looks at the runs until there is none.
func (w *watcher) watch() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for range tick.C {
		if !w.look() {
			return
		}
	}
}

// look sets stop words and reports whether there is anything to watch.
func (w *watcher) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.ctx.Err() != nil {
			r.stop.Store(stopNow)
		}
	}
	w.on = len(w.runs) > 0
	return w.on
}
