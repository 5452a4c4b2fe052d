package loop

import (
	"slices"
	"strconv"
)

// ParseProgram reads the text of a program as Program.String writes it. The
// error is a *ParseError. Names and types are checked on the way; Verify checks
// the rest.
func ParseProgram(src string) (*Program, error) {
	p := newParser(src)
	p.program.names = map[string]programName{}
	prog := p.prog()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return prog, nil
}

// programScope is what the parser knows inside a program.
type programScope struct {
	names      map[string]programName // scalars and buffers
	partitions []string
}

// A programName is what a name of the program stands for.
type programName struct {
	buffer bool
	id     int
}

// sizeOperators are the operators of size expressions.
var sizeOperators = [...]BinaryOp{Add, Sub, Mul, Div, Min, Max}

func (p *parser) prog() *Program {
	p.skipComments()
	p.expect("program")
	prog := &Program{Name: p.plainName("the program's name")}
	p.expect("{")
	for p.skipComments(); p.err == nil && !p.at("}"); p.skipComments() {
		switch {
		case p.accept("scalar"):
			id := len(prog.Scalars)
			t := p.programName("a scalar's name", programName{id: id})
			prog.Scalars = append(prog.Scalars, ProgramScalar{Name: baseName(t.text), Bound: p.accept("bound")})
		case p.accept("buffer"):
			prog.Buffers = append(prog.Buffers, p.programBuffer(len(prog.Buffers)))
		case p.accept("partition"):
			prog.Partitions = append(prog.Partitions, p.partition())
		case p.accept("stage"):
			prog.Stages = append(prog.Stages, p.stage())
		default:
			p.fail("expected scalar, buffer, partition, stage or %q, found %s", "}", p.tok.describe())
		}
	}
	p.expect("}")
	return prog
}

// programName declares a name in the program.
func (p *parser) programName(what string, n programName) token {
	t := p.name(what)
	if p.err != nil {
		return t
	}
	if _, known := p.program.names[t.text]; known {
		p.failAt(t.offset, "%q is already declared", t.text)
	}
	p.program.names[t.text] = n
	return t
}

// programBuffer reads what follows "buffer": "y: []f64 output".
func (p *parser) programBuffer(id int) Buffer {
	t := p.programName("a buffer's name", programName{buffer: true, id: id})
	p.expect(":")
	p.expect("[")
	p.expect("]")
	b := Buffer{Name: baseName(t.text), Elem: p.typ()}
	role := slices.Index(roles[:], p.tok.text)
	if role < 0 {
		p.fail("expected input, output, temp, inout or scratch, found %s", p.tok.describe())
		return b
	}
	p.advance()
	b.Role = Role(role)
	return b
}

// partition reads what follows "partition": "rows of n weights pos grain 4096
// chunks c".
func (p *parser) partition() Partition {
	t := p.name("a partition's name")
	if slices.Contains(p.program.partitions, t.text) {
		p.failAt(t.offset, "the partition %q is already declared", t.text)
	}
	p.program.partitions = append(p.program.partitions, t.text)
	part := Partition{Name: baseName(t.text), Weights: -1}
	p.expect("of")
	part.N = p.size()
	if p.accept("weights") {
		part.Weights = p.bufferRef()
	}
	p.expect("grain")
	part.Grain = p.wholeNumber(plus)
	p.expect("chunks")
	part.Chunks = p.scalarRef()
	return part
}

// wholeNumber reads an i64.
func (p *parser) wholeNumber(s sign) int64 {
	if p.tok.kind != tokNumber {
		p.fail("expected a whole number, found %s", p.tok.describe())
		return 0
	}
	t := p.advance()
	c, err := parseLiteral(t.text, bool(s), I64)
	if err != nil {
		p.failAt(t.offset, "%v", err)
		return 0
	}
	return int64(c.Bits)
}

// stage reads what follows "stage": "count over rows ordered symbolic { … }".
func (p *parser) stage() Stage {
	s := Stage{Name: p.plainName("the stage's name"), Partition: -1}
	if p.accept("over") {
		t := p.name("a partition")
		s.Partition = slices.Index(p.program.partitions, t.text)
		if s.Partition < 0 {
			p.failAt(t.offset, "there is no partition %q before this stage", t.text)
		}
	}
	s.Ordered = p.accept("ordered")
	s.Symbolic = p.accept("symbolic")
	p.expect("{")
	p.skipComments()
	s.Lets = p.lets()
	for ; p.accept("trim"); p.skipComments() {
		t := Trim{Buffer: p.bufferRef()}
		p.expect("[")
		t.Len = p.size()
		p.expect("]")
		s.Trims = append(s.Trims, t)
	}
	s.Allocs = p.allocs()
	if p.accept("partitioned") {
		p.expect("{")
		p.skipComments()
		s.PartitionLets = p.lets()
		s.PartitionAllocs = p.allocs()
		p.expect("}")
		p.skipComments()
	}
	for ; p.accept("prefix"); p.skipComments() {
		s.Prefixes = append(s.Prefixes, p.prefixSum())
	}
	if p.accept("join") {
		s.Join = p.join()
		p.skipComments()
	}
	if p.accept("copies") {
		s.Copies = p.copies()
		p.skipComments()
	}
	if p.accept("blocks") {
		s.Blocks = p.size()
		p.skipComments()
	}
	if p.accept("run") {
		p.expect("(")
		p.list(func() { s.Bufs = append(s.Bufs, p.bufferRef()) }, ";", ")")
		if p.accept(";") {
			p.list(func() { s.Args = append(s.Args, p.scalarRef()) }, ")")
		}
		p.expect(")")
		s.Func = p.fn()
		p.skipComments()
	}
	p.expect("}")
	return s
}

// join reads what follows "join": "ends of chunk, lo, hi room hi - lo { … }".
func (p *parser) join() *Join {
	j := &Join{Ends: p.bufferRef(), Shift: -1, Rows: -1}
	p.expect("of")
	j.Chunk = p.scalarRef()
	p.expect(",")
	j.Lo = p.scalarRef()
	p.expect(",")
	j.Hi = p.scalarRef()
	if j.Exact = p.accept("exactly"); !j.Exact {
		p.expect("room")
	}
	j.Room = p.size()
	p.expect("{")
	p.skipComments()
	for ; p.accept("move"); p.skipComments() {
		m := Move{Buffer: p.bufferRef()}
		p.expect("[")
		m.First = p.wholeNumber(plus)
		p.expect("]")
		p.expect("of")
		m.List = p.wholeNumber(plus)
		j.Moves = append(j.Moves, m)
	}
	if p.accept("shift") {
		if j.Shift = p.bufferRef(); p.accept("by") {
			j.Rows = p.bufferRef()
		}
		p.skipComments()
	}
	p.expect("}")
	return j
}

// copies reads what follows "copies": "count for 2 chunks { … }".
func (p *parser) copies() *Copies {
	c := &Copies{Count: p.scalarRef()}
	p.expect("for")
	c.Chunks = p.size()
	p.expect("chunks")
	p.expect("{")
	for p.skipComments(); p.err == nil && !p.at("}"); p.skipComments() {
		x := Copy{All: p.bufferRef()}
		p.expect("of")
		x.Buffer = p.bufferRef()
		p.expect("begins")
		x.Start = p.constant()
		c.List = append(c.List, x)
	}
	p.expect("}")
	return c
}

// constant reads a literal.
func (p *parser) constant() *Const {
	var x operand
	switch {
	case p.accept("true"):
		return Truth(true)
	case p.accept("false"):
		return Truth(false)
	case p.accept("-"):
		x = p.literal(minus)
	default:
		x = p.literal(plus)
	}
	c, _ := x.e.(*Const) // nil after an error
	return c
}

// prefixSum reads what follows "prefix": "counts[0, 2] of n total sums[0] limit 1000".
func (p *parser) prefixSum() Prefix {
	x := Prefix{Buffer: p.bufferRef(), Total: -1}
	p.expect("[")
	x.First = p.wholeNumber(plus)
	p.expect(",")
	x.Stride = p.wholeNumber(plus)
	p.expect("]")
	p.expect("of")
	x.N = p.size()
	x.Inclusive = p.accept("inclusive")
	if p.accept("total") {
		x.Total = p.bufferRef()
		p.expect("[")
		x.At = p.wholeNumber(plus)
		p.expect("]")
	}
	if p.accept("limit") {
		x.Limit = p.wholeNumber(plus)
	}
	return x
}

func (p *parser) lets() []ScalarLet {
	var lets []ScalarLet
	for ; p.accept("let"); p.skipComments() {
		l := ScalarLet{Scalar: p.scalarRef()}
		p.expect("=")
		l.Value = p.size()
		lets = append(lets, l)
	}
	return lets
}

func (p *parser) allocs() []Alloc {
	var allocs []Alloc
	for ; p.accept("alloc"); p.skipComments() {
		a := Alloc{Buffer: p.bufferRef()}
		p.expect("[")
		a.Len = p.size()
		p.expect("]")
		a.Zero = p.accept("zero")
		allocs = append(allocs, a)
	}
	if p.at("let") || p.at("trim") {
		p.fail("lets stand first, then trims, then allocs, because they are carried out in this order")
	}
	return allocs
}

func (p *parser) scalarRef() ScalarID { return ScalarID(p.reference("a scalar of the program", false)) }
func (p *parser) bufferRef() BufferID { return BufferID(p.reference("a buffer of the program", true)) }

// reference reads the name of a scalar or buffer and returns its id.
func (p *parser) reference(what string, buffer bool) int {
	t := p.name(what)
	if p.err != nil {
		return 0
	}
	n, known := p.program.names[t.text]
	if !known || n.buffer != buffer {
		p.failAt(t.offset, "%q is not %s", t.text, what)
		return 0
	}
	return n.id
}

// A sizeOperand is a size expression with the height of its tree.
type sizeOperand struct {
	e     SizeExpr
	depth int
}

func (p *parser) size() SizeExpr { return p.sizeExpr(0).e }

// sizeExpr reads a size expression of operators that bind tighter than prec.
func (p *parser) sizeExpr(prec int) sizeOperand {
	x := p.sizePrimary()
	for p.err == nil && p.tok.kind == tokPunct {
		op := infix[p.tok.text]
		level := binaryOps[op].prec
		if level <= prec || !slices.Contains(sizeOperators[:], op) {
			break
		}
		p.advance()
		x = p.sizeOp(op, x, p.sizeExpr(level))
	}
	return x
}

func (p *parser) sizeOp(op BinaryOp, x, y sizeOperand) sizeOperand {
	return p.sizeNode(&SizeOp{Op: op, X: x.e, Y: y.e}, max(x.depth, y.depth)+1)
}

// sizeNode checks the height of a new tree.
func (p *parser) sizeNode(e SizeExpr, height int) sizeOperand {
	if height > maxDepth {
		p.fail("expression nested deeper than %d levels", maxDepth)
	}
	return sizeOperand{e: e, depth: height}
}

func (p *parser) sizePrimary() sizeOperand {
	if !p.nest(&p.parens, maxParens) {
		return sizeOperand{e: SizeConst(0), depth: 1}
	}
	defer func() { p.parens-- }()
	switch {
	case p.accept("("):
		x := p.sizeExpr(0)
		p.expect(")")
		return x
	case p.accept("-"):
		return sizeOperand{e: SizeConst(p.wholeNumber(minus)), depth: 1}
	case p.tok.kind == tokNumber:
		return sizeOperand{e: SizeConst(p.wholeNumber(plus)), depth: 1}
	}
	t := p.name("a size: a number, a scalar or an element of a buffer")
	if p.err != nil {
		return sizeOperand{e: SizeConst(0), depth: 1}
	}
	if t.text == "len" && p.accept("(") {
		id := p.bufferRef()
		p.expect(")")
		return sizeOperand{e: SizeLen{id}, depth: 1}
	}
	if t.text == "hint" && p.accept("(") {
		x := SizeHint{Buffer: p.bufferRef()}
		p.expect("[")
		index := p.sizeExpr(0)
		p.expect("]")
		p.expect(",")
		other := p.sizeExpr(0)
		p.expect(")")
		x.Index, x.Else = index.e, other.e
		return p.sizeNode(&x, max(index.depth, other.depth)+1)
	}
	if p.accept("(") {
		x := p.sizeExpr(0)
		p.expect(",")
		y := p.sizeExpr(0)
		p.expect(")")
		op := builtins[t.text].binary
		if op != Min && op != Max {
			p.failAt(t.offset, "sizes know the functions min and max, not %s", strconv.Quote(t.text))
		}
		return p.sizeOp(op, x, y)
	}
	n, known := p.program.names[t.text]
	switch {
	case !known:
		p.failAt(t.offset, "%q is not declared here", t.text)
	case n.buffer:
		p.expect("[")
		index := p.sizeExpr(0)
		p.expect("]")
		return p.sizeNode(&SizeLoad{Buffer: BufferID(n.id), Index: index.e}, index.depth+1)
	}
	return sizeOperand{e: SizeScalar(n.id), depth: 1}
}
