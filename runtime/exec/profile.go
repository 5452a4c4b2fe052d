package exec

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/logic"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Profile is what the steps of one run took, beside what they were estimated to take.
type Profile struct {
	Steps []StepProfile
	// Took is the time of the whole run, with what stands between steps.
	Took time.Duration
	// Guessed are the operands whose statistics are guesses.
	Guessed []string
	// Warnings tell what another formulation could make better.
	Warnings []string
}

// StepProfile is one step of a run: a statement or a part of one, or an operand that is stored again.
type StepProfile struct {
	// Result names the tensor that is made, What is what is done.
	Result, What string
	// Intermediate says that the program as written does not have the result.
	Intermediate bool
	Took         time.Duration
	// Stages are the parts of the step's program that ran on a processor.
	Stages []StageProfile
	// Estimate is what was expected, nil of steps that are not weighed.
	Estimate *logic.Estimate
	// Entries is how many elements of the result are not its fill, Stored how many it stores.
	Entries, Stored int64
}

// StageProfile is one stage of a step's program: to allocate, to count, to compute.
type StageProfile struct {
	Name string
	Took time.Duration
}

// profiling is the key of the profiler in a context.
type profiling struct{}

// profiler takes down what the steps of a run take.
type profiler struct {
	kernel *Kernel
	steps  []StepProfile
	mu     sync.Mutex // stages tell from their goroutines
}

// profilerOf is the one that a run is watched by, nil if none is.
func profilerOf(ctx context.Context) *profiler {
	p, _ := ctx.Value(profiling{}).(*profiler)
	return p
}

// Profile runs the program on args, and says what each step took. A step that stores an operand again does so in the first run
// only; compiling what a run needs is not a part of it where the kernel has run before.
func (k *Kernel) Profile(ctx context.Context, args Args) (*Profile, Outputs, error) {
	if err := checkContext(ctx); err != nil {
		return nil, nil, err
	}
	p := &profiler{}
	start := time.Now()
	ran, values, err := k.run(context.WithValue(ctx, profiling{}, p), args, nil)
	if err != nil {
		return nil, nil, err
	}
	out := &Profile{Took: time.Since(start), Steps: p.steps}
	choices, err := ran.Choices(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	out.Guessed, out.Warnings = choices.Guessed, choices.Warnings
	for i := range out.Steps {
		s := &out.Steps[i]
		for _, c := range choices.Statements {
			if c.Result == s.Result && c.Text == s.What {
				s.Estimate = &c.Estimate
			}
		}
	}
	return out, ran.outputs(values), nil
}

// begin is for a run by a kernel's plan, which may be another than the one that was begun before.
func (p *profiler) begin(k *Kernel) { p.kernel, p.steps = k, nil }

// step runs one step under watch.
func (p *profiler) step(ctx context.Context, st *step, run func(context.Context) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	s := StepProfile{Result: st.to.Name}
	watched := runtime.WithStageTimes(ctx, func(t runtime.StageTime) {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.Stages = append(s.Stages, StageProfile{t.Stage, t.Took})
	})
	start := time.Now()
	out, err := run(watched)
	s.Took = time.Since(start)
	if err != nil {
		return out, err
	}
	switch c := st.plan.(type) {
	case *ir.Convert:
		s.What = fmt.Sprintf("convert %s to %s", c.From.Name, c.To.Format)
		if t := c.To.Source; t != nil && t.Result && c.To.Name == t.Name { // a statement that only stores again
			s.What = p.kernel.statementOf(t.Name, s.What)
		}
	case *ir.Join:
		s.What = fmt.Sprintf("make %s one tensor", c.Operand.Source.Name)
	case *ir.Compute:
		s.What = "a part of " + c.Stmt.String()
		if c.Main {
			s.What = c.Stmt.String()
		}
	default:
		f := fibresOf(st.plan)
		s.What = f.op + " of " + f.from.Name
	}
	s.Intermediate = slices.Contains(p.kernel.intermediates, s.Result) || st.to.Source == nil
	s.Stored = out.NNZ()
	s.Entries = notFill(out)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, s)
	return out, nil
}

// statementOf is the text of the statement that makes a result.
func (k *Kernel) statementOf(result, otherwise string) string {
	for _, s := range k.checked.Stmts {
		if s.LHS.Tensor.Name == result {
			return s.String()
		}
	}
	return otherwise
}

// notFill counts the stored elements that differ from the fill.
func notFill(t *tensor.Tensor) int64 {
	values, fill, n := t.Values(), t.Fill(), int64(0)
	if !values.Here() {
		return t.NNZ()
	}
	if values.DType() == tensor.Float64 && !fill.IsNaN() {
		none := fill.Float64()
		for _, x := range tensor.View[float64](values) {
			if x != none {
				n++
			}
		}
		return n
	}
	for i := range values.Len() {
		if !values.Scalar(i).Same(fill) {
			n++
		}
	}
	return n
}

// String prints the profile as a table.
func (p *Profile) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "time\testimated\tentries\testimated\t \n")
	for _, s := range p.Steps {
		expected, entries := "-", "-"
		if s.Estimate != nil {
			expected, entries = nanoseconds(s.Estimate.Time), units.Rounded(s.Estimate.Entries)
		}
		note := ""
		if s.Intermediate && s.Estimate != nil {
			note = "  # an intermediate"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t  %s%s\n", nanoseconds(float64(s.Took)), expected, units.Rounded(float64(s.Entries)), entries, s.What, note)
		if len(s.Stages) < 2 {
			continue
		}
		for _, stage := range s.Stages {
			if cmp.Compare(stage.Took*20, s.Took) >= 0 { // what counts
				fmt.Fprintf(w, "%s\t\t\t\t      stage %s\n", nanoseconds(float64(stage.Took)), stage.Name)
			}
		}
	}
	fmt.Fprintf(w, "%s\t\t\t\t  in all\n", nanoseconds(float64(p.Took)))
	w.Flush()
	if len(p.Guessed) > 0 {
		fmt.Fprintf(&b, "# guessed: statistics of %s\n", strings.Join(p.Guessed, ", "))
	}
	for _, warning := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	return trimmed(b.String())
}
