package explorer

import "github.com/lacuna-sparse/lacuna/lang"

// eachAccess calls f for every access of a program, with the names of its indices, "" where one is no plain variable.
func eachAccess(program string, f func(name string, indices []string)) {
	p := checked(program)
	if p == nil {
		return
	}
	tell := func(a *lang.Access) {
		indices := make([]string, len(a.Indices))
		for i, x := range a.Indices {
			if v := x.Plain(); v != nil {
				indices[i] = v.Name
			}
		}
		f(a.Tensor.Name, indices)
	}
	for _, st := range p.Stmts {
		tell(st.LHS)
		for _, a := range lang.Accesses(st.RHS) {
			tell(a)
		}
	}
}
