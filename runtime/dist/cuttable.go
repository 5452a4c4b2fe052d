package dist

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// whyNotPlain says why coordinates of an index cannot be left out: "" if they can, since it stands by itself in every access, and
// nothing but accesses depends on it.
func (s *statement) whyNotPlain(v *lang.Index) string {
	if v.Name == "" {
		return "a slice"
	}
	why := ""
	check := func(a *lang.Access) {
		n := 0
		for _, x := range a.Indices {
			switch {
			case x.Plain() == v:
				n++
			case x.Gather == nil && slices.Contains(x.Vars(nil), v):
				why = fmt.Sprintf("%s is shifted in %s", v.Name, a.Tensor.Name)
			case x.Gather != nil && a == s.LHS && slices.Contains(x.Vars(nil), v):
				why = fmt.Sprintf("%s scatters by %s", a.Tensor.Name, v.Name)
			}
		}
		if n > 1 {
			why = fmt.Sprintf("%s stands twice in %s", v.Name, a.Tensor.Name)
		}
	}
	for _, a := range lang.Accesses(s.LHS) {
		check(a)
	}
	lang.Walk(s.RHS, func(e lang.Expr) bool {
		switch e := e.(type) {
		case *lang.Access:
			check(e)
		case *lang.IndexValue:
			if e.Var == v {
				why = v.Name + " is computed with"
			}
		case *lang.Scan:
			if slices.Contains(e.Indices(), v) {
				why = fmt.Sprintf("%s goes along %s", e.Op, v.Name)
			}
		case *lang.Reduce:
			if slices.ContainsFunc(e.Vars, func(x lang.ReduceVar) bool { return x.Var == v }) && e.Q != nil {
				why = fmt.Sprintf("%s goes along %s", e.Op, v.Name)
			}
		}
		return true
	})
	return why
}

// alone reports whether no other index has to have the extent of an index.
func (s *statement) alone(v *lang.Index) bool {
	return v.Like == nil && !slices.ContainsFunc(s.Indices, func(x *lang.Index) bool { return x.Like == v })
}

// combinations are the programs that combine results of a reduction over parts; "%[1]s" is where indices stand.
var combinations = map[lang.Reduction]string{
	lang.Sum: "r%[1]s = a%[1]s + b%[1]s", lang.Count: "r%[1]s = a%[1]s + b%[1]s", lang.Prod: "r%[1]s = a%[1]s * b%[1]s",
	lang.Min: "r%[1]s = min(a%[1]s, b%[1]s)", lang.Max: "r%[1]s = max(a%[1]s, b%[1]s)",
	lang.Any: "r%[1]s = a%[1]s or b%[1]s", lang.All: "r%[1]s = a%[1]s and b%[1]s",
}

// whyNot says why a statement cannot be cut along an index; "" if it can. at is then the axis of the result that is cut, and -1 where
// the ranks' results are combined with what is returned.
func (s *statement) whyNot(v *lang.Index) (at int, with, why string) {
	if why := s.whyNotPlain(v); why != "" {
		return 0, "", why
	}
	if v.Free {
		return axis(s.LHS, v), "", ""
	}
	if !s.alone(v) {
		return 0, "", v.Name + " is summed over in several terms"
	}
	if s.Op != lang.Set || !s.LHS.Whole() || s.LHS.Tensor.Operand {
		return 0, "", fmt.Sprintf("%s is updated in place", s.LHS.Tensor.Name)
	}
	e, op := s.RHS, lang.Reduction(255)
	for {
		fold, ok := e.(*lang.Reduce)
		if !ok || op != 255 && fold.Op != op || len(fold.Options) > 0 || fold.Q != nil {
			return 0, "", "the reduction over " + v.Name + " is part of a larger expression"
		}
		if op = fold.Op; combinations[op] == "" {
			return 0, "", fmt.Sprintf("%s of parts does not give that of all", op)
		}
		if t := s.LHS.Tensor; (op == lang.Prod || op == lang.All) && t.HasFormat && !t.Format.IsDense() {
			return 0, "", fmt.Sprintf("%s of two parts is stored only where both are", op)
		}
		if dt := s.LHS.Tensor.DType; (op == lang.Prod || op == lang.Sum) && (dt == tensor.Float16 || dt == tensor.BFloat16) {
			return 0, "", fmt.Sprintf("a %s of type %s is rounded once, and parts would be too", op, dt)
		}
		if slices.ContainsFunc(fold.Vars, func(x lang.ReduceVar) bool { return x.In != nil }) && op != lang.Sum && op != lang.Count && op != lang.Any {
			return 0, "", fmt.Sprintf("%s of stored elements is nothing where a rank has none", op)
		}
		if slices.ContainsFunc(fold.Vars, func(x lang.ReduceVar) bool { return x.Var == v }) {
			return -1, combinations[op], ""
		}
		e = fold.Body
	}
}
