package derive

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// reduce is the chain rule for reductions: the adjoint of the body is that of the
// result, times how much the result moves with the body, over the indices of both.
func (s *statement) reduce(e *lang.Reduce, g lang.Node, at place) *lang.Error {
	if err := s.ofOperands(e.Vars, e.Body, e.Pos); err != nil {
		return err
	}
	g, err := s.shared(g, at)
	if err != nil {
		return err
	}
	inner := place{slices.Clone(at.vars), at.conditions}
	for _, v := range e.Vars {
		inner.vars = append(inner.vars, v.Var)
	}
	rule, ok := reductionRules[e.Op]
	if !ok {
		return flat(e.Pos, e.Op.String())
	}
	if e.Q != nil && s.dependent(e.Q) {
		if err := s.moveOrder(e, g, at); err != nil {
			return err
		}
	}
	if !s.dependent(e.Body) {
		return nil
	}
	adjoint, err := rule(s, e, g)
	if err != nil {
		return err
	}
	return s.back(e.Body, s.within(e, adjoint, zero()), inner)
}

// reductionRules give the adjoint of the body of a reduction from that of its result.
var reductionRules map[lang.Reduction]func(s *statement, e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error)

func init() {
	reductionRules = map[lang.Reduction]func(s *statement, e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error){
		lang.Sum:       func(_ *statement, _ *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) { return g, nil },
		lang.Prod:      (*statement).prod,
		lang.Mean:      (*statement).mean,
		lang.Var:       (*statement).variance,
		lang.Norm:      (*statement).norm,
		lang.Min:       (*statement).extreme,
		lang.Max:       (*statement).extreme,
		lang.LogSumExp: (*statement).logSumExp,
		lang.Median:    (*statement).quantile, lang.Quantile: (*statement).quantile, lang.NanQuantile: (*statement).quantile,
	}
}

// within is x where a reduction with `in` looks, and other elsewhere.
func (s *statement) within(e *lang.Reduce, x, other lang.Node) lang.Node {
	return s.storedBy(e.Vars, x, other)
}

// storedBy is x where the tensor stores something over which vars run with `in`, and other elsewhere.
func (s *statement) storedBy(vars []lang.ReduceVar, x, other lang.Node) lang.Node {
	for _, v := range vars {
		if v.In == nil {
			continue
		}
		r := lang.RefOf(v.InAccess, s.names)
		r.Name = v.In.Name
		return where(call("stored", r), x, other)
	}
	return x
}

// ofOperands refuses `in T` of a result: what it stores is up to the planner. It refuses T at an index that is bound
// further inside, too, over which `in` does not say which coordinates are meant.
func (d *deriver) ofOperands(vars []lang.ReduceVar, body lang.Expr, pos lang.Pos) *lang.Error {
	_, bound := indicesOf(body)
	for _, v := range vars {
		if v.In == nil {
			continue
		}
		name := d.nameOf(v.In)
		if !v.In.Operand || v.In.Result {
			what, hint := "what the result "+name+" stores", "put the operand that "+name+" comes from behind in"
			if name != v.In.Name {
				what = "what " + name + " stores after it was assigned again"
				hint = "assign the new values to a tensor of another name, and put the one that " + name + " was made from behind in"
			}
			return unsupported(pos, what, hint)
		}
		free, _ := indicesOf(v.InAccess)
		if slices.ContainsFunc(free, func(x *lang.Index) bool { return slices.Contains(bound, x) }) {
			return unsupported(pos, fmt.Sprintf("what %s stores, while an index of it is bound further inside,", name), "fold over all indices at once")
		}
	}
	return nil
}

// group adds a statement that folds a value over the group of a reduction.
func (s *statement) group(e *lang.Reduce, base, op string, value lang.Node) (lang.Node, *lang.Error) {
	var bound []*lang.Index
	for _, v := range e.Vars {
		bound = append(bound, v.Var)
	}
	value, err := s.carry(value, bound)
	if err != nil {
		return nil, err
	}
	free, _ := indicesOf(e)
	used := map[string]bool{}
	eachIndexName(value, func(name string) { used[name] = true })
	free = slices.DeleteFunc(s.ordered(free), func(v *lang.Index) bool { return !used[s.names[v]] })
	return refOf(s.define(base, free, fold(op, s.spell(bound), nil, value)))
}

// refOf makes a node of what define returns.
func refOf(r *lang.Ref, err *lang.Error) (lang.Node, *lang.Error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// indicator is 1 where a condition holds and 0 elsewhere: sums of it count, and unlike
// count they have a derivative, 0, so that gradients can be derived again. They are sums of f64, since a
// group may have more than 2^63 elements.
func indicator(cond lang.Node) lang.Node { return where(cond, one(), zero()) }

// size is the number of values in the group of a reduction, as a number of type dt or a wider one.
func (s *statement) size(e *lang.Reduce, dt tensor.DType) (lang.Node, *lang.Error) {
	if s.counts[e] == nil {
		n, err := s.group(e, "n", "sum", s.within(e, one(), zero()))
		if err != nil {
			return nil, err
		}
		s.counts[e] = n
	}
	return cast(wide(dt.Real()), s.counts[e]), nil
}

// bodyAndValue writes the body of a reduction and its result.
func (s *statement) bodyAndValue(e *lang.Reduce) (body, value lang.Node, err *lang.Error) {
	if body, err = s.body(e); err == nil {
		value, err = s.value(e)
	}
	return body, value, err
}

func (s *statement) mean(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	n, err := s.size(e, e.Typ)
	return binary("/", g, n), err
}

// variance is that of the population: d/dx of mean((x-m)^2) is 2 (x-m)/n.
func (s *statement) variance(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	n, err := s.size(e, e.Typ)
	if err != nil {
		return nil, err
	}
	average := *e
	average.Op = lang.Mean
	body, m, err := s.bodyAndValue(&average)
	return binary("/", binary("*", binary("*", g, number("2")), &lang.Paren{X: binary("-", body, m)}), n), err
}

// norm: x/|x|, which is no larger than 1, and 0 at the origin.
func (s *statement) norm(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	body, f, err := s.bodyAndValue(e)
	return where(binary("==", f, zero()), zero(), binary("*", g, &lang.Paren{X: binary("/", body, f)})), err
}

// folded writes a reduction over values that read the statements of inner ones. A
// reduction with in becomes one over all coordinates, in which those that are not
// stored give the identity.
func (s *statement) folded(e *lang.Reduce) (lang.Node, *lang.Error) {
	body, err := s.body(e)
	if err != nil {
		return nil, err
	}
	if e.Op == lang.Sum { // over a slice with an end, that `stored` asks for
		var bound []*lang.Index
		for _, v := range e.Vars {
			bound = append(bound, v.Var)
		}
		body = only(s.limits(bound), body)
	}
	var names []string
	stored := false
	for _, v := range e.Vars {
		names = append(names, s.names[v.Var])
		stored = stored || v.In != nil
	}
	identity, known := identities[e.Op]
	switch {
	case e.Q != nil || stored && !known && e.Op != lang.Mean && e.Op != lang.Var:
		return lang.NodeOf(e, s.names, nil), nil
	case !stored:
		return fold(e.Op.String(), names, e.Options, body), nil
	case e.Op == lang.Min || e.Op == lang.Max: // which over no coordinates have no value
		return s.over(e.Vars, e.Op.String(), e.Options, s.within(e, body, identity)), nil
	case known:
		return fold(e.Op.String(), names, e.Options, s.within(e, body, identity)), nil
	}
	n, err := s.size(e, e.Typ)
	if err != nil {
		return nil, err
	}
	average := fold("sum", names, nil, s.within(e, body, zero()))
	if e.Op == lang.Mean {
		return binary("/", &lang.Paren{X: average}, n), nil
	}
	other := *e
	other.Op = lang.Mean
	m, err := s.value(&other)
	square := call("square", call("abs", binary("-", body, m)))
	return binary("/", &lang.Paren{X: fold("sum", names, nil, s.within(e, square, zero()))}, n), err
}

// identities are the values that change no result of a reduction.
var identities = map[lang.Reduction]lang.Node{
	lang.Sum: zero(), lang.Norm: zero(), lang.Prod: number("1"), lang.Max: negated(infinity()), lang.Min: infinity(),
	lang.LogSumExp: negated(infinity()), lang.Count: &lang.Const{Name: "false"},
	lang.Any: &lang.Const{Name: "false"}, lang.All: &lang.Const{Name: "true"},
}

// body writes what a reduction folds. A type that is computed in a wider one is rounded
// here, so that the largest value equals the result.
func (s *statement) body(e *lang.Reduce) (lang.Node, *lang.Error) {
	return s.rounded(e.Body)
}

// rounded writes a value as it is after it has been stored.
func (s *statement) rounded(e lang.Expr) (lang.Node, *lang.Error) {
	value, err := s.value(e)
	dt := e.DType()
	if _, read := e.(*lang.Access); !read && narrow(dt) {
		value = cast(dt, value)
	}
	return value, err
}

// extreme shares the adjoint evenly among the values that are the largest or least, or if there
// are NaNs among those; of values that are not stored the share is dropped.
func (s *statement) extreme(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	body, f, err := s.bodyAndValue(e)
	if err != nil {
		return nil, err
	}
	tie := binary("or", binary("==", body, f), binary("!=", body, body))
	ties, err := s.group(e, "n", "sum", s.within(e, indicator(tie), zero()))
	return where(tie, binary("/", g, cast(wide(e.Typ), ties)), zero()), err
}

// logSumExp: exp(x - f). An infinite value has the whole weight, -inf has none.
func (s *statement) logSumExp(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	body, f, err := s.bodyAndValue(e)
	weight := where(binary("==", body, f), number("1"), call("exp", binary("-", body, f)))
	return where(binary("==", body, negated(infinity())), zero(), binary("*", g, weight)), err
}
