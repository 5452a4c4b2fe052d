package logic

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// emit writes a plan: its intermediates as statements, and what remains as an expression.
func (s *statement) emit(p *plan, hoist bool) lang.Node {
	var sum lang.Node
	for i, root := range p.roots {
		n := p.finds[i].expression(root, p.query.terms[i], !hoist)
		switch {
		case sum == nil && p.query.terms[i].times < 0:
			sum = &lang.Unary{Op: "-", X: n}
		case sum == nil:
			sum = n
		case p.query.terms[i].times < 0:
			sum = &lang.Binary{Op: "-", X: sum, Y: n}
		default:
			sum = &lang.Binary{Op: "+", X: sum, Y: n}
		}
	}
	if hoist {
		var vars []string
		var reads []*lang.Tensor
		for _, v := range p.query.free {
			vars = append(vars, s.names[v])
		}
		for _, t := range p.query.terms {
			for _, f := range t.factors {
				reads = append(reads, tensorsIn(f.expr)...)
			}
		}
		decl := lang.Decl{Rank: len(vars), Format: tensor.Dense(len(vars)), HasFormat: true, Result: true}
		name := s.define(fmt.Sprint(vars, lang.FormatNode(sum)), reads, decl, func(name string) *lang.Assign {
			return &lang.Assign{Pos: s.stmt.Pos, LHS: reference(name, vars), RHS: sum}
		})
		return reference(name, vars)
	}
	if _, several := sum.(*lang.Binary); several {
		return &lang.Paren{X: sum}
	}
	return sum
}

// expression writes the root of a term: coefficients stand before what is summed. inPlace says that what is around the term is around what is written.
func (s *search) expression(root *node, t *term, inPlace bool) lang.Node {
	var n lang.Node
	if s.separate {
		n = s.part(root)
	} else {
		n = s.folded(root, inPlace)
	}
	for i := len(t.coefs) - 1; i >= 0; i-- {
		n = s.product(s.write(t.coefs[i]), n)
	}
	if times := max(t.times, -t.times); times != 1 {
		n = s.product(&lang.Number{Text: strconv.Itoa(times)}, n)
	}
	return n
}

// product is a product of two parts; one that is no call or access is put into parentheses.
func (s *search) product(a, b lang.Node) lang.Node {
	return &lang.Binary{Op: s.law.product, X: inParens(a), Y: inParens(b)}
}

func inParens(n lang.Node) lang.Node {
	switch n.(type) {
	case *lang.Fold, *lang.Unary:
		return &lang.Paren{X: n}
	}
	return n
}

// folded writes what a node computes.
func (s *search) folded(n *node, inPlace bool) lang.Node {
	defer s.under(s.siblings(n)...)()
	kids := slices.Clone(n.kids)
	slices.SortStableFunc(kids, func(a, b *node) int { return a.first - b.first })
	around := func(k *node) bool { return k.factor != nil && k.factor.around }
	masked := slices.DeleteFunc(slices.Clone(kids), func(k *node) bool { return !around(k) })
	if kids = slices.DeleteFunc(kids, around); !inPlace {
		kids = append(masked, kids...)
	}
	var body lang.Node
	var masks []lang.Node
	for _, k := range kids {
		x := s.part(k)
		switch {
		case k.factor != nil && k.factor.mask:
			masks = append(masks, x)
		case body == nil:
			body = x
		default:
			body = s.product(body, x)
		}
	}
	if body == nil {
		body = &lang.Number{Text: "1"}
	}
	for _, m := range masks {
		body = &lang.Apply{Name: "where", Args: []lang.Node{m, body, &lang.Number{Text: "0"}}}
	}
	var fold *lang.Fold
	for v, x := range s.vars {
		if n.raw.vars.has(v) && !n.out.has(v) {
			if fold == nil {
				fold = &lang.Fold{Name: s.law.fold.String(), Body: body}
			}
			fold.Vars = append(fold.Vars, &lang.FoldVar{Pos: x.Pos, Name: s.names[x]})
		}
	}
	if fold == nil {
		return body
	}
	if _, ok := body.(*lang.Binary); ok {
		fold.Body = &lang.Paren{X: body}
	}
	return fold
}

// part writes a part of a product: a factor, or the element of an intermediate.
func (s *search) part(n *node) lang.Node {
	if n.factor != nil {
		if !n.factor.mask {
			s.visitInside(n.factor.expr, slices.Concat(s.query.free, n.factor.vars))
		}
		return s.write(n.factor.expr)
	}
	var vars []string
	names := map[string]string{}
	for v, x := range s.vars {
		if n.out.has(v) {
			vars = append(vars, s.names[x])
			names[s.names[x]] = "#" + strconv.Itoa(len(vars))
		}
	}
	value := s.folded(n, false)
	decl := lang.Decl{Rank: len(vars), Result: true}
	switch {
	case n.dense:
		decl.Format, decl.HasFormat = tensor.Dense(len(vars)), true
	case s.preserve:
		first := slices.IndexFunc(s.vars, func(x *lang.Index) bool { return s.names[x] == vars[0] })
		whole, _ := s.whole(n.kids, n.out)
		decl.Format, decl.HasFormat = sparseFormat(len(vars), whole, s.extent[first] <= 4*n.rel.n), true
	}
	key := fmt.Sprint(decl.Format, decl.HasFormat, len(vars), " ", numbered(value, names))
	name := s.define(key, s.tensorsUnder(n), decl, func(name string) *lang.Assign {
		return &lang.Assign{Pos: s.stmt.Pos, LHS: reference(name, vars), RHS: value}
	})
	return reference(name, vars)
}

// stored reports whether a node has a value everywhere, in the sense of what is stored: it reads dense operands alone.
func (s *search) stored(n *node) bool {
	if n.factor == nil {
		return n.dense
	}
	return !slices.ContainsFunc(lang.Accesses(n.factor.expr), func(a *lang.Access) bool { return !s.facts[a.Tensor].dense })
}

// visitInside optimises what stands inside a factor.
func (s *search) visitInside(e lang.Expr, loops []*lang.Index) {
	if _, access := e.(*lang.Access); access {
		return
	}
	lang.Walk(e, func(x lang.Expr) bool { // it may stand in another term too, beside other masks
		delete(s.replaced, x)
		return true
	})
	s.visit(e, context{safe: !s.preserve, signed: s.signed, loops: loops})
}

// tensorsUnder are the tensors that a node is computed from.
func (s *search) tensorsUnder(n *node) []*lang.Tensor {
	if n.factor != nil {
		return tensorsIn(n.factor.expr)
	}
	var list []*lang.Tensor
	for _, k := range n.kids {
		list = append(list, s.tensorsUnder(k)...)
	}
	return list
}

func tensorsIn(e lang.Expr) []*lang.Tensor {
	var list []*lang.Tensor
	for _, a := range lang.Accesses(e) {
		list = append(list, a.Tensor)
	}
	return list
}

// reference is the element of a tensor at some indices.
func reference(name string, vars []string) *lang.Ref {
	r := &lang.Ref{Name: name, Parens: len(vars) > 0}
	for _, v := range vars {
		r.Indices = append(r.Indices, &lang.RefIndex{Terms: []*lang.IndexTerm{{Coef: 1, Name: v}}})
	}
	return r
}

// numbered writes syntax with indices by number: those in names, and those that are bound in the order in which they are.
func numbered(n lang.Node, names map[string]string) string {
	text := ""
	var write func(lang.Node)
	name := func(v string) string {
		if names[v] == "" {
			names[v] = "#" + strconv.Itoa(len(names)+1)
		}
		return names[v]
	}
	write = func(n lang.Node) {
		switch n := n.(type) {
		case *lang.Ref:
			text += n.Name + "("
			if len(n.Indices) == 0 && !n.Parens {
				text += names[n.Name] + "?" // an index or a number
			}
			for _, x := range n.Indices {
				for _, t := range x.Terms {
					text += fmt.Sprint(t.Coef, "*", name(t.Name), " ")
				}
				text += ","
			}
			text += ")"
		case *lang.Binary:
			text += "(" + n.Op + " "
			write(n.X)
			write(n.Y)
			text += ")"
		case *lang.Unary:
			text += "(" + n.Op
			write(n.X)
			text += ")"
		case *lang.Paren:
			write(n.X)
		case *lang.Apply:
			text += n.Name + "["
			for _, a := range n.Args {
				write(a)
			}
			text += "]"
		case *lang.Fold:
			text += n.Name + "{"
			for _, v := range n.Vars {
				text += name(v.Name) + v.In + " "
			}
			write(n.Body)
			text += "}"
		default:
			text += lang.FormatNode(n) + " "
		}
	}
	write(n)
	return text
}
