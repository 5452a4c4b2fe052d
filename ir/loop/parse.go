package loop

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits that keep any text, and any tree the verifier accepts, harmless.
const (
	maxSource = 16 << 20     // bytes of text
	maxDepth  = 1000         // statements inside statements, expressions inside expressions
	maxParens = 2 * maxDepth // an expression takes up to two levels of text: -(-x)
	maxFails  = 1 << 16      // messages of a function
)

// ParseError says where text is not of the loop language, and why.
type ParseError struct {
	Line, Col int // from 1; Col counts bytes
	Msg       string
}

// Error returns "line:col: message".
func (e *ParseError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg) }

// ParseFunc reads the text of one function as Func.String writes it. Variables
// are numbered in the order of the text. The error is a *ParseError. Names and
// types are checked on the way; Verify checks the rest.
func ParseFunc(src string) (*Func, error) {
	p := newParser(src)
	f := p.fn()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

// ParseScalar reads the text of one scalar function. The error is a
// *ParseError.
func ParseScalar(src string) (*Scalar, error) {
	p := newParser(src)
	p.skipComments()
	s := p.scalar()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// ParseScalars reads a text of any number of scalar functions with comments
// between them, in order. The error is a *ParseError.
func ParseScalars(src string) ([]*Scalar, error) {
	p := newParser(src)
	var all []*Scalar
	for p.skipComments(); p.tok.kind != tokEOF; p.skipComments() {
		all = append(all, p.scalar())
	}
	if p.err != nil {
		return nil, p.err
	}
	return all, nil
}

// A parser reads text by recursive descent. The first error ends the text: from
// then on every token is tokEOF and every expression a constant, so the parsing
// functions need not look at err.
type parser struct {
	lex     lexer
	tok     token // the token to be read next
	err     *ParseError
	blocks  int // statements around the token
	parens  int // expressions around the token, inside its statement
	scope   scope
	program programScope
}

func newParser(src string) *parser {
	p := &parser{lex: lexer{src: src}}
	if len(src) > maxSource {
		p.failAt(0, "the text has %d bytes; at most %d are read", len(src), maxSource)
		return p
	}
	p.advance()
	return p
}

// failAt records the first error, at an offset of the text, and ends the text.
func (p *parser) failAt(offset int, format string, args ...any) {
	if p.err == nil {
		before := p.lex.src[:offset]
		line := strings.Count(before, "\n")
		p.err = &ParseError{
			Line: line + 1,
			Col:  offset - strings.LastIndexByte(before, '\n'),
			Msg:  fmt.Sprintf(format, args...),
		}
	}
	p.tok = token{kind: tokEOF, offset: p.tok.offset}
}

// fail is failAt the token to be read next.
func (p *parser) fail(format string, args ...any) { p.failAt(p.tok.offset, format, args...) }

// advance steps over the current token and returns it.
func (p *parser) advance() token {
	t := p.tok
	if p.err == nil {
		next, problem := p.lex.next()
		p.tok = next
		if problem != "" {
			p.failAt(next.offset, "%s", problem)
		}
	}
	return t
}

func (p *parser) skipComments() {
	for p.tok.kind == tokComment {
		p.advance()
	}
}

// end wants nothing but comments up to the end of the text.
func (p *parser) end() {
	p.skipComments()
	if p.tok.kind != tokEOF {
		p.fail("expected the end of the text, found %s", p.tok.describe())
	}
}

// at reports whether the next token is this word or punctuation.
func (p *parser) at(text string) bool {
	return p.tok.text == text && (p.tok.kind == tokPunct || p.tok.kind == tokName)
}

// accept steps over the next token if it is this word or punctuation.
func (p *parser) accept(text string) bool {
	if !p.at(text) {
		return false
	}
	p.advance()
	return true
}

// expect steps over this word or punctuation.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail("expected %q, found %s", text, p.tok.describe())
	}
}

// list reads items separated by commas up to, not including, one of the closing
// tokens.
func (p *parser) list(item func(), closing ...string) {
	for _, c := range closing {
		if p.at(c) {
			return
		}
	}
	item()
	for p.accept(",") {
		item()
	}
}

// name reads a name and returns its token; what says what it would name.
func (p *parser) name(what string) token {
	if p.tok.kind != tokName {
		p.fail("expected %s, found %s", what, p.tok.describe())
		return p.tok
	}
	if isReserved(p.tok.text) {
		p.fail("expected %s, found the reserved word %q", what, p.tok.text)
		return p.tok
	}
	return p.advance()
}

// plainName reads a name without a suffix.
func (p *parser) plainName(what string) string {
	t := p.name(what)
	if p.err == nil && !isName(t.text) {
		p.failAt(t.offset, "%s cannot have the suffix of %q", what, t.text)
	}
	return t.text
}

// typ reads the name of a type.
func (p *parser) typ() Type {
	t := TypeByName(p.tok.text)
	if p.tok.kind != tokName || t == Invalid {
		p.fail("expected a type such as i64 or f64, found %s", p.tok.describe())
		return I64
	}
	p.advance()
	return t
}

// computeType reads a type that variables may have.
func (p *parser) computeType() Type {
	offset := p.tok.offset
	t := p.typ()
	if !t.IsCompute() {
		p.failAt(offset, "%s is a type of buffers only; values are computed in %s", t, t.Compute())
	}
	return t
}

// nest counts a level of nesting and reports whether it is allowed; the caller
// takes the level back when it is.
func (p *parser) nest(depth *int, limit int) bool {
	if *depth == limit {
		p.fail("nested deeper than %d levels", limit)
		return false
	}
	*depth++
	return true
}

// fn reads a function, comments before it included.
func (p *parser) fn() *Func {
	p.skipComments()
	p.expect("func")
	p.scope = scope{names: map[string]declared{}}
	f := &Func{Name: p.plainName("the function's name")}
	p.expect("(")
	p.list(func() { p.buffer(f) }, ";", ")")
	if p.accept(";") {
		p.list(func() { f.Args = append(f.Args, p.indexParameter()) }, ")")
	}
	p.expect(")")
	p.convention(f)
	p.expect("{")
	outer := p.scope.enter()
	p.shared(f)
	p.scope.bufs = f.Buffers()
	f.Body = p.rest(outer)
	f.Vars, f.Fails = p.scope.vars, p.scope.fails
	return f
}

// buffer reads "readonly once A: []f64", "readonly A: []f64", "panel p: []f64" or "y: []f64".
func (p *parser) buffer(f *Func) {
	t := p.name("a buffer's name")
	word := func(w string) bool {
		if t.text != w || p.tok.kind != tokName {
			return false
		}
		t = p.name("a buffer's name")
		return true
	}
	readonly := word("readonly")
	once := readonly && word("once")
	panel := !readonly && word("panel")
	p.expect(":")
	p.expect("[")
	p.expect("]")
	b := Buf{Name: baseName(t.text), Elem: p.typ(), ReadOnly: readonly, Once: once, Panel: panel}
	p.scope.declare(p, t, declared{kind: isBuffer, id: len(f.Bufs)})
	f.Bufs = append(f.Bufs, b)
}

// indexParameter reads "n: i64".
func (p *parser) indexParameter() VarID {
	id := p.declareIndex("a parameter's name")
	p.expect(":")
	if !p.at("i64") {
		p.fail("expected i64, the type of every parameter that is not a buffer, found %s", p.tok.describe())
	}
	p.advance()
	return id
}

// declareIndex reads the name of a parameter of type I64.
func (p *parser) declareIndex(what string) VarID {
	return p.scope.variable(p, p.name(what), I64, isLet)
}

// scalar reads a scalar function.
func (p *parser) scalar() *Scalar {
	p.expect("scalar")
	p.scope = scope{names: map[string]declared{}, scalar: true}
	s := &Scalar{Name: p.plainName("the function's name")}
	p.expect("(")
	p.list(func() {
		t := p.name("a parameter's name")
		p.expect(":")
		s.Args = append(s.Args, p.scope.variable(p, t, p.computeType(), isLet))
	}, ")")
	p.expect(")")
	s.Result = p.computeType()
	p.scope.result = s.Result
	s.Body = p.block()
	s.Vars = p.scope.vars
	return s
}

// block reads statements in braces and forgets the names declared in them.
func (p *parser) block() []Stmt {
	p.expect("{")
	return p.rest(p.scope.enter())
}

// rest is block behind the brace that opens it and what is declared there.
func (p *parser) rest(outer int) []Stmt {
	var body []Stmt
	for p.err == nil && !p.at("}") {
		body = append(body, p.stmt())
	}
	p.scope.leave(outer)
	p.expect("}")
	return body
}

func (p *parser) stmt() Stmt {
	if p.tok.kind == tokComment {
		return &Comment{Text: p.advance().text}
	}
	if p.tok.kind != tokName {
		p.fail("expected a statement or %q, found %s", "}", p.tok.describe())
		return &Comment{}
	}
	if !p.nest(&p.blocks, maxDepth) {
		return &Comment{}
	}
	defer func() { p.blocks-- }()
	start := p.tok
	switch start.text {
	case "let", "var":
		return p.let()
	case "for":
		return p.loop()
	case "while":
		p.advance()
		cond := p.condition()
		return &While{Cond: cond, Body: p.block()}
	case "if":
		return p.branch()
	case "fail":
		return p.failStmt()
	case "return":
		p.advance()
		if !p.scope.scalar {
			p.failAt(start.offset, "only a scalar function returns a value")
		}
		return &Return{Value: p.typed(p.scope.result, "the result")}
	}
	if p.atGrid() {
		return p.gridStmt()
	}
	return p.assign()
}

// let reads "let x: T = e" and "var x: T = e".
func (p *parser) let() Stmt {
	kind := isLet
	if p.advance().text == "var" {
		kind = isVar
	}
	name := p.name("a variable's name")
	p.expect(":")
	t := p.computeType()
	p.expect("=")
	if kind == isLet && p.atResult() {
		s, id := p.result(t)
		*id = p.scope.variable(p, name, t, isLet)
		return s
	}
	value := p.typed(t, name.text)
	return &Let{Var: p.scope.variable(p, name, t, kind), Mutable: kind == isVar, Value: value}
}

// loop reads "for i = lo to hi { … }".
func (p *parser) loop() Stmt {
	p.advance()
	name := p.name("the loop variable's name")
	s := &For{}
	if name.text == "independent" && p.tok.kind == tokName {
		s.Independent = true
		name = p.name("the loop variable's name")
	}
	for _, hint := range []struct {
		word string
		to   *int64
	}{{"lanes", &s.Lanes}, {"unroll", &s.Unroll}} {
		if name.text != hint.word || p.tok.kind != tokNumber {
			continue
		}
		n, err := strconv.ParseInt(p.tok.text, 10, 64)
		if err != nil || n < 1 {
			p.fail("%s takes a number from 1 on, not %s", hint.word, p.tok.describe())
		}
		*hint.to = n
		p.advance()
		name = p.name("the loop variable's name")
	}
	p.expect("=")
	s.Lo = p.typed(I64, "the lower bound")
	p.expect("to")
	s.Hi = p.typed(I64, "the upper bound")
	outer := p.scope.enter()
	s.Var = p.scope.variable(p, name, I64, isLet)
	s.Body = p.block()
	p.scope.leave(outer)
	return s
}

// branch reads an if and the chain of else ifs behind it.
func (p *parser) branch() Stmt {
	p.advance()
	s := &If{Cond: p.condition()}
	s.Seldom = p.accept("seldom")
	s.Then = p.block()
	if !p.accept("else") {
		return s
	}
	if !p.at("if") {
		s.Else = p.block()
		return s
	}
	if p.nest(&p.blocks, maxDepth) {
		s.Else = []Stmt{p.branch()}
		p.blocks--
	}
	return s
}

func (p *parser) condition() Expr { return p.typed(Bool, "the condition") }

// failStmt reads `fail 0 "message"`.
func (p *parser) failStmt() Stmt {
	start := p.advance()
	if p.scope.scalar {
		p.failAt(start.offset, "a scalar function cannot fail")
	}
	code, err := strconv.Atoi(p.tok.text)
	if p.tok.kind != tokNumber || err != nil || code >= maxFails {
		p.fail("expected the message's number, below %d, found %s", maxFails, p.tok.describe())
		return &Fail{}
	}
	p.advance()
	message, err := strconv.Unquote(p.tok.text)
	if p.tok.kind != tokString || err != nil {
		p.fail("expected a message in quotes, found %s", p.tok.describe())
		return &Fail{}
	}
	if known, ok := p.scope.message(code); ok && known != message {
		p.fail("message %d was %q before", code, known)
		return &Fail{}
	}
	p.advance()
	p.scope.setMessage(code, message)
	return &Fail{Code: code}
}

// assign reads "x = e" and "buf[i] = e".
func (p *parser) assign() Stmt {
	t := p.name("a statement")
	if p.err != nil {
		return &Comment{}
	}
	d, known := p.scope.names[t.text]
	switch {
	case !known && (p.at("=") || p.at("[")):
		p.failAt(t.offset, "%q is not declared here", t.text)
	case !known:
		p.failAt(t.offset, "expected a statement, found %q", t.text)
	case d.kind == isBuffer:
		return p.store(t, d.id)
	case d.kind == isLet:
		p.failAt(t.offset, "%q cannot be assigned; declare it with var", t.text)
	}
	p.expect("=")
	if p.err != nil {
		return &Comment{}
	}
	return &Assign{Var: VarID(d.id), Value: p.typed(p.scope.vars[d.id].Type, t.text)}
}

func (p *parser) store(t token, id int) Stmt {
	b := p.scope.bufs[id]
	if b.ReadOnly {
		p.failAt(t.offset, "the buffer %q is read-only", t.text)
	}
	p.expect("[")
	index := p.typed(I64, "the index")
	p.expect("]")
	p.expect("=")
	return &Store{Buf: BufID(id), Index: index, Value: p.typed(b.Elem.Compute(), "an element of "+t.text)}
}
