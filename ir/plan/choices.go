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
	if w, ok := st.(*ir.Workspace); ok {
		list = append(list, w)
	}
	for _, x := range ir.Parts(st) {
		list = append(list, workspacesOf(x)...)
	}
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

// outermost is the loop that a nest is cut along: the outermost, of a reduction outside all loops if there is one; nil
// where there is none, or several.
func outermost(st ir.Stmt) *ir.Forall {
	switch st := st.(type) {
	case *ir.Forall:
		return st
	case *ir.Tabulate:
		return outermost(st.Body)
	case *ir.Where:
		if f := outermost(st.Consumer); f != nil {
			return f
		}
		return outermost(st.Producer)
	}
	return nil
}

// shared reports whether threads may share the outermost loop of a nest.
func shared(lhs *ir.Access, result *ir.Tensor, f *ir.Forall, scatter bool, fold ir.Fold) bool {
	if ir.LeafOf(f).Temp != nil || ir.Cuttable(lhs, result, f) {
		return true
	}
	typ := result.DType
	return scatter && result.Format.IsDense() && len(ir.Effects(f)) == 1 && typ == ir.ComputeType(typ) && fold.AnyOrder(typ)
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
	if len(how.Unroll) > 0 {
		var items []string
		for _, name := range slices.Sorted(maps.Keys(how.Unroll)) {
			items = append(items, fmt.Sprintf("%s: %d", name, how.Unroll[name]))
		}
		add("unroll(%s)", strings.Join(items, ", "))
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

// OneThread says why threads cannot share the step's loops, as a sentence with what could be written instead; "" if they can.
func OneThread(c *ir.Compute) string {
	f := outermost(c.Body)
	if f == nil || shared(c.LHS, c.Result, f, c.Scatter, c.Fold) || c.Directives.Serial {
		return ""
	}
	name, result := c.Indices[f.Index.ID].Name, c.Result.Name
	if !c.Result.Format.IsDense() {
		return fmt.Sprintf("runs on one thread, because its outermost loop, over %s, is not the first in which %s is stored: a format of %s that begins with %s, or a dense one, is shared", name, result, result, name)
	}
	var by []string // operands whose levels begin with the loop
	for _, a := range readsOf(c.Body) {
		if t := a.Tensor; sayable(t) && t.Rank > 1 && a.Indices[t.Format.Order()[0]].Plain() == f.Index && !slices.Contains(by, t.Name) {
			by = append(by, t.Name)
		}
	}
	hint := "min, max and sums of integers are shared"
	if len(by) > 0 {
		hint = fmt.Sprintf("with %s stored in another order, such as %s, it is shared", strings.Join(by, " and "), otherOrder(c, by[0]))
	}
	return fmt.Sprintf("runs on one thread, because chunks of its outermost loop, over %s, add to the same elements of %s: %s", name, result, hint)
}

// otherOrder is a format of a matrix that is stored the other way round, or words for one of a tensor.
func otherOrder(c *ir.Compute, name string) string {
	for _, a := range readsOf(c.Body) {
		if t := a.Tensor; t.Name == name && t.Rank == 2 {
			if t.Format == tensor.CSC {
				return tensor.CSR.String()
			}
			return tensor.CSC.String()
		}
	}
	return "one that begins with an index of the result"
}
