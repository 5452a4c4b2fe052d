package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// The levels of precedence, as in grammar.ebnf.
const (
	levelOr = iota
	levelAnd
	levelNot
	levelCompare
	levelSum
	levelTerm
	levelFactor // signs and reductions
	levelPower
	levelPrimary
)

var binaryLevels = map[string]int{
	"or": levelOr, "and": levelAnd,
	"==": levelCompare, "!=": levelCompare, "<": levelCompare, "<=": levelCompare, ">": levelCompare, ">=": levelCompare,
	"+": levelSum, "-": levelSum, "*": levelTerm, "/": levelTerm, "^": levelPower,
}

// String prints the program, one statement a line. It parses back to the same
// tree, except that parentheses are added where a tree that was not parsed needs them.
func (f *File) String() string {
	lines := make([]string, len(f.Stmts))
	for i, s := range f.Stmts {
		lines[i] = s.String()
	}
	return strings.Join(lines, "\n")
}

// String prints the statement on one line.
func (a *Assign) String() string {
	var p printer
	p.ref(a.LHS)
	fmt.Fprintf(&p, " %s ", a.Op)
	p.print(a.RHS, levelOr)
	if len(a.Schedule) > 0 {
		p.WriteString(" with " + FormatCommands(a.Schedule))
	}
	return p.String()
}

// FormatNode prints an expression on one line.
func FormatNode(n Node) string {
	var p printer
	p.print(n, levelOr)
	return p.String()
}

type printer struct {
	strings.Builder
}

// print writes n, in parentheses if it binds looser than level.
func (p *printer) print(n Node, level int) {
	if nodeLevel(n) < level {
		p.paren(n)
		return
	}
	switch n := n.(type) {
	case *Number:
		p.WriteString(n.Text)
	case *Const:
		p.WriteString(n.Name)
	case *Ref:
		p.ref(n)
	case *Paren:
		p.paren(n.X)
	case *Unary:
		p.unary(n)
	case *Binary:
		p.binary(n)
	case *Apply:
		p.WriteString(n.Name)
		p.WriteByte('(')
		for i, a := range n.Args {
			if i > 0 {
				p.WriteString(", ")
			}
			p.print(a, levelOr)
		}
		p.WriteByte(')')
	case *Fold:
		p.fold(n)
	default:
		panic(fmt.Sprintf("BUG: unknown node %T", n))
	}
}

func (p *printer) paren(n Node) {
	p.WriteByte('(')
	p.print(n, levelOr)
	p.WriteByte(')')
}

func (p *printer) unary(n *Unary) {
	if n.Op == "not" {
		p.WriteString("not ")
		p.print(n.X, levelNot)
		return
	}
	p.WriteString(n.Op)
	p.print(n.X, levelFactor)
}

func (p *printer) binary(n *Binary) {
	level := binaryLevels[n.Op]
	switch level {
	case levelPower:
		p.print(n.X, levelPrimary)
		p.WriteByte('^')
		p.exponent(n.Y)
	case levelTerm:
		if endsInFold(n.X) {
			p.paren(n.X) // the reduction would take in what follows
		} else {
			p.print(n.X, level)
		}
		p.WriteString(n.Op)
		p.print(n.Y, level+1)
	default:
		left := level
		if level == levelCompare {
			left++
		}
		p.print(n.X, left)
		fmt.Fprintf(p, " %s ", n.Op)
		p.print(n.Y, level+1)
	}
}

// exponent writes what follows ^: signs and powers stand without parentheses.
func (p *printer) exponent(n Node) {
	for {
		u, ok := n.(*Unary)
		if !ok || u.Op != "-" {
			break
		}
		p.WriteString("-")
		n = u.X
	}
	p.print(n, levelPower)
}

func (p *printer) fold(n *Fold) {
	p.WriteString(n.Name)
	p.WriteByte('_')
	if len(n.Vars) == 1 && n.Vars[0].In == "" {
		p.WriteString(n.Vars[0].Name)
	} else {
		p.WriteByte('{')
		for i, v := range n.Vars {
			if i > 0 {
				p.WriteByte(',')
			}
			p.WriteString(v.Name)
			if v.In != "" {
				p.WriteString(" in " + v.In)
			}
		}
		p.WriteByte('}')
	}
	if len(n.Options) > 0 {
		words := make([]string, len(n.Options))
		for i, o := range n.Options {
			words[i] = o.Name
			if o.Number > 0 {
				words[i] += "=" + strconv.FormatInt(o.Number, 10)
			}
		}
		p.WriteString("[" + strings.Join(words, ", ") + "]")
	}
	if n.Q != nil {
		p.WriteByte('(')
		p.print(n.Body, levelOr)
		p.WriteString(", ")
		p.print(n.Q, levelOr)
		p.WriteByte(')')
		return
	}
	p.WriteByte(' ')
	p.print(n.Body, levelTerm)
}

func (p *printer) ref(r *Ref) {
	p.WriteString(r.Name)
	if !r.Parens && len(r.Indices) == 0 {
		return
	}
	p.WriteByte('(')
	for i, x := range r.Indices {
		if i > 0 {
			p.WriteByte(',')
		}
		p.index(x)
	}
	p.WriteByte(')')
}

func (p *printer) index(x *RefIndex) {
	if s := x.Slice; s != nil {
		if s.Lo != 0 {
			p.WriteString(strconv.FormatInt(s.Lo, 10))
		}
		p.WriteByte(':')
		if !s.Open {
			p.WriteString(strconv.FormatInt(s.Hi, 10))
		}
		if s.Step != 1 {
			p.WriteString(":" + strconv.FormatInt(s.Step, 10))
		}
		return
	}
	for i, t := range x.Terms {
		if t.Gather != nil {
			p.ref(t.Gather)
			continue
		}
		coef := strconv.FormatInt(t.Coef, 10)
		if i > 0 && t.Coef >= 0 {
			p.WriteByte('+')
		}
		switch {
		case t.Name == "":
			p.WriteString(coef)
		case t.Coef == 1:
			p.WriteString(t.Name)
		case t.Coef == -1:
			p.WriteString("-" + t.Name)
		default:
			p.WriteString(coef + "*" + t.Name)
		}
	}
}

// nodeLevel is the level of precedence at which n may stand without parentheses.
func nodeLevel(n Node) int {
	switch n := n.(type) {
	case *Unary:
		if n.Op == "not" {
			return levelNot
		}
		return levelFactor
	case *Binary:
		return binaryLevels[n.Op]
	case *Fold:
		if n.Q == nil {
			return levelFactor
		}
	}
	return levelPrimary
}

// endsInFold says whether n, printed as the left operand of a product, ends in
// the body of a reduction.
func endsInFold(n Node) bool {
	switch n := n.(type) {
	case *Fold:
		return n.Q == nil
	case *Unary:
		return n.Op == "-" && endsInFold(n.X)
	case *Binary:
		return binaryLevels[n.Op] == levelTerm && endsInFold(n.Y)
	}
	return false
}
