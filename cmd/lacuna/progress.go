package main

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is shown for what takes longer than patience, and redrawn every
// redraw.
const (
	patience = 400 * time.Millisecond
	redraw   = 100 * time.Millisecond
)

// task is a piece of work whose progress is shown, if anybody is looking.
type task struct {
	done     atomic.Int64
	total    atomic.Int64 // the amount of work; 0 or less if unknown
	bytes    bool         // the unit of work is a byte
	stop     chan struct{}
	finished chan struct{}
	ended    sync.Once
	app      *app
}

// begin starts to show progress on a terminal; total is the amount of work in
// bytes, -1 if unknown. The caller must end the task.
func (a *app) begin(label string, total int64) *task {
	t := &task{bytes: total > 0, app: a}
	t.total.Store(total)
	if !a.terminal {
		return t
	}
	t.stop, t.finished = make(chan struct{}), make(chan struct{})
	a.shown.Store(t, true)
	go t.show(a.stderr, label)
	return t
}

// show draws the bar until the task ends. It alone touches the bar.
func (t *task) show(w io.Writer, label string) {
	defer close(t.finished)
	select {
	case <-t.stop:
		return
	case <-time.After(patience):
	}
	var bar *progressbar.ProgressBar
	total := int64(-1)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		if now := t.total.Load(); bar == nil || now != total { // it may become known late
			total = now
			if bar != nil {
				bar.Clear()
			}
			bar = progressbar.NewOptions64(max(total, -1),
				progressbar.OptionSetWriter(w),
				progressbar.OptionSetDescription(label),
				progressbar.OptionShowBytes(t.bytes),
				progressbar.OptionSetWidth(30),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionSpinnerType(14),
				progressbar.OptionSetSpinnerChangeInterval(0)) // else the bar has a goroutine that draws for ever
		}
		if total > 0 {
			bar.Set64(min(t.done.Load(), total-1)) // the end is end's to tell
		} else {
			bar.Add(1)
		}
		select {
		case <-t.stop:
			bar.Clear()
			return
		case <-tick.C:
		}
	}
}

// reach says how much of the work is done; any goroutine may. It may fall back, where
// work is gone through again.
func (t *task) reach(done, total int64) {
	t.total.Store(total)
	t.done.Store(done)
}

// end stops showing progress.
func (t *task) end() {
	if t.stop != nil {
		t.ended.Do(func() {
			t.app.shown.Delete(t)
			close(t.stop)
		})
		<-t.finished
	}
}

// hideProgress ends what is shown of tasks that were abandoned, and that go on to no effect.
func (a *app) hideProgress() {
	for t := range a.shown.Range {
		t.(*task).end()
	}
}

// meter is a file that tells how far it is read.
type meter struct {
	*io.SectionReader
	task *task
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.SectionReader.Read(p)
	if at, seekErr := m.SectionReader.Seek(0, io.SeekCurrent); seekErr == nil {
		m.task.reach(at, m.Size())
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (m *meter) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.SectionReader.ReadAt(p, at)
	m.task.reach(at+int64(n), m.Size())
	return n, err
}
