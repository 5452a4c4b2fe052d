package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Tuning: programs that compute the same, each with a schedule of its own, are measured on real operands.

// TuneOptions say how long tuning may take, and who hears of its progress.
type TuneOptions struct {
	// Budget is about how long tuning takes, compiling included; 10 seconds if it is 0. What has not been tried by then is left out.
	Budget time.Duration
	// Progress, when not nil, is told how many of the programs were tried.
	Progress func(done, total int)
}

// Trial is one way to run a program, measured.
type Trial struct {
	// Change is what is other than in the program as it runs, a command of a schedule; "" for that itself.
	Change string
	// Program is the program with its schedule.
	Program string
	// Run is the median time of a run whose operands have been passed before.
	Run time.Duration
	// Convert is how much longer a run takes that has to store operands again.
	Convert time.Duration
	// Runs is how many runs Run is of.
	Runs int
	// Err tells why there are no figures, nil if there are.
	Err error
}

// Worth is the number of runs on the same operands after which the trial takes less than another, whose conversions count
// too; -1 if never, 0 if from the first.
func (t *Trial) Worth(other *Trial) int {
	switch saved, more := other.Run-t.Run, t.Convert-other.Convert; {
	case more <= 0 && saved >= 0:
		return 0
	case saved <= 0:
		return -1
	default:
		return int((more + saved - 1) / saved)
	}
}

// Tuning is what tuning has measured.
type Tuning struct {
	// Trials are the ways that were tried, the fastest first; those without figures last.
	Trials []*Trial
	// Now is the program as it runs without tuning; one of Trials.
	Now *Trial
	// Left is how many were not tried as the budget was spent.
	Left int
	key  string
}

// Best is the fastest.
func (t *Tuning) Best() *Trial { return t.Trials[0] }

// Save keeps the fastest on disk, beside kernels: sessions on this machine run it where the option Tuned is given and operands have
// the formats and types, and about as many entries, as those that it was measured on.
func (t *Tuning) Save() error {
	if err := ondisk.KeepTuned(t.key, t.Best().Program); err != nil {
		return fmt.Errorf("the tuned program is not kept: %w", err)
	}
	return nil
}

const (
	defaultBudget = 10 * time.Second
	mostRuns      = 25
	// hopeless is how many times the time of the fastest a first run may take before it is given up; firstRun is what it may take
	// in any case.
	hopeless = 20
	firstRun = 500 * time.Millisecond
)

// Tune measures the kernel's program and others that compute the same on operands.
func (k *Kernel) Tune(ctx context.Context, args Args, opts TuneOptions) (*Tuning, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	if k.session == nil {
		return nil, errors.New("this kernel cannot be tuned: take one that Compile returned")
	}
	running := k
	if k.chooser != nil {
		var err error
		if running, err = k.chooser.kernel(ctx, args); err != nil {
			return nil, err
		}
	}
	list, err := running.alternatives(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.Insert(list, 0, alternative{program: running.explainSchedule()})
	budget := cmp.Or(opts.Budget, defaultBudget)
	deadline := time.Now().Add(budget)
	t := &Tuning{key: k.says.TuningKey(k.source, args, k.session.env.Engine.Name(), k.session.env.Options.MostThreads())}
	var best time.Duration
	for i, a := range list {
		if opts.Progress != nil {
			opts.Progress(i, len(list))
		}
		if i > 0 && time.Now().After(deadline) {
			t.Left = len(list) - i
			break
		}
		trial := &Trial{Change: a.change, Program: a.program}
		share := time.Until(deadline) / time.Duration(len(list)-i)
		if trial.Err = k.measure(ctx, trial, args, share, best); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if i == 0 {
			if trial.Err != nil {
				return nil, trial.Err
			}
			t.Now = trial
		}
		if trial.Err == nil && (best == 0 || trial.Run < best) {
			best = trial.Run
		}
		t.Trials = append(t.Trials, trial)
	}
	if opts.Progress != nil {
		opts.Progress(len(list), len(list))
	}
	slices.SortStableFunc(t.Trials, func(x, y *Trial) int {
		switch {
		case x.Err == nil && y.Err != nil:
			return -1
		case x.Err != nil && y.Err == nil:
			return 1
		}
		return cmp.Compare(x.Run, y.Run)
	})
	return t, nil
}

// measure compiles and runs a trial for about as long as its share. Best, when not 0, is the fastest so far.
func (k *Kernel) measure(ctx context.Context, t *Trial, args Args, share, best time.Duration) error {
	d := k.says.ForProgram()
	for name, o := range args {
		declare.Operand(name, o)(d)
	}
	if err := d.Canonicalise(ctx, &k.session.env.convert); err != nil {
		return err
	}
	kernel, err := k.session.compile(ctx, t.Program, d)
	if err != nil {
		return err
	}
	run := func(args Args, limit time.Duration) (time.Duration, error) {
		limited := ctx
		if limit > 0 {
			var cancel context.CancelFunc
			limited, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		start := time.Now()
		_, err := kernel.RunAll(limited, args)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("given up after %s", limit.Round(time.Millisecond))
		}
		return time.Since(start), err
	}
	limit := time.Duration(0)
	if best > 0 {
		limit = max(firstRun, hopeless*best)
	}
	if _, err := run(args, limit); err != nil { // compiles for these operands, and converts
		return err
	}
	ondisk.Wait() // the first code may be replaced
	end := time.Now().Add(share)
	var times []time.Duration
	for len(times) < 3 || len(times) < mostRuns && time.Now().Before(end) {
		took, err := run(args, 0)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	t.Run, t.Runs = times[len(times)/2], len(times)
	if len(kernel.Conversions()) > 0 {
		took, err := run(anew(args), 0)
		if err != nil {
			return err
		}
		t.Convert = max(0, took-t.Run)
	}
	return nil
}

// anew are operands that nothing is remembered of.
func anew(args Args) Args {
	out := Args{}
	for name, o := range args {
		out[name] = o
		if t, ok := o.(*tensor.Tensor); ok {
			out[name] = t.Share()
		}
	}
	return out
}

// compileTuned compiles a program, or what tuning has kept of it, for callers.
func (s *Session) compileTuned(ctx context.Context, src string, d *declare.Declarations) (k *Kernel, err error) {
	if d.Tuned() {
		key := d.TuningKey(src, d.Examples(), s.env.Engine.Name(), s.env.Options.MostThreads())
		if program, ok := ondisk.Tuned(key); ok {
			again := d.ForProgram()
			for name, o := range d.Examples() {
				declare.Operand(name, o)(again)
			}
			k, _ = s.compile(ctx, program, again) // what was kept may be of another version: then as if nothing was
		}
	}
	if k == nil {
		if k, err = s.compile(ctx, src, d); err != nil {
			return nil, err
		}
	}
	k.session, k.says = s, d.WithoutExamples()
	return k, nil
}
