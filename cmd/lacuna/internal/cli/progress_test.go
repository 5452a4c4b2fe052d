package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// screen is a terminal that tells when a text is drawn.
type screen struct {
	awaited string
	seen    chan struct{}
	text    strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	before := strings.Contains(s.text.String(), s.awaited)
	s.text.Write(p)
	if !before && strings.Contains(s.text.String(), s.awaited) {
		close(s.seen)
	}
	return len(p), nil
}

func TestProgress(t *testing.T) {
	for name, total := range map[string]int64{"known": 1000, "known later": -1} {
		t.Run(name, func(t *testing.T) {
			s := &screen{awaited: "50%", seen: make(chan struct{})}
			a := &Env{Stderr: s, Terminal: true}
			task := a.Begin("reading x", total)
			task.Reach(700, 1000)
			task.Reach(500, 1000) // the second time through
			select {
			case <-s.seen:
			case <-time.After(20 * time.Second):
				t.Error("nothing is drawn")
			}
			task.End()
			if !strings.Contains(s.text.String(), "reading x") {
				t.Errorf("drew %q", s.text.String())
			}
		})
	}
}

// TestHideProgress: what a task shows that was abandoned ends with the run, and the task may end itself later.
func TestHideProgress(t *testing.T) {
	s := &screen{awaited: "making x", seen: make(chan struct{})}
	a := &Env{Stderr: s, Terminal: true}
	task := a.Begin("making x", -1)
	select {
	case <-s.seen:
	case <-time.After(20 * time.Second):
		t.Error("nothing is drawn")
	}
	a.HideProgress()
	drawn := s.text.Len()
	time.Sleep(3 * redraw)
	if s.text.Len() != drawn {
		t.Errorf("it goes on: %q", s.text.String()[drawn:])
	}
	task.End()
}

func TestNoProgress(t *testing.T) {
	var b bytes.Buffer
	(&Env{Stderr: &b, Terminal: true}).Begin("short", 1000).End()
	task := (&Env{Stderr: &b}).Begin("piped", 1000)
	if task.stop != nil {
		t.Error("progress starts though nobody looks")
	}
	task.End()
	if b.Len() > 0 {
		t.Errorf("drew %q", b.String())
	}
}
