package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
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
