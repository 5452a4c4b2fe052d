package derive

import (
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Building blocks of syntax.

func zero() lang.Node { return number("0") }

// one is 1 as an f64, unless it meets another type.
func one() lang.Node { return number("1.0") }

func number(text string) lang.Node { return &lang.Number{Text: text} }

func integer(n int64) lang.Node {
	if n < 0 {
		return &lang.Unary{Op: "-", X: number(strconv.FormatUint(-uint64(n), 10))}
	}
	return number(strconv.FormatInt(n, 10))
}

func binary(op string, x, y lang.Node) lang.Node { return &lang.Binary{Op: op, X: x, Y: y} }

func negated(x lang.Node) lang.Node { return &lang.Unary{Op: "-", X: x} }

func call(name string, args ...lang.Node) lang.Node { return &lang.Apply{Name: name, Args: args} }

func where(cond, then, other lang.Node) lang.Node { return call("where", cond, then, other) }

// infinity is inf.
func infinity() lang.Node { return &lang.Const{Name: "inf"} }

func cast(dt tensor.DType, x lang.Node) lang.Node { return call(dt.String(), x) }

func plainIndex(name string) *lang.RefIndex {
	return &lang.RefIndex{Terms: []*lang.IndexTerm{{Coef: 1, Name: name}}}
}

// ref is the element of a tensor at plain indices.
func ref(tensor string, vars []string) *lang.Ref {
	r := &lang.Ref{Name: tensor, Parens: len(vars) > 0}
	for _, v := range vars {
		r.Indices = append(r.Indices, plainIndex(v))
	}
	return r
}

// fold is a reduction or scan; the body is copied with parentheses where it needs them.
func fold(name string, vars []string, options []string, body lang.Node) *lang.Fold {
	f := &lang.Fold{Name: name, Body: body}
	if _, ok := body.(*lang.Binary); ok {
		f.Body = &lang.Paren{X: body}
	}
	for _, v := range vars {
		f.Vars = append(f.Vars, &lang.FoldVar{Name: v})
	}
	for _, o := range options {
		f.Options = append(f.Options, lang.Option{Name: o})
	}
	return f
}

// eachName calls f for the names of the tensors in n; also for indices that stand for
// numbers.
func eachName(n lang.Node, f func(string)) {
	lang.EachRef(n, func(r *lang.Ref) { f(r.Name) })
}

// eachIndexName calls f for the names of the indices in n; also for tensors of rank 0.
func eachIndexName(n lang.Node, f func(string)) {
	lang.Inspect(n, func(x lang.Node) {
		switch x := x.(type) {
		case *lang.Ref:
			if !x.Parens {
				f(x.Name)
			}
			for _, i := range x.Indices {
				for _, t := range i.Terms {
					if t.Name != "" {
						f(t.Name)
					}
				}
			}
		case *lang.Fold:
			for _, v := range x.Vars {
				f(v.Name)
			}
		}
	})
}

// usedPlainly reports whether some tensor in n is indexed with v by itself.
func usedPlainly(n lang.Node, v string) bool {
	found := false
	lang.Inspect(n, func(x lang.Node) {
		r, ok := x.(*lang.Ref)
		found = found || ok && slices.ContainsFunc(r.Indices, func(i *lang.RefIndex) bool {
			return len(i.Terms) == 1 && i.Terms[0].Gather == nil && i.Terms[0].Name == v && i.Terms[0].Coef == 1
		})
	})
	return found
}

// renamed is n with other names of indices.
func renamed(n lang.Node, names map[string]string) lang.Node {
	name := func(old string) string {
		if to, ok := names[old]; ok {
			return to
		}
		return old
	}
	return rewrite(n, func(x lang.Node) lang.Node {
		switch x := x.(type) {
		case *lang.Ref:
			out := &lang.Ref{Name: x.Name, Parens: x.Parens}
			if !x.Parens {
				out.Name = name(x.Name)
			}
			for _, i := range x.Indices {
				at := &lang.RefIndex{Slice: i.Slice}
				for _, t := range i.Terms {
					u := &lang.IndexTerm{Coef: t.Coef, Name: name(t.Name)}
					if t.Gather != nil {
						u.Gather = renamed(t.Gather, names).(*lang.Ref)
					}
					at.Terms = append(at.Terms, u)
				}
				out.Indices = append(out.Indices, at)
			}
			return out
		case *lang.Fold:
			out := *x
			out.Vars = nil
			for _, v := range x.Vars {
				out.Vars = append(out.Vars, &lang.FoldVar{Name: name(v.Name), In: v.In})
			}
			out.Body = renamed(x.Body, names)
			if x.Q != nil {
				out.Q = renamed(x.Q, names)
			}
			return &out
		}
		return nil
	})
}

// substitute is n with nodes in the place of names without parentheses.
func substitute(n lang.Node, by map[string]lang.Node) lang.Node {
	return rewrite(n, func(x lang.Node) lang.Node {
		if r, ok := x.(*lang.Ref); ok && !r.Parens {
			return by[r.Name]
		}
		return nil
	})
}

// affine is Const + the sum of Coef*name.
type affine struct {
	terms []*lang.IndexTerm // without constants and gathers
	rest  int64
}

// node writes the sum as an expression.
func (a affine) node() lang.Node {
	var n lang.Node
	for _, t := range a.terms {
		var x lang.Node = &lang.Ref{Name: t.Name}
		coef := t.Coef
		if n != nil && coef < 0 {
			coef = -coef
		}
		switch {
		case coef == -1:
			x = negated(x)
		case coef != 1:
			x = binary("*", integer(coef), x)
		}
		switch {
		case n == nil:
			n = x
		case t.Coef < 0:
			n = binary("-", n, x)
		default:
			n = binary("+", n, x)
		}
	}
	switch {
	case n == nil:
		return integer(a.rest)
	case a.rest < 0:
		return binary("-", n, integer(-a.rest))
	case a.rest > 0:
		return binary("+", n, integer(a.rest))
	}
	return n
}

// eliminate is n with an index replaced by a sum of others, wherever it indexes a tensor
// or stands for a number.
func eliminate(n lang.Node, name string, by affine) lang.Node {
	return rewrite(n, func(x lang.Node) lang.Node {
		r, ok := x.(*lang.Ref)
		if !ok {
			return nil
		}
		if !r.Parens && r.Name == name {
			return by.node()
		}
		out := &lang.Ref{Name: r.Name, Parens: r.Parens}
		for _, i := range r.Indices {
			out.Indices = append(out.Indices, eliminateIndex(i, name, by))
		}
		return out
	})
}

func eliminateIndex(x *lang.RefIndex, name string, by affine) *lang.RefIndex {
	sum := affine{}
	for _, t := range x.Terms {
		switch {
		case t.Gather != nil:
			g, ok := eliminate(t.Gather, name, by).(*lang.Ref)
			if !ok {
				panic("BUG: a gather is an element")
			}
			return &lang.RefIndex{Terms: []*lang.IndexTerm{{Coef: 1, Gather: g}}}
		case t.Name == "":
			sum.rest += t.Coef
		default:
			sum.add(t.Name, t.Coef)
		}
	}
	return sum.replace(name, by).index()
}

// replace writes a name in the sum as another sum.
func (a affine) replace(name string, by affine) affine {
	sum := affine{rest: a.rest}
	for _, t := range a.terms {
		if t.Name != name {
			sum.add(t.Name, t.Coef)
			continue
		}
		for _, b := range by.terms {
			sum.add(b.Name, t.Coef*b.Coef)
		}
		sum.rest += t.Coef * by.rest
	}
	return sum
}

func (a *affine) add(name string, coef int64) {
	i := slices.IndexFunc(a.terms, func(t *lang.IndexTerm) bool { return t.Name == name })
	if i < 0 {
		a.terms = append(a.terms, &lang.IndexTerm{Name: name, Coef: coef})
		return
	}
	a.terms[i].Coef += coef
}

// index writes the sum as an index.
func (a affine) index() *lang.RefIndex {
	x := &lang.RefIndex{}
	for _, t := range a.terms {
		if t.Coef != 0 {
			x.Terms = append(x.Terms, t)
		}
	}
	if a.rest != 0 || len(x.Terms) == 0 {
		x.Terms = append(x.Terms, &lang.IndexTerm{Coef: a.rest})
	}
	return x
}

// rewrite is a copy of n in which f replaces what it returns a node for.
func rewrite(n lang.Node, f func(lang.Node) lang.Node) lang.Node {
	if x := f(n); x != nil {
		return x
	}
	switch n := n.(type) {
	case *lang.Unary:
		return &lang.Unary{Pos: n.Pos, Op: n.Op, X: rewrite(n.X, f)}
	case *lang.Binary:
		return &lang.Binary{Pos: n.Pos, Op: n.Op, X: rewrite(n.X, f), Y: rewrite(n.Y, f)}
	case *lang.Paren:
		return &lang.Paren{Pos: n.Pos, X: rewrite(n.X, f)}
	case *lang.Apply:
		a := &lang.Apply{Pos: n.Pos, Name: n.Name}
		for _, x := range n.Args {
			a.Args = append(a.Args, rewrite(x, f))
		}
		return a
	case *lang.Fold:
		out := *n
		out.Body = rewrite(n.Body, f)
		if n.Q != nil {
			out.Q = rewrite(n.Q, f)
		}
		return &out
	}
	return n
}
