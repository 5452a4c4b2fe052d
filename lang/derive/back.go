package derive

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// back takes the adjoint g of a node e down to the accesses in it. at is where e stands.
func (s *statement) back(e lang.Expr, g lang.Node, at place) *lang.Error {
	if !s.dependent(e) {
		return nil
	}
	switch e := e.(type) {
	case *lang.Access:
		return s.contribute(e, g, at)
	case *lang.Cast:
		return s.convert(e, g, at)
	case *lang.Like:
		return s.back(e.X, g, at)
	case *lang.Select:
		cond, err := s.value(e.Cond)
		if err != nil {
			return err
		}
		if err := s.back(e.Then, g, at.within(cond)); err != nil {
			return err
		}
		return s.back(e.Else, g, at.within(&lang.Unary{Op: "not", X: cond}))
	case *lang.Call:
		return s.call(e, g, at)
	case *lang.Reduce:
		return s.reduce(e, g, at)
	case *lang.Scan:
		return s.scan(e, g, at)
	}
	panic(fmt.Sprintf("BUG: unknown checked expression %T", e))
}

// convert is the chain rule for a change of type: the adjoint changes back.
func (s *statement) convert(e *lang.Cast, g lang.Node, at place) *lang.Error {
	from := e.X.DType()
	switch {
	case !from.IsFloat() && !from.IsComplex():
		return s.back(e.X, g, at) // what makes a whole number of the operand is refused there
	case !e.To.IsFloat() && !e.To.IsComplex():
		return flat(e.Pos, "a conversion to "+e.To.String())
	case e.To.IsComplex() && !from.IsComplex():
		g = call("real", g)
	}
	if narrow(from) {
		return s.back(e.X, g, at) // rounded once, in the end
	}
	return s.back(e.X, cast(from, g), at)
}

// call is the chain rule for a function.
func (s *statement) call(e *lang.Call, g lang.Node, at place) *lang.Error {
	var err *lang.Error
	for i, x := range e.Args {
		if !s.dependent(x) {
			continue
		}
		rule, ok := ruleOf(e, i)
		if !ok || !e.Typ.IsFloat() && !e.Typ.IsComplex() {
			return s.flatCall(e, x, g, at)
		}
		if c, constant := constantPower(e); constant && i == 0 {
			rule = c
		}
		if rule == nil {
			continue
		}
		by := map[string]lang.Node{"g": g}
		if uses(rule, "g") > 1 {
			if by["g"], err = s.shared(s.relevant(e, g, at), at); err != nil {
				return err
			}
		}
		for j, name := range []string{"x", "y"}[:len(e.Args)] {
			if uses(rule, name) == 0 {
				continue
			}
			if by[name], err = s.value(e.Args[j]); err != nil {
				return err
			}
		}
		if uses(rule, "f") > 0 {
			if by["f"], err = s.value(e); err != nil {
				return err
			}
		}
		if err := s.back(x, substitute(rule, by), at); err != nil {
			return err
		}
	}
	return nil
}

// flatCall refuses a call of which x is an argument. What makes a whole number or a truth value of the operand
// further inside is what the user has to change.
func (s *statement) flatCall(e *lang.Call, x lang.Expr, g lang.Node, at place) *lang.Error {
	if dt := x.DType(); !dt.IsFloat() && !dt.IsComplex() {
		if err := s.back(x, g, at); err != nil && err.Code == lang.ErrNotDifferentiable {
			return err
		}
	}
	return flat(e.Pos, e.Fn)
}

// constantPower is the rule for x^c with a number c: without the case of c == 0, which
// powerRules decides element by element.
func constantPower(e *lang.Call) (lang.Node, bool) {
	if e.Fn != "^" && e.Fn != "pow" {
		return nil, false
	}
	c, ok := e.Args[1].(*lang.Literal)
	if !ok || e.Typ.IsComplex() {
		return nil, false
	}
	g, x := &lang.Ref{Name: "g"}, &lang.Ref{Name: "x"}
	less := &lang.Literal{Value: tensor.Float(tensor.Float64, c.Value.Float64()-1).Convert(c.Value.DType())}
	scaled := binary("*", g, lang.NodeOf(c, nil, nil))
	switch c.Value.Float64() {
	case 0:
		return nil, true
	case 1:
		return g, true
	case 2:
		return binary("*", scaled, x), true
	}
	return binary("*", scaled, binary("^", x, lang.NodeOf(less, nil, nil))), true
}

// uses counts how often a rule uses one of its names.
func uses(rule lang.Node, name string) int {
	n := 0
	eachName(rule, func(x string) {
		if x == name {
			n++
		}
	})
	return n
}

// flat is the error of what has steps instead of slopes.
func flat(pos lang.Pos, what string) *lang.Error {
	return &lang.Error{Code: lang.ErrNotDifferentiable, Pos: pos,
		Msg:  what + " is not differentiable: its values do not change gradually with its arguments",
		Hint: "to choose between values by a condition write where(condition, a, b): the gradient goes through a and b"}
}
