package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/debug"
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
	fmt.Fprintf(out, "ready lacuna %s, engine %s\n", revision(), side.engine.Name())
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

// revision is the commit that this program was built from, if it knows.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(len(s.Value), 7)]
			}
		}
	}
	return "(unknown revision)"
}

func once(run task) (time.Duration, *tensor.Tensor, error) {
	start := time.Now()
	t, err := run(context.Background())
	return time.Since(start), t, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func answerCheck(run task, what string, out io.Writer) error {
	took, t, err := once(run)
	if err != nil {
		return err
	}
	peak := peakKB()
	fmt.Fprintf(out, "%s %.6f %.6f 1\n", what, milliseconds(took), milliseconds(took))
	s, err := summarize(t)
	if err != nil {
		return err
	}
	sorted := 0
	if s.sorted {
		sorted = 1
	}
	_, err = fmt.Fprintf(out, "%d %d %016x %.17g %.17g %.17g %d\n", s.nnz, sorted, s.pattern, s.sum, s.weighted, s.absolute, peak)
	return err
}

// large results are given back at once, so that memory does not run out. Small
// ones are left to the garbage collector as in any program.
const large = 256 << 20

// answerTime measures a burst of at least two repetitions, unless they take far
// too long.
func answerTime(run task, what string, budget time.Duration, out io.Writer) error {
	var times []time.Duration
	for start := time.Now(); ; {
		spent := time.Since(start)
		if n := len(times); n > 0 && spent >= budget && (n >= 2 || spent >= 4*budget) {
			break
		}
		took, t, err := once(run)
		if err != nil {
			return err
		}
		times = append(times, took)
		if t.Bytes() > large {
			t = nil
			goruntime.GC()
		}
	}
	slices.Sort(times)
	_, err := fmt.Fprintf(out, "%s %.6f %.6f %d\n", what, milliseconds(times[len(times)/2]), milliseconds(times[0]), len(times))
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
