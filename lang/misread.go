package lang

import "fmt"

// UnknownReduction returns the error for the first reference such as sum(x), which
// reads like a call of a reduction but is an element of a tensor called sum; nil if
// there is none. known tells the tensors that there are.
func (f *File) UnknownReduction(known func(name string) bool) error {
	var found *Ref
	f.eachRef(func(r *Ref) {
		if found == nil && reductionHint(r) != "" && !known(r.Name) && !f.assigns(r.Name) {
			found = r
		}
	})
	if found == nil {
		return nil
	}
	return &Error{Code: ErrUnknownName, Pos: found.Pos, Msg: "unknown tensor " + found.Name, Hint: reductionHint(found), Source: f.Source}
}

// reductionHint says how a reference that reads like a call of a reduction is
// written as one, or "".
func reductionHint(r *Ref) string {
	kind := foldKindOf(r.Name)
	if !r.Parens || kind == notFold {
		return ""
	}
	index, body := "i", "x(i)"
	if len(r.Indices) > 0 && len(r.Indices[0].Terms) == 1 {
		switch t := r.Indices[0].Terms[0]; {
		case t.Gather != nil:
			if vars := plainNames(t.Gather); len(vars) > 0 {
				index, body = vars[len(vars)-1], FormatNode(t.Gather)
			}
		case t.Name != "" && t.Name != "i":
			body = t.Name + "(i)"
		}
	}
	example := fmt.Sprintf("%s_%s %s", r.Name, index, body)
	if kind == quantileFold {
		example = fmt.Sprintf("%s_%s(%s, 0.5)", r.Name, index, body)
	}
	return fmt.Sprintf("%s is a reduction, which names its index behind an underscore: %s", r.Name, example)
}

// plainNames lists the names that stand alone as indices of r.
func plainNames(r *Ref) []string {
	var list []string
	for _, x := range r.Indices {
		if len(x.Terms) == 1 && x.Terms[0].Name != "" {
			list = append(list, x.Terms[0].Name)
		}
	}
	return list
}

// MisusedTensor returns the error for a tensor of that name when the program uses
// the name as an index only, as p in x(p); nil if it does not.
func (f *File) MisusedTensor(name string) error {
	var found *IndexTerm
	var in *Ref
	f.eachRef(func(r *Ref) {
		for _, x := range r.Indices {
			for _, t := range x.Terms {
				if found == nil && t.Name == name {
					found, in = t, r
				}
			}
		}
	})
	if found == nil {
		return nil
	}
	return &Error{
		Code: ErrUnknownName, Pos: found.Pos, Source: f.Source,
		Msg:  fmt.Sprintf("%s is an index here, but a tensor %s is given, which the program does not use", name, name),
		Hint: fmt.Sprintf("to index %s by the elements of %s write %s(%s(i)), or %s(%s()) if it is a scalar", in.Name, name, in.Name, name, in.Name, name),
	}
}

// eachRef calls g for every reference of the file, gathers included.
func (f *File) eachRef(g func(*Ref)) {
	for _, s := range f.Stmts {
		eachRef(s.LHS, g)
		eachRef(s.RHS, g)
	}
}

// assigns reports whether a statement assigns a tensor.
func (f *File) assigns(name string) bool {
	for _, s := range f.Stmts {
		if s.LHS.Name == name {
			return true
		}
	}
	return false
}

// operatorHint returns advice on an assignment operator that does not exist, given
// what it starts with.
func operatorHint(op string) string {
	switch op {
	case "-":
		return "to subtract write += and a minus sign: y(i) += -x(i)"
	case "/":
		return "to divide write *= and the reciprocal: y(i) *= 1/x(i)"
	case "^":
		return "there is no such assignment: write y(i) = y(i)^x(i)"
	}
	return ""
}
