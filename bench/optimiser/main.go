// Command optimiser measures programs in the order in which they are written, in the one that the logical optimiser
// chooses, and in SciPy and NumPy in the best order by hand:
//
//	go run ./optimiser            all programs, with one thread
//	go run ./optimiser -only GNN  those with GNN in their names
//	go run ./optimiser -duckdb DIR  counts and joins in DuckDB too, where DIR has its package: npm install @duckdb/node-api
//	go run ./optimiser -estimates 300  estimates of intermediates beside the truth, of these programs and 300 random ones
//	go run ./optimiser -engine cuda  on a GPU, with operands and results in its memory, and CuPy instead of SciPy, in the same order
//
// Times are medians of repeated calls, results released, in the same minute, in turns. SciPy computes on the same data, and its
// results are compared with ours.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

var (
	only   = flag.String("only", "", "programs whose names have this in them")
	python = flag.String("python", "/usr/bin/python3", "a Python that has SciPy; none: ours alone")
	duckdb = flag.String("duckdb", "", "a directory in which npm has installed @duckdb/node-api; none: without DuckDB")
	budget = flag.Duration("budget", 300*time.Millisecond, "time for each measurement")
	slow   = flag.Bool("written", true, "measure the order as written too")
	turns  = flag.Int("turns", 2, "how often programs and SciPy take turns")
	engine = flag.String("engine", runtime.CPUName, "the engine; with cuda, the peer is CuPy, what it cannot do is left out")
	random = flag.Int("estimates", -1, "compare estimates of what steps make with what they make instead, of the programs and of so many random ones")
	cpu    = flag.Bool("cpu", false, "measure the processor's time, where others use the machine")
)

// row is one line of the table.
type row struct {
	name                    string
	written, optimised, ref float64 // milliseconds
	first                   float64 // the first call of the optimised program, with compilation and statistics
	off                     float64 // relative difference from SciPy's result
	duck                    float64 // DuckDB's milliseconds, 0 where it has no query
}

func main() {
	flag.Parse()
	log.SetFlags(0)
	s, err := session()
	if err != nil {
		log.Fatal(err)
	}
	if *random >= 0 {
		if err := estimates(s, *random); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "optimiser")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var scipy, duck *peer
	if *python != "none" {
		if scipy, err = startPeer(dir, *python, "optimiser/peer.py", library()); err != nil {
			log.Fatal(err)
		}
		defer scipy.stop()
	}
	if *duckdb != "" {
		script, err := besides(*duckdb)
		if err != nil {
			log.Fatal(err)
		}
		defer os.Remove(script)
		if duck, err = startPeer(dir, "node", script); err != nil {
			log.Fatal(err)
		}
		defer duck.stop()
	}
	var rows []row
	fmt.Printf("%-28s %10s %10s %10s %10s %8s %9s %10s\n", "program", "written", "optimised", library(), "first", "ratio", "off by", "DuckDB")
	for _, p := range slices.Concat(programs, more) {
		if !strings.Contains(p.name, *only) {
			continue
		}
		r, err := measure(s, p, scipy, duck)
		if err != nil {
			fmt.Printf("%s failed: %v\n", p.name, err)
			continue
		}
		rows = append(rows, r)
		fmt.Printf("%-28s %10.3f %10.3f %10.3f %10.1f %8.2f %9.1g %10.3f\n", r.name, r.written, r.optimised, r.ref, r.first, r.ref/r.optimised, r.off, r.duck)
	}
	var ratios []float64
	for _, r := range rows {
		if r.ref > 0 {
			ratios = append(ratios, r.ref/r.optimised)
		}
	}
	slices.Sort(ratios)
	if n := len(ratios); n > 0 {
		fmt.Printf("\nfaster than %s in its best order: median %.2f, least %.2f, most %.2f\n", library(), ratios[n/2], ratios[0], ratios[n-1])
	}
}

// library is what the peer computes with.
func library() string {
	if *engine == runtime.CUDAName {
		return "CuPy"
	}
	return "SciPy"
}

// session is one of the engine, with one thread; on a device it leaves results there.
func session() (*lacuna.Session, error) {
	e, err := runtime.EngineByName(*engine, nil)
	if err != nil {
		return nil, err
	}
	opts := []lacuna.SessionOption{lacuna.WithEngine(e), lacuna.WithThreads(1)}
	if runtime.OnGrids(e) {
		opts = append(opts, lacuna.WithResidentResults(), lacuna.WithConversionKernels())
	}
	return lacuna.NewSession(opts...), nil
}

// measure measures one program.
func measure(s *lacuna.Session, p program, scipy, duck *peer) (row, error) {
	r := row{name: p.name}
	ctx := context.Background()
	args := lacuna.Args{}
	for name, make := range p.data {
		args[name] = made(name, make)
	}
	on := args
	if *engine == runtime.CUDAName {
		on = lacuna.Args{}
		for name, o := range args {
			t, err := s.ToDevice(ctx, o.(*tensor.Tensor))
			if err != nil {
				return r, err
			}
			defer t.Release()
			on[name] = t
		}
	}
	var last *tensor.Tensor
	run := func(opts ...lacuna.Option) (time.Duration, error) {
		begin := now()
		out, err := s.Eval(ctx, p.text, on, opts...)
		took := now() - begin
		if err != nil {
			return 0, err
		}
		if last != nil {
			last.Release()
		}
		last = out
		return took, nil
	}
	first, err := run()
	if err != nil {
		return r, err
	}
	r.first = ms(first)
	runtime.Flush() // the kernels of the first run are compiled again
	if scipy != nil {
		if err := scipy.take(args); err != nil {
			return r, err
		}
		switch r.off, err = scipy.compare(p.scipy, last); {
		case err != nil && *engine == runtime.CUDAName:
			fmt.Printf("%s: without CuPy: %v\n", p.name, err)
			scipy = nil
		case err != nil:
			return r, err
		}
	}
	if p.sql == "" {
		duck = nil
	}
	if duck != nil {
		if err := duck.take(args); err != nil {
			return r, err
		}
		if _, err = duck.compare(p.sql, last); err != nil {
			return r, err
		}
		if r.duck, err = duck.time(p.sql); err != nil {
			return r, err
		}
	}
	for range *turns {
		d, err := median(func() (time.Duration, error) { return run() })
		if err != nil {
			return r, err
		}
		r.optimised = least(r.optimised, d)
		if *slow {
			if d, err = median(func() (time.Duration, error) { return run(lacuna.AsWritten()) }); err != nil {
				return r, err
			}
			r.written = least(r.written, d)
		}
		if scipy != nil {
			if d, err = scipy.time(p.scipy); err != nil {
				return r, err
			}
			r.ref = least(r.ref, d)
		}
	}
	last.Release()
	return r, nil
}

// now is the time since some moment: of the clock, or what this process has used of the processor.
func now() time.Duration {
	if !*cpu {
		return time.Since(started)
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var started = time.Now()

func least(old, d float64) float64 {
	if old == 0 {
		return d
	}
	return min(old, d)
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// median is the median time of a call in milliseconds.
func median(run func() (time.Duration, error)) (float64, error) {
	var list []float64
	for begin := time.Now(); len(list) < 3 || time.Since(begin) < *budget && len(list) < 10000; {
		d, err := run()
		if err != nil {
			return 0, err
		}
		list = append(list, ms(d))
		if len(list) == 1 && d > 5*time.Second {
			break
		}
	}
	slices.Sort(list)
	return list[len(list)/2], nil
}

// peer is a process that computes on the same data: Python with SciPy, or Node with DuckDB.
type peer struct {
	cmd *exec.Cmd
	in  *bufio.Writer
	out *bufio.Scanner
	dir string
}

// besides copies the script for DuckDB to where its package is, as Node looks for packages from there on.
func besides(dir string) (string, error) {
	text, err := os.ReadFile("optimiser/duck.mjs")
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "lacuna-duck.mjs")
	return to, os.WriteFile(to, text, 0o600)
}

func startPeer(dir, program, script string, more ...string) (*peer, error) {
	cmd := exec.Command(program, append([]string{script, dir}, more...)...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &peer{cmd, bufio.NewWriter(in), bufio.NewScanner(out), dir}
	p.out.Buffer(nil, 1<<20)
	return p, nil
}

func (p *peer) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// ask sends a request and reads the answer.
func (p *peer) ask(request map[string]any) (float64, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	p.in.Write(append(line, '\n'))
	if err := p.in.Flush(); err != nil {
		return 0, err
	}
	if !p.out.Scan() {
		return 0, fmt.Errorf("the peer ended: %v", p.out.Err())
	}
	var answer struct {
		Value float64
		Error string
	}
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return 0, fmt.Errorf("the peer: %s", answer.Error)
	}
	return answer.Value, nil
}

// take gives the peer the operands.
func (p *peer) take(args lacuna.Args) error {
	operands := map[string]any{}
	for name, o := range args {
		t := o.(*tensor.Tensor)
		if err := p.write(name, t); err != nil {
			return err
		}
		operands[name] = map[string]any{"format": t.Format().String(), "shape": t.Shape(), "type": t.DType().String()}
	}
	_, err := p.ask(map[string]any{"take": operands})
	return err
}

// write puts coordinates and values, or the values of a dense tensor, into a file.
func (p *peer) write(name string, t *tensor.Tensor) error {
	var b bytes.Buffer
	if !t.Format().IsDense() {
		coords, values, err := t.ToCoords()
		if err != nil {
			return err
		}
		for _, c := range coords {
			writeRaw(&b, c)
		}
		writeRaw(&b, tensor.View[float64](values))
	} else {
		writeRaw(&b, tensor.View[float64](t.Values()))
	}
	return os.WriteFile(p.dir+"/"+name, b.Bytes(), 0o600)
}

func (p *peer) time(expr string) (float64, error) {
	return p.ask(map[string]any{"time": expr, "budget": budget.Seconds(), "cpu": *cpu})
}

// compare is how far the peer's result is from ours, relative to the largest element.
func (p *peer) compare(expr string, ours *tensor.Tensor) (float64, error) {
	dense, err := ours.ToDense()
	if err != nil {
		return 0, err
	}
	list := make([]float64, dense.Len())
	for i := range list {
		list[i] = dense.Scalar(i).Float64()
	}
	var b bytes.Buffer
	writeRaw(&b, list)
	if err := os.WriteFile(p.dir+"/ours", b.Bytes(), 0o600); err != nil {
		return 0, err
	}
	off, err := p.ask(map[string]any{"compare": expr})
	if err == nil && (math.IsNaN(off) || off > 1e-9) {
		err = fmt.Errorf("off by %g", off)
	}
	return off, err
}
