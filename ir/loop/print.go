package loop

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// String returns the text of f; ParseFunc reads it back.
func (f *Func) String() string {
	var p printer
	p.fn(f)
	return p.w.String()
}

// String returns the text of s; ParseScalar reads it back.
func (s *Scalar) String() string {
	p := printer{vars: s.Vars, names: scalarNames(s)}
	params := make([]string, len(s.Args))
	for i, id := range s.Args {
		params[i] = p.names.variable(id) + ": " + typeOf(s.Vars, id).String()
	}
	p.header("scalar "+CleanName(s.Name), params, nil, s.Result.String()+" {")
	p.block(s.Body)
	p.line("}")
	return p.w.String()
}

// typeOf is the type of a variable, Invalid if there is none of that number.
func typeOf(vars []Var, id VarID) Type {
	if id < 0 || int(id) >= len(vars) {
		return Invalid
	}
	return vars[id].Type
}

// A printer writes functions and programs. It writes any tree, valid or not.
type printer struct {
	w      strings.Builder
	indent int
	vars   []Var
	fails  []string
	names  scopeNames
	exprs  exprPrinter
	at     int          // lines written
	lines  map[Stmt]int // unless nil, receives the line on which each statement begins, from 1
}

// maxHeader is the length from which a header is broken into lines.
const maxHeader = 100

func (p *printer) line(parts ...string) {
	for range p.indent {
		p.w.WriteString("  ")
	}
	for _, s := range parts {
		p.w.WriteString(s)
	}
	p.w.WriteByte('\n')
	p.at++
}

// header writes a line such as "func f(a, b; c) chunk … {", or one parameter a
// line when it would be long. The parameters of second follow a semicolon.
func (p *printer) header(start string, first, second []string, end string) {
	list := strings.Join(first, ", ")
	if len(second) > 0 {
		list += "; " + strings.Join(second, ", ")
	}
	if 2*p.indent+len(start)+len(list)+len(end)+3 <= maxHeader {
		p.line(strings.TrimSuffix(start+"("+list+") "+end, " "))
		return
	}
	p.line(start, "(")
	p.indent++
	lines := slices.Concat(first, second)
	for i, s := range lines {
		switch {
		case i+1 == len(first) && len(second) > 0:
			s += ";"
		case i+1 < len(lines):
			s += ","
		}
		if i == 0 && len(first) == 0 {
			s = "; " + s
		}
		p.line(s)
	}
	p.indent--
	p.line(strings.TrimSuffix(") "+end, " "))
}

func (p *printer) fn(f *Func) {
	p.vars, p.fails, p.names = f.Vars, f.Fails, funcNames(f)
	bufs := make([]string, len(f.Bufs))
	for i, b := range f.Bufs {
		bufs[i] = p.names.bufs[i] + ": []" + b.Elem.String()
		if b.Once {
			bufs[i] = "once " + bufs[i]
		}
		if b.ReadOnly {
			bufs[i] = "readonly " + bufs[i]
		}
		if b.Panel {
			bufs[i] = "panel " + bufs[i]
		}
	}
	args := make([]string, len(f.Args))
	for i, id := range f.Args {
		args[i] = p.names.variable(id) + ": " + typeOf(f.Vars, id).String()
	}
	p.header("func "+CleanName(f.Name), bufs, args, p.convention(f))
	p.shared(f)
	p.block(f.Body)
	p.line("}")
}

// mark notes that a statement begins on the next line.
func (p *printer) mark(s Stmt) {
	if p.lines != nil {
		p.lines[s] = p.at + 1
	}
}

func (p *printer) block(body []Stmt) {
	p.indent++
	for _, s := range body {
		p.stmt(s)
	}
	p.indent--
}

func (p *printer) stmt(s Stmt) {
	p.mark(s)
	switch s := s.(type) {
	case *Let:
		word := "let "
		if s.Mutable {
			word = "var "
		}
		p.line(word, p.names.variable(s.Var), ": ", typeOf(p.vars, s.Var).String(), " = ", p.expr(s.Value))
	case *Assign:
		p.line(p.names.variable(s.Var), " = ", p.expr(s.Value))
	case *Store:
		p.line(p.names.buffer(s.Buf), "[", p.expr(s.Index), "] = ", p.expr(s.Value))
	case *For:
		word := "for "
		if s.Independent {
			word = "for independent "
		}
		if s.Lanes > 0 {
			word += "lanes " + strconv.FormatInt(s.Lanes, 10) + " "
		}
		if s.Unroll > 0 {
			word += "unroll " + strconv.FormatInt(s.Unroll, 10) + " "
		}
		p.line(word, p.names.variable(s.Var), " = ", p.expr(s.Lo), " to ", p.expr(s.Hi), " {")
		p.block(s.Body)
		p.line("}")
	case *While:
		p.line("while ", p.expr(s.Cond), " {")
		p.block(s.Body)
		p.line("}")
	case *If:
		p.branch("", s)
	case *Fail:
		message := "?"
		if s.Code >= 0 && s.Code < len(p.fails) {
			message = p.fails[s.Code]
		}
		p.line("fail ", strconv.Itoa(s.Code), " ", strconv.Quote(message))
	case *Return:
		p.line("return ", p.expr(s.Value))
	case *Comment:
		for text := range strings.SplitSeq(s.Text, "\n") {
			if text == "" {
				p.line("//")
			} else {
				p.line("// ", text)
			}
		}
	default:
		p.gridStmt(s)
	}
}

// branch writes an if; an else that holds only another if becomes "else if".
func (p *printer) branch(before string, s *If) {
	p.mark(s)
	seldom := ""
	if s.Seldom {
		seldom = " seldom"
	}
	p.line(before, "if ", p.expr(s.Cond), seldom, " {")
	p.block(s.Then)
	if len(s.Else) == 0 {
		p.line("}")
		return
	}
	if next, ok := s.Else[0].(*If); ok && len(s.Else) == 1 {
		p.branch("} else ", next)
		return
	}
	p.line("} else {")
	p.block(s.Else)
	p.line("}")
}

func (p *printer) expr(e Expr) string {
	x := &p.exprs
	x.names = p.names
	x.w.Reset()
	x.expr(e, 0)
	return x.w.String()
}

// An exprPrinter writes expressions with the fewest parentheses that keep their
// structure.
type exprPrinter struct {
	w     bytes.Buffer
	names scopeNames
}

// expr writes e, in parentheses if it is an infix operation that binds less
// tightly than prec.
func (p *exprPrinter) expr(e Expr, prec int) {
	switch e := e.(type) {
	case *Const:
		p.w.WriteString(e.String())
	case *Ref:
		p.w.WriteString(p.names.variable(e.Var))
	case *Load:
		p.w.WriteString(p.names.buffer(e.Buf))
		p.w.WriteByte('[')
		p.expr(e.Index, 0)
		p.w.WriteByte(']')
	case *Unary:
		p.unary(e)
	case *Binary:
		p.binary(e, prec)
	case *Select:
		p.call("select", e.Cond, e.X, e.Y)
	case *FMA:
		p.call("fma", e.X, e.Y, e.Z)
	case *Cast:
		p.call(e.Typ.String(), e.X)
	case *Call:
		p.call(e.Fn, e.Args...)
		if t := callType(e.Fn); t != e.Typ {
			p.w.WriteString(":" + e.Typ.String())
		}
	case *Special:
		p.call(e.Reg.String())
	default:
		p.w.WriteByte('?')
	}
}

// callType is the result type that a library function's name tells by its last
// part, such as F64 for exp_f64; Invalid if it does not.
func callType(fn string) Type {
	i := strings.LastIndexByte(fn, '_')
	if t := TypeByName(fn[i+1:]); i > 0 && t.IsCompute() {
		return t
	}
	return Invalid
}

func (p *exprPrinter) unary(e *Unary) {
	if e.Op != Neg && e.Op != Not {
		p.call(e.Op.String(), e.X)
		return
	}
	p.w.WriteString(e.Op.String())
	if e.Op == Neg && !startsPlain(e.X) {
		p.parens(e.X)
		return
	}
	p.expr(e.X, unaryPrec)
}

// unaryPrec binds tighter than every infix operator.
const unaryPrec = 6

// startsPlain reports whether a minus sign may stand before the text of e: "-1"
// would be a literal, and "--x" is hard to read.
func startsPlain(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		return false
	case *Unary:
		return e.Op != Neg
	}
	return true
}

func (p *exprPrinter) binary(e *Binary, prec int) {
	level := binaryOps[e.Op].prec
	if level == 0 {
		p.functionBinary(e)
		return
	}
	if level < prec {
		p.w.WriteByte('(')
		defer p.w.WriteByte(')')
	}
	left := level
	if e.Op.IsComparison() {
		left++ // a < b < c does not parse
	}
	p.expr(e.X, left)
	p.w.WriteString(" " + e.Op.String() + " ")
	p.expr(e.Y, level+1)
}

// functionBinary writes min(x, y) and the like. complex(1.0, 2.0) is a literal,
// so an operation on two constants is set apart by parentheses.
func (p *exprPrinter) functionBinary(e *Binary) {
	_, constX := e.X.(*Const)
	_, constY := e.Y.(*Const)
	if e.Op != Complex || !constX || !constY {
		p.call(e.Op.String(), e.X, e.Y)
		return
	}
	p.w.WriteString(e.Op.String() + "(")
	p.parens(e.X)
	p.w.WriteString(", ")
	p.expr(e.Y, 0)
	p.w.WriteByte(')')
}

func (p *exprPrinter) parens(e Expr) {
	p.w.WriteByte('(')
	p.expr(e, 0)
	p.w.WriteByte(')')
}

func (p *exprPrinter) call(fn string, args ...Expr) {
	p.w.WriteString(fn + "(")
	for i, a := range args {
		if i > 0 {
			p.w.WriteString(", ")
		}
		p.expr(a, 0)
	}
	p.w.WriteByte(')')
}
