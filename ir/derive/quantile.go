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
	counted := binary("==", body, body)
	if e.Op != lang.NanQuantile {
		counted = &lang.Const{Name: "true"}
	}
	count, err := s.group(e, "n", "sum", s.within(e, indicator(counted), zero()))
	if err != nil {
		return nil, err
	}
	n := cast(tensor.Float64, count)
	rank, err := s.rank(e, n)
	if err != nil {
		return nil, err
	}
	one := func(at, weight lang.Node) (lang.Node, *lang.Error) {
		value, err := s.orderStatistic(e, body, binary("/", at, call("max", binary("-", n, number("1")), number("1"))))
		if err != nil {
			return nil, err
		}
		tie := binary("==", body, value)
		ties, err := s.group(e, "n", "sum", s.within(e, indicator(tie), zero()))
		share := binary("/", binary("*", g, cast(wide(e.Typ), weight)), cast(wide(e.Typ), some(ties)))
		return where(tie, share, zero()), err
	}
	below := call("floor", rank)
	fraction := binary("-", rank, below)
	low, err := one(below, binary("-", number("1"), fraction))
	if err != nil {
		return nil, err
	}
	high, err := one(call("ceil", rank), fraction)
	if err != nil {
		return nil, err
	}
	adjoint := binary("+", low, high)
	if e.Op == lang.NanQuantile {
		return adjoint, nil
	}
	nans, err := s.group(e, "n", "sum", s.within(e, indicator(isNaN), zero()))
	return where(binary(">", nans, zero()), where(isNaN, binary("/", g, cast(wide(e.Typ), some(nans))), zero()), adjoint), err
}

// some is a count that is a divisor where it is not 0: in the gradient of the gradient
// 0/0 must not arise elsewhere either.
func some(count lang.Node) lang.Node { return call("max", count, number("1")) }

// rank adds a statement for the rank of a quantile among n values.
func (s *statement) rank(e *lang.Reduce, n lang.Node) (lang.Node, *lang.Error) {
	method := "linear"
	if len(e.Options) > 0 {
		method = e.Options[0]
	}
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
	rank := substitute(parsed()[ranks[method]], map[string]lang.Node{"q": q, "n": n})
	last := call("max", binary("-", n, number("1")), zero())
	return refOf(s.define("h", s.ordered(vars), call("max", call("min", rank, last), zero())))
}

// orderStatistic adds a statement for the value at a rank, given as a part of the last.
func (s *statement) orderStatistic(e *lang.Reduce, body, part lang.Node) (lang.Node, *lang.Error) {
	f := &lang.Fold{Name: lang.Quantile.String(), Options: []lang.Option{{Name: "nearest"}}, Body: body, Q: part}
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
