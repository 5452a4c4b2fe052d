package derive

import (
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// copyOf is the statement before statement i that copies the value which this one updates, or -1. versions writes
// one before all updates whose adjoint needs it.
func (d *deriver) copyOf(i int) int {
	if d.prog.Stmts[i].Op == lang.AddTo {
		return -1
	}
	for j, s := range d.prog.Stmts[:i] {
		if s.LHS.Tensor == d.prog.Stmts[i].LHS.Tensor {
			return j
		}
	}
	return -1
}

// copied is the tensor that such a statement copies.
func copied(s *lang.Stmt) *lang.Tensor {
	x := s.RHS
	if c, ok := x.(*lang.Cast); ok { // of a narrow type
		x = c.X
	}
	return x.(*lang.Access).Tensor
}

// update derives a statement that assigns a part of a tensor, or scatters to it, of which old is the value before.
func (s *statement) update(old *lang.Tensor) *lang.Error {
	switch s.stmt.Op {
	case lang.Set:
		return s.replace(old)
	case lang.MulTo:
		return s.scatterProduct(old)
	case lang.MinTo, lang.MaxTo:
		return s.scatterExtreme(old)
	}
	return flat(s.stmt.Pos, s.stmt.Op.String())
}

// replace derives an assignment to a part: the value before has the adjoint of the rest.
func (s *statement) replace(old *lang.Tensor) *lang.Error {
	vars := s.elements(old)
	part, err := s.region(vars)
	if err != nil {
		return err
	}
	s.handTo(old, vars, where(part, zero(), ref(s.adjoint[s.stmt.LHS.Tensor], vars)))
	return s.back(s.stmt.RHS, s.upstream(), place{vars: s.left})
}

// elements are names for the coordinates of an element of t.
func (s *statement) elements(t *lang.Tensor) []string {
	vars := make([]string, t.Rank)
	for k := range vars {
		vars[k] = s.deriver.index("m", s.taken)
	}
	return vars
}

// handTo adds to the adjoint of a tensor at the element that vars name, if it moves the result.
func (s *statement) handTo(t *lang.Tensor, vars []string, value lang.Node) {
	if !s.depends[t] {
		return
	}
	if !allPlain(value, vars) {
		value = call("like", value, ref(t.Name, vars))
	}
	s.parts[t] = append(s.parts[t], &part{vars: vars, value: value})
}

// region is the condition that the left side names the element at vars: that some values of its indices give these
// coordinates.
func (s *statement) region(vars []string) (lang.Node, *lang.Error) {
	var list []lang.Node
	// coordinate[v] = coefficient*v + constant, of the dimension that v was seen in first
	type line struct {
		at             lang.Node
		coef, constant int64
	}
	first := map[*lang.Index]line{}
	for k, x := range s.stmt.LHS.Indices {
		m := &lang.Ref{Name: vars[k]}
		if len(x.Terms) == 0 {
			list = append(list, binary("==", m, integer(x.Const)))
			continue
		}
		v, a, b := x.Terms[0].Var, x.Terms[0].Coef, x.Const
		if f, seen := first[v]; seen { // a1*(m - b) == a*(m1 - b1)
			list = append(list, binary("==", multiple(f.coef, m, b), multiple(a, f.at, f.constant)))
			continue
		}
		first[v] = line{m, a, b}
		if plain(x) != nil {
			continue
		}
		limits, err := s.span(m, x)
		if err != nil {
			return nil, err
		}
		list = append(list, limits...)
	}
	all := list[0]
	for _, c := range list[1:] {
		all = binary("and", all, c)
	}
	return all, nil
}

// multiple is a*(x - b).
func multiple(a int64, x lang.Node, b int64) lang.Node {
	d := minus(x, b)
	if a == 1 {
		return d
	}
	return binary("*", integer(a), parenthesised(d))
}

// minus is x - b.
func minus(x lang.Node, b int64) lang.Node {
	switch {
	case b == 0:
		return x
	case b < 0:
		return binary("+", x, integer(-b))
	}
	return binary("-", x, integer(b))
}

// span lists the conditions that m is a coordinate of an affine index, or of a slice, with one variable.
func (s *statement) span(m lang.Node, x lang.IndexExpr) ([]lang.Node, *lang.Error) {
	v, a, b := x.Terms[0].Var, x.Terms[0].Coef, x.Const
	upward, steps := minus(m, b), a // how far m is from the first coordinate
	if a < 0 {
		upward, steps = binary("-", integer(b), m), -a
	}
	var list []lang.Node
	if a < 0 || b != 0 {
		list = append(list, binary(">=", upward, zero()))
	}
	if steps > 1 {
		list = append(list, binary("==", call("mod", upward, integer(steps)), zero()))
	}
	switch {
	case x.Open:
		return list, nil // some: a slice that is not the whole dimension
	case v.Length >= 0:
		return append(list, binary("<", upward, integer(steps*v.Length))), nil
	}
	one, err := s.carry(number("1"), []*lang.Index{v})
	if err != nil {
		return nil, err
	}
	n, err := refOf(s.define("n", nil, fold("sum", s.spell([]*lang.Index{v}), nil, one)))
	if err != nil {
		return nil, err
	}
	if steps > 1 {
		n = binary("*", integer(steps), n)
	}
	return append(list, binary("<", upward, n)), nil
}

// at is the element of a tensor that the left side names.
func (s *statement) at(name string) *lang.Ref {
	r := lang.RefOf(s.stmt.LHS, s.names)
	r.Name = name
	return r
}

// scattered adds statements that fold value into the elements of a new tensor that the left side names, from what start
// is at vars.
func (s *statement) scattered(base string, vars []string, start lang.Node, op lang.AssignOp, value lang.Node) (name string) {
	name = s.fresh(base)
	s.assign(name, vars, start)
	s.out = append(s.out, &lang.Assign{LHS: s.at(name), Op: op, RHS: value})
	return name
}

// scatterExtreme shares the adjoint of every element evenly among the values that are equal to it, the one before
// included, or if there are NaNs among those.
func (s *statement) scatterExtreme(old *lang.Tensor) *lang.Error {
	t := s.stmt.LHS.Tensor
	vars := s.elements(old)
	e, err := s.rounded(s.stmt.RHS)
	if err != nil {
		return err
	}
	tie := func(x, f lang.Node) lang.Node { return binary("or", binary("==", x, f), binary("!=", x, x)) }
	// Ties among the scattered values are counted apart: they are as sparse as those.
	ties := s.scattered("n", vars, s.start(old, vars, tensor.Float64, "0"), lang.AddTo, indicator(tie(e, s.at(t.Name))))
	wasTie := tie(ref(old.Name, vars), ref(t.Name, vars))
	share := binary("/", ref(s.adjoint[t], vars), cast(wide(t.DType), binary("+", ref(ties, vars), number("1"))))
	s.handTo(old, vars, where(wasTie, share, zero()))
	all := binary("+", s.at(ties), indicator(tie(s.at(old.Name), s.at(t.Name))))
	share = binary("/", s.at(s.adjoint[t]), cast(wide(t.DType), all))
	return s.back(s.stmt.RHS, where(tie(e, s.at(t.Name)), share, zero()), place{vars: s.left})
}

// start is a value for every element of a new tensor like t: zeros only where a sparse operand stores something.
func (s *statement) start(t *lang.Tensor, vars []string, dt tensor.DType, value string) lang.Node {
	x := cast(dt, number(value))
	if value == "0" && sparseOperand(t) && !t.Result {
		return where(call("stored", ref(t.Name, vars)), x, zero())
	}
	return call("like", x, ref(t.Name, vars))
}

// scatterProduct: the adjoint of the value before is multiplied by all factors, that of a factor by the value before and the
// other factors. Those are found by division, as no scan runs over the values of one element: see prodByDivision.
func (s *statement) scatterProduct(old *lang.Tensor) *lang.Error {
	t := s.stmt.LHS.Tensor
	vars := s.elements(old)
	e, err := s.value(s.stmt.RHS)
	if err != nil {
		return err
	}
	typ := ranged(t.DType)
	e = convertedTo(typ, t.DType, e)
	start := func(dt tensor.DType, value string) lang.Node { return s.start(old, vars, wide(dt), value) }
	conj := func(x lang.Node) lang.Node {
		if t.DType.IsComplex() {
			return call("conj", x)
		}
		return x
	}
	if s.depends[old] {
		all := s.scattered("p", vars, start(typ, "1"), lang.MulTo, e)
		s.handTo(old, vars, binary("*", ref(s.adjoint[t], vars), convertedTo(wide(t.DType), typ, conj(ref(all, vars)))))
	}
	if !s.dependent(s.stmt.RHS) {
		return nil
	}
	isZero := binary("==", e, zero())
	zeros := s.scattered("n", vars, start(tensor.Float64, "0"), lang.AddTo, indicator(isZero))
	rest := s.scattered("p", vars, start(typ, "1"), lang.MulTo, where(isZero, number("1"), e))
	sum := s.scattered("z", vars, start(typ, "0"), lang.AddTo, where(isZero, e, zero()))
	moved := binary("*", s.at(s.adjoint[t]), conj(s.at(old.Name)))
	product := otherFactors(conj(e), isZero, s.at(zeros), conj(s.at(sum)), conj(s.at(rest)))
	return s.back(s.stmt.RHS, convertedTo(wide(t.DType), typ, binary("*", moved, product)), place{vars: s.left})
}
