package loop

// Inlining says what stands for the parameters of a function whose body is put
// into another.
type Inlining struct {
	Bufs []BufID // by BufID of the function: the builder's buffers
	Args []Expr  // by position in Func.Args
	// Chunk, Lo and Hi stand for the chunk triple.
	Chunk, Lo, Hi Expr
	// Single says that Hi is Lo+1: a loop over the chunk is its body.
	Single bool
	// Index, when not nil, maps the index of an access to a buffer of the
	// function.
	Index func(buf BufID, index Expr) Expr
}

// Inline adds the statements of f, with fresh variables. What stands for the
// parameters should be constants or variables: it may be evaluated many times.
func (b *Builder) Inline(f *Func, in Inlining) {
	n := inliner{b: b, f: f, in: in, exprs: make([]Expr, len(f.Vars))}
	n.exprs[f.Chunk], n.exprs[f.Lo], n.exprs[f.Hi] = in.Chunk, in.Lo, in.Hi
	for i, id := range f.Args {
		n.exprs[id] = in.Args[i]
	}
	n.block(f.Body)
}

// inliner puts the body of a function into a builder.
type inliner struct {
	b     *Builder
	f     *Func
	in    Inlining
	exprs []Expr // by variable of the function: what stands for it
}

func (n *inliner) block(body []Stmt) {
	for _, s := range body {
		n.stmt(s)
	}
}

func (n *inliner) stmt(s Stmt) {
	b := n.b
	switch s := s.(type) {
	case *Let:
		v := n.f.Vars[s.Var]
		id := b.fresh(v.Name, v.Type, !s.Mutable)
		b.emit(&Let{Var: id, Mutable: s.Mutable, Value: n.expr(s.Value)})
		n.exprs[s.Var] = b.ref(id)
	case *Assign:
		b.Assign(n.exprs[s.Var].(*Ref), n.expr(s.Value))
	case *Store:
		b.emit(&Store{Buf: n.in.Bufs[s.Buf], Index: n.index(s.Buf, s.Index), Value: n.expr(s.Value)})
	case *For:
		if n.in.Single && n.is(s.Lo, n.f.Lo) && n.is(s.Hi, n.f.Hi) {
			n.exprs[s.Var] = n.in.Lo
			n.block(s.Body)
			return
		}
		id := b.fresh(n.f.Vars[s.Var].Name, I64, fixedVar)
		lo, hi := n.expr(s.Lo), n.expr(s.Hi)
		n.exprs[s.Var] = b.ref(id)
		b.emit(&For{Var: id, Lo: lo, Hi: hi, Independent: s.Independent, Body: b.nested(func() { n.block(s.Body) })})
	case *While:
		b.emit(&While{Cond: n.expr(s.Cond), Body: b.nested(func() { n.block(s.Body) })})
	case *If:
		b.emit(&If{Cond: n.expr(s.Cond),
			Then: b.nested(func() { n.block(s.Then) }), Else: b.nested(func() { n.block(s.Else) })})
	case *Fail:
		b.Fail("%s", n.f.Fails[s.Code])
	case *Comment:
		b.emit(s)
	default:
		panic("BUG: a statement that cannot be inlined")
	}
}

// is reports whether e is plainly the parameter id.
func (n *inliner) is(e Expr, id VarID) bool {
	r, ok := e.(*Ref)
	return ok && r.Var == id
}

func (n *inliner) index(buf BufID, index Expr) Expr {
	x := n.expr(index)
	if n.in.Index != nil {
		x = n.in.Index(buf, x)
	}
	return x
}

func (n *inliner) expr(e Expr) Expr {
	switch e := e.(type) {
	case *Ref:
		return n.exprs[e.Var]
	case *Load:
		return &Load{Buf: n.in.Bufs[e.Buf], Elem: e.Elem, Index: n.index(e.Buf, e.Index)}
	case *Unary:
		return NewUnary(e.Op, n.expr(e.X))
	case *Binary:
		return NewBinary(e.Op, n.expr(e.X), n.expr(e.Y))
	case *Select:
		return NewSelect(n.expr(e.Cond), n.expr(e.X), n.expr(e.Y))
	case *Cast:
		return NewCast(e.Typ, n.expr(e.X))
	case *Call:
		args := make([]Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = n.expr(a)
		}
		return &Call{Fn: e.Fn, Typ: e.Typ, Args: args}
	}
	return e // a constant
}
