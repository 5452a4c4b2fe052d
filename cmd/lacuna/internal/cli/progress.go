package cli

import (
	"context"
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

// Task is a piece of work whose progress is shown, if anybody is looking.
type Task struct {
	done     atomic.Int64
	total    atomic.Int64 // the amount of work; 0 or less if unknown
	bytes    bool         // the unit of work is a byte
	stop     chan struct{}
	finished chan struct{}
	ended    sync.Once
	env      *Env
}

// Begin starts to show progress on a terminal; total is the amount of work in
// bytes, -1 if unknown. The caller must end the task.
func (a *Env) Begin(label string, total int64) *Task {
	t := &Task{bytes: total > 0, env: a}
	t.total.Store(total)
	if !a.Terminal {
		return t
	}
	t.stop, t.finished = make(chan struct{}), make(chan struct{})
	a.shown.Store(t, true)
	go t.show(a.Stderr, label)
	return t
}

// show draws the bar until the task ends. It alone touches the bar.
func (t *Task) show(w io.Writer, label string) {
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

// Reach says how much of the work is done; any goroutine may. It may fall back, where
// work is gone through again.
func (t *Task) Reach(done, total int64) {
	t.total.Store(total)
	t.done.Store(done)
}

// End stops showing progress.
func (t *Task) End() {
	if t.stop != nil {
		t.ended.Do(func() {
			t.env.shown.Delete(t)
			close(t.stop)
		})
		<-t.finished
	}
}

// HideProgress ends what is shown of tasks that were abandoned, and that go on to no effect.
func (a *Env) HideProgress() {
	for t := range a.shown.Range {
		t.(*Task).End()
	}
}

// Reader is a file of so many bytes that tells how far it is read.
func (t *Task) Reader(f io.ReaderAt, size int64) io.Reader {
	return &meter{io.NewSectionReader(f, 0, size), t}
}

type meter struct {
	*io.SectionReader
	task *Task
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.SectionReader.Read(p)
	if at, seekErr := m.SectionReader.Seek(0, io.SeekCurrent); seekErr == nil {
		m.task.Reach(at, m.Size())
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (m *meter) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.SectionReader.ReadAt(p, at)
	m.task.Reach(at+int64(n), m.Size())
	return n, err
}

// Making runs f, which computes something, with progress of unknown length.
func Making[T any](ctx context.Context, a *Env, label string, f func() (T, error)) (T, error) {
	task := a.Begin(label, -1)
	defer task.End()
	return Await(ctx, f)
}
