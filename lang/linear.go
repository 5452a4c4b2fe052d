package lang

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/overflow"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
)

// constant evaluates an integer literal with an optional sign.
func constant(n Node) (int64, bool) {
	switch n := n.(type) {
	case *Number:
		v, err := strconv.ParseInt(n.Text, 10, 64)
		return v, err == nil
	case *Unary:
		v, ok := constant(n.X)
		return -v, ok && n.Op == "-"
	case *Paren:
		return constant(n.X)
	}
	return 0, false
}

// linear collects an affine index, Const + sum of Coef*Name.
type linear struct {
	c     *converter
	in    *Ref
	terms []*IndexTerm
	konst int64
}

// add adds scale*n.
func (l *linear) add(n Node, scale int64) {
	switch n := n.(type) {
	case *Number:
		v, err := strconv.ParseInt(n.Text, 10, 64)
		switch {
		case err == nil:
			l.addConst(n.Pos, v, scale)
		case errors.Is(err, strconv.ErrRange):
			l.tooLarge(n.Pos)
		case strings.HasSuffix(n.Text, "i"):
			l.c.fail(ErrAffine, n.Pos, fmt.Sprintf("write %s*i", strings.TrimSuffix(n.Text, "i")), "%s is an imaginary number", n.Text)
		default:
			l.refuse(n)
		}
	case *Ref:
		if n.Parens {
			l.c.fail(ErrAffine, n.Pos, "a gather stands alone in its dimension; compute the sum in a statement before",
				"the value of %s is used inside an affine index", n.Name)
			return
		}
		l.addVar(n, scale)
	case *Paren:
		l.add(n.X, scale)
	case *Unary:
		if n.Op != "-" {
			l.refuse(n)
			return
		}
		l.add(n.X, l.negate(n.Pos, scale))
	case *Binary:
		l.addBinary(n, scale)
	default:
		l.refuse(n)
	}
}

func (l *linear) addBinary(n *Binary, scale int64) {
	switch n.Op {
	case "+":
		l.add(n.X, scale)
		l.add(n.Y, scale)
		return
	case "-":
		l.add(n.X, scale)
		l.add(n.Y, l.negate(n.Pos, scale))
		return
	case "*":
		factor, other := n.X, n.Y
		v, ok := constant(factor)
		if !ok {
			factor, other = other, factor
			v, ok = constant(factor)
		}
		if ok {
			product, fits := overflow.Mul(v, scale)
			if !fits {
				l.tooLarge(n.Pos)
				return
			}
			l.add(other, product)
			return
		}
	}
	l.refuse(n)
}

func (l *linear) negate(pos Pos, scale int64) int64 {
	if scale == math.MinInt64 {
		l.tooLarge(pos)
		return 0
	}
	return -scale
}

func (l *linear) addConst(pos Pos, v, scale int64) {
	product, ok := overflow.Mul(v, scale)
	sum, fits := overflow.Add(l.konst, product)
	if !ok || !fits || sum == math.MinInt64 {
		l.tooLarge(pos)
		return
	}
	l.konst = sum
}

func (l *linear) addVar(n *Ref, scale int64) {
	for _, t := range l.terms {
		if t.Name == n.Name {
			sum, fits := overflow.Add(t.Coef, scale)
			if !fits || sum == math.MinInt64 {
				l.tooLarge(n.Pos)
				return
			}
			t.Coef = sum
			return
		}
	}
	l.terms = append(l.terms, &IndexTerm{Pos: n.Pos, Coef: scale, Name: n.Name})
}

// result returns the terms with a coefficient, then the constant if there is one or
// nothing else.
func (l *linear) result(pos Pos) []*IndexTerm {
	terms := slices.DeleteFunc(l.terms, func(t *IndexTerm) bool { return t.Coef == 0 })
	if l.konst != 0 || len(terms) == 0 {
		terms = append(terms, &IndexTerm{Pos: pos, Coef: l.konst})
	}
	return terms
}

func (l *linear) tooLarge(pos Pos) {
	l.c.fail(ErrAffine, pos, "", "a number in the index does not fit 64 bits")
}

func (l *linear) refuse(n Node) {
	hint := "an index is affine, such as 2*i-k+1, or a gather such as x(p(i)), or a slice such as 0:n; n a literal"
	if similar := suggest.DidYouMean(l.in.Name, callables()); similar != "" {
		hint = fmt.Sprintf("if %s is meant as a function: %s", l.in.Name, similar)
	}
	l.c.fail(ErrAffine, n.Place(), hint, "the index of %s is not affine", l.in.Name)
}
