package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
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
		for _, command := range []string{"serial", "assemble", "workspace"} {
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
	file := k.file
	if k.rewritten != nil {
		file = k.rewritten
	}
	var b strings.Builder
	for i, s := range k.checked.Stmts {
		a := *file.Stmts[i]
		commands := slices.DeleteFunc(slices.Clone(a.Schedule), func(c *lang.Command) bool { return !aboutResult(c) })
		a.Schedule = nil
		b.WriteString(a.String())
		var list []string
		if k.rewritten != nil {
			list = k.resultOf(s.LHS.Tensor)
		} else if len(commands) > 0 {
			list = append(list, lang.FormatCommands(commands))
		}
		for _, st := range k.steps {
			if c, ok := st.plan.(*ir.Compute); ok && c.Main && c.Stmt == s {
				list = append(list, k.scheduleOf(st, c)...)
			}
		}
		if len(list) > 0 {
			b.WriteString(" with " + strings.Join(list, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
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
	if v := st.latest.Load(); v != nil && st.ran.Load() {
		if len(c.Workspaces) > 0 {
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
	return c.Schedule(how)
}
