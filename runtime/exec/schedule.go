package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Schedules, from both ends: what one says of choices that wait for a run, and all choices of a kernel as one.

// directed puts what the step's schedule says into a specialisation. An error says that it cannot hold on this engine.
func (k *planned) directed(st *step, how *specialisation) error {
	c, ok := st.plan.(*ir.Compute)
	if !ok {
		return nil
	}
	d := &c.Directives
	if k.env.OnGrids() {
		for _, command := range []string{"serial", "assemble", "workspace", "unroll", "split", "tile", "vectorize"} {
			if command == "workspace" && d.Workspace == "" {
				continue
			}
			if err := d.Fail(command, "a GPU has a way of its own, which the schedule cannot choose"); err != nil {
				return err
			}
		}
	}
	if i := slices.Index(workspaceKinds, d.Workspace); i >= 0 {
		how.work = lower.WorkspaceKind(i)
	}
	if d.Intersect != "" {
		how.tables = d.Intersect == "table"
	}
	if i := slices.Index(assemblies, d.Assemble); i >= 0 && !st.twoPasses.Load() {
		how.assembly = lower.Assembly(i)
	}
	return nil
}

// The words of schedules for choices that wait for a run.
var (
	workspaceKinds = []string{lower.DenseWorkspace: "dense", lower.HashWorkspace: "hash", lower.SortWorkspace: "sort"}
	assemblies     = []string{lower.Counted: "counted", lower.Appended: "appended", lower.Joined: "joined"}
)

// explainSchedule prints the program as it runs, each statement with its schedule: a program that gives this plan.
func (k *Kernel) explainSchedule() string {
	var b strings.Builder
	for _, s := range k.scheduled() {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// scheduledStmt is a statement as it runs, with its schedule.
type scheduledStmt struct {
	text   string // without the schedule
	result []string
	chosen []string // of main
	main   *ir.Compute
}

// String is the statement in the language.
func (s *scheduledStmt) String() string { return s.with(s.chosen) }

// with is the statement with other choices.
func (s *scheduledStmt) with(chosen []string) string {
	if all := slices.Concat(s.result, chosen); len(all) > 0 {
		return s.text + " with " + strings.Join(all, ", ")
	}
	return s.text
}

// scheduled lists the statements of the program as it runs.
func (k *Kernel) scheduled() []*scheduledStmt {
	file := k.file
	if k.rewritten != nil {
		file = k.rewritten
	}
	var list []*scheduledStmt
	for i, s := range k.checked.Stmts {
		bare := *file.Stmts[i]
		bare.Schedule = nil
		out := &scheduledStmt{text: bare.String()}
		list = append(list, out)
		if k.rewritten != nil {
			out.result = k.resultOf(s.LHS.Tensor)
		}
		for _, c := range file.Stmts[i].Schedule {
			if aboutResult(c) {
				out.result = append(out.result, c.String())
			}
		}
		for _, st := range k.steps {
			if c, ok := st.plan.(*ir.Compute); ok && c.Main && c.Stmt == s {
				out.main, out.chosen = c, append(out.chosen, k.scheduleOf(st, c)...)
			}
		}
	}
	return list
}

// aboutResult reports whether a command is about how a result is stored.
func aboutResult(c *lang.Command) bool {
	return c.Name == lang.StoreCommand || c.Name == lang.TemporaryCommand
}

// resultOf says how the result of an optimised program is stored: as that of the one that was written.
func (k *Kernel) resultOf(t *lang.Tensor) []string {
	word, format := lang.StoreCommand, ""
	if k.isIntermediate(t) {
		word = lang.TemporaryCommand
	}
	if t.HasFormat && !t.Operand {
		format = fmt.Sprintf("(%s)", t.Format)
	}
	if word == lang.StoreCommand && format == "" {
		return nil
	}
	return []string{word + format}
}

// scheduleOf writes the choices of a step: those of the plan, and those of the latest run if there was one.
func (k *Kernel) scheduleOf(st *step, c *ir.Compute) []string {
	how := c.Directives
	v := st.latest.Load()
	if v != nil && st.ran.Load() {
		if k.env.OnGrids() { // which stages there are follows from what the run has chosen
			how.Mapping = gpu.Chosen(v.Lower.Program, k.env.Grids(v.Lower))
		}
		if len(c.Workspaces) > 0 && !k.env.OnGrids() {
			how.Workspace = workspaceKinds[v.work]
		}
		if k.mayTabulate(st) {
			how.Intersect = map[bool]string{true: "table", false: "merge"}[v.tables]
		}
		if !c.Result.Format.IsDense() && !k.env.OnGrids() {
			how.Assemble = assemblies[lower.Counted]
			if v.Lower.OnePass {
				how.Assemble = assemblies[v.assembly]
			}
		}
	}
	return plan.Schedule(c, how)
}

// mostNests is how many nests of a statement are alternatives.
const mostNests = 6

// Schedules lists programs that compute the same as the kernel does, each with another choice for one statement, those first
// that are estimated to cost least. Each is the program as it runs or, where the optimiser made that, as it is written.
func (k *Kernel) Schedules(ctx context.Context) ([]string, error) {
	list, err := k.alternatives(ctx)
	var programs []string
	for _, a := range list {
		programs = append(programs, a.program)
	}
	return programs, err
}

// alternative is a program that computes the same, with what is other about it.
type alternative struct{ program, change string }

// alternatives are those of the program as it runs, and of that which was written.
func (k *Kernel) alternatives(ctx context.Context) ([]alternative, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	all, err := k.variants(ctx, k.checked, k.rewritten)
	if err != nil || k.written == nil {
		return all, err
	}
	more, err := k.variants(ctx, k.written, nil)
	return append(all, more...), err
}

// variants are the alternatives of a program of the kernel: that as it runs, or as it is written.
func (k *Kernel) variants(ctx context.Context, program *lang.Program, rewritten *lang.File) ([]alternative, error) {
	other, err := k.weighed(ctx, program, rewritten, k.plan.Options.Sizes)
	if err != nil {
		return nil, err
	}
	return other.choices(program != k.checked), nil
}

// weighed is a program of the kernel planned again, with all nests that are weighed. It is not compiled.
func (k *Kernel) weighed(ctx context.Context, program *lang.Program, rewritten *lang.File, sizes map[string]*tensor.Statistics) (*Kernel, error) {
	opts := k.plan.Options
	opts.Alternatives, opts.Sizes = true, sizes
	plan, err := plan.New(ctx, program, opts, scalar.Eval)
	if err != nil {
		return nil, withSource(err, k.source)
	}
	other := &Kernel{planned: &planned{env: k.env, program: program, plan: plan, alg: k.alg},
		source: k.source, file: k.file, checked: program, rewritten: rewritten}
	if rewritten != nil {
		other.intermediates = k.intermediates
	}
	for _, s := range plan.Steps {
		other.steps = append(other.steps, &step{plan: s, to: target(s)})
	}
	return other, nil
}

// choices are the programs of one choice each; the program itself too, if wanted.
func (k *Kernel) choices(itself bool) []alternative {
	stmts := k.scheduled()
	var all []alternative
	add := func(of *scheduledStmt, change string, chosen []string) {
		var lines []string
		for _, s := range stmts {
			line := s.String()
			if s == of {
				line = s.with(chosen)
			}
			lines = append(lines, line)
		}
		if of != nil && len(stmts) > 1 {
			name, _, _ := strings.Cut(of.text, " =")
			change = name + ": " + change
		}
		all = append(all, alternative{strings.Join(lines, "\n"), change})
	}
	if itself {
		add(nil, "as written", nil)
	}
	for _, s := range stmts {
		if s.main == nil {
			continue
		}
		for i, nest := range s.main.Nests {
			if order := "order(" + nest.Order + ")"; i < mostNests && nest.Order != "" && !slices.Contains(s.chosen, order) {
				add(s, order, []string{order})
			}
		}
		for _, more := range plan.Choices(s.main) {
			if slices.Contains(s.chosen, more) {
				continue
			}
			word, _, _ := strings.Cut(more, "(")
			chosen := slices.DeleteFunc(slices.Clone(s.chosen), func(c string) bool {
				return strings.HasPrefix(c, word) || word == "serial" && strings.HasPrefix(c, "parallel")
			})
			add(s, more, append(chosen, more))
		}
		for _, more := range plan.Formats(s.main) {
			add(s, more, []string{more})
		}
	}
	return all
}
