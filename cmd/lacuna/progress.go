package main

import (
	"io"
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
	stop     chan struct{}
	finished chan struct{}
}

// begin starts to show progress on a terminal; total is the amount of work in
// bytes, -1 if unknown. The caller must end the task.
func (a *app) begin(label string, total int64) *task {
	t := &task{}
	if !a.terminal {
		return t
	}
	t.stop, t.finished = make(chan struct{}), make(chan struct{})
	go t.show(a.stderr, label, total)
	return t
}

// show draws the bar until the task ends. It alone touches the bar.
func (t *task) show(w io.Writer, label string, total int64) {
	defer close(t.finished)
	select {
	case <-t.stop:
		return
	case <-time.After(patience):
	}
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(label),
		progressbar.OptionShowBytes(total > 0),
		progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSpinnerType(14))
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
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

// add counts work done; any goroutine may.
func (t *task) add(n int) { t.done.Add(int64(n)) }

// end stops showing progress.
func (t *task) end() {
	if t.stop != nil {
		close(t.stop)
		<-t.finished
	}
}

// meter is a file that counts what is read of it.
type meter struct {
	*io.SectionReader
	task *task
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.SectionReader.Read(p)
	m.task.add(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (m *meter) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.SectionReader.ReadAt(p, at)
	m.task.add(n)
	return n, err
}
