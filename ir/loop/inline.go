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
	// Loop, when not nil, is asked to emit each counting loop itself; it says
	// whether it did.
	Loop func(s *For, n *Inliner) bool
	// Load, when not nil, may give what stands for an element that is read, such as
	// a variable that it is kept in; nil where nothing does.
	Load func(e *Load) Expr
	// Store, when not nil, is asked to emit each store itself; it says whether it did.
	Store func(s *Store, n *Inliner) bool
	// Guard, when not nil, is the condition under which stores are made.
	Guard Expr
}

// Inline adds the statements of f, with fresh variables. What stands for the
// parameters should be constants or variables: it may be evaluated many times.
func (b *Builder) Inline(f *Func, in Inlining) { b.Inliner(f, in).Block(f.Body) }

// Inliner prepares to add parts of the body of f.
func (b *Builder) Inliner(f *Func, in Inlining) *Inliner {
	n := &Inliner{b: b, f: f, in: in, exprs: make([]Expr, len(f.Vars))}
	n.exprs[f.Chunk], n.exprs[f.Lo], n.exprs[f.Hi] = in.Chunk, in.Lo, in.Hi
	for i, id := range f.Args {
		n.exprs[id] = in.Args[i]
	}
	return n
}

// An Inliner puts the body of a function into a builder.
type Inliner struct {
	b     *Builder
	f     *Func
	in    Inlining
	exprs []Expr // by variable of the function: what stands for it
}

// Bind says what stands for a variable of the function from here on, such as that of
// a loop that was emitted otherwise.
func (n *Inliner) Bind(id VarID, e Expr) { n.exprs[id] = e }

// Guard changes the condition under which stores are made from here on.
func (n *Inliner) Guard(e Expr) { n.in.Guard = e }

// Value is what stands for a variable now.
func (n *Inliner) Value(id VarID) Expr { return n.exprs[id] }

// Block adds statements of the function.
func (n *Inliner) Block(body []Stmt) {
	for _, s := range body {
		n.stmt(s)
	}
}

func (n *Inliner) stmt(s Stmt) {
	b := n.b
	defer b.At(OriginOf(s))()
	switch s := s.(type) {
	case *Let:
		v := n.f.Vars[s.Var]
		id := b.fresh(v.Name, v.Type, !s.Mutable)
		b.emit(&Let{Var: id, Mutable: s.Mutable, Value: n.Expr(s.Value)})
		n.exprs[s.Var] = b.ref(id)
	case *Assign:
		b.Assign(n.exprs[s.Var].(*Ref), n.Expr(s.Value))
	case *Store:
		store := func() {
			if n.in.Store != nil && n.in.Store(s, n) {
				return
			}
			b.emit(&Store{Buf: n.in.Bufs[s.Buf], Index: n.index(s.Buf, s.Index), Value: n.Expr(s.Value)})
		}
		if n.in.Guard == nil {
			store()
		} else {
			b.If(n.in.Guard, store, nil)
		}
	case *For:
		if n.in.Single && n.is(s.Lo, n.f.Lo) && n.is(s.Hi, n.f.Hi) {
			n.exprs[s.Var] = n.in.Lo
			n.Block(s.Body)
			return
		}
		if n.in.Loop != nil && n.in.Loop(s, n) {
			return
		}
		id := b.fresh(n.f.Vars[s.Var].Name, I64, fixedVar)
		lo, hi := n.Expr(s.Lo), n.Expr(s.Hi)
		n.exprs[s.Var] = b.ref(id)
		b.emit(&For{Var: id, Lo: lo, Hi: hi, Independent: s.Independent, Unroll: s.Unroll, Lanes: s.Lanes, Body: b.nested(func() { n.Block(s.Body) })})
	case *While:
		b.emit(&While{Cond: n.Expr(s.Cond), Body: b.nested(func() { n.Block(s.Body) })})
	case *If:
		b.emit(&If{Cond: n.Expr(s.Cond), Seldom: s.Seldom,
			Then: b.nested(func() { n.Block(s.Then) }), Else: b.nested(func() { n.Block(s.Else) })})
	case *Fail:
		b.Fail("%s", n.f.Fails[s.Code])
	case *Comment:
		b.emit(s)
	default:
		panic("BUG: a statement that cannot be inlined")
	}
}

// is reports whether e is plainly the parameter id.
func (n *Inliner) is(e Expr, id VarID) bool {
	r, ok := e.(*Ref)
	return ok && r.Var == id
}

func (n *Inliner) index(buf BufID, index Expr) Expr {
	x := n.Expr(index)
	if n.in.Index != nil {
		x = n.in.Index(buf, x)
	}
	return x
}

// Expr is an expression of the function as the builder has it.
func (n *Inliner) Expr(e Expr) Expr {
	switch e := e.(type) {
	case *Ref:
		return n.exprs[e.Var]
	case *Load:
		if n.in.Load != nil {
			if v := n.in.Load(e); v != nil {
				return v
			}
		}
		return &Load{Buf: n.in.Bufs[e.Buf], Elem: e.Elem, Index: n.index(e.Buf, e.Index)}
	case *Unary:
		return NewUnary(e.Op, n.Expr(e.X))
	case *Binary:
		return NewBinary(e.Op, n.Expr(e.X), n.Expr(e.Y))
	case *Select:
		return NewSelect(n.Expr(e.Cond), n.Expr(e.X), n.Expr(e.Y))
	case *FMA:
		return NewFMA(n.Expr(e.X), n.Expr(e.Y), n.Expr(e.Z))
	case *Cast:
		return NewCast(e.Typ, n.Expr(e.X))
	case *Call:
		args := make([]Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = n.Expr(a)
		}
		return &Call{Fn: e.Fn, Typ: e.Typ, Args: args}
	}
	return e // a constant
}
