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
		Hint: misusedHint(in, name),
	}
}

// misusedHint says what x(p) may have been meant to be.
func misusedHint(in *Ref, name string) string {
	if hint := elsewhere[in.Name]; hint != "" {
		return hint
	}
	return fmt.Sprintf("to index %s by the elements of %s write %s(%s(i)), or %s(%s()) if it is a scalar", in.Name, name, in.Name, name, in.Name, name)
}

// elsewhere maps functions of other languages and libraries to what this one has instead.
var elsewhere = map[string]string{
	"ln": "write log(x)", "power": "write x^y or pow(x, y)", "fabs": "write abs(x)", "absolute": "write abs(x)", "sgn": "write sign(x)",
	"arcsin": "write asin(x)", "arccos": "write acos(x)", "arctan": "write atan(x)", "arctan2": "write atan2(y, x)",
	"arcsinh": "write asinh(x)", "arccosh": "write acosh(x)", "arctanh": "write atanh(x)",
	"maximum": "write max(a, b) of two, max_i x(i) of many", "minimum": "write min(a, b) of two, min_i x(i) of many",
	"fmod": "write mod(a, b), which has the sign of b", "remainder": "write mod(a, b)", "rint": "write round(x)", "conjugate": "write conj(x)",
	"expit": "write sigmoid(x)", "logistic": "write sigmoid(x)", "clip": "write min(max(x, low), high)",
	"select": "write where(condition, a, b)", "iif": "write where(condition, a, b)", "ifelse": "write where(condition, a, b)", "cond": "write where(condition, a, b)",
	"matmul": matrixProduct, "dot": matrixProduct, "einsum": matrixProduct,
	"transpose": "exchange the indices: R(j,i) = A(i,j)",
	"softmax":   softmaxForm, "logsoftmax": "write x(i) - logsumexp_i x(i), or call ops.LogSoftmax",
	"std": "a standard deviation is the root of the variance: sqrt(var_i x(i))",
}

const (
	matrixProduct = "write the product with indices: C(i,k) = sum_j A(i,j)*B(j,k)"
	softmaxForm   = "write exp(x(i) - logsumexp_i x(i)), or call ops.Softmax"
)

// eachRef calls g for every reference of the file, gathers included.
func (f *File) eachRef(g func(*Ref)) {
	for _, s := range f.Stmts {
		EachRef(s.LHS, g)
		EachRef(s.RHS, g)
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
