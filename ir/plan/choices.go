package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What planning has chosen for a step, written as commands of a schedule (command.go reads them), and what else there is to choose.

// nestText writes the loops of a nest as arguments of order: those of temporaries and workspaces, and of each of
// several statements, in braces.
func nestText(indices []*ir.Index, st ir.Stmt) string {
	var items []string
	var visit func(ir.Stmt)
	inside := func(st ir.Stmt) {
		if text := nestText(indices, st); text != "" {
			items = append(items, "{"+text+"}")
		}
	}
	visit = func(st ir.Stmt) {
		list := ir.Parts(st)
		switch st := st.(type) {
		case *ir.Forall:
			items = append(items, indices[st.Index.ID].Name)
		case *ir.Sequence:
			for _, x := range list {
				inside(x)
			}
			return
		}
		for i, x := range list {
			if i == len(list)-1 {
				visit(x)
				break
			}
			inside(x)
		}
	}
	visit(st)
	return strings.Join(items, ", ")
}

// workspacesOf lists the workspaces of a nest.
func workspacesOf(st ir.Stmt) []*ir.Workspace {
	var list []*ir.Workspace
	ir.EachStmt(st, func(st ir.Stmt) {
		if w, ok := st.(*ir.Workspace); ok {
			list = append(list, w)
		}
	})
	return list
}

// workspaceNames are the names of the indices that a workspace is over.
func workspaceNames(indices []*ir.Index, w *ir.Workspace) []string {
	var names []string
	for _, leaf := range ir.AssignmentsOf(w.Producers) {
		if leaf.LHS != nil && leaf.LHS.Tensor == w.Tensor {
			for _, v := range leaf.LHS.Vars(nil) {
				names = append(names, indices[v.ID].Name)
			}
			return names
		}
	}
	return names
}

// Schedule writes the choices of a statement's main step as commands: all that planning chose and, of those that wait for a
// run, those that the directives in how give.
func Schedule(c *ir.Compute, how ir.Directives) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if text := nestText(c.Indices, c.Body); text != "" {
		add("order(%s)", text)
	}
	if all := workspacesOf(c.Body); len(all) > 0 {
		kind := ""
		if how.Workspace != "" && all[0].Mask == nil {
			kind = ": " + how.Workspace
		}
		if names := workspaceNames(c.Indices, all[0]); sameWorkspaces(c.Indices, all) {
			add("workspace(%s%s)", strings.Join(names, ", "), kind)
		}
	}
	for _, x := range c.Converts {
		if sayable(x.From) {
			add("convert(%s: %s)", x.From.Name, x.To.Format)
		}
	}
	if how.Intersect != "" {
		add("intersect(%s)", how.Intersect)
	}
	if how.Assemble != "" {
		add("assemble(%s)", how.Assemble)
	}
	for _, command := range []struct {
		name  string
		loops map[string]int64
	}{{"split", how.Split}, {"unroll", how.Unroll}, {"vectorize", how.Vectorize}} {
		if items := numberedText(command.loops); items != "" {
			add("%s(%s)", command.name, items)
		}
	}
	if len(how.Tile) > 0 {
		add("tile(%s)", tileText(how.Tile))
	}
	if len(how.Mapping) > 0 {
		add("gpu(%s)", mappingText(how.Mapping))
	}
	f := outermost(c.Body)
	switch {
	case how.Serial:
		add("serial")
	case f != nil && shared(c.LHS, c.Result, f, c.Scatter, c.Fold):
		grain := ""
		if how.Grain > 0 {
			grain = fmt.Sprintf(": %d", how.Grain)
		}
		add("parallel(%s%s)", c.Indices[f.Index.ID].Name, grain)
	}
	return list
}

// numberedText writes loops with numbers as arguments.
func numberedText(loops map[string]int64) string {
	var items []ir.Block
	for _, name := range slices.Sorted(maps.Keys(loops)) {
		items = append(items, ir.Block{Index: name, Steps: loops[name]})
	}
	return tileText(items)
}

// mappingText writes ways to map stages as arguments.
func mappingText(list []ir.Mapping) string {
	var items []string
	for _, m := range list {
		items = append(items, m.String())
	}
	return strings.Join(items, ", ")
}

// tileText writes blocks as arguments.
func tileText(blocks []ir.Block) string {
	var items []string
	for _, b := range blocks {
		items = append(items, fmt.Sprintf("%s: %d", b.Index, b.Steps))
	}
	return strings.Join(items, ", ")
}

// sameWorkspaces reports whether one command can speak of all workspaces.
func sameWorkspaces(indices []*ir.Index, list []*ir.Workspace) bool {
	first := workspaceNames(indices, list[0])
	return !slices.ContainsFunc(list, func(w *ir.Workspace) bool {
		return !slices.Equal(workspaceNames(indices, w), first) || (w.Mask == nil) != (list[0].Mask == nil)
	})
}

// Choices are commands about lowering that hold for the step beside its loops, one at a time.
func Choices(c *ir.Compute) []string {
	var list []string
	if all := workspacesOf(c.Body); len(all) > 0 && all[0].Mask == nil && sameWorkspaces(c.Indices, all) {
		for _, kind := range []string{"dense", "hash", "sort"} {
			list = append(list, fmt.Sprintf("workspace(%s: %s)", strings.Join(workspaceNames(c.Indices, all[0]), ", "), kind))
		}
	}
	if len(c.Tables) > 0 {
		list = append(list, "intersect(table)", "intersect(merge)")
	}
	if !c.Result.Format.IsDense() {
		list = append(list, "assemble(counted)", "assemble(joined)")
	}
	if f := outermost(c.Body); f != nil && shared(c.LHS, c.Result, f, c.Scatter, c.Fold) {
		name := c.Indices[f.Index.ID].Name
		list = append(list, "serial", fmt.Sprintf("parallel(%s: 2048)", name), fmt.Sprintf("parallel(%s: 262144)", name))
	}
	return append(list, reshapes(c)...)
}

// reshapes are commands that tile, vectorise or split the loops of a step.
func reshapes(c *ir.Compute) []string {
	var list []string
	seen := map[*ir.Index]bool{}
	dense := wholeLoops(readsOf(c.Body))
	name := func(f *ir.Forall) string { return c.Indices[f.Index.ID].Name }
	ir.EachStmt(c.Body, func(st ir.Stmt) {
		if f, ok := st.(*ir.Forall); ok && !seen[f.Index] {
			seen[f.Index] = true
			inner, nested := f.Body.(*ir.Forall)
			switch {
			case nested && dense[inner.Index]:
				list = append(list, fmt.Sprintf("tile(%s: 64, %s: 256)", name(f), name(inner)))
			case nested || !dense[f.Index]:
				list = append(list, fmt.Sprintf("split(%s: 1024)", name(f)))
			default:
				list = append(list, fmt.Sprintf("vectorize(%s: 8)", name(f)))
			}
		}
	})
	return list
}

// Formats are conversions of matrices that the step reads to the usual formats that they are not in.
func Formats(c *ir.Compute) []string {
	var list []string
	for _, a := range readsOf(c.Body) {
		t := a.Tensor
		for _, x := range c.Converts {
			if x.To == t {
				t = x.From
			}
		}
		if !sayable(t) || t.Rank != 2 || !onlyEntries(t.Format) {
			continue
		}
		for _, f := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSR} {
			if more := fmt.Sprintf("convert(%s: %s)", t.Name, f); f != t.Format && !slices.Contains(list, more) {
				list = append(list, more)
			}
		}
	}
	return list
}

// sayable reports whether a schedule can name a tensor: it is one of the program, all of it.
func sayable(t *ir.Tensor) bool {
	return t.Source != nil && t.Name == t.Source.Name && t.StoredOf == nil
}
