package loop

import (
	"slices"
	"strconv"
)

// This file reads the text of grid constructs, as printgrid.go writes it.

// convention reads what stands behind the parameters: the chunk triple, or the
// size of a grid's blocks.
func (p *parser) convention(f *Func) {
	if p.accept("grid") {
		p.expect("threads")
		f.Chunk, f.Lo, f.Hi = NoVar, NoVar, NoVar
		f.Grid = &Grid{Threads: int(p.whole(MaxThreads, "the number of threads in a block"))}
		if p.accept("resident") {
			f.Grid.Resident = int(p.whole(MaxResident, "the number of blocks that a processor has room for"))
		}
		return
	}
	if !p.at("chunk") {
		p.fail(`expected "chunk" or "grid", found %s`, p.tok.describe())
	}
	p.advance()
	f.Chunk = p.declareIndex("the chunk number's name")
	p.expect(",")
	f.Lo = p.declareIndex("the name of the chunk's first element")
	p.expect(",")
	f.Hi = p.declareIndex("the name of the chunk's end")
}

// whole reads a whole number up to a limit.
func (p *parser) whole(limit int64, what string) int64 {
	n, err := strconv.ParseInt(p.tok.text, 10, 64)
	if p.tok.kind != tokNumber || err != nil || n > limit {
		p.fail("expected %s, up to %d, found %s", what, limit, p.tok.describe())
		return 0
	}
	p.advance()
	return n
}

// shared reads the declarations of shared arrays: "shared part: [32]f64".
func (p *parser) shared(f *Func) {
	for f.Grid != nil && p.at("shared") && p.peek().kind == tokName {
		p.advance()
		t := p.name("a shared array's name")
		p.expect(":")
		p.expect("[")
		n := p.whole(MaxShared, "the number of elements")
		p.expect("]")
		s := Shared{Name: baseName(t.text), Elem: p.typ(), Len: n}
		p.scope.declare(p, t, declared{kind: isBuffer, id: len(f.Bufs) + len(f.Grid.Shared)})
		f.Grid.Shared = append(f.Grid.Shared, s)
	}
}

// peek is the token behind the next one.
func (p *parser) peek() token {
	ahead := p.lex
	t, _ := ahead.next()
	return t
}

// isStatement reports whether name( starts a statement, so that it is no call.
func isStatement(name string) bool {
	return name == "ballot" || slices.Contains(shuffles[:], name) || slices.Contains(atomics[:], name)
}

// atGrid reports whether a statement of grid functions comes next that introduces
// no variable.
func (p *parser) atGrid() bool {
	switch next := p.tok.text; {
	case next == "barrier" || next == "barrier_warp":
		after := p.peek().text
		return after != "=" && after != "["
	default:
		return slices.Contains(atomics[:], next) && p.peek().text == "("
	}
}

// gridStmt reads a barrier, or an atomic whose old value is not wanted.
func (p *parser) gridStmt() Stmt {
	switch t := p.advance(); t.text {
	case "barrier":
		return &Barrier{Scope: BlockScope}
	case "barrier_warp":
		return &Barrier{Scope: WarpScope}
	default:
		return p.atomic(t)
	}
}

// atResult reports whether a statement comes next that gives a variable its value.
func (p *parser) atResult() bool {
	return p.tok.kind == tokName && isStatement(p.tok.text) && p.peek().text == "("
}

// result reads such a statement. The variable, of type t, is not declared yet.
func (p *parser) result(t Type) (s Stmt, id *VarID) {
	offset := p.tok.offset
	got := Invalid
	switch name := p.advance(); {
	case name.text == "ballot":
		p.expect("(")
		b := &Ballot{Cond: p.condition()}
		p.expect(")")
		s, id, got = b, &b.Var, U32
	case slices.Contains(atomics[:], name.text):
		a := p.atomic(name)
		s, id = a, &a.Var
		if p.err == nil {
			got = p.scope.bufs[a.Buf].Elem
		}
	default:
		sh := p.shuffle(name)
		s, id, got = sh, &sh.Var, sh.Value.Type()
	}
	if p.err == nil && got != t {
		p.failAt(offset, "the variable is of type %s, this value of type %s", t, got)
	}
	return s, id
}

// shuffle reads what follows the kind: "(x, lane)" or "(x, lane, width)".
func (p *parser) shuffle(kind token) *Shuffle {
	s := &Shuffle{Kind: ShuffleKind(slices.Index(shuffles[:], kind.text)), Width: WarpSize}
	p.expect("(")
	s.Value = p.expr(0).e
	p.expect(",")
	s.Lane = p.typed(I64, "the lane")
	if p.accept(",") {
		s.Width = int(p.whole(WarpSize, "the width of a segment"))
	}
	p.expect(")")
	return s
}

// atomic reads what follows the operation, such as "(count[i], 1:u32)".
func (p *parser) atomic(op token) *Atomic {
	s := &Atomic{Var: NoVar, Op: AtomicOp(slices.Index(atomics[:], op.text))}
	p.expect("(")
	t := p.name("a buffer")
	d, known := p.scope.names[t.text]
	if p.err == nil && (!known || d.kind != isBuffer) {
		p.failAt(t.offset, "%q is no buffer; write %s(buffer[index], value)", t.text, op.text)
	}
	if p.err != nil {
		return s
	}
	s.Buf = BufID(d.id)
	elem := p.scope.bufs[d.id].Elem
	if !s.Op.Takes(elem) {
		p.failAt(op.offset, "%s is not defined on elements of type %s", op.text, elem)
	}
	p.expect("[")
	s.Index = p.typed(I64, "the index")
	p.expect("]")
	p.expect(",")
	if s.Op == AtomicCompareAndSwap {
		s.Expected = p.typed(elem, "the expected value")
		p.expect(",")
	}
	s.Value = p.typed(elem, "the value")
	p.expect(")")
	return s
}
