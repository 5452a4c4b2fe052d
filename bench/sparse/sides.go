package main

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/machine"
)

//go:embed peers
var peers embed.FS

// side is one of those compared: a program that is started once for each input,
// and again if it had to be stopped.
type side struct {
	name    string
	command []string // without the input
	version string
	env     []string
	proc    *process
}

// keepMemory makes glibc's malloc keep what is freed. Left alone it gives large
// arrays back to the system, which clears their pages again for the next
// result: that can take longer than the operation. Our garbage collector keeps
// its memory, so all sides do while times are taken. Peak memory is measured
// with the settings that users have.
var keepMemory = []string{"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=1000000000000"}

// untouched is a side of its own with the allocator's usual settings.
func (s *side) untouched() *side { return &side{name: s.name, command: s.command} }

// process is a running side.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed when the process ends
	input string
}

// errSlow is the answer of a side that was stopped.
var errSlow = errors.New("took longer than the limit")

// newSides compiles the sides. Those that this machine cannot have are left
// out, with a message.
func newSides(dir, python string, of suite) ([]*side, error) {
	src := filepath.Join(dir, "peers")
	if err := os.CopyFS(dir, peers); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	sides := []*side{{name: ours, command: []string{self, oursArg, dir}}}
	compile := func(name, compiler, file string, flags ...string) {
		program := filepath.Join(dir, strings.ReplaceAll(name, " ", ""))
		args := append([]string{"-O3", machine.March(), "-o", program, filepath.Join(src, file)}, flags...)
		if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
			log.Printf("without %s: %s: %v\n%s", name, compiler, err, out)
			return
		}
		sides = append(sides, &side{name: name, command: []string{program, dir}})
	}
	script := func(name, module, file string) {
		if out, err := exec.Command(python, "-c", "import "+module).CombinedOutput(); err != nil {
			log.Printf("without %s: %s: %v\n%s", name, python, err, out)
			return
		}
		sides = append(sides, &side{name: name, command: []string{python, filepath.Join(src, file), dir}})
	}
	makers := map[string]func(){
		scipy:     func() { script(scipy, "scipy.sparse", "scipy_side.py") },
		numpy:     func() { script(numpy, "numpy", "numpy_side.py") },
		torch:     func() { script(torch, "torch", "torch_side.py") },
		eigen:     func() { compile(eigen, "g++", "eigen.cpp", "-DNDEBUG", "-I/usr/include/eigen3") },
		graphblas: func() { compile(graphblas, "gcc", "graphblas.c", "-lgraphblas", "-lm") },
		cLoop:     func() { compile(cLoop, "gcc", "loops.c") },
		// Infinity stands for what is not stored in (min, +).
		cFast: func() { compile(cFast, "gcc", "loops.c", "-ffast-math", "-fno-finite-math-only") },
	}
	for _, name := range []string{scipy, numpy, torch, eigen, graphblas, cLoop, cFast} {
		if slices.ContainsFunc(of.operations, func(o operation) bool { return slices.Contains(o.sides, name) }) {
			makers[name]()
		}
	}
	for _, s := range sides {
		s.env = keepMemory
	}
	return sides, nil
}

// start starts the process for an input, unless it runs.
func (s *side) start(input string) error {
	if s.proc != nil && s.proc.input == input {
		return nil
	}
	s.stop()
	cmd := exec.Command(s.command[0], append(s.command[1:len(s.command):len(s.command)], input)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(append(os.Environ(), "OMP_NUM_THREADS=1"), s.env...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{cmd: cmd, in: in, lines: make(chan string, 1), input: input}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
		close(p.lines)
	}()
	s.proc = p
	ready, err := p.answer(time.Minute)
	version, ok := strings.CutPrefix(ready, "ready ")
	if err != nil || !ok {
		s.stop()
		return errors.Join(fmt.Errorf("the process of %s does not start: %q", s.name, ready), err)
	}
	s.version = version
	return nil
}

// answer waits for the next line.
func (p *process) answer(limit time.Duration) (string, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", errors.New("the process ended")
		}
		if message, bad := strings.CutPrefix(line, "error "); bad {
			return "", errors.New(message)
		}
		return line, nil
	case <-timer.C:
		return "", errSlow
	}
}

// ask sends a request and waits for the answer. The process is stopped when
// that takes too long, and started again for the next request.
func (s *side) ask(input string, limit time.Duration, format string, args ...any) (string, error) {
	if err := s.start(input); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(s.proc.in, format+"\n", args...); err != nil {
		s.stop()
		return "", err
	}
	return s.next(limit)
}

// next waits for the next line of an answer.
func (s *side) next(limit time.Duration) (string, error) {
	line, err := s.proc.answer(limit)
	if err != nil {
		s.stop()
	}
	return line, err
}

// stop ends the process, if there is one.
func (s *side) stop() {
	if s.proc == nil {
		return
	}
	s.proc.in.Close()
	s.proc.cmd.Process.Kill()
	for range s.proc.lines { // until it has ended
	}
	s.proc.cmd.Wait() // it was killed: the status says nothing
	s.proc = nil
}
