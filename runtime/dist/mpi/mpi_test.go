package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport/kit"
)

// partVar is the environment variable that makes this binary one rank of a test.
const partVar = "LACUNA_MPI_TEST_PART"

func TestMain(m *testing.M) {
	if part := os.Getenv(partVar); part != "" {
		os.Exit(play(part))
	}
	os.Exit(m.Run())
}

// play is what one rank does: it joins the group, plays its part and leaves.
func play(part string) int {
	name, detail, _ := strings.Cut(part, " ")
	chunk = 1 << 18
	if name == "late" {
		if joining = time.Second; Number() == 1 {
			time.Sleep(time.Minute)
		}
	}
	g, err := Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = parts[name](g, detail)
	// Who ends first takes the others of a group that has failed with it: all say what they have to say before they leave.
	if err != nil {
		fmt.Fprintf(os.Stderr, "[%d] %v\n", g.Rank(), err)
	} else {
		fmt.Printf("[%d of %d] ok: %s\n", g.Rank(), g.Size(), g.Library())
	}
	closed := g.Close()
	if g.Reports() {
		fmt.Printf("[%d] reports\n", g.Rank())
	} else {
		time.Sleep(100 * time.Millisecond) // who reports may do so before mpirun ends all
	}
	if err == nil && closed != nil && name == "kit" {
		err = closed
		fmt.Fprintf(os.Stderr, "[%d] Close: %v\n", g.Rank(), err)
	}
	if err != nil {
		return 1
	}
	return 0
}

// parts are the tests as each rank plays them.
var parts = map[string]func(*Group, string) error{
	"kit": func(g *Group, _ string) error { return kit.All(context.Background(), g) },
	"abort": func(g *Group, wait string) error {
		return kit.LostIn(wait, g, 1, func(t transport.Transport) { t.Abort("the disk is full") }, "the disk is full")
	},
	"close": func(g *Group, wait string) error {
		return kit.LostIn(wait, g, 1, func(t transport.Transport) { t.Close() }, "it has left")
	},
	"cancel": func(g *Group, wait string) error {
		return kit.LostIn(wait, g, 1, func(t transport.Transport) {
			ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer stop()
			t.Buffer(1) // who waits for the next call of this rank has begun
			time.Sleep(50 * time.Millisecond)
			<-ctx.Done()
			if err := g.wait(ctx, &operation{done: make(chan struct{})}); !errors.Is(err, context.DeadlineExceeded) {
				panic(err)
			}
		}, "it was stopped: context deadline exceeded")
	},
	"stop": func(g *Group, wait string) error {
		return kit.LostIn(wait, g, 1, func(transport.Transport) {
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			time.Sleep(time.Minute) // the signal may come to another thread first
		}, "no sign of life")
	},
	"die": func(g *Group, wait string) error {
		return kit.LostIn(wait, g, 1, func(transport.Transport) { syscall.Kill(os.Getpid(), syscall.SIGKILL) }, "")
	},
	"same": func(g *Group, _ string) error { // several find the same
		time.Sleep(time.Duration(g.Rank()) * 5 * time.Millisecond)
		g.Abort("no file x.mtx")
		return want(transport.Barrier(context.Background(), g), "no file x.mtx")
	},
	"disagree": func(g *Group, _ string) error { return kit.Disagreement([]transport.Transport{g}, 1) },
	"calls": func(g *Group, _ string) error {
		ctx := context.Background()
		var err error
		if g.Rank() == 0 {
			_, err = g.Exchange(ctx, make([][]byte, g.Size()))
		} else {
			err = transport.Barrier(ctx, g)
		}
		return want(err, "it is in Exchange, where rank", "it is in Vote, where rank", "it is in another call, where rank", "some ranks are in Exchange, where rank")
	},
	"lengths": func(g *Group, detail string) error {
		var sends, takes int
		fmt.Sscan(detail, &sends, &takes)
		out, in := make([][]byte, 2), make([][]byte, 2)
		if g.Rank() == 0 {
			out[1], _ = g.Buffer(sends)
		} else {
			in[0], _ = g.Buffer(takes)
		}
		p, err := g.Start(context.Background(), out, in)
		if err == nil {
			err = p.Wait(context.Background())
		}
		if g.Rank() == 0 && err == nil { // a short message is under way when it is found to be wrong
			err = transport.Barrier(context.Background(), g)
		}
		more := "less"
		if sends > takes {
			more = "more"
		}
		return want(err, fmt.Sprintf("rank 0: it sends %d bytes %s to rank 1 than the %d that are expected", max(sends-takes, takes-sends), more, takes))
	},
	"fault": func(g *Group, _ string) (err error) {
		defer func() { err = want(fmt.Errorf("%v", recover()), "nil pointer") }()
		var nothing *int
		*nothing = g.Rank()
		return nil
	},
}

// want wants an error that has one of some texts.
func want(err error, texts ...string) error {
	for _, text := range texts {
		if err != nil && strings.Contains(err.Error(), text) {
			return nil
		}
	}
	return fmt.Errorf("error %v, want %q", err, texts)
}

// installed are the ways to start ranks here.
var installed = []struct {
	of      *implementation
	command []string
	library string // how that calls itself
}{
	// Open MPI refuses to run as root, and more ranks than there are processors, unless told.
	{&openMPI, []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"}, "Open MPI v"},
	{&mpich, []string{"mpirun.mpich"}, "MPICH Version: "},
}

// eachMPI runs a test on every MPI that is installed.
func eachMPI(t *testing.T, f func(t *testing.T, start []string, of *implementation, library string)) {
	found := false
	for _, mpi := range installed {
		path, err := exec.LookPath(mpi.command[0])
		if err != nil {
			continue
		}
		found = true
		t.Run(mpi.of.name, func(t *testing.T) { f(t, append([]string{path}, mpi.command[1:]...), mpi.of, mpi.library) })
	}
	if !found {
		t.Skip("no mpirun: apt-get install libopenmpi3 openmpi-bin libmpich12 mpich")
	}
}

// run has ranks play a part, and returns what they print, how they end, and how long they took.
func run(t *testing.T, start []string, n int, part string, env ...string) (stdout, stderr string, took time.Duration, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, start[0], append(start[1:], "-n", fmt.Sprint(n), self)...)
	cmd.Env = append(append(os.Environ(), partVar+"="+part), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, time.Second
	began := time.Now()
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q on %d ranks hangs: %s%s", part, n, &out, &errs)
	}
	return out.String(), errs.String(), time.Since(began), err
}

func TestKit(t *testing.T) {
	eachMPI(t, func(t *testing.T, start []string, _ *implementation, library string) {
		sizes := []int{1, 2, 4}
		if testing.Short() {
			sizes = sizes[1:2] // more ranks than processors wait for each other
		}
		for _, n := range sizes {
			stdout, stderr, _, err := run(t, start, n, "kit")
			if err != nil {
				t.Errorf("%d ranks: %v\n%s", n, err, stderr)
			}
			for r := range n {
				if line := fmt.Sprintf("[%d of %d] ok: %s", r, n, library); !strings.Contains(stdout, line) {
					t.Errorf("%d ranks: no line %q in\n%s", n, line, stdout)
				}
			}
		}
	})
}

// Groups that fail say why on all ranks, which end.
func TestFailures(t *testing.T) {
	eachMPI(t, func(t *testing.T, start []string, _ *implementation, _ string) {
		all := []string{"calls", "fault"}
		if !testing.Short() {
			all = append(all, "lengths 100 80", "cancel Barrier", "disagree", "lengths 80 100", "lengths 3000000 2000000", "lengths 2000000 80", "lengths 524288 262144")
			for _, wait := range kit.Waits() {
				all = append(all, "abort "+wait, "close "+wait, "cancel "+wait)
			}
		}
		for _, part := range all {
			n := 3
			if strings.HasPrefix(part, "lengths") {
				n = 2
			}
			stdout, stderr, took, _ := run(t, start, n, part)
			for r := range n {
				lost := r == 1 && strings.HasPrefix(part, "close") // the others' end is its own
				if !lost && !strings.Contains(stdout, fmt.Sprintf("[%d of %d] ok", r, n)) {
					t.Errorf("%q: rank %d is not content:\n%s%s", part, r, stdout, stderr)
				}
			}
			if took > kit.Patience {
				t.Errorf("%q took %v", part, took)
			}
		}
	})
}

// One rank tells people, whether one or all have found out.
func TestReports(t *testing.T) {
	eachMPI(t, func(t *testing.T, start []string, _ *implementation, _ string) {
		for part, who := range map[string]int{"abort Barrier": 1, "same": 0} {
			stdout, stderr, _, _ := run(t, start, 3, part)
			if n := strings.Count(stdout, "reports"); n != 1 || !strings.Contains(stdout, fmt.Sprintf("[%d] reports", who)) {
				t.Errorf("%q: %d ranks report, want rank %d only:\n%s%s", part, n, who, stdout, stderr)
			}
		}
	})
}

// A rank that hangs is noticed by the others, which end, and mpirun ends it.
func TestHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a rank may be silent")
	}
	eachMPI(t, func(t *testing.T, start []string, _ *implementation, _ string) {
		stdout, stderr, took, err := run(t, start, 3, "stop Exchange")
		if !strings.Contains(stdout, "[0 of 3] ok") || !strings.Contains(stdout, "[2 of 3] ok") {
			t.Errorf("%v:\n%s%s", err, stdout, stderr)
		}
		t.Logf("ended after %v", took)
		_, stderr, took, err = run(t, start, 3, "late")
		if err == nil || took > kit.Patience || !strings.Contains(stderr, "MPI_Init has not ended after 1s") {
			t.Errorf("%v after %v: %s", err, took, stderr)
		}
	})
}

// A rank that dies takes the others with it; mpirun says which it was.
func TestDies(t *testing.T) {
	eachMPI(t, func(t *testing.T, start []string, of *implementation, _ string) {
		stdout, stderr, took, err := run(t, start, 3, "die Exchange")
		if err == nil || took > kit.Patience || !strings.Contains(strings.ToLower(stdout+stderr), "killed") {
			t.Errorf("%v after %v:\n%s%s", err, took, stdout, stderr)
		}
	})
}

// The library must be that of the mpirun.
func TestLibraries(t *testing.T) {
	other := map[*implementation]*implementation{&openMPI: &mpich, &mpich: &openMPI}
	eachMPI(t, func(t *testing.T, start []string, of *implementation, _ string) {
		_, stderr, _, err := run(t, start, 1, "kit", EnvVar+"=/no/such/libmpi.so")
		for _, text := range []string{"started by mpirun of " + of.name, "tried /no/such/libmpi.so: no such file", "apt-get install " + of.install} {
			if err == nil || !strings.Contains(stderr, text) {
				t.Errorf("%v: no %q in\n%s", err, text, stderr)
			}
		}
		_, stderr, _, err = run(t, start, 1, "kit", EnvVar+"=libm.so.6")
		if err == nil || !strings.Contains(stderr, "libm.so.6: it lacks MPI_Alloc_mem, MPI_Comm_dup, ") {
			t.Errorf("%v: %s", err, stderr)
		}
		file := other[of].files[0]
		_, stderr, _, err = run(t, start, 1, "kit", EnvVar+"="+file)
		if err == nil || !strings.Contains(stderr, "it is of "+other[of].name) && !strings.Contains(stderr, "no such file") {
			t.Errorf("%s: %v: %s", file, err, stderr)
		}
	})
}

func TestWithoutMPIRun(t *testing.T) {
	if Launched() {
		t.Skip("started by mpirun")
	}
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "mpirun -n 4") {
		t.Errorf("error %v", err)
	}
}
