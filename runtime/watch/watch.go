// Package watch stops runs whose contexts are done.
package watch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// interval is how often the contexts of runs are looked at.
const interval = 10 * time.Millisecond

// stopNow is what stop words are set to: as an int32 it is negative, as native code
// wants it (codegen/cpu).
const stopNow = 1 << 31

// Watcher sets the stop words of runs whose context is done. Kernels look at
// those words, not at contexts, and a context that is asked to call back costs a
// run several allocations; so one goroutine looks at the contexts of all runs of
// an executable now and then. It is there only while there are runs, and up to
// an interval longer.
type Watcher struct {
	mu   sync.Mutex
	runs []*Run
	on   bool // the goroutine is there
}

// Run is to be stopped when its context is done.
type Run struct {
	Context context.Context // that may end
	Stop    *atomic.Uint32  // set then, as long as the run does not end
	at      int             // in Watcher.runs
}

// Add starts to watch a run.
func (w *Watcher) Add(r *Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.at = len(w.runs)
	w.runs = append(w.runs, r)
	if !w.on {
		w.on = true
		go w.watch()
	}
}

// Remove ends that; the stop word is the caller's again, and clear.
func (w *Watcher) Remove(r *Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.runs) - 1
	w.runs[r.at] = w.runs[last]
	w.runs[r.at].at = r.at
	w.runs[last] = nil
	w.runs = w.runs[:last]
	r.Context = nil
	r.Stop.Store(0)
}

// watch looks at the runs until there is none.
func (w *Watcher) watch() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for range tick.C {
		if !w.look() {
			return
		}
	}
}

// look sets stop words and reports whether there is anything to watch.
func (w *Watcher) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.Context.Err() != nil {
			r.Stop.Store(stopNow)
		}
	}
	w.on = len(w.runs) > 0
	return w.on
}

// Watching reports whether there are runs, or the goroutine is still there.
func (w *Watcher) Watching() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.on || len(w.runs) > 0
}
