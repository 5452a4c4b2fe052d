package exec

import (
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
	"github.com/lacuna-sparse/lacuna/ir/loop"
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
	// Loops are those of the stage, in the order of the text, where the engine can measure them.
	Loops []LoopProfile
	// Looks is how many looks at the stage the times of its loops come from: without any, these are not known, and 0.
	Looks int64

	code time.Duration // in the stage's function
}

// LoopProfile is a loop of a stage.
type LoopProfile struct {
	// Text is how the loop begins in the stage's function, as the loops stage of Explain prints it but for what the engine unrolls.
	Text string
	// Depth is how many loops are around it, which come before it.
	Depth int
	// Took is the part of the stage's time that passed in it, with the loops in it: as many looks found a thread there, of some thousand
	// if the step takes long enough.
	Took time.Duration
	// Visits is how often the loop was reached, Iterations how many it had.
	Visits, Iterations int64
	// Pos is the byte of the program that the loop was made for, such as its index variable; -1 if none is known.
	Pos int
}

// profiling is the key of the profiler in a context.
type profiling struct{}

// profiler takes down what the steps of a run take.
type profiler struct {
	kernel *Kernel
	steps  []StepProfile
	looked time.Duration // how long loops were looked at, behind the steps
	mu     sync.Mutex    // stages tell from their goroutines
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
	out := &Profile{Took: time.Since(start) - p.looked, Steps: p.steps}
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
func (p *profiler) begin(k *Kernel) { p.kernel, p.steps, p.looked = k, nil, 0 }

// step runs one step under watch.
func (p *profiler) step(ctx context.Context, st *step, run func(context.Context) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	s := StepProfile{Result: st.to.Name}
	watched := runtime.WithStageTimes(ctx, func(t runtime.StageTime) {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.Stages = append(s.Stages, StageProfile{Name: t.Stage, Took: t.Took, code: t.Code})
	})
	start := time.Now()
	out, err := run(watched)
	s.Took = time.Since(start)
	if err != nil {
		return out, err
	}
	switch st.plan.(type) {
	case *ir.Convert, *ir.Join: // which may hand out what there is
	default:
		p.loops(ctx, &s, run)
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

// Loops are looked at until this many looks found the step in one, or for so long, whichever comes first.
const (
	enoughLooks = 2000
	lookingTime = 100 * time.Millisecond
)

// loops has the step run again and again, by kernels that tell which loop they are in, and takes down which part of each stage passed in
// each. It does without where there is no memory for another result, or no such kernel.
func (p *profiler) loops(ctx context.Context, s *StepProfile, run func(context.Context) (*tensor.Tensor, error)) {
	if len(s.Stages) == 0 { // nobody tells of those on a device
		return
	}
	defer func(start time.Time) { p.looked += time.Since(start) }(time.Now())
	var told []runtime.StageTime
	watched, stop := runtime.WithLoopTimes(ctx, s.Took, func(t runtime.StageTime) {
		p.mu.Lock()
		defer p.mu.Unlock()
		told = append(told, t)
	})
	defer stop()
	var sum []runtime.StageTime
	looks, start := int64(0), time.Time{}
	for len(sum) == 0 || looks < enoughLooks && time.Since(start) < lookingTime {
		told = nil
		out, err := run(watched)
		if err != nil || len(told) != len(s.Stages) { // memory for one pass was not there, and is now, or the other way
			return
		}
		out.Release()
		if sum == nil { // it compiled
			sum, start = told, time.Now()
			continue
		}
		for i := range sum {
			sum[i].Samples += told[i].Samples
			for j, l := range told[i].Loops {
				sum[i].Loops[j].Samples += l.Samples
				looks += l.Samples
			}
		}
	}
	for i := range s.Stages {
		s.Stages[i].Loops, s.Stages[i].Looks = loopsOf(&sum[i], s.Stages[i].code)
	}
}

// loopsOf are the loops of a stage of which so much time passed in its function, and how many looks there were.
func loopsOf(t *runtime.StageTime, code time.Duration) (list []LoopProfile, all int64) {
	all = t.Samples
	within := make([]int64, len(t.Loops)) // with the loops in it
	for i, l := range slices.Backward(t.Loops) {
		within[i] += l.Samples
		all += l.Samples
		if l.Around >= 0 {
			within[l.Around] += within[i]
		}
	}
	for i, l := range t.Loops {
		own := LoopProfile{Text: l.Text, Visits: l.Visits, Iterations: l.Iterations, Pos: -1}
		if l.Around >= 0 {
			own.Depth = list[l.Around].Depth + 1
		}
		if all > 0 {
			own.Took = time.Duration(float64(code) * float64(within[i]) / float64(all))
		}
		if pos, known := loop.OriginOf(l.Loop).Offset(); known {
			own.Pos = pos
		}
		list = append(list, own)
	}
	return list, all
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

// String tells of a loop in a line.
func (l LoopProfile) String() string {
	times := "once"
	if l.Visits != 1 {
		times = units.Rounded(float64(l.Visits)) + " times"
	}
	return fmt.Sprintf("%s  # %s, %s iterations", l.Text, times, units.Rounded(float64(l.Iterations)))
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
		for _, stage := range s.Stages {
			if stage.Took*20 < s.Took { // which does not count
				continue
			}
			fmt.Fprintf(w, "%s\t\t\t\t      stage %s\n", nanoseconds(float64(stage.Took)), stage.Name)
			for _, l := range stage.Loops {
				if l.Took*20 >= s.Took {
					fmt.Fprintf(w, "%s\t\t\t\t        %s%s\n", nanoseconds(float64(l.Took)), strings.Repeat("  ", l.Depth), l)
				}
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
