package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/doctor"
)

func TestStatus(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{usagef("no"), statusUsage},
		{fmt.Errorf("wrapped: %w", usagef("no")), statusUsage},
		{&runtime.UnavailableError{Engine: "cuda", Err: runtime.ErrNotSupported}, statusUnavailable},
		{&lacuna.InternalError{Panic: "x"}, statusBug},
		{fmt.Errorf("reading: %w", context.Canceled), statusInterrupted},
		{errors.New("mistake"), statusMistake},
	}
	for _, test := range tests {
		if got := statusOf(test.err); got != test.want {
			t.Errorf("statusOf(%v) = %d, want %d", test.err, got, test.want)
		}
	}
}

// TestInterrupt interrupts the command while it waits for an operand that never
// comes.
func TestInterrupt(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip("needs /dev/fd: ", err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	var stderr bytes.Buffer
	status := runContext(ctx, []string{"eval", "y(i) = A(i,j)", "A=" + path + ":CSR", "--engine", "interp", "-o", filepath.Join(dir, "y.npy")}, io.Discard, &stderr)
	if status != statusInterrupted || stderr.String() != "lacuna: interrupted\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestAwaitCatchesPanics(t *testing.T) {
	_, err := await(context.Background(), func() (int, error) { panic("oops") })
	var internal *lacuna.InternalError
	if !errors.As(err, &internal) || internal.Panic != "oops" {
		t.Errorf("got %v", err)
	}
}

// closedPipe fails as a full disk does.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutputErrorsAreReported(t *testing.T) {
	var stderr bytes.Buffer
	if status := runContext(context.Background(), []string{"version"}, closedPipe{}, &stderr); status != statusMistake {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(stderr.String(), "standard output") {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestDiagnoseMissing(t *testing.T) {
	var b bytes.Buffer
	a := &app{stderr: io.Discard}
	a.stdout = bufio.NewWriter(&b)
	a.diagnose(doctor.Description{Engines: []doctor.EngineInfo{
		{Name: "interp"},
		{Name: "cpu", Err: &runtime.UnavailableError{Engine: "cpu", Hint: "install LLVM (apt-get install libllvm19)", Err: errors.New("no LLVM")}},
	}})
	a.stdout.Flush()
	if want := "To use the engine cpu: install LLVM (apt-get install libllvm19)."; !strings.Contains(b.String(), want) {
		t.Errorf("%s\nlacks %q", b.String(), want)
	}
}

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
			a := &app{stderr: s, terminal: true}
			task := a.begin("reading x", total)
			task.reach(700, 1000)
			task.reach(500, 1000) // the second time through
			select {
			case <-s.seen:
			case <-time.After(20 * time.Second):
				t.Error("nothing is drawn")
			}
			task.end()
			if !strings.Contains(s.text.String(), "reading x") {
				t.Errorf("drew %q", s.text.String())
			}
		})
	}
}

// TestHideProgress: what a task shows that was abandoned ends with the run, and the task may end itself later.
func TestHideProgress(t *testing.T) {
	s := &screen{awaited: "making x", seen: make(chan struct{})}
	a := &app{stderr: s, terminal: true}
	task := a.begin("making x", -1)
	select {
	case <-s.seen:
	case <-time.After(20 * time.Second):
		t.Error("nothing is drawn")
	}
	a.hideProgress()
	drawn := s.text.Len()
	time.Sleep(3 * redraw)
	if s.text.Len() != drawn {
		t.Errorf("it goes on: %q", s.text.String()[drawn:])
	}
	task.end()
}

func TestNoProgress(t *testing.T) {
	var b bytes.Buffer
	(&app{stderr: &b, terminal: true}).begin("short", 1000).end()
	task := (&app{stderr: &b}).begin("piped", 1000)
	if task.stop != nil {
		t.Error("progress starts though nobody looks")
	}
	task.end()
	if b.Len() > 0 {
		t.Errorf("drew %q", b.String())
	}
}
