//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"bufio"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

//go:embed c/spmv.c
var cSource []byte

//go:embed scipy.py
var scipySource []byte

// cLoop is the C loop, compiled with some flags.
type cLoop struct{ entry uintptr }

// compileC compiles the C loop with gcc and loads it.
func compileC(dir, name string, flags ...string) (cLoop, error) {
	src, lib := filepath.Join(dir, name+".c"), filepath.Join(dir, name+".so")
	if err := os.WriteFile(src, cSource, 0o600); err != nil {
		return cLoop{}, err
	}
	args := append([]string{"-shared", "-fPIC", "-o", lib, src}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return cLoop{}, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	handle, err := purego.Dlopen(lib, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return cLoop{}, err
	}
	entry, err := purego.Dlsym(handle, "spmv")
	return cLoop{entry}, err
}

// rows computes rows lo to hi-1 of y.
func (c cLoop) rows(p *problem, lo, hi int, y []float64) {
	purego.SyscallN(c.entry, uintptr(lo), uintptr(hi), address(p.pos), address(p.crd), address(p.vals), address(p.x), address(y))
	runtime.KeepAlive(p)
	runtime.KeepAlive(y)
}

// halves computes all rows on two goroutines with about the same number of
// entries each.
func (c cLoop) halves(p *problem, y []float64) {
	done := make(chan struct{})
	go func() {
		c.rows(p, p.middle, p.rows, y)
		close(done)
	}()
	c.rows(p, 0, p.middle, y)
	<-done
}

func address[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// scipyProcess is a Python process that multiplies on demand.
type scipyProcess struct {
	version string
	y       []float64
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startSciPy hands the problem to a Python process and lets it multiply once.
func startSciPy(python, dir string, p *problem) (*scipyProcess, error) {
	for name, array := range map[string]any{"pos": p.pos, "crd": p.crd, "vals": p.vals, "x": p.x} {
		if err := writeArray(filepath.Join(dir, name), array); err != nil {
			return nil, err
		}
	}
	script := filepath.Join(dir, "scipy_side.py") // not scipy.py: it would import itself
	if err := os.WriteFile(script, scipySource, 0o600); err != nil {
		return nil, err
	}
	s := &scipyProcess{cmd: exec.Command(python, script, dir, strconv.Itoa(p.rows), strconv.Itoa(len(p.x)))}
	in, err1 := s.cmd.StdinPipe()
	out, err2 := s.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	ready, err := s.out.ReadString('\n')
	version, ok := strings.CutPrefix(strings.TrimSpace(ready), "ready ")
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("%s has no SciPy", python), s.close())
	}
	s.version = version
	raw, err := os.ReadFile(filepath.Join(dir, "y"))
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	for ; len(raw) >= 8; raw = raw[8:] {
		s.y = append(s.y, math.Float64frombits(binary.NativeEndian.Uint64(raw)))
	}
	return s, nil
}

func writeArray(file string, array any) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(binary.Write(f, binary.NativeEndian, array), f.Close())
}

// run multiplies once and returns the times that Python measured.
func (s *scipyProcess) run() (cost, error) {
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		return cost{}, err
	}
	var wall, cpu time.Duration
	_, err := fmt.Fscanf(s.out, "%d %d\n", &wall, &cpu)
	return cost{wall, cpu}, err
}

func (s *scipyProcess) close() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }
