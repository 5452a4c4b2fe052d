package loop

import (
	"slices"
	"strconv"
	"strings"
)

// A builtin is a name that the language uses with parentheses behind it.
type builtin struct {
	unary    UnaryOp
	binary   BinaryOp
	register Register
	three    func(p *parser, name token, args []operand) operand
	stmt     bool // a statement
}

// builtins maps the names of operators in function syntax to the operators.
var builtins = func() map[string]builtin {
	m := map[string]builtin{"select": {three: (*parser).selection}, "fma": {three: (*parser).fma}}
	for op, facts := range unaryOps {
		if facts.name != "" && isName(facts.name) {
			m[facts.name] = builtin{unary: UnaryOp(op)}
		}
	}
	for op, facts := range binaryOps {
		if facts.name != "" && isName(facts.name) {
			m[facts.name] = builtin{binary: BinaryOp(op)}
		}
	}
	for r := BlockIndex; int(r) < len(registers); r++ {
		m[r.String()] = builtin{register: r}
	}
	for _, name := range slices.Concat([]string{"ballot"}, shuffles[:], atomics[:]) {
		m[name] = builtin{stmt: true}
	}
	return m
}()

// infix maps the symbols of infix operators to the operators.
var infix = func() map[string]BinaryOp {
	m := map[string]BinaryOp{}
	for op, facts := range binaryOps {
		if facts.prec > 0 {
			m[facts.name] = BinaryOp(op)
		}
	}
	return m
}()

// placeholder stands for an expression after an error.
var placeholder = operand{e: Int(0), depth: 1}

// An operand is a parsed expression with the height of its tree, which the
// parser bounds: a long sum is a deep tree though its text does not nest.
type operand struct {
	e     Expr
	depth int
}

// typed reads an expression that must have type t; what says what it is for.
func (p *parser) typed(t Type, what string) Expr {
	offset := p.tok.offset
	e := p.expr(0).e
	if p.err == nil && e.Type() != t {
		p.failAt(offset, "%s is of type %s, this expression of type %s", what, t, e.Type())
	}
	return e
}

// node checks the height of a new tree over its operands.
func (p *parser) node(e Expr, operands ...operand) operand {
	height := 0
	for _, x := range operands {
		height = max(height, x.depth)
	}
	if height+1 > maxDepth {
		p.fail("expression nested deeper than %d levels", maxDepth)
		return placeholder
	}
	return operand{e: e, depth: height + 1}
}

// expr reads an expression of infix operators that bind tighter than prec, by
// precedence climbing.
func (p *parser) expr(prec int) operand {
	x := p.unary()
	for p.err == nil && p.tok.kind == tokPunct {
		op := infix[p.tok.text]
		level := binaryOps[op].prec
		if level <= prec {
			break
		}
		at := p.advance().offset
		y := p.expr(level)
		x = p.binary(at, op, x, y)
		if op.IsComparison() && binaryOps[infix[p.tok.text]].cmp {
			p.fail("comparisons do not chain; use parentheses and &")
		}
	}
	return x
}

// binary applies op, whose token is at an offset.
func (p *parser) binary(at int, op BinaryOp, x, y operand) operand {
	if p.err != nil {
		return placeholder
	}
	tx, ty := x.e.Type(), y.e.Type()
	if tx != ty {
		p.failAt(at, "the operands of %s have types %s and %s; cast one", op, tx, ty)
		return placeholder
	}
	t := BinaryType(op, tx)
	if t == Invalid {
		p.failAt(at, "%s is not defined on %s", op, tx)
		return placeholder
	}
	return p.node(&Binary{Op: op, Typ: t, X: x.e, Y: y.e}, x, y)
}

// unary reads a prefix operator or a primary expression.
func (p *parser) unary() operand {
	if !p.nest(&p.parens, maxParens) {
		return placeholder
	}
	defer func() { p.parens-- }()
	at := p.tok.offset
	switch {
	case p.accept("!"):
		return p.prefix(at, Not, p.unary())
	case p.accept("-"):
		if p.atLiteral() {
			return p.literal(minus)
		}
		return p.prefix(at, Neg, p.unary())
	}
	return p.primary()
}

// prefix applies a unary operator, whose token is at an offset.
func (p *parser) prefix(at int, op UnaryOp, x operand) operand {
	if p.err != nil {
		return placeholder
	}
	t := UnaryType(op, x.e.Type())
	if t == Invalid {
		p.failAt(at, "%s is not defined on %s", op, x.e.Type())
		return placeholder
	}
	return p.node(&Unary{Op: op, Typ: t, X: x.e}, x)
}

func (p *parser) primary() operand {
	switch {
	case p.accept("("):
		x := p.expr(0)
		p.expect(")")
		return x
	case p.atLiteral():
		return p.literal(plus)
	case p.tok.kind == tokBits:
		return p.bits()
	case p.accept("true"):
		return operand{e: Truth(true), depth: 1}
	case p.accept("false"):
		return operand{e: Truth(false), depth: 1}
	}
	t := p.name("an expression")
	if p.err != nil {
		return placeholder
	}
	if p.accept("(") {
		return p.application(t)
	}
	d, known := p.scope.names[t.text]
	switch {
	case !known:
		p.failAt(t.offset, "%q is not declared here", t.text)
		return placeholder
	case d.kind == isBuffer:
		p.expect("[")
		offset := p.tok.offset
		index := p.expr(0)
		if p.err == nil && index.e.Type() != I64 {
			p.failAt(offset, "the index is of type i64, this expression of type %s", index.e.Type())
		}
		p.expect("]")
		return p.node(&Load{Buf: BufID(d.id), Elem: p.scope.bufs[d.id].Elem, Index: index.e}, index)
	}
	return operand{e: &Ref{Var: VarID(d.id), Typ: p.scope.vars[d.id].Type}, depth: 1}
}

// A sign stands before a literal.
type sign bool

const (
	plus  sign = false
	minus sign = true
)

// atLiteral reports whether a number, inf or nan comes next.
func (p *parser) atLiteral() bool {
	return p.tok.kind == tokNumber || p.at("inf") || p.at("nan")
}

// literal reads a number with its type, such as 1, 1.5 or 3:u32.
func (p *parser) literal(s sign) operand {
	n := p.advance()
	t := I64
	if n.kind == tokName || isFloatText(n.text) {
		t = F64
	}
	if p.accept(":") {
		t = p.computeType()
	}
	if p.err != nil {
		return placeholder
	}
	c, err := parseLiteral(n.text, bool(s), t)
	if err != nil {
		p.failAt(n.offset, "%v", err)
		return placeholder
	}
	return operand{e: c, depth: 1}
}

// bits reads a literal such as f64#7ff8000000000001.
func (p *parser) bits() operand {
	tok := p.advance()
	name, digits, _ := strings.Cut(tok.text, "#")
	t := TypeByName(name)
	if !isReal(t) {
		p.failAt(tok.offset, "bits can be given of f32 and f64 only, not of %q", name)
		return placeholder
	}
	bits, err := strconv.ParseUint(digits, 16, 8*t.Size())
	if err != nil {
		p.failAt(tok.offset, "expected up to %d hexadecimal digits after %s#", 2*t.Size(), t)
		return placeholder
	}
	return operand{e: &Const{Typ: t, Bits: bits}, depth: 1}
}

// application reads the arguments of name( and applies what it names: a type
// (a cast), an operator or a library function.
func (p *parser) application(name token) operand {
	literal := p.complexParts(name)
	var args []operand
	p.list(func() { args = append(args, p.expr(0)) }, ")")
	p.expect(")")
	if p.err != nil {
		return placeholder
	}
	if t := TypeByName(name.text); t != Invalid {
		return p.cast(name, t, args)
	}
	b, ok := builtins[name.text]
	switch {
	case !ok:
		return p.call(name, args)
	case b.stmt:
		p.failAt(name.offset, "%s is a statement of its own, as in let v: T = %s(…)", name.text, name.text)
		return placeholder
	case b.register != InvalidRegister:
		if !p.count(name, args, 0) {
			return placeholder
		}
		return operand{e: &Special{Reg: b.register}, depth: 1}
	case b.unary != InvalidUnary:
		if !p.count(name, args, 1) {
			return placeholder
		}
		return p.prefix(name.offset, b.unary, args[0])
	case b.three != nil:
		return b.three(p, name, args)
	case !p.count(name, args, 2):
		return placeholder
	}
	x := p.binary(name.offset, b.binary, args[0], args[1])
	if b.binary == Complex && literal && p.err == nil {
		return foldComplex(x)
	}
	return x
}

// complexParts reports whether the text is complex( followed by a bare literal:
// complex(1.0, 2.0) is a literal, complex((1.0), 2.0) an operation.
func (p *parser) complexParts(name token) bool {
	return name.text == Complex.String() && (p.atLiteral() || p.tok.kind == tokBits || p.at("-"))
}

// foldComplex makes a literal of complex(x, y) on two literals.
func foldComplex(x operand) operand {
	b := x.e.(*Binary)
	re, ok := b.X.(*Const)
	im, ok2 := b.Y.(*Const)
	if !ok || !ok2 {
		return x
	}
	return operand{e: &Const{Typ: b.Typ, Bits: re.Bits, Imag: im.Bits}, depth: 1}
}

// count wants n arguments.
func (p *parser) count(name token, args []operand, n int) bool {
	if len(args) != n {
		p.failAt(name.offset, "%s takes %d arguments, not %d", name.text, n, len(args))
	}
	return len(args) == n
}

func (p *parser) cast(name token, t Type, args []operand) operand {
	if !p.count(name, args, 1) {
		return placeholder
	}
	if !t.IsCompute() {
		p.failAt(name.offset, "%s is a type of buffers only; round with round%s", t, t)
		return placeholder
	}
	return p.node(&Cast{Typ: t, X: args[0].e}, args...)
}

func (p *parser) selection(name token, args []operand) operand {
	if !p.count(name, args, 3) {
		return placeholder
	}
	cond, x, y := args[0].e.Type(), args[1].e.Type(), args[2].e.Type()
	if cond != Bool || x != y {
		p.failAt(name.offset, "select takes bool, T, T; these are %s, %s, %s", cond, x, y)
		return placeholder
	}
	return p.node(&Select{Cond: args[0].e, X: args[1].e, Y: args[2].e}, args...)
}

func (p *parser) fma(name token, args []operand) operand {
	if !p.count(name, args, 3) {
		return placeholder
	}
	x, y, z := args[0].e.Type(), args[1].e.Type(), args[2].e.Type()
	if FMAType(x) == Invalid || x != y || x != z {
		p.failAt(name.offset, "fma takes three f32 or three f64; these are %s, %s, %s", x, y, z)
		return placeholder
	}
	return p.node(&FMA{X: args[0].e, Y: args[1].e, Z: args[2].e}, args...)
}

// call reads the result type of a library function where its name does not tell.
func (p *parser) call(name token, args []operand) operand {
	if !isName(name.text) {
		p.failAt(name.offset, "%q cannot name a function", name.text)
		return placeholder
	}
	t := callType(name.text)
	if p.accept(":") {
		t = p.computeType()
	}
	if t == Invalid {
		p.failAt(name.offset, "the result type of %s is unknown; write it behind the call, as in %s(…):f64", name.text, name.text)
		return placeholder
	}
	call := &Call{Fn: name.text, Typ: t}
	for _, a := range args {
		call.Args = append(call.Args, a.e)
	}
	return p.node(call, args...)
}
