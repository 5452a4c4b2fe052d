package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

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
