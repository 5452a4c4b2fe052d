package derive

import (
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// ranks has, by method, the rank among n sorted values at which the q-quantile lies, counted
// from 0, as an expression of the language; q and n are f64. A rank between two
// values is a mean of them with the weights that its fraction gives. The formulas are those of Hyndman and
// Fan (Sample Quantiles in Statistical Packages, 1996) and NumPy.
var ranks = map[string]string{
	"linear": "q*(n - 1)", "lower": "floor(q*(n - 1))", "higher": "ceil(q*(n - 1))", "nearest": "round(q*(n - 1))",
	"midpoint":                  "where(floor(q*(n - 1)) == q*(n - 1), q*(n - 1), floor(q*(n - 1)) + 0.5)",
	"hazen":                     "n*q - 0.5",
	"weibull":                   "(n + 1)*q - 1",
	"median_unbiased":           "n*q + (1 + q)/3 - 1",
	"normal_unbiased":           "n*q + 0.375 + q/4 - 1",
	"interpolated_inverted_cdf": "n*q - 1",
	"inverted_cdf":              "ceil(n*q) - 1",
	"averaged_inverted_cdf":     "where(floor(n*q) == n*q, n*q - 0.5, ceil(n*q) - 1)",
	"closest_observation":       "round(n*q) - 1",
}

// quantile hands the adjoint to the one or two values that a quantile is made of, shared
// evenly by those that are equal; of those that are not stored the share is dropped.
// Where a NaN makes the quantile NaN it has all of the adjoint.
func (s *statement) quantile(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	body, nans, err := s.bodyAndNaNs(e)
	if err != nil {
		return nil, err
	}
	isNaN := binary("!=", body, body)
	adjoint, err := s.shares(e, body, nans, g)
	if err != nil || e.Op == lang.NanQuantile {
		return adjoint, err
	}
	return where(binary(">", nans, zero()), where(isNaN, binary("/", g, cast(wide(e.Typ), some(nans))), zero()), adjoint), nil
}

// shares writes the adjoint of a value that is no NaN.
func (s *statement) shares(e *lang.Reduce, body, nans, g lang.Node) (lang.Node, *lang.Error) {
	share := func(method string, order, weight lang.Node) (lang.Node, *lang.Error) {
		value, err := s.orderStatistic(e, body, method, order)
		if err != nil {
			return nil, err
		}
		tie := binary("==", body, value)
		ties, err := s.group(e, "n", "sum", s.within(e, indicator(tie), zero()))
		part := g
		if weight != nil {
			part = binary("*", g, weight)
		}
		return where(tie, binary("/", part, cast(wide(e.Typ), some(ties))), zero()), err
	}
	method := methodOf(e)
	if method == "lower" || method == "higher" || method == "nearest" { // one of the values
		order, err := s.order(e)
		if err != nil {
			return nil, err
		}
		return share(method, order, nil)
	}
	n, err := s.ranked(e, nans)
	if err != nil {
		return nil, err
	}
	between, err := s.between(e, n)
	if err != nil {
		return nil, err
	}
	low, err := share(between.lowMethod, between.lowOrder, cast(wide(e.Typ), binary("-", number("1"), between.fraction)))
	if err != nil {
		return nil, err
	}
	high, err := share(between.highMethod, between.highOrder, cast(wide(e.Typ), between.fraction))
	return binary("+", low, high), err
}

// bodyAndNaNs writes the body of a quantile, and adds a statement for how many NaNs there are.
func (s *statement) bodyAndNaNs(e *lang.Reduce) (body, nans lang.Node, err *lang.Error) {
	if body, err = s.body(e); err == nil {
		nans, err = s.group(e, "n", "sum", s.within(e, indicator(binary("!=", body, body)), zero()))
	}
	return body, nans, err
}

// order writes the order of a quantile.
func (s *statement) order(e *lang.Reduce) (lang.Node, *lang.Error) {
	if e.Q == nil {
		return number("0.5"), nil
	}
	return s.value(e.Q)
}

// ranked is how many values have a rank, written so that it is one number where nothing is stored.
func (s *statement) ranked(e *lang.Reduce, nans lang.Node) (lang.Node, *lang.Error) {
	n, err := s.size(e, tensor.Float64)
	if err == nil && e.Op == lang.NanQuantile {
		n = &lang.Paren{X: binary("-", n, nans)}
	}
	return n, err
}

// neighbours are the two values between which a quantile lies, as quantiles that are one of the values, and how far it is
// from the lower to the higher.
type neighbours struct {
	lowMethod, highMethod         string
	lowOrder, highOrder, fraction lang.Node
}

func (s *statement) between(e *lang.Reduce, n lang.Node) (neighbours, *lang.Error) {
	rank, err := s.rank(e, n)
	if err != nil {
		return neighbours{}, err
	}
	order, err := s.order(e)
	if err != nil {
		return neighbours{}, err
	}
	below := call("floor", rank)
	b := neighbours{"lower", "higher", order, order, binary("-", rank, below)}
	if method := methodOf(e); method != "linear" && method != "midpoint" { // whose ranks are not those of lower and higher
		last := call("max", binary("-", n, number("1")), number("1"))
		b.lowMethod, b.lowOrder = "nearest", binary("/", below, last)
		b.highMethod, b.highOrder = "nearest", binary("/", call("ceil", rank), last)
	}
	return b, nil
}

// slopes has how fast the rank grows with the order, for the methods of which it does not grow in steps.
var slopes = map[string]string{
	"linear": "n - 1", "hazen": "n", "weibull": "n + 1", "median_unbiased": "n + 1/3", "normal_unbiased": "n + 0.25",
	"interpolated_inverted_cdf": "n",
}

// moveOrder hands the adjoint g of a quantile to its order: the difference of the values on both sides, for each
// rank that the order passes. Where the rank is a whole number, or does not grow further, and for methods that choose
// a value, it is 0.
func (s *statement) moveOrder(e *lang.Reduce, g lang.Node, at place) *lang.Error {
	slope, grows := slopes[methodOf(e)]
	if !grows {
		return nil
	}
	body, nans, err := s.bodyAndNaNs(e)
	if err != nil {
		return err
	}
	n, err := s.ranked(e, nans)
	if err != nil {
		return err
	}
	between, err := s.between(e, n)
	if err != nil {
		return err
	}
	low, err := s.orderStatistic(e, body, between.lowMethod, between.lowOrder)
	if err != nil {
		return err
	}
	high, err := s.orderStatistic(e, body, between.highMethod, between.highOrder)
	if err != nil {
		return err
	}
	speed := &lang.Paren{X: substitute(parsed()[slope], map[string]lang.Node{"n": n})}
	distance := where(binary("==", low, high), zero(), binary("-", high, low))
	return s.back(e.Q, cast(e.Q.DType(), binary("*", binary("*", g, speed), distance)), at)
}

// some is a count that is a divisor where it is not 0: in the gradient of the gradient
// 0/0 must not arise elsewhere either.
func some(count lang.Node) lang.Node { return call("max", count, number("1")) }

// methodOf is the method of a quantile.
func methodOf(e *lang.Reduce) string {
	if len(e.Options) > 0 {
		return e.Options[0]
	}
	return "linear"
}

// rank adds a statement for the rank of a quantile among n values.
func (s *statement) rank(e *lang.Reduce, n lang.Node) (lang.Node, *lang.Error) {
	q := number("0.5")
	var vars []*lang.Index
	if e.Q != nil {
		var err *lang.Error
		if q, err = s.value(e.Q); err != nil {
			return nil, err
		}
		q = cast(tensor.Float64, q)
		vars, _ = indicesOf(e.Q)
	}
	used := map[string]bool{}
	eachIndexName(n, func(name string) { used[name] = true })
	free, _ := indicesOf(e)
	for _, v := range free {
		if used[s.names[v]] {
			vars = append(vars, v)
		}
	}
	rank := substitute(parsed()[ranks[methodOf(e)]], map[string]lang.Node{"q": q, "n": n})
	last := call("max", binary("-", n, number("1")), zero())
	return refOf(s.define("h", s.ordered(vars), call("max", call("min", rank, last), zero())))
}

// orderStatistic adds a statement for a quantile that is one of the values.
func (s *statement) orderStatistic(e *lang.Reduce, body lang.Node, method string, order lang.Node) (lang.Node, *lang.Error) {
	f := &lang.Fold{Name: lang.Quantile.String(), Options: []lang.Option{{Name: method}}, Body: body, Q: order}
	if e.Op == lang.NanQuantile {
		f.Name = lang.NanQuantile.String()
	}
	for _, v := range e.Vars {
		fv := &lang.FoldVar{Name: s.names[v.Var]}
		if v.In != nil {
			fv.In = v.In.Name
			f.Body = lang.NodeOf(e.Body, s.names, nil) // which reads what In stores
		}
		f.Vars = append(f.Vars, fv)
	}
	free, _ := indicesOf(e)
	used := map[string]bool{}
	eachIndexName(f, func(name string) { used[name] = true })
	var vars []*lang.Index
	for _, v := range free {
		if used[s.names[v]] {
			vars = append(vars, v)
		}
	}
	return refOf(s.define("v", s.ordered(vars), f))
}
