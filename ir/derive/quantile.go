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
	if e.Q != nil && s.dependent(e.Q) {
		return nil, unsupported(e.Q.Position(), "the order of a quantile", "differentiate by the values")
	}
	body, err := s.body(e)
	if err != nil {
		return nil, err
	}
	isNaN := binary("!=", body, body)
	nans, err := s.group(e, "n", "sum", s.within(e, indicator(isNaN), zero()))
	if err != nil {
		return nil, err
	}
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
	order := lang.Node(number("0.5"))
	if e.Q != nil {
		var err *lang.Error
		if order, err = s.value(e.Q); err != nil {
			return nil, err
		}
	}
	method := methodOf(e)
	if method == "lower" || method == "higher" || method == "nearest" { // one of the values
		return share(method, order, nil)
	}
	// The number of values is written so that it is one number where nothing is stored.
	n, err := s.size(e, tensor.Float64)
	if err != nil {
		return nil, err
	}
	if e.Op == lang.NanQuantile {
		n = &lang.Paren{X: binary("-", n, nans)}
	}
	rank, err := s.rank(e, n)
	if err != nil {
		return nil, err
	}
	below := call("floor", rank)
	fraction := binary("-", rank, below)
	lowMethod, lowOrder, highMethod, highOrder := "lower", order, "higher", order
	if method != "linear" && method != "midpoint" { // whose ranks are not those of lower and higher
		last := call("max", binary("-", n, number("1")), number("1"))
		lowMethod, lowOrder = "nearest", binary("/", below, last)
		highMethod, highOrder = "nearest", binary("/", call("ceil", rank), last)
	}
	low, err := share(lowMethod, lowOrder, cast(wide(e.Typ), binary("-", number("1"), fraction)))
	if err != nil {
		return nil, err
	}
	high, err := share(highMethod, highOrder, cast(wide(e.Typ), fraction))
	return binary("+", low, high), err
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
