package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/runtime"
)

func newTune(a *app) *cobra.Command {
	e := evaluation{app: a, repeat: 1}
	var budget time.Duration
	var save bool
	cmd := &cobra.Command{
		Use:   "tune PROGRAM NAME=FILE[:FORMAT]…",
		Short: "Measure a program with other schedules and formats",
		Long: `Tune runs a program on its operands as it would run, and as other programs that compute the
same: with other orders of loops, workspaces, conversions and chunks. It prints how long a run takes
with each, and after how many runs a conversion has paid. With --save, eval --tuned takes the fastest.`,
		Example: `  lacuna tune 'y(i) = A(i,j)*x(j)' A=web.mtx:CSC x=x.npy
  lacuna tune 'C(i,k) = A(i,j)*A(j,k)' A=a.mtx:CSR C:CSR --budget 30s --save`,
		ValidArgsFunction: completeOperand,
		Args:              cli.Arguments(1, -1, "a program and its operands"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if budget <= 0 {
				return cli.Usagef("--budget %s: want a time, such as 10s", budget)
			}
			if err := e.parse(cmd, args); err != nil {
				return err
			}
			return cli.Advise(e.tune(cmd.Context(), budget, save), "tune")
		},
	}
	f := cmd.Flags()
	f.DurationVar(&budget, "budget", 10*time.Second, "about how long to measure")
	f.BoolVar(&save, "save", false, "keep the fastest on disk, for eval --tuned")
	e.registerEngine(cmd)
	e.wishes.register(cmd)
	return cmd
}

// tune measures the program, and prints the table.
func (e *evaluation) tune(ctx context.Context, budget time.Duration, save bool) error {
	engine, err := runtime.EngineByName(e.engine, e.app.Notice)
	if err != nil {
		return err
	}
	if err := e.load(ctx); err != nil {
		return err
	}
	if e.stream != nil {
		return fmt.Errorf("%s does not fit in memory, and tune measures there only: cut a part of it out", e.stream.name)
	}
	kernel, err := e.newSession(engine).Compile(ctx, e.program.source, e.compilation()...)
	if err != nil {
		return err
	}
	bar := e.app.Begin("tuning", -1)
	t, err := kernel.Tune(ctx, e.args, lacuna.TuneOptions{Budget: budget, Progress: func(done, total int) {
		bar.Reach(int64(done), int64(total))
	}})
	bar.End()
	if err != nil {
		return err
	}
	e.printTuning(t)
	if save {
		return t.Save()
	}
	return nil
}

// printTuning prints what was measured, the fastest first.
func (e *evaluation) printTuning(t *lacuna.Tuning) {
	w := tabwriter.NewWriter(e.app.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "a run\tconverting\tpays after\tschedule")
	for _, x := range t.Trials {
		change := x.Change
		if x == t.Now {
			change = "(as it runs)"
		}
		if x.Err != nil {
			why, _, _ := strings.Cut(x.Err.Error(), "\n")
			fmt.Fprintf(w, "-\t-\t-\t%s: %s\n", change, why)
			continue
		}
		converting, pays := "-", "-"
		if x.Convert > 0 {
			converting = rounded(x.Convert)
		}
		if x != t.Now {
			switch n := x.Worth(t.Now); n {
			case -1:
				pays = "never"
			case 0:
				pays = "at once"
			case 1:
				pays = "1 run"
			default:
				pays = fmt.Sprintf("%d runs", n)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", rounded(x.Run), converting, pays, change)
	}
	w.Flush()
	if t.Left > 0 {
		fmt.Fprintf(e.app.Stdout, "%d more were not tried: the budget was spent\n", t.Left)
	}
	fmt.Fprintf(e.app.Stdout, "\n%s\n", t.Best().Program)
}

// rounded writes a time with three digits.
func rounded(d time.Duration) string {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
