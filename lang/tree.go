package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/suggest"
)

// converter makes the syntax tree from the concrete grammar. It keeps the first
// error; what it returns after one is not used.
type converter struct {
	err *Error
}

func (c *converter) fail(code Code, pos Pos, hint, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Code: code, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
}

func (c *converter) statement(s *statement) *Assign {
	a := &Assign{
		Pos: posOf(s.Pos),
		LHS: c.access(s.LHS),
		Op:  AssignOp(slices.Index(assignNames[:], s.Op)),
		RHS: c.disjunction(s.RHS),

		Schedule: commandsOf(s.How, ""),
	}
	if c.err == nil && height(a.RHS) > MaxHeight {
		c.tooHigh(a.RHS.Place())
	}
	return a
}

func (c *converter) tooHigh(pos Pos) {
	c.fail(ErrTooDeep, pos, "split it into several statements, or group operands with parentheses",
		"the expression tree is more than %d high", MaxHeight)
}

// chain folds operands into left-associative Binary nodes.
func chain[T any](c *converter, first Node, rest []T, op func(T) (Pos, string, Node)) Node {
	if len(rest) > MaxHeight {
		pos, _, _ := op(rest[MaxHeight])
		c.tooHigh(pos)
	}
	for _, r := range rest {
		if c.err != nil {
			break
		}
		pos, name, y := op(r)
		first = &Binary{Pos: pos, Op: name, X: first, Y: y}
	}
	return first
}

func (c *converter) disjunction(d *disjunction) Node {
	return chain(c, c.conjunction(d.X), d.Rest, func(o *orOperand) (Pos, string, Node) {
		return posOf(o.Pos), "or", c.conjunction(o.X)
	})
}

func (c *converter) conjunction(d *conjunction) Node {
	return chain(c, c.negation(d.X), d.Rest, func(o *andOperand) (Pos, string, Node) {
		return posOf(o.Pos), "and", c.negation(o.X)
	})
}

func (c *converter) negation(n *negation) Node {
	if n.Not != nil {
		return &Unary{Pos: posOf(n.Pos), Op: "not", X: c.negation(n.Not)}
	}
	return c.comparison(n.X)
}

func (c *converter) comparison(d *comparison) Node {
	if len(d.Rest) > 1 {
		c.fail(ErrChained, posOf(d.Rest[1].Pos), "write a < b and b < c, or put one comparison in parentheses",
			"comparisons do not chain: %q follows %q", d.Rest[1].Op, d.Rest[0].Op)
	}
	return chain(c, c.sum(d.X), d.Rest, func(o *compareOperand) (Pos, string, Node) {
		return posOf(o.Pos), o.Op, c.sum(o.X)
	})
}

func (c *converter) sum(d *sum) Node {
	return chain(c, c.term(d.X), d.Rest, func(o *sumOperand) (Pos, string, Node) {
		return posOf(o.Pos), o.Op, c.term(o.X)
	})
}

func (c *converter) term(d *term) Node {
	return chain(c, c.factor(d.X), d.Rest, func(o *termOperand) (Pos, string, Node) {
		return posOf(o.Pos), o.Op, c.factor(o.X)
	})
}

func (c *converter) factor(f *factor) Node {
	switch {
	case f.Fold != nil:
		return c.fold(f.Fold)
	case f.Pow != nil:
		return c.power(f.Pow)
	case f.Sign == "-":
		return &Unary{Pos: posOf(f.Pos), Op: "-", X: c.factor(f.X)}
	}
	return c.factor(f.X)
}

func (c *converter) power(p *power) Node {
	x := c.primary(p.X)
	if p.Exp == nil {
		return x
	}
	return &Binary{Pos: posOf(p.Exp.Pos), Op: "^", X: x, Y: c.exponent(p.Exp.X)}
}

func (c *converter) exponent(x *exponent) Node {
	switch {
	case x.Pow != nil:
		return c.power(x.Pow)
	case x.Sign == "-":
		return &Unary{Pos: posOf(x.Pos), Op: "-", X: c.exponent(x.X)}
	}
	return c.exponent(x.X)
}

func (c *converter) primary(p *primary) Node {
	pos := posOf(p.Pos)
	switch {
	case p.Number != "":
		return &Number{Pos: pos, Text: p.Number}
	case p.Word != "":
		return &Const{Pos: pos, Name: p.Word}
	case p.Call != nil:
		return c.call(p.Call)
	case p.Quantile != nil:
		q := p.Quantile
		f := c.foldHead(pos, q.Word, q.Open, q.Vars, q.Options)
		f.Body, f.Q = c.disjunction(q.Body), c.disjunction(q.Q)
		return f
	case p.Access != nil:
		return c.access(p.Access)
	}
	return &Paren{Pos: pos, X: c.disjunction(p.Paren)}
}

func (c *converter) call(call *call) Node {
	a := &Apply{Pos: posOf(call.Pos), Name: call.Name}
	for _, arg := range call.Args {
		a.Args = append(a.Args, c.disjunction(arg))
	}
	want, has := "1 argument", len(a.Args) == 1
	if fn, ok := Functions[a.Name]; ok {
		switch fn.Arity {
		case -1:
			want, has = "2 or more arguments", len(a.Args) >= 2
			if len(a.Args) > MaxHeight {
				c.tooHigh(a.Pos)
			}
		case 2:
			want, has = "2 arguments", len(a.Args) == 2
		}
	} else if a.Name == "where" {
		want, has = "3 arguments: where(condition, then, else)", len(a.Args) == 3
	} else if a.Name == likeWord {
		want, has = "2 or more arguments: like(expression, A(i,j), …)", len(a.Args) >= 2
	}
	if !has {
		hint := ""
		if fn := a.Name; len(a.Args) == 1 && foldKindOf(fn) == reductionFold {
			hint = fmt.Sprintf("to reduce over an index write %s_j", fn)
		}
		c.fail(ErrArguments, a.Pos, hint, "%s takes %s; it has %d", a.Name, want, len(a.Args))
	}
	return a
}

func (c *converter) fold(f *fold) Node {
	n := c.foldHead(posOf(f.Pos), f.Word, f.Open, f.Vars, f.Options)
	n.Body = c.term(f.Body)
	return n
}

// foldHead converts what stands before the body of a reduction.
func (c *converter) foldHead(pos Pos, word, open string, vars []*boundVar, options []*option) *Fold {
	n := &Fold{Pos: pos}
	if open != "" {
		n.Name = strings.TrimSuffix(open, "_{")
	} else {
		name, index, _ := splitFold(word)
		n.Name = name
		skip := len(name) + 1 // operator names are ASCII
		at := Pos{Offset: pos.Offset + skip, Line: pos.Line, Column: pos.Column + skip}
		n.Vars = []*FoldVar{{Pos: at, Name: index}}
	}
	for _, v := range vars {
		fv := &FoldVar{Pos: posOf(v.Pos), Name: v.Name}
		if v.In != nil {
			fv.In, fv.InPos = v.In.Tensor.Name, posOf(v.In.Tensor.Pos)
		}
		n.Vars = append(n.Vars, fv)
	}
	for _, o := range options {
		n.Options = append(n.Options, Option{Pos: posOf(o.Pos), Name: o.Name, Number: c.optionNumber(n, o)})
	}
	c.options(n)
	return n
}

// optionNumber is the number of first=5, 0 for options without one.
func (c *converter) optionNumber(n *Fold, o *option) int64 {
	sorts := n.Name == Sort.String() || n.Name == ArgSort.String()
	switch {
	case o.Number == "" && (o.Name != firstOption || !sorts):
		return 0
	case o.Number != "" && (o.Name != firstOption || !sorts):
		hint := "remove the number"
		if sorts && suggest.Nearest(o.Name, []string{firstOption}) != "" {
			hint = "did you mean first?"
		}
		c.fail(ErrOption, posOf(o.Pos), hint, "the option %s of %s takes no number", o.Name, n.Name)
		return 0
	}
	v, err := strconv.ParseInt(o.Number, 10, 32)
	switch {
	case o.Number == "":
		c.fail(ErrOption, posOf(o.Pos), "write how many elements, from 1 to 2147483647: first=5", "first needs a number")
	case err != nil || v < 1:
		c.fail(ErrOption, posOf(o.Pos), "write how many elements, from 1 to 2147483647: first=5", "first=%s is no number of elements to keep", o.Number)
	}
	return v
}

// options checks the words in brackets.
func (c *converter) options(n *Fold) {
	allowed, single := []string(nil), false
	switch kind := foldKindOf(n.Name); {
	case n.Name == Sort.String(), n.Name == ArgSort.String():
		allowed = sortOptions
	case kind == scanFold:
		allowed = scanOptions
	case kind == quantileFold, n.Name == Median.String():
		allowed, single = quantileMethods, true
	}
	for i, o := range n.Options {
		switch {
		case c.err != nil: // a number is wrong
		case allowed == nil:
			c.fail(ErrOption, o.Pos, "remove the brackets", "%s takes no options", n.Name)
		case !slices.Contains(allowed, o.Name):
			hint := suggest.DidYouMean(o.Name, allowed)
			if hint == "" {
				hint = "the options are " + strings.Join(allowed, ", ")
			}
			c.fail(ErrOption, o.Pos, hint, "%s has no option %s", n.Name, o.Name)
		case single && i > 0:
			c.fail(ErrOption, o.Pos, "", "%s takes one method; %s is the second", n.Name, o.Name)
		case slices.ContainsFunc(n.Options[:i], func(p Option) bool { return p.Name == o.Name }):
			c.fail(ErrOption, o.Pos, "", "the option %s is given twice", o.Name)
		}
	}
}

func (c *converter) access(a *access) *Ref {
	r := &Ref{Pos: posOf(a.Pos), Name: a.Name, Parens: a.Parens}
	for _, x := range a.Indices {
		r.Indices = append(r.Indices, c.index(r, x))
	}
	return r
}

func (c *converter) index(in *Ref, x *index) *RefIndex {
	r := &RefIndex{Pos: posOf(x.Pos)}
	tail := x.Tail
	if x.Slice != nil {
		tail = x.Slice
	}
	if tail != nil {
		r.Slice = c.slice(x.Sum, tail)
		return r
	}
	node := c.sum(x.Sum)
	if c.err != nil {
		return r
	}
	if height(node) > MaxHeight {
		c.tooHigh(r.Pos)
		return r
	}
	if ref, ok := node.(*Ref); ok && ref.Parens {
		r.Terms = []*IndexTerm{{Pos: ref.Pos, Coef: 1, Gather: ref}}
		return r
	}
	l := &linear{c: c, in: in}
	l.add(node, 1)
	r.Terms = l.result(r.Pos)
	return r
}

func (c *converter) slice(lo *sum, tail *sliceTail) *Slice {
	s := &Slice{Step: 1, Open: tail.Hi == nil}
	if lo != nil {
		s.Lo = c.bound(lo)
	}
	if tail.Hi != nil {
		s.Hi = c.bound(tail.Hi)
	}
	if tail.Step != nil && tail.Step.Sum != nil {
		s.Step = c.bound(tail.Step.Sum)
		if s.Step == 0 {
			c.fail(ErrSlice, posOf(tail.Step.Pos), "", "the step of a slice is 0; it must be 1 or more")
		}
	}
	if !s.Open && s.Hi < s.Lo {
		c.fail(ErrSlice, posOf(tail.Pos), "slices count upwards; for the reverse write an affine index such as x(9-i)",
			"the slice %d:%d ends before it starts", s.Lo, s.Hi)
	}
	return s
}

// bound evaluates a part of a slice.
func (c *converter) bound(s *sum) int64 {
	node := c.sum(s)
	if c.err != nil {
		return 0
	}
	v, ok := constant(node)
	switch {
	case !ok:
		c.fail(ErrSlice, node.Place(), "for a variable window write an affine index: x(i+k)",
			"the parts of a slice are integer literals")
	case v < 0:
		c.fail(ErrSlice, node.Place(), "count from the start: the length is not known before run time",
			"the parts of a slice are not negative")
	}
	return v
}

// height is the number of nodes on the longest path from n to a leaf.
func height(n Node) int {
	h := 0
	switch n := n.(type) {
	case *Unary:
		h = height(n.X)
	case *Binary:
		h = max(height(n.X), height(n.Y))
	case *Paren:
		h = height(n.X)
	case *Apply:
		for i, a := range n.Args {
			h = max(h, height(a)+i) // min and max of many become a chain
		}
	case *Fold:
		h = height(n.Body)
		if n.Q != nil {
			h = max(h, height(n.Q))
		}
	}
	return h + 1
}
