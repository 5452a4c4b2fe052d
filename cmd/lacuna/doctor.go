package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/doctor"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

func newDoctor(a *app) *cobra.Command {
	var measure bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what was found on this machine and what is missing",
		Long: `Doctor says which engines can run here and with what, which kinds of file can be
read, and for what is missing how to get it. Nothing missing is an error: the
interpreter runs everything. With --measure it measures first what steps of programs take here, which
takes some seconds and should be done while nothing else runs: what is chosen by these times
changes no bit of a result.`,
		Args: cli.NoArguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if measure {
				if err := a.measure(cmd.Context()); err != nil {
					return err
				}
			}
			a.diagnose(doctor.Describe())
			a.printTimes()
			return nil
		},
	}
	cmd.Flags().BoolVar(&measure, "measure", false, "measure what steps of programs take on this machine, and keep it")
	return cmd
}

// measure measures what steps take, with a word of each.
func (a *app) measure(ctx context.Context) error {
	var task *cli.Task
	end := func() {
		if task != nil {
			task.End()
		}
	}
	err := lacuna.Measure(ctx, func(what string) {
		end()
		task = a.Begin("measuring "+what, -1)
	})
	end()
	return err
}

// printTimes prints the times that choices go by, as they are built in and as they were measured.
func (a *app) printTimes() {
	t, ok := ondisk.MeasuredTimes()
	if !ok {
		fmt.Fprintf(a.Stdout, "%-12s  as built in: lacuna doctor --measure measures this machine's\n", "times")
		return
	}
	builtin := cost.Builtin()
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ntime\tbuilt in\tmeasured\t")
	rows := t.Rows()
	for i, row := range builtin.Rows() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Name, formatNanoseconds(row.Time), formatNanoseconds(rows[i].Time), row.What)
	}
	was, is := builtin.Limits(), t.Limits()
	for _, l := range []struct {
		name, what string
		was, is    int64
	}{
		{"dense-keys", "keys up to which a workspace has a place for each", was.DenseKeys, is.DenseKeys},
		{"table-places", "places of a table for each entry of the operands", was.PlacesPerEntry, is.PlacesPerEntry},
		{"galloping", "entries of a fibre for each of a vector from which on it is not tabulated", was.Galloping, is.Galloping},
		{"hand-over", "entries that one thread goes through while others wake", was.HandOver, is.HandOver},
		{"compile", "entries converted before a kernel for it is compiled", was.CompileEntries, is.CompileEntries},
	} {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.name, units.FormatCount(l.was), units.FormatCount(l.is), l.what)
	}
	w.Flush()
}

// diagnose prints what was found.
func (a *app) diagnose(d doctor.Description) {
	fmt.Fprintf(a.Stdout, "%-12s  %s\n%s", "lacuna", version(), d)
	var kinds []string
	for _, k := range file.Kinds() {
		kinds = append(kinds, strings.Join(k.Extensions, " "))
	}
	fmt.Fprintf(a.Stdout, "%-12s  %s, each also with .gz\n", "files", strings.Join(kinds, " "))
	for _, e := range d.Engines {
		var missing *runtime.UnavailableError
		if errors.As(e.Err, &missing) && missing.Hint != "" && !errors.Is(e.Err, runtime.ErrNotSupported) {
			fmt.Fprintf(a.Stdout, "\nTo use the engine %s: %s.\n", e.Name, missing.Hint)
		}
	}
}

// formatNanoseconds writes a time with three digits.
func formatNanoseconds(t float64) string {
	if t < 1000 {
		return fmt.Sprintf("%.3g ns", t)
	}
	return rounded(time.Duration(t))
}
