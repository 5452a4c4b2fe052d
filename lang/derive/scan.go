package derive

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
)

// scan is the chain rule for scans and sorts. An element of the body moves every result from its
// place on, so its adjoint is a scan of the results' adjoints that runs the other way; those of
// cummin, cummax and sort choose elements, and their adjoints go back to what they chose (sorted.go).
func (s *statement) scan(e *lang.Scan, g lang.Node, at place) *lang.Error {
	if err := s.ofOperands(e.Vars, e.Body, e.Pos); err != nil {
		return err
	}
	// The results that are not chosen move nothing before the scan that sums the others.
	g = only(at.conditions, g)
	at.conditions = nil
	var adjoint lang.Node
	var err *lang.Error
	switch e.Op {
	case lang.CumSum:
		adjoint = s.backward(e, g)
	case lang.LogCumSumExp:
		adjoint, err = s.logCumSumExp(e, g, at)
	case lang.CumProd:
		adjoint, err = s.cumProd(e, g, at)
	case lang.CumMin, lang.CumMax:
		adjoint, err = s.runningExtreme(e, g, at)
	case lang.Sort:
		adjoint, err = s.sorted(e, g, at)
	default:
		err = flat(e.Pos, e.Op.String())
	}
	if err != nil {
		return err
	}
	// Scans stand in statements of their own, so that what reads them can be sparse.
	if adjoint, err = s.shared(s.visited(e, adjoint), at); err != nil {
		return err
	}
	return s.back(e.Body, adjoint, at)
}

// visited is x where a scan with `in` looks, and 0 elsewhere.
func (s *statement) visited(e *lang.Scan, x lang.Node) lang.Node {
	return s.storedBy(e.Vars, x, zero())
}

// running is a scan of x over what e runs over.
func (s *statement) running(e *lang.Scan, op string, options []string, x lang.Node) *lang.Fold {
	return s.over(e.Vars, op, options, s.visited(e, x))
}

// over folds x over indices of a reduction or scan, with `in` where these have it.
func (s *statement) over(vars []lang.ReduceVar, op string, options []string, x lang.Node) *lang.Fold {
	f := fold(op, nil, options, x)
	for _, v := range vars {
		n := &lang.FoldVar{Name: s.names[v.Var]}
		if v.In != nil {
			n.In = v.In.Name
		}
		f.Vars = append(f.Vars, n)
	}
	return f
}

// backward is the sum of x over the results that an element moves.
func (s *statement) backward(e *lang.Scan, x lang.Node) lang.Node { return s.opposite(e, "cumsum", x) }

// opposite is a scan of x that runs the other way than e.
func (s *statement) opposite(e *lang.Scan, op string, x lang.Node) lang.Node {
	return s.running(e, op, turned(e.Options), x)
}

// turned are the options of a scan that runs the other way.
func turned(options []string) []string {
	if i := slices.Index(options, "reverse"); i >= 0 {
		return slices.Delete(slices.Clone(options), i, i+1)
	}
	return append(slices.Clone(options), "reverse")
}

// logCumSumExp: the sum of g exp(x - f) over the results from here on, as exp(x + log
// of the sum of g exp(-f)), with positive and negative adjoints apart, so that nothing
// overflows. NaN counts as positive, and as negative. An element that is inf is all of every result that
// it moves.
func (s *statement) logCumSumExp(e *lang.Scan, g lang.Node, at place) (lang.Node, *lang.Error) {
	g, err := s.shared(g, at)
	if err != nil {
		return nil, err
	}
	x, err := s.value(e.Body)
	if err != nil {
		return nil, err
	}
	f, err := s.value(e)
	if err != nil {
		return nil, err
	}
	side := func(g lang.Node) lang.Node {
		moved := binary("and", &lang.Unary{Op: "not", X: binary("<=", g, zero())}, binary("!=", f, negated(infinity())))
		// The inner choice keeps log(0) out of the gradient of the gradient.
		log := call("log", where(moved, g, number("1")))
		logs := s.opposite(e, "logcumsumexp", where(moved, binary("-", log, f), negated(infinity())))
		return call("exp", binary("+", x, logs))
	}
	all := s.backward(e, where(binary("!=", f, f), f, g))
	finite := binary("-", side(g), side(negated(g)))
	return where(binary("==", x, infinity()), all, where(binary("==", x, negated(infinity())), zero(), finite)), nil
}

// cumProd: the sum over the results from here on of g times the product of the other elements in
// each, which is that of those that are not 0, divided by x, times that of the zeros. As in
// byDivision, of a single other zero the value is written, because the gradient of the gradient sees what it moves. To find the sum
// without division would take a scan of s(k) = g(k) + x(k+1)*s(k+1), which the language does not have. Products of f32 are f64.
func (s *statement) cumProd(e *lang.Scan, g lang.Node, at place) (lang.Node, *lang.Error) {
	x, err := s.value(e.Body)
	if err != nil {
		return nil, err
	}
	if g, err = s.shared(g, at); err != nil {
		return nil, err
	}
	x = convertedTo(ranged(e.Typ), e.Typ, x)
	vars, _ := indicesOf(e)
	vars = s.ordered(vars)
	isZero := binary("==", x, zero())
	define := func(op string, body lang.Node) lang.Node {
		if err != nil {
			return zero()
		}
		var r *lang.Ref
		r, err = s.define("t", vars, s.running(e, op, e.Options, body))
		return r
	}
	zeros := define("cumsum", indicator(isZero))
	sum := define("cumsum", where(isZero, x, zero()))
	rest := define("cumprod", where(isZero, number("1"), x))
	if err != nil {
		return nil, err
	}
	divisor := x
	var others, otherZero lang.Node = rest, sum
	if e.Typ.IsComplex() {
		others, otherZero, divisor = call("conj", rest), call("conj", sum), call("conj", x)
	}
	term := binary("*", g, others)
	has := func(count string) lang.Node { return binary("==", zeros, number(count)) }
	// times writes what another zero makes of a term; not of inf, of which the zero would make NaN.
	times := func(count string) lang.Node {
		return where(binary("and", has(count), call("isfinite", rest)), binary("*", term, otherZero), zero())
	}
	nonzero := s.backward(e, where(has("0"), term, times("1")))
	first := s.backward(e, where(has("1"), term, times("2")))
	own := s.backward(e, where(binary("and", has("2"), call("isfinite", rest)), term, zero()))
	moved := where(isZero, binary("-", first, binary("*", divisor, own)), binary("/", &lang.Paren{X: nonzero}, divisor))
	return convertedTo(wide(e.Typ), ranged(e.Typ), moved), nil
}
