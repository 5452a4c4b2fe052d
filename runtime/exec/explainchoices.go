package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/logic"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Choices are what was weighed to run a program: orders of computing, and for each statement the orders of its loops.
type Choices struct {
	// Guessed are the operands whose statistics are guesses.
	Guessed []string
	// Products are the orders of each product that the optimiser could choose.
	Products []logic.Weighed
	// Statements are those of the program as it runs.
	Statements []StatementChoices
	// Warnings tell what another formulation could make better.
	Warnings []string
}

// StatementChoices are those of one statement.
type StatementChoices struct {
	logic.Estimate
	// Schedule has the chosen commands (docs/schedule.md).
	Schedule []string
	// Sized says that the orders of loops were weighed by statistics of the operands, else as for usual data.
	Sized bool
	// Nests are the orders of loops that were weighed, by their cost in iterations.
	Nests []ir.Nest
	// Why says what was chosen when the statement ran, or will be.
	Why []string
}

// Choices weighs again what the kernel was compiled by, with the statistics of operands; without (nil) with those that are known. It computes nothing.
func (k *Kernel) Choices(ctx context.Context, args Args) (*Choices, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	statistics := k.statistics(args)
	c := &Choices{}
	for _, t := range k.asWritten().Tensors {
		if t.Operand && t.StoredOf == nil && t.Rank > 0 && statistics[t.Name] == nil {
			c.Guessed = append(c.Guessed, t.Name)
		}
	}
	if ch := k.chooser; ch != nil {
		d := ch.says.WithoutExamples()
		for name, o := range args {
			declare.Operand(name, o)(d)
		}
		if r, _ := ch.session.optimised(ctx, ch.file, ch.program, statistics, d, true); r != nil {
			c.Products = r.Weighed
		}
	}
	sizes := k.plan.Options.Sizes
	if len(statistics) > 0 && len(k.plan.Options.Forms) == 0 {
		sizes = logic.Expected(k.checked, logic.Options{Statistics: statistics, Stores: storesOf(k.plan)})
	}
	other, err := k.weighed(ctx, k.checked, k.rewritten, sizes)
	if err != nil {
		return nil, err
	}
	weighed := other.scheduled()
	estimates := k.predicted(statistics)
	for i, s := range k.scheduled() {
		if k.unneeded(i) {
			continue
		}
		st := StatementChoices{Estimate: estimates[i], Schedule: s.chosen, Sized: len(sizes) > 0}
		if w := weighed[i].main; w != nil {
			st.Nests = w.Nests
			if len(w.Ways) > 0 {
				st.Why = append(st.Why, strings.TrimPrefix(ir.FormatWays(w.Ways), "# "))
			}
		}
		for _, step := range k.steps {
			if p, ok := step.plan.(*ir.Compute); ok && p == s.main {
				private := false
				if v := step.latest.Load(); v != nil {
					private = v.private > 0
					if why := k.whyWorkspace(step, v); why != "" {
						st.Why = append(st.Why, why)
					}
				}
				if why := plan.OneThread(p); why != "" && !private && !k.env.OnGrids() {
					c.Warnings = append(c.Warnings, fmt.Sprintf("%s %s", p.Result.Name, why))
				}
			}
		}
		c.Statements = append(c.Statements, st)
	}
	for _, w := range k.loopWarnings() {
		c.Warnings = append(c.Warnings, w.Msg)
	}
	return c, nil
}

// statistics are those of operands, or else those that the kernel was made by.
func (k *Kernel) statistics(args Args) map[string]*tensor.Statistics {
	known := map[string]*tensor.Statistics{}
	for _, t := range k.asWritten().Tensors {
		if s, ok := statisticsOf(args[t.Name]); ok {
			known[t.Name] = s.Rounded()
		}
	}
	if c := k.chooser; c != nil && len(args) == 0 {
		if latest := c.latest.Load(); latest != nil {
			return latest.statistics
		}
		return c.first
	}
	return known
}

// unneeded reports whether a statement is not run.
func (k *Kernel) unneeded(i int) bool {
	wanted := k.plan.Options.Wanted
	return wanted != nil && !k.checked.Needed(wanted)[i]
}

// predicted estimates the statements of the program as it runs.
func (k *Kernel) predicted(statistics map[string]*tensor.Statistics) []logic.Estimate {
	return logic.Predict(k.checked, logic.Options{Statistics: statistics, Stores: storesOf(k.plan)})
}

// String prints the choices as a table.
func (c *Choices) String() string {
	var b strings.Builder
	if len(c.Guessed) > 0 {
		fmt.Fprintf(&b, "# guessed, as nothing is known of their data: statistics of %s\n", strings.Join(c.Guessed, ", "))
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, p := range c.Products {
		fmt.Fprintf(w, "\n%s\n", p.Of)
		fmt.Fprintf(w, "iterations\tentries\tbytes\ttime\t \n")
		for i, a := range p.Alternatives {
			why := "  chosen: " + a.What
			if i > 0 {
				why = fmt.Sprintf("  %s: %s", a.What, a.Why)
			}
			fmt.Fprintf(w, "\t\t\t%s\t%s\n", nanoseconds(a.Time), why)
			for _, e := range a.Steps {
				fmt.Fprintf(w, "%s\n", estimateRow(&e))
			}
		}
	}
	fmt.Fprintf(w, "\nas it runs\niterations\tentries\tbytes\ttime\t \n")
	for _, s := range c.Statements {
		fmt.Fprintf(w, "%s\n", estimateRow(&s.Estimate))
	}
	w.Flush()
	for _, s := range c.Statements {
		if len(s.Nests) < 2 && len(s.Why) == 0 {
			continue
		}
		weighed := "as for usual data"
		if s.Sized {
			weighed = "by statistics"
		}
		fmt.Fprintf(&b, "\nloops of %s, weighed %s: %s\n", s.Result, weighed, strings.Join(s.Schedule, ", "))
		for i, n := range s.Nests[:min(len(s.Nests), mostNests)] {
			order := "order(" + n.Order + ")"
			note := ""
			switch {
			case slices.Contains(s.Schedule, order):
				note = ", chosen"
			case i > 0 && s.Nests[0].Iterations > 0:
				note = fmt.Sprintf(", %s times as many", units.Rounded(n.Iterations/s.Nests[0].Iterations))
			}
			fmt.Fprintf(&b, "  %s: %s iterations%s\n", order, units.Rounded(n.Iterations), note)
		}
		for _, why := range s.Why {
			fmt.Fprintf(&b, "  %s\n", why)
		}
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	return strings.TrimLeft(trimmed(b.String()), "\n")
}

// trimmed is a text without spaces at the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// estimateRow is a line of a table.
func estimateRow(e *logic.Estimate) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t    %s", units.Rounded(e.Iterations), units.Rounded(e.Entries), units.Rounded(e.Bytes), nanoseconds(e.Time), e.Text)
}

// nanoseconds writes an estimated time with two digits.
func nanoseconds(t float64) string {
	for _, u := range []struct {
		unit string
		per  float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if t >= u.per {
			return units.Rounded(t/u.per) + " " + u.unit
		}
	}
	return units.Rounded(t) + " ns"
}
