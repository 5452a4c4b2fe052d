package derive

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
)

// scan is the chain rule for scans and sorts. An element of the body moves every result from its
// place on, so its adjoint is a scan of the results' adjoints that runs the other way; those of
// cummin, cummax and sort choose elements, and their adjoints go back to what they chose (chosen.go).
func (s *statement) scan(e *lang.Scan, g lang.Node, at place) *lang.Error {
	if err := ofOperands(e.Vars, e.Pos); err != nil {
		return err
	}
	for _, v := range e.Indices() {
		if v.Length >= 0 {
			return unsupported(e.Pos, "a scan over a slice with an end", "copy the slice in a statement before, and scan the copy")
		}
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
	f := fold(op, s.spell(e.Indices()), options, s.visited(e, x))
	for i, v := range e.Vars {
		if v.In != nil {
			f.Vars[i].In = v.In.Name
		}
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
// overflows.
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
		moved := binary("and", binary(">", g, zero()), binary("!=", f, negated(infinity())))
		// The inner choice keeps log(0) out of the gradient of the gradient.
		log := call("log", where(moved, g, number("1")))
		logs := s.opposite(e, "logcumsumexp", where(moved, binary("-", log, f), negated(infinity())))
		return call("exp", binary("+", x, logs))
	}
	return where(binary("==", x, negated(infinity())), zero(), binary("-", side(g), side(negated(g)))), nil
}

// cumProd: the sum of g f over the results from here on, divided by x. A zero ends all
// results after it; only the first of them moves those, up to the next.
func (s *statement) cumProd(e *lang.Scan, g lang.Node, at place) (lang.Node, *lang.Error) {
	x, err := s.value(e.Body)
	if err != nil {
		return nil, err
	}
	if g, err = s.shared(g, at); err != nil {
		return nil, err
	}
	vars, _ := indicesOf(e)
	vars = s.ordered(vars)
	isZero := binary("==", x, zero())
	define := func(op string, options []string, body lang.Node) lang.Node {
		if err != nil {
			return zero()
		}
		var r *lang.Ref
		r, err = s.define("t", vars, s.running(e, op, options, body))
		return r
	}
	zeros := define("cumsum", e.Options, indicator(isZero))
	rest := define("cumprod", e.Options, where(isZero, number("1"), x))
	before := e.Options
	if !slices.Contains(before, "exclusive") {
		before = append([]string{"exclusive"}, before...)
	}
	earlier := define("cumsum", before, indicator(isZero))
	if err != nil {
		return nil, err
	}
	if e.Typ.IsComplex() {
		return nil, unsupported(e.Pos, "cumprod of complex numbers", "")
	}
	sum := func(zerosSoFar string) lang.Node {
		return s.backward(e, where(binary("==", zeros, number(zerosSoFar)), binary("*", g, rest), zero()))
	}
	first := where(binary("==", earlier, zero()), sum("1"), zero())
	return where(isZero, first, binary("/", &lang.Paren{X: sum("0")}, x)), nil
}
