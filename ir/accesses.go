package ir

import "slices"

// AccessesOf is the set of accesses that a nest reads.
func AccessesOf(st Stmt) map[*Access]bool {
	set := map[*Access]bool{}
	EachAccess(st, func(a *Access) { set[a] = true })
	return set
}

// EachAccess calls f for every access that a nest reads, as often as it is written.
func EachAccess(st Stmt, f func(*Access)) {
	EachStmt(st, func(st Stmt) {
		switch st := st.(type) {
		case *Where:
			if in := st.Temp.Reduce.In; in != nil {
				f(in)
			}
		case *Assign:
			walk := func(e Expr) {
				Walk(e, func(x Expr) {
					if a, ok := x.(*Access); ok {
						f(a)
					}
				})
			}
			walk(st.Value)
			if st.Temp != nil && st.Temp.Reduce.In != nil {
				walk(st.Temp.Reduce.In)
			}
			if st.LHS != nil {
				for _, x := range st.LHS.Indices {
					if x.Gather != nil {
						walk(x.Gather)
					}
				}
			}
		}
	})
}

// DependsOn reports whether which element an access names depends on an index variable.
func DependsOn(a *Access, v *Index) bool { return slices.Contains(a.Vars(nil), v) }
