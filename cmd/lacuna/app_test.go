package main

import (
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

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/doctor"
)

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
	if status != cli.StatusInterrupted || stderr.String() != "lacuna: interrupted\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// closedPipe fails as a full disk does.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutputErrorsAreReported(t *testing.T) {
	var stderr bytes.Buffer
	if status := runContext(context.Background(), []string{"version"}, closedPipe{}, &stderr); status != cli.StatusMistake {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(stderr.String(), "standard output") {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestDiagnoseMissing(t *testing.T) {
	var b bytes.Buffer
	a := &app{Env: cli.NewEnv(&b, io.Discard)}
	a.diagnose(doctor.Description{Engines: []doctor.EngineInfo{
		{Name: "interp"},
		{Name: "cpu", Err: &runtime.UnavailableError{Engine: "cpu", Hint: "install LLVM (apt-get install libllvm19)", Err: errors.New("no LLVM")}},
	}})
	a.Stdout.Flush()
	if want := "To use the engine cpu: install LLVM (apt-get install libllvm19)."; !strings.Contains(b.String(), want) {
		t.Errorf("%s\nlacks %q", b.String(), want)
	}
}
