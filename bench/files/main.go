//go:build unix

// Command files measures how fast large files are read and written, and in how much
// memory, and prints a report in Markdown. Every measurement is a process of its own, this
// program again, so that its peak of memory is its own; the sides take turns.
//
//	files -python python3 -repeat 5 rows.mtx columns.mtx random.mtx
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("files: ")
	child := flag.String("child", "", "measure one `side` and print it as JSON")
	python := flag.String("python", "", "a Python with SciPy")
	repeat := flag.Int("repeat", 5, "how often to measure each side")
	flag.Parse()
	if *child != "" {
		m, err := measure(*child, flag.Arg(0))
		if err != nil {
			log.Fatal(err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(m); err != nil {
			log.Fatal(err)
		}
		return
	}
	for i, path := range flag.Args() {
		if i > 0 {
			*python = "" // it takes half a minute, whatever the order of the entries
		}
		if err := report(path, *python, *repeat); err != nil {
			log.Fatal(err)
		}
	}
}

// measurement is what one process has measured.
type measurement struct {
	Wall, CPU time.Duration
	Text      int64 // bytes of the file read or written
	Arrays    int64 // bytes of the tensor
	Peak      int64 // VmHWM at the end, bytes

}

// sides are what is measured of each file, in the order of the table.
var sides = []struct{ name, title string }{
	{"csr", "read, CSR"},
	{"csc", "read, CSC"},
	{"coo", "read, COO"},
	{"session", "read, DCSR by a session's kernels"},
	{"write", "write, to a file, synced"},
	{"format", "write, to nowhere"},
}

// measure runs one side.
func measure(side, path string) (m measurement, err error) {
	formats := map[string]tensor.Format{"csr": tensor.CSR, "csc": tensor.CSC, "coo": tensor.COO, "session": tensor.DCSR}
	format, reading := formats[side]
	if !reading {
		format = tensor.CSR
	}
	opts := []file.Option{file.Format(format)}
	if side == "session" {
		opts = append(opts, file.BuildWith(session{lacuna.NewSession()}))
	}
	begin, cpu := time.Now(), processorTime()

	t, err := file.Read(path, opts...)
	if err != nil {
		return m, err
	}
	if reading {
		st, err := os.Stat(path)
		if err != nil {
			return m, err
		}
		m.Text = st.Size()
	} else {
		out := filepath.Join(filepath.Dir(path), "out.mtx")
		begin, cpu = time.Now(), processorTime()
		if side == "write" {
			err = file.Write(out, t)
		} else {
			err = file.WriteTo(out, io.Discard, t)
		}
		if err != nil {
			return m, err
		}
		m.Text = textSize(path)
	}
	m.Wall, m.CPU = time.Since(begin), processorTime()-cpu
	m.Arrays, m.Peak = t.Bytes(), memory("VmHWM")
	return m, nil
}

// textSize is the length of a file that the generator wrote, which is what we write of
// its matrix too.
func textSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		log.Fatal(err)
	}
	return st.Size()
}

// session is a Builder that has a session make tensors.
type session struct{ *lacuna.Session }

// FromColumns implements file.Builder.
func (s session) FromColumns(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	return s.Session.FromColumns(context.Background(), shape, format, coords, values, opts...)
}

// Convert implements file.Builder.
func (s session) Convert(t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return s.Session.Convert(context.Background(), t, format)
}

// processorTime is what this process has used of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is a field of /proc/self/status, in bytes.
func memory(field string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// report measures all sides of a file and prints a table.
func report(path, python string, repeat int) error {
	of := map[string][]measurement{}
	var peer []measurement
	for i := range repeat {
		for _, side := range sides {
			m, err := inChild(side.name, path)
			if err != nil {
				return err
			}
			of[side.name] = append(of[side.name], m)
		}
		if python != "" && i == 0 { // half a minute on an idle machine
			m, err := scipy(python, path)
			if err != nil {
				fmt.Printf("SciPy: %v\n\n", err)
				python = ""
				continue
			}
			peer = append(peer, m)
		}
	}
	wall := func(m measurement) time.Duration { return m.Wall }
	cpu := func(m measurement) time.Duration { return m.CPU }
	first := of["csr"][0]
	fmt.Printf("## %s: %.0f MB, arrays of the CSR matrix %.0f MB\n\n", filepath.Base(path), mega(first.Text), mega(first.Arrays))
	fmt.Println("| side | median s | least s | cpu s | MB/s at the median | at the least | MB for each cpu s | peak MB | arrays MB | peak beyond arrays MB |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, side := range sides {
		ms := of[side.name]
		peak := slices.MaxFunc(ms, func(a, b measurement) int { return int(a.Peak - b.Peak) })
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", side.title,
			median(ms, wall).Seconds(), least(ms, wall).Seconds(), least(ms, cpu).Seconds(),
			mega(ms[0].Text)/median(ms, wall).Seconds(), mega(ms[0].Text)/least(ms, wall).Seconds(), mega(ms[0].Text)/least(ms, cpu).Seconds(),
			mega(peak.Peak), mega(ms[0].Arrays), mega(peak.Peak-ms[0].Arrays))
	}
	if len(peer) > 0 {
		ours := of["csr"]
		fmt.Printf("\nSciPy, mmread and tocsr: %.2f s, cpu %.2f s at the least of %d. To CSR it takes %.1f times as long as ours at the least, %.1f times as much cpu.\n",
			least(peer, wall).Seconds(), least(peer, cpu).Seconds(), len(peer),
			least(peer, wall).Seconds()/least(ours, wall).Seconds(), least(peer, cpu).Seconds()/least(ours, cpu).Seconds())
	}
	fmt.Println()
	return nil
}

func mega(n int64) float64 { return float64(n) / 1e6 }

func least(ms []measurement, of func(measurement) time.Duration) time.Duration {
	d := of(ms[0])
	for _, m := range ms {
		d = min(d, of(m))
	}
	return d
}

func median(ms []measurement, of func(measurement) time.Duration) time.Duration {
	var all []time.Duration
	for _, m := range ms {
		all = append(all, of(m))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// inChild measures one side in a process of its own.
func inChild(side, path string) (m measurement, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	var out bytes.Buffer
	cmd := exec.Command(self, "-child", side, path)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return m, fmt.Errorf("%s of %s: %w", side, path, err)
	}
	return m, json.Unmarshal(out.Bytes(), &m)
}

// scipy times SciPy's reader.
func scipy(python, path string) (m measurement, err error) {
	const program = `import sys, time, scipy.io
begin, cpu = time.perf_counter(), time.process_time()
scipy.io.mmread(sys.argv[1]).tocsr()
print(time.perf_counter() - begin, time.process_time() - cpu)`
	out, err := exec.Command(python, "-c", program, path).Output()
	if err != nil {
		return m, err
	}
	var wall, cpu float64
	if _, err := fmt.Sscan(string(out), &wall, &cpu); err != nil {
		return m, err
	}
	m.Wall = time.Duration(wall * float64(time.Second))
	m.CPU = time.Duration(cpu * float64(time.Second))
	return m, nil
}
