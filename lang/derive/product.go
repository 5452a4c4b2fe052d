package derive

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The derivative of a product by a factor is the product of the other factors. The whole product divided by the factor
// is that too, but not where the product leaves the range of its type: of 1e-200, 1e-200 and 1e200 the others of the first have the
// product 1. So it is made of the factors before and those behind, which needs no care at zeros either:
//
//	p(i,j) = cumprod_j[exclusive] A(i,j)
//	p1(i,j) = cumprod_j[exclusive, reverse] A(i,j)
//
// The scans have a value for every factor. Where the operand moves only factors that some operand stores, they run
// over those, and the factors elsewhere make one number for each product:
//
//	p(i,j) = cumprod_{j in A}[exclusive] A(i,j)
//	n(i) = prod_j where(stored(A(i,j)), 1, A(i,j))
//
// What is left are factors that are more than what is stored, like those of prod_j (A(i,j) + A(j,i)) of a sparse A, or of
// prod_j (x(i) + z(j)): scans of them could take more memory than there is. There the product is divided (byDivision).

// prod is the chain rule for products.
func (s *statement) prod(e *lang.Reduce, g lang.Node) (lang.Node, *lang.Error) {
	vars, _ := indicesOf(e)
	for _, v := range e.Vars {
		vars = append(vars, v.Var)
	}
	f := factors{vars: s.ordered(vars)}
	var rest lang.Node
	x, err := s.value(e.Body)
	switch stored := s.factorsStored(e, f.vars); {
	case err != nil:
	case slices.ContainsFunc(e.Vars, func(v lang.ReduceVar) bool { return v.In != nil }):
		if !entriesOf(e.Vars, f.vars) && !s.mayScan(e, f.vars) {
			return s.byDivision(e, s.within(e, x, number("1")), g)
		}
		f.stored = s.storedBy(e.Vars, x, zero()).(*lang.Apply).Args[0]
		f.over = s.over(e.Vars, "", nil, nil).Vars
	case stored != nil:
		f.stored = stored
		in := stored.(*lang.Apply).Args[0].(*lang.Ref).Name
		for _, v := range e.Vars {
			f.over = append(f.over, &lang.FoldVar{Name: s.names[v.Var], In: in})
		}
		rest, err = s.group(e, "n", "prod", where(stored, number("1"), x))
	case s.mayScan(e, f.vars):
		f.over = s.over(e.Vars, "", nil, nil).Vars
	default:
		return s.byDivision(e, x, g)
	}
	if err != nil {
		return nil, err
	}
	if _, direct := x.(*lang.Ref); !direct || !allPlain(x, s.spell(f.vars)) { // in the scans nothing but stored says what is stored
		if x, err = refOf(s.define("x", f.vars, masked(f.stored, x))); err != nil {
			return nil, err
		}
	}
	before, err := s.runningProduct(f, x, "exclusive")
	if err != nil {
		return nil, err
	}
	behind, err := s.runningProduct(f, x, "exclusive", "reverse")
	if err != nil {
		return nil, err
	}
	product := binary("*", before, behind)
	if rest != nil {
		product = binary("*", product, rest)
	}
	if e.Typ.IsComplex() {
		product = call("conj", product)
	}
	adjoint := binary("*", g, parenthesised(product))
	if rest == nil { // reduce keeps to what `in` looks at
		return adjoint, nil
	}
	return masked(f.stored, adjoint), nil
}

// factors are the factors of products, one for every value of vars, and the indices with which scans run over them.
// stored is where there are any, nil if everywhere.
type factors struct {
	vars   []*lang.Index
	over   []*lang.FoldVar
	stored lang.Node
}

// runningProduct adds a statement for a running product of x.
func (s *statement) runningProduct(f factors, x lang.Node, options ...string) (lang.Node, *lang.Error) {
	of := masked(f.stored, x)
	if f.stored != nil && lang.FormatNode(f.stored) == lang.FormatNode(call("stored", x)) {
		of = x // what is stored is what is scanned
	}
	scan := fold(lang.CumProd.String(), nil, options, of)
	scan.Vars = f.over
	if of == x {
		return refOf(s.define("p", f.vars, scan))
	}
	return refOf(s.define("p", f.vars, masked(f.stored, scan)))
}

// factorsStored is the condition that some sparse operand stores an element, if the operand moves no other factors of the
// products, and each stored element belongs to a factor of its own in its product; or nil. vars are the indices of all factors.
func (s *statement) factorsStored(e *lang.Reduce, vars []*lang.Index) lang.Node {
	stored := s.support(e.Body)
	if stored == nil || indicesIn(stored) < len(vars) && !s.mayScan(e, vars) {
		return nil
	}
	_, bound := indicesOf(e.Body)
	for _, v := range bound {
		if usedPlainly(stored, s.names[v]) {
			return nil
		}
	}
	for _, v := range e.Vars {
		if !usedPlainly(stored, s.names[v.Var]) {
			return nil
		}
	}
	return stored
}

// mayScan reports whether something that e reads is stored with a place for each value of vars, so that scans of as many
// take no more memory than it does: a tensor, or the results of a reduction of dense ones, which become a statement.
func (s *statement) mayScan(e *lang.Reduce, vars []*lang.Index) bool {
	if slices.ContainsFunc(likes(e.Body), func(a *lang.Access) bool { return contains(s.places(a), vars) }) {
		return true
	}
	found := false
	lang.Walk(e.Body, func(x lang.Expr) bool {
		switch x := x.(type) {
		case *lang.Access:
			found = found || contains(s.places(x), vars)
		case *lang.Reduce, *lang.Scan:
			free, _ := indicesOf(x)
			found = found || contains(free, vars) && !slices.ContainsFunc(lang.Accesses(x), func(a *lang.Access) bool {
				return len(s.wholeAxes(a.Tensor)) < a.Tensor.Rank
			})
		}
		return !found
	})
	return found
}

// contains reports whether all of vars are in a list.
func contains(list, vars []*lang.Index) bool {
	return !slices.ContainsFunc(vars, func(v *lang.Index) bool { return !slices.Contains(list, v) })
}

// places are the indices that stand alone in an access, of axes of which the tensor stores every coordinate.
func (s *statement) places(a *lang.Access) []*lang.Index {
	var list []*lang.Index
	for _, axis := range s.wholeAxes(a.Tensor) {
		if v := plain(a.Indices[axis]); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// wholeAxes are the axes of a tensor of which it stores every coordinate, as positions at least: all of a dense one,
// the rows of CSR.
func (d *deriver) wholeAxes(t *lang.Tensor) []int {
	if t.StoredOf != nil {
		t = t.StoredOf
	}
	f := t.Format
	if !t.Operand {
		if !d.planned {
			d.formats, d.planned = d.stores(d.prog), true
		}
		var known bool
		if f, known = d.formats[t]; !known {
			return nil
		}
	}
	order := f.Order()
	if f.IsDense() {
		return order
	}
	return order[:slices.IndexFunc(f.Physical(), func(l tensor.LevelType) bool { return !l.Full() })]
}

// entriesOf reports whether the tensor that some of over run over with `in` has all of vars among its indices: there are no
// more values than it has entries.
func entriesOf(over []lang.ReduceVar, vars []*lang.Index) bool {
	return slices.ContainsFunc(over, func(v lang.ReduceVar) bool {
		if v.In == nil {
			return false
		}
		var list []*lang.Index
		for _, x := range v.InAccess.Indices {
			list = append(list, plain(x))
		}
		return contains(list, vars)
	})
}

// sparseOperand reports whether t is an operand that is not dense.
func sparseOperand(t *lang.Tensor) bool {
	return t.Operand && t.StoredOf == nil && !t.Format.IsDense()
}

// support is the condition stored(T(…)), with indices that stand alone, outside of which the operand does not move e; or nil.
func (s *statement) support(e lang.Expr) lang.Node {
	switch e := e.(type) {
	case *lang.Access:
		if s.wrt.Format.IsDense() {
			return nil
		}
		stored := s.sourceAt(e, s.names)
		if c, ok := stored.(*lang.Apply); ok && s.standAlone(c.Args[0]) {
			return stored
		}
	case *lang.Cast:
		return s.support(e.X)
	case *lang.Like:
		return s.support(e.X)
	case *lang.Select:
		if stored := s.pattern(e.Cond); stored != nil && !s.dependent(e.Else) {
			return stored
		}
		return s.commonSupport([]lang.Expr{e.Then, e.Else})
	case *lang.Call:
		stored := s.commonSupport(e.Args)
		for _, x := range annihilators(e) { // where it is zero, the others move nothing
			by := s.pattern(x)
			if by != nil && indicesIn(by) > indicesIn(stored) && (!s.dependent(x) || same(by, s.support(x))) {
				stored = by
			}
		}
		return stored
	case *lang.Reduce:
		if e.Q == nil || !s.dependent(e.Q) {
			return s.support(e.Body)
		}
	case *lang.Scan:
		return s.scanned(e)
	}
	return nil
}

// scanned is the condition that a scan with `in` of a sparse operand looks at an element, and gives the identity elsewhere; or nil.
func (s *statement) scanned(e *lang.Scan) lang.Node {
	if slices.ContainsFunc(e.Vars, func(v lang.ReduceVar) bool { return v.In == nil || !sparseOperand(v.In) || v.In.Result }) {
		return nil
	}
	r := lang.RefOf(e.Vars[0].InAccess, s.names)
	if r.Name = e.Vars[0].In.Name; !s.standAlone(r) {
		return nil
	}
	return call("stored", r)
}

// indicesIn is how many indices the condition stored(T(…)) has, 0 for none.
func indicesIn(stored lang.Node) int {
	if stored == nil {
		return 0
	}
	return len(stored.(*lang.Apply).Args[0].(*lang.Ref).Indices)
}

// commonSupport is the support of those of the expressions that depend on the operand, if it is the same.
func (s *statement) commonSupport(list []lang.Expr) lang.Node {
	var common lang.Node
	for _, x := range list {
		if !s.dependent(x) {
			continue
		}
		stored := s.support(x)
		if stored == nil || common != nil && !same(stored, common) {
			return nil
		}
		common = stored
	}
	return common
}

// pattern is the condition stored(T(…)) outside of which e is zero, or nil.
func (s *statement) pattern(e lang.Expr) lang.Node {
	switch e := e.(type) {
	case *lang.Access:
		t := e.Tensor
		if of := t.StoredOf; of != nil {
			t = of
		}
		r := lang.RefOf(e, s.names)
		r.Name = t.Name
		if o := s.zeroOutside[t]; o.stored != nil && s.standAlone(r) {
			var at []string
			for _, x := range r.Indices {
				at = append(at, x.Terms[0].Name)
			}
			return o.at(at)
		}
		if sparseOperand(t) && !t.Result && (e.Tensor.StoredOf != nil || t.Fill.IsZero()) && s.standAlone(r) {
			return call("stored", r)
		}
	case *lang.Cast:
		return s.pattern(e.X)
	case *lang.Select:
		if c, ok := e.Else.(*lang.Literal); !ok || !c.Value.IsZero() {
			return nil
		}
		if stored := s.pattern(e.Cond); stored != nil {
			return stored
		}
		return s.pattern(e.Then)
	case *lang.Call:
		for _, x := range annihilators(e) {
			if stored := s.pattern(x); stored != nil {
				return stored
			}
		}
	case *lang.Scan:
		if e.Op == lang.CumSum {
			return s.scanned(e)
		}
	}
	return nil
}

// annihilators are the arguments of a call that make it zero where they are.
func annihilators(e *lang.Call) []lang.Expr {
	switch e.Fn {
	case "*":
		return e.Args
	case "/", "neg":
		return e.Args[:1]
	}
	return nil
}

// same reports whether two conditions are written alike.
func same(a, b lang.Node) bool {
	return a != nil && b != nil && lang.FormatNode(a) == lang.FormatNode(b)
}

// standAlone reports whether an element has an index by itself, a different one, in each dimension.
func (s *statement) standAlone(n lang.Node) bool {
	r, ok := n.(*lang.Ref)
	if !ok {
		return false
	}
	seen := map[string]bool{}
	for _, x := range r.Indices {
		if len(x.Terms) != 1 || x.Terms[0].Gather != nil || x.Terms[0].Coef != 1 || x.Terms[0].Name == "" || seen[x.Terms[0].Name] {
			return false
		}
		seen[x.Terms[0].Name] = true
	}
	return len(r.Indices) > 0
}

// byDivision finds the product of the others by division: of those that are not 0 their product, divided by x, and of
// the zeros 0, unless there are none. Of a single other zero the value is written,
// as the sum of all zeros without x, because the gradient of the gradient sees what it moves. Products of f32 are f64 here.
func (s *statement) byDivision(e *lang.Reduce, x, g lang.Node) (lang.Node, *lang.Error) {
	x = convertedTo(ranged(e.Typ), e.Typ, x)
	isZero := binary("==", x, zero())
	zeros, err := s.group(e, "n", "sum", indicator(isZero))
	if err != nil {
		return nil, err
	}
	sum, err := s.group(e, "z", "sum", where(isZero, x, zero()))
	if err != nil {
		return nil, err
	}
	rest, err := s.group(e, "p", "prod", where(isZero, number("1"), x))
	if err != nil {
		return nil, err
	}
	if e.Typ.IsComplex() {
		rest, x, sum = call("conj", rest), call("conj", x), call("conj", sum)
	}
	return convertedTo(wide(e.Typ), ranged(e.Typ), binary("*", g, otherFactors(x, isZero, zeros, sum, rest))), nil
}

// otherFactors is the product of the factors without x, of which there are zeros that are 0, whose sum is sum, and rest is
// the product of those that are not 0.
func otherFactors(x, isZero, zeros, sum, rest lang.Node) lang.Node {
	others := binary("-", zeros, indicator(isZero))
	other := binary("-", sum, where(isZero, x, zero()))
	nonzero := where(isZero, rest, binary("/", rest, x))
	single := binary("and", binary("==", others, number("1")), call("isfinite", x)) // inf/inf is no number
	return where(binary("==", others, zero()), nonzero, where(single, binary("*", nonzero, &lang.Paren{X: other}), zero()))
}
