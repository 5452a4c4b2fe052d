package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
)

// Warnings tells what the program may not mean (codes W1xx, see [Check]) and which of its loops may take
// unexpectedly long (W2xx): those over a whole dimension of which the operands store only some
// coordinates, where no tensor that stores all of them bounds it.
func (k *Kernel) Warnings() []*lang.Warning {
	if k.compiled() != nil {
		return nil
	}
	return append(lang.Warnings(k.file, k.program), k.loopWarnings()...)
}

// loopWarnings are those about loops.
func (k *Kernel) loopWarnings() []*lang.Warning {
	var list []*lang.Warning
	for _, st := range k.steps {
		v, c := st.latest.Load(), (*ir.Compute)(nil)
		if c, _ = st.plan.(*ir.Compute); c == nil || v == nil {
			continue
		}
		accesses := accessesOf(c)
		for _, note := range v.Lower.Notes {
			loop, whole := strings.CutSuffix(note, ", by whole dimension")
			index, _, _ := strings.Cut(loop, ": ")
			if !whole {
				continue
			}
			if sparse := onlySparse(accesses, index); len(sparse) > 0 {
				w := &lang.Warning{Code: lang.WarnWholeLoop, Source: k.program.Source,
					Msg: fmt.Sprintf("visits every %s: %s only some, but what is computed does not have one value at the others",
						index, storing(sparse))}
				if !slices.ContainsFunc(list, func(x *lang.Warning) bool { return x.Msg == w.Msg }) {
					w.Pos = k.indexPos(c.Result.Name, index)
					list = append(list, w)
				}
			}
		}
	}
	return list
}

// indexPos is where a statement for a result has the index of a loop, if its text has it.
func (k *Kernel) indexPos(result, index string) lang.Pos {
	for _, s := range k.program.Stmts {
		for _, x := range s.Indices {
			if s.LHS.Tensor.Name == result && x.Name == index {
				return x.Pos
			}
		}
	}
	return lang.Pos{}
}

// storing is "A stores" or "A and B store".
func storing(names []string) string {
	if len(names) == 1 {
		return names[0] + " stores"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " store"
}

// accessesOf lists the accesses of a statement, that of its result included.
func accessesOf(c *ir.Compute) []*ir.Access {
	list := []*ir.Access{c.LHS}
	var visit func(ir.Expr)
	visit = func(e ir.Expr) {
		ir.Walk(e, func(e ir.Expr) {
			switch e := e.(type) {
			case *ir.Access:
				list = append(list, e)
			case *ir.TempRef:
				visit(e.Temp.Reduce.Body)
			}
		})
	}
	visit(c.Value)
	return list
}

// onlySparse returns the tensors that store only some of the coordinates of an
// index, none if any tensor stores all.
func onlySparse(accesses []*ir.Access, index string) []string {
	var sparse []string
	for _, a := range accesses {
		for axis, x := range a.Indices {
			if v := x.Plain(); v == nil || v.Name != index {
				continue
			}
			f := a.Tensor.Format
			if f.Physical()[slices.Index(f.Order(), axis)].Full() {
				return nil
			}
			if !slices.Contains(sparse, a.Tensor.Name) {
				sparse = append(sparse, a.Tensor.Name)
			}
		}
	}
	return sparse
}
