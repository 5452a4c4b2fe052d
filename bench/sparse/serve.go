package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// serve is our side: it answers requests as peers/side.h says, and with several
// threads where they are asked for.
func serve(dir, input string, in io.Reader, out io.Writer) error {
	side, err := newOurSide(dir, input)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ready engine %s\n", side.engine.Name())
	var latest string
	var run task
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var verb, name string
		var threads int
		var seconds float64
		if _, err := fmt.Sscan(lines.Text(), &verb, &name, &threads, &seconds); err != nil {
			return err
		}
		if now := fmt.Sprint(name, threads); now != latest {
			if run, err = side.prepare(name, threads); err != nil {
				fmt.Fprintf(out, "error %s\n", oneLine(err))
				continue
			}
			latest = now
		}
		if verb == "check" {
			err = answerCheck(run, name+" "+input, out)
		} else {
			err = answerTime(run, name+" "+input, time.Duration(seconds*1e9), out)
		}
		if err != nil {
			fmt.Fprintf(out, "error %s\n", oneLine(err))
		}
	}
	return nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// cost is the time of one repetition by the clock, and the processor time of
// all threads, the garbage collector's too.
type cost struct{ wall, cpu time.Duration }

func once(run task) (cost, *tensor.Tensor, error) {
	cpu, start := processorTime(), time.Now()
	t, err := run(context.Background())
	wall := time.Since(start)
	return cost{wall, processorTime() - cpu}, t, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func answerCheck(run task, what string, out io.Writer) error {
	took, t, err := once(run)
	if err != nil {
		return err
	}
	peak := peakKB()
	fmt.Fprintf(out, "%s %.6f %.6f 1 %.6f\n", what, milliseconds(took.wall), milliseconds(took.wall), milliseconds(took.cpu))
	s, err := summarize(t)
	if err != nil {
		return err
	}
	sorted := 0
	if s.sorted {
		sorted = 1
	}
	t.Release()
	_, err = fmt.Fprintf(out, "%d %d %016x %.17g %.17g %.17g %d\n", s.nnz, sorted, s.pattern, s.sum, s.weighted, s.absolute, peak)
	return err
}

// answerTime measures a burst of at least two repetitions, unless they take far
// too long.
func answerTime(run task, what string, budget time.Duration, out io.Writer) error {
	var wall, cpu []time.Duration
	for start := time.Now(); ; {
		spent := time.Since(start)
		if n := len(wall); n > 0 && spent >= budget && (n >= 2 || spent >= 4*budget) {
			break
		}
		took, t, err := once(run)
		if err != nil {
			return err
		}
		wall, cpu = append(wall, took.wall), append(cpu, took.cpu)
		t.Release()
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	n := len(wall)
	_, err := fmt.Fprintf(out, "%s %.6f %.6f %d %.6f\n", what, milliseconds(wall[n/2]), milliseconds(wall[0]), n, milliseconds(cpu[n/2]))
	return err
}

// peakKB is the largest resident size of this process so far, 0 if the system
// does not tell.
func peakKB() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb
		}
	}
	return 0
}
