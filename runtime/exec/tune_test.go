package exec

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestWorth: after how many runs a conversion has paid.
func TestWorth(t *testing.T) {
	now := &Trial{Run: 10}
	for _, test := range []struct {
		run, convert time.Duration
		want         int
	}{{9, 0, 0}, {11, 0, -1}, {8, 20, 10}, {8, 21, 11}, {10, 5, -1}, {12, 5, -1}} {
		if got := (&Trial{Run: test.run, Convert: test.convert}).Worth(now); got != test.want {
			t.Errorf("a run of %d after %d pays after %d runs, want %d", test.run, test.convert, got, test.want)
		}
	}
}

// TestTune measures a chain, which the optimiser has made two statements of, as it runs, as written, and with other schedules,
// all of which compute the same.
func TestTune(t *testing.T) {
	if os.Getenv(diskcache.DirVar) == "" { // the cache is opened once for a process: by one that has a folder
		child := exec.Command(os.Args[0], "-test.run=^TestTune$")
		child.Env = append(os.Environ(), diskcache.DirVar+"="+t.TempDir())
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	ctx := context.Background()
	values := make([]float64, 12*12)
	for i := range values {
		if i%3 == 0 {
			values[i] = float64(i%7 - 3)
		}
	}
	a, err := tensor.FromDense([]int64{12, 12}, tensor.CSR, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromDense([]int64{12}, tensor.Dense(1), tensor.ArrayOf(values[:12]))
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"A": a, "x": x}
	s := NewSession(WithEngine(runtime.Interp()))
	s.env.eager = true
	const src = "y(i) = A(i,j)*A(j,k)*x(k)"
	k, err := s.Compile(ctx, src, declare.Operand("A", a), declare.Operand("x", x))
	if err != nil {
		t.Fatal(err)
	}
	want, err := k.Run(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	tuning, err := k.Tune(ctx, args, TuneOptions{Budget: 300 * time.Millisecond, Progress: func(done, total int) { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	if told != len(tuning.Trials)+1+min(tuning.Left, 1) || tuning.Now == nil || tuning.Best().Run > tuning.Now.Run {
		t.Errorf("%d times told of %d trials; now %v, best %v", told, len(tuning.Trials), tuning.Now, tuning.Best())
	}
	measured := 0
	for _, trial := range tuning.Trials {
		if trial.Err != nil {
			continue
		}
		measured++
		y, err := s.Eval(ctx, trial.Program, args)
		if err != nil {
			t.Fatalf("%s: %v", trial.Program, err)
		}
		if d := tensor.Diff(y, want); d != "" { // small integers: in any order
			t.Errorf("%s: %s", trial.Program, d)
		}
	}
	if measured < 4 {
		t.Errorf("%d of %d were measured", measured, len(tuning.Trials))
	}
	if err := tuning.Save(); err != nil {
		t.Fatal(err)
	}
	tuned, err := s.Compile(ctx, src, declare.Operand("A", a), declare.Operand("x", x), declare.Tuned())
	if err != nil {
		t.Fatal(err)
	}
	text, err := tuned.Explain("schedule")
	if err != nil || strings.TrimSpace(text) != strings.TrimSpace(tuning.Best().Program) && !strings.Contains(text, "with") {
		t.Errorf("%v\n%s, want\n%s", err, text, tuning.Best().Program)
	}
	if tuned.source == src {
		t.Error("what was kept is not taken")
	}
}
