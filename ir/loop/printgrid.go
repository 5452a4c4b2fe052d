package loop

import "strconv"

// This file has the text of grid constructs, which parsegrid.go reads.

// convention is what stands behind the parameters of a function.
func (p *printer) convention(f *Func) string {
	if f.Grid != nil {
		text := "grid threads " + strconv.Itoa(f.Grid.Threads)
		if f.Grid.Resident != 0 {
			text += " resident " + strconv.Itoa(f.Grid.Resident)
		}
		return text + " {"
	}
	return "chunk " + p.names.variable(f.Chunk) + ", " + p.names.variable(f.Lo) + ", " + p.names.variable(f.Hi) + " {"
}

// shared writes the declarations of shared arrays, with which the body begins.
func (p *printer) shared(f *Func) {
	if f.Grid == nil {
		return
	}
	p.indent++
	for i, s := range f.Grid.Shared {
		name := p.names.bufs[len(f.Bufs)+i]
		p.line("shared ", name, ": [", strconv.FormatInt(s.Len, 10), "]", s.Elem.String())
	}
	p.indent--
}

// gridStmt writes a statement of grid functions.
func (p *printer) gridStmt(s Stmt) {
	switch s := s.(type) {
	case *Barrier:
		if s.Scope == WarpScope {
			p.line("barrier_warp")
		} else {
			p.line("barrier")
		}
	case *Shuffle:
		width := ""
		if s.Width != WarpSize {
			width = ", " + strconv.Itoa(s.Width)
		}
		p.result(s.Var, s.Kind.String(), "(", p.expr(s.Value), ", ", p.expr(s.Lane), width, ")")
	case *Ballot:
		p.result(s.Var, "ballot(", p.expr(s.Cond), ")")
	case *Atomic:
		args := p.names.buffer(s.Buf) + "[" + p.expr(s.Index) + "]"
		if s.Expected != nil {
			args += ", " + p.expr(s.Expected)
		}
		args += ", " + p.expr(s.Value)
		if s.Var == NoVar {
			p.line(s.Op.String(), "(", args, ")")
			return
		}
		p.result(s.Var, s.Op.String(), "(", args, ")")
	default:
		p.line("?")
	}
}

// result writes a statement that introduces a variable.
func (p *printer) result(id VarID, parts ...string) {
	head := []string{"let ", p.names.variable(id), ": ", typeOf(p.vars, id).String(), " = "}
	p.line(append(head, parts...)...)
}
