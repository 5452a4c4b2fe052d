package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/logic"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file is where a session asks the logical optimiser (package ir/logic) in which order a program runs. A program with
// nothing to choose has no chooser and pays nothing.

// chooser has the kernels of a program for the classes of its operands' statistics.
type chooser struct {
	session *Session
	source  string
	file    *lang.File
	program *lang.Program
	says    *declare.Declarations // without examples
	sizes   bool                  // of operands, extents and numbers of entries alone count
	// operands are the names of those whose statistics count; first are those that the program was compiled with.
	operands []string
	first    map[string]*tensor.Statistics

	latest    atomic.Pointer[chosen]
	byClass   flight.Cache[*chosen]
	byOutline flight.Cache[*chosen]  // those that no values would change
	byText    flight.Cache[*Kernel]  // by the text of the optimised program; "" for that as it is written
	fell      atomic.Pointer[string] // why a plan would not do
}

// chosen is a kernel for operands of some classes.
type chosen struct {
	classes    []string // of outlines, unless byValues
	kernel     *Kernel
	statistics map[string]*tensor.Statistics
	byValues   bool // or outlines are not known
}

// compile compiles a program in the order that is best for the operands that are given as examples.
func (s *Session) compile(ctx context.Context, src string, d *declare.Declarations) (*Kernel, error) {
	file, program, err := d.Check(src)
	if err != nil {
		return nil, err
	}
	wanted, err := d.Wanted(program)
	if err != nil {
		return nil, err
	}
	choices := logic.Choices(program, wanted, s.env.OnGrids())
	bySizes := ordersBySizes(program)
	sizes := !choices && (ordersByExtents(program) && !bySizes || bySizes && addsAlike(program))
	choices = choices || bySizes || sizes
	if program.Scheduled() && (choices || storesSaid(file)) && !d.Strict() && !d.AsWritten() {
		return s.compileScheduled(ctx, src, file, program, d)
	}
	if d.Strict() || d.AsWritten() || program.Scheduled() || !choices {
		return s.compileAs(ctx, src, file, program, d)
	}
	c := &chooser{session: s, source: src, file: file, program: program, says: d.WithoutExamples(), sizes: sizes}
	for _, t := range program.Tensors {
		if t.Operand && t.StoredOf == nil {
			c.operands = append(c.operands, t.Name)
		}
	}
	classes, statistics, all := c.describe(func(name string) (*tensor.Statistics, bool) {
		if o := d.Example(name); sizes && o != nil {
			return sizeOf(o)
		}
		return s.declared(ctx, d, name)
	})
	c.first = statistics
	made, err := c.make(ctx, classes, statistics, d)
	if err != nil {
		return nil, err
	}
	k := made.kernel
	for _, name := range c.operands {
		if statistics[name] == nil {
			k.guessed = append(k.guessed, name)
		}
	}
	if all {
		if why := k.tooLarge(ctx, d.Examples()); why != nil {
			if k, err = c.withoutIntermediates(ctx, d, why); err != nil {
				return nil, err
			}
			made.kernel = k
		}
		c.byClass.Put(strings.Join(classes, ";"), made)
		outlines, ok := c.outlines(d.Example)
		c.latest.Store(c.lasting(made, outlines, ok))
	}
	k.chooser = c
	return k, nil
}

// tooLarge is why the intermediates of another order do not fit the memory, as far as their shapes tell; nil if they may.
func (k *Kernel) tooLarge(ctx context.Context, args Args) *runtime.MemoryLimitError {
	if k.written == nil || len(args) == 0 {
		return nil
	}
	vals, err := k.takeAll(ctx, args)
	if err != nil {
		return nil // which a run will tell
	}
	var memory *runtime.MemoryLimitError
	if b, err := k.bind(vals); err == nil {
		errors.As(k.admit(b), &memory)
	}
	return memory
}

// withoutIntermediates is the kernel of the program as it is written, for operands for which those of another order do not fit the memory.
func (c *chooser) withoutIntermediates(ctx context.Context, d *declare.Declarations, why *runtime.MemoryLimitError) (*Kernel, error) {
	c.falls("the program runs as written, as the intermediates of another order do not fit the memory: " + why.Error())
	return c.asWritten(ctx, d)
}

// falls says why the program has to run as it is written: to who runs it, and to who has it explained.
func (c *chooser) falls(why string) {
	c.fell.Store(&why)
	if tell := c.session.env.convert.Notice; tell != nil {
		tell(why)
	}
}

// describe returns the classes of the operands' statistics, and these, rounded, of those that have some; false if not all have.
func (c *chooser) describe(statisticsOf func(name string) (*tensor.Statistics, bool)) ([]string, map[string]*tensor.Statistics, bool) {
	classes := make([]string, len(c.operands))
	statistics := make(map[string]*tensor.Statistics, len(c.operands))
	for i, name := range c.operands {
		if s, ok := statisticsOf(name); ok {
			classes[i], statistics[name] = s.Class(), s.Rounded()
			if c.sizes {
				classes[i] = fmt.Sprint(statistics[name].Axes)
			}
		}
	}
	return classes, statistics, len(statistics) == len(c.operands)
}

// outlines returns the classes of the operands' outlines; false if not all have one.
func (c *chooser) outlines(operand func(name string) tensor.Operand) ([]string, bool) {
	if c.sizes {
		return nil, false
	}
	classes, _, all := c.describe(func(name string) (*tensor.Statistics, bool) { return outlineOf(operand(name)) })
	return classes, all
}

// lasting is a kernel for all operands of such outlines, if all have one and values do not matter.
func (c *chooser) lasting(made *chosen, outlines []string, all bool) *chosen {
	kept := *made
	if kept.byValues = made.byValues || !all; !kept.byValues {
		kept.classes = outlines
		c.byOutline.Put(strings.Join(outlines, ";"), &kept)
	}
	return &kept
}

// outlineOf returns the outline of an operand, if it is one tensor that has some.
func outlineOf(o tensor.Operand) (*tensor.Statistics, bool) {
	t, ok := o.(*tensor.Tensor)
	if !ok || t == nil {
		return nil, false
	}
	return t.Outline()
}

// statisticsOf returns the statistics of an operand, if it is one tensor that has some.
func statisticsOf(o tensor.Operand) (*tensor.Statistics, bool) {
	t, ok := o.(*tensor.Tensor)
	if !ok || t == nil {
		return nil, false
	}
	return t.Statistics()
}

// declared returns the statistics of an operand that is declared by example, or those that are assumed of it.
func (s *Session) declared(ctx context.Context, d *declare.Declarations, name string) (*tensor.Statistics, bool) {
	if o := d.Example(name); o != nil {
		return s.statistics(ctx, o)
	}
	return d.Statistics(name)
}

// run runs the kernel for the arguments.
func (c *chooser) run(ctx context.Context, args Args) (*Kernel, values, error) {
	args = c.sorted(ctx, args)
	k, err := c.kernel(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	ran, vals, err := k.runPlan(ctx, args, nil)
	var memory *runtime.MemoryLimitError
	if errors.As(err, &memory) && k.written != nil { // intermediates take memory
		failed := k
		if k, err := c.withoutIntermediates(ctx, c.declared(args), memory); err == nil {
			if latest := c.latest.Load(); latest != nil && latest.kernel == failed { // it runs until operands of another class come
				c.latest.CompareAndSwap(latest, &chosen{latest.classes, k, latest.statistics, latest.byValues})
			}
			return k.runPlan(ctx, args, nil)
		}
	}
	return ran, vals, err
}

// sorted are arguments as kernels take them: what has no order, or entries several times, has no statistics.
func (c *chooser) sorted(ctx context.Context, args Args) Args {
	var out Args
	for _, name := range c.operands {
		t, ok := args[name].(*tensor.Tensor)
		if !ok || t == nil || t.IsCanonical() || t.Structure() != tensor.General {
			continue
		}
		s, err := c.session.env.convert.PinnedCanonical(ctx, t)
		if err != nil {
			return args // which the run will tell
		}
		if out == nil {
			out = maps.Clone(args)
		}
		out[name] = s
	}
	if out == nil {
		return args
	}
	return out
}

// kernel is the one for the arguments. Of the statistics of operands that were passed before, only the class is looked at, and values only if they
// matter.
func (c *chooser) kernel(ctx context.Context, args Args) (*Kernel, error) {
	if latest := c.latest.Load(); latest != nil && c.same(latest, args) {
		return latest.kernel, nil
	}
	outlines, outlined := c.outlines(func(name string) tensor.Operand { return args[name] })
	if outlined {
		if kept, ok := c.byOutline.Get([]byte(strings.Join(outlines, ";"))); ok {
			c.latest.Store(kept)
			return kept.kernel, nil
		}
	}
	classes, statistics, ok := c.describe(func(name string) (*tensor.Statistics, bool) {
		if c.sizes {
			return sizeOf(args[name])
		}
		return c.session.statistics(ctx, args[name])
	})
	if !ok {
		return c.asWritten(ctx, c.declared(args))
	}
	made, err := c.byClass.Do(ctx, strings.Join(classes, ";"), func(ctx context.Context) (*chosen, error) {
		return c.make(ctx, classes, statistics, c.declared(args))
	})
	if err != nil {
		return nil, err
	}
	c.latest.Store(c.lasting(made, outlines, outlined))
	return made.kernel, nil
}

// same reports whether arguments are of the classes that a kernel was chosen for.
func (c *chooser) same(latest *chosen, args Args) bool {
	of := outlineOf
	if latest.byValues {
		of = statisticsOf
	}
	for i, name := range c.operands {
		if c.sizes {
			if !sizedLike(args[name], latest.statistics[name]) {
				return false
			}
		} else if s, ok := of(args[name]); !ok || s.Class() != latest.classes[i] {
			return false
		}
	}
	return true
}

// declared is what is declared of the program, with the arguments as examples.
func (c *chooser) declared(args Args) *declare.Declarations {
	d := c.says.WithoutExamples()
	for name, o := range args {
		declare.Operand(name, o)(d)
	}
	return d
}

// asWritten is the kernel of the program in the order in which it is written.
func (c *chooser) asWritten(ctx context.Context, d *declare.Declarations) (*Kernel, error) {
	return c.byText.Do(ctx, "", func(ctx context.Context) (*Kernel, error) {
		return c.session.compileAs(ctx, c.source, c.file, c.program, d)
	})
}

// make optimises the program for operands with statistics of such classes, and compiles what comes of it, unless that is there.
func (c *chooser) make(ctx context.Context, classes []string, statistics map[string]*tensor.Statistics, d *declare.Declarations) (made *chosen, err error) {
	defer runtime.Caught(c.source, &err)
	r, byValues := c.session.optimised(ctx, c.file, c.program, statistics, d, false)
	if byValues {
		free, still := c.session.optimised(ctx, c.file, c.program, harmless(statistics), d, false)
		if byValues = still || free != nil && free.Program != nil; !byValues { // it runs as written whatever the values are
			r = free
		}
	}
	k, err := c.ordered(ctx, r, statistics, d)
	return &chosen{classes, k, statistics, byValues || r != nil && r.Program != nil}, err
}

// harmless are statistics of the same entries with values that forbid no order.
func harmless(statistics map[string]*tensor.Statistics) map[string]*tensor.Statistics {
	out := make(map[string]*tensor.Statistics, len(statistics))
	for name, s := range statistics {
		o := *s
		o.Finite, o.Exponent, o.NonNegative = true, 0, true
		out[name] = &o
	}
	return out
}

// ordered compiles the program as it was optimised.
func (c *chooser) ordered(ctx context.Context, r *logic.Result, statistics map[string]*tensor.Statistics, d *declare.Declarations) (k *Kernel, err error) {
	as := &Kernel{source: c.source, file: c.file}
	text := ""
	if r != nil {
		if as.notes = r.Notes; r.Limited != "" {
			c.falls(r.Limited)
		}
	}
	if r != nil && r.Program != nil {
		as.checked, as.rewritten, as.written, as.intermediates = r.Program, r.File, c.program, r.Intermediates
		text = r.File.String()
	} else if as.checked, err = d.CheckFile(c.file); err != nil { // anew, as literals are taken from that which is shared
		return nil, err
	}
	opts, loops, err := c.session.sized(ctx, as.checked, statistics, d)
	if err != nil && as.written != nil && ctx.Err() == nil {
		c.unplanned(err)
	}
	if literals := as.written == nil && hasLiterals(as.checked); err != nil || literals || as.written == nil && loops == "" {
		return c.noted(ctx, d, as.notes)
	}
	k, err = c.byText.Do(ctx, text+"\n"+loops, func(ctx context.Context) (*Kernel, error) {
		p, err := c.session.env.planAs(ctx, as.checked, d, opts)
		if err != nil {
			return nil, err
		}
		as.planned = p
		return as, nil
	})
	if err != nil && ctx.Err() == nil { // what cannot be planned runs as written
		c.unplanned(err)
		return c.noted(ctx, d, as.notes)
	}
	return k, err
}

// unplanned says that another order than the written one cannot be planned.
func (c *chooser) unplanned(err error) {
	c.falls("the program runs as written, as another order cannot be planned: " + err.Error())
}

// noted is the kernel of the program as it is written, with notes that tell why.
func (c *chooser) noted(ctx context.Context, d *declare.Declarations, notes []string) (*Kernel, error) {
	k, err := c.asWritten(ctx, d)
	if err != nil || len(notes) == 0 {
		return k, err
	}
	return &Kernel{planned: k.planned, source: k.source, file: k.file, checked: k.checked, literals: k.literals, intermediates: k.intermediates, notes: notes}, nil
}

// optimised asks the optimiser, which keeps what it has weighed if record says so. byValues says that other values might allow another order.
func (s *Session) optimised(ctx context.Context, file *lang.File, program *lang.Program, statistics map[string]*tensor.Statistics, d *declare.Declarations, record bool) (r *logic.Result, byValues bool) {
	wanted, err := d.Wanted(program)
	if err != nil {
		return nil, false
	}
	r = logic.Optimise(file, program, logic.Options{
		Statistics: statistics,
		Forbidden:  func() { byValues = true },
		Wanted:     wanted,
		Grids:      s.env.OnGrids(),
		Eager:      s.env.eager,
		Record:     record,
		Stores: func() (map[*lang.Tensor]logic.Stored, bool) {
			plan, err := plan.New(ctx, program, ir.Options{Forms: d.Forms()}, scalar.Eval)
			if err != nil {
				return nil, false
			}
			return storesOf(plan)()
		},
		Check: func(f *lang.File, more map[string]lang.Decl) (*lang.Program, error) {
			decls, err := d.Decls(file)
			if err != nil {
				return nil, err
			}
			for name, says := range more {
				if old, ok := decls[name]; ok { // what was declared of a result holds
					if old.HasFormat {
						says.Format = old.Format
					}
					if old.HasDType {
						says.DType, says.HasDType = old.DType, true
					}
					if old.Fill != nil {
						says.Fill = old.Fill
					}
					says.Rank, says.Shape = old.Rank, old.Shape
				}
				decls[name] = says
			}
			return lang.Check(f, decls)
		},
	})
	return r, byValues
}

// compileScheduled compiles a program with a schedule, what that leaves open by the statistics of the operands: so that the schedule of a kernel
// gives that kernel.
func (s *Session) compileScheduled(ctx context.Context, src string, file *lang.File, program *lang.Program, d *declare.Declarations) (*Kernel, error) {
	statistics := map[string]*tensor.Statistics{}
	for _, t := range program.Tensors {
		if !t.Operand || t.StoredOf != nil {
			continue
		}
		if st, ok := s.declared(ctx, d, t.Name); ok {
			statistics[t.Name] = st.Rounded()
		}
	}
	opts, loops, err := s.sized(ctx, program, statistics, d)
	if err != nil {
		return nil, withSource(err, src)
	}
	if fresh, err := d.CheckFile(file); loops == "" || err != nil || hasLiterals(fresh) {
		return s.compileAs(ctx, src, file, program, d)
	}
	p, err := s.env.planAs(ctx, program, d, opts)
	if err != nil {
		return nil, withSource(err, src)
	}
	return &Kernel{planned: p, source: src, file: file, checked: program, intermediates: file.Temporaries()}, nil
}

// hasLiterals reports whether indices of a program are numbers: programs that differ in these alone share plans. It takes them out of the program.
func hasLiterals(program *lang.Program) bool {
	literals, _ := program.TakeLiterals()
	return len(literals) > 0
}

// storesSaid reports whether a program says how its results are stored, as schedules that are printed do.
func storesSaid(file *lang.File) bool {
	return slices.ContainsFunc(file.Stmts, func(a *lang.Assign) bool { return slices.ContainsFunc(a.Schedule, aboutResult) })
}

// storesOf tells how what a plan makes is stored, whether it is wanted or only read by later statements.
func storesOf(p *ir.Plan) func() (map[*lang.Tensor]logic.Stored, bool) {
	return func() (map[*lang.Tensor]logic.Stored, bool) {
		stored := map[*lang.Tensor]logic.Stored{}
		for _, t := range p.Tensors { // the latest version of each comes last
			if of := t.Source; of != nil && !of.Operand {
				stored[of] = logic.Stored{Format: t.Format, Fill: t.Fill}
			}
		}
		for of, t := range p.Results {
			stored[of] = logic.Stored{Format: t.Format, Fill: t.Fill}
		}
		return stored, true
	}
}

// Described names the operands of which compiling has taken statistics.
func (k *Kernel) Described() []string {
	if k.compiled() != nil || k.chooser == nil || k.chooser.latest.Load() == nil {
		return nil
	}
	return slices.Clone(k.chooser.operands)
}

// explainLogic prints the program in the order in which it runs.
func (k *Kernel) explainLogic() string {
	var b strings.Builder
	needed := k.checked.Needed(k.plan.Options.Wanted)
	for i, s := range k.checked.Stmts {
		if k.plan.Options.Wanted != nil && !needed[i] {
			b.WriteString("# not made, as no result follows from it: ")
		}
		b.WriteString(s.String())
		if t := s.LHS.Tensor; k.isIntermediate(t) {
			b.WriteString("  # an intermediate")
			if t.HasFormat {
				fmt.Fprintf(&b, ", %s", t.Format)
			}
		}
		b.WriteString("\n")
	}
	if k.written == nil {
		b.WriteString("# as it is written\n")
	}
	notes := k.notes
	if k.chooser != nil {
		if why := k.chooser.fell.Load(); why != nil && !slices.Contains(notes, *why) {
			notes = append(slices.Clip(notes), *why)
		}
	}
	for _, n := range notes {
		b.WriteString("# " + n + "\n")
	}
	if len(k.guessed) > 0 {
		fmt.Fprintf(&b, "# guessed, as nothing is known of their data: statistics of %s\n", strings.Join(k.guessed, ", "))
	}
	return b.String()
}

// asWritten is the program as it is written, checked.
func (k *Kernel) asWritten() *lang.Program {
	if k.written != nil {
		return k.written
	}
	return k.checked
}

// isIntermediate reports whether a result is one that the optimiser has added.
func (k *Kernel) isIntermediate(t *lang.Tensor) bool { return slices.Contains(k.intermediates, t.Name) }
