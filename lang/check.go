package lang

import (
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Check resolves the names of a file, finds the implicit sums, and types every
// expression. Every operand must be declared; results may be. The error, of type
// Errors, lists every mistake found, with codes E201 to E215 and E305.
func Check(file *File, decls map[string]Decl) (*Program, error) {
	c := &checker{
		file:    file,
		decls:   decls,
		prog:    &Program{Source: file.Source},
		tensors: make(map[string]*Tensor),
		state:   make(map[*Tensor]*tensorState),
	}
	c.resolve()
	for _, s := range file.Stmts {
		if c.full() {
			break
		}
		c.statement(s)
	}
	c.finishTensors()
	if err := c.errs.asError(file.Source); err != nil {
		return nil, err
	}
	return c.prog, nil
}

// stmtChecker checks one statement.
type stmtChecker struct {
	*checker
	stmt    *Stmt
	scope   map[string]*Index // visible indices, hidden ones of slices included
	lengths map[string]int64  // of hidden indices with constant bounds
	sums    *einsum
	first   map[string]*Index // the first variable of an index summed in several places
	used    map[*Index]bool   // indices used in an access
}

// statement checks one assignment and appends it to the program. After an
// error the tensor it assigns may stay without a type.
func (c *checker) statement(a *Assign) {
	s := &stmtChecker{
		checker: c,
		stmt:    &Stmt{Pos: a.Pos, Op: a.Op, Schedule: a.Schedule},
		scope:   make(map[string]*Index),
		first:   make(map[string]*Index),
		used:    make(map[*Index]bool),
	}
	s.sliceLengths(a)
	target := c.lookup(a.LHS)
	if !s.leftSide(a.LHS, target) || !s.findSums(a) {
		s.abandon(target)
		return
	}
	rhs := s.expr(a.RHS)
	if target == nil || !rhs.ok() {
		s.abandon(target)
		return
	}
	s.assign(target, rhs)
	c.prog.Stmts = append(c.prog.Stmts, s.stmt)
}

// abandon marks the target of a statement with errors as assigned, so that later
// reads of it do not add errors of their own.
func (s *stmtChecker) abandon(target *Tensor) {
	if target != nil {
		s.state[target].assigned = true
	}
}

// findSums runs the Einstein convention.
func (s *stmtChecker) findSums(a *Assign) bool {
	free := make(map[string]bool)
	for name := range s.scope {
		free[name] = true
	}
	s.sums = &einsum{isTensor: s.bareIsTensor, free: free}
	outside := s.sums.analyse(a.RHS)
	for _, name := range sortedByPos(outside) {
		e := s.fail(ErrOutside, outside[name],
			"put everything that uses the index in parentheses after the reduction: it ends at + and -, and at the end of a parenthesis",
			"the index %s is used outside the reduction over it", name)
		e.Related = []Note{{s.sums.bound[name], "the reduction"}}
	}
	return len(outside) == 0
}

// newIndex adds an index variable to the statement and makes it visible.
func (s *stmtChecker) newIndex(name string, pos Pos) *Index {
	if len(s.stmt.Indices) == MaxIndices {
		s.fail(ErrTooLarge, pos, "split it into several statements", "the statement has more than %d index variables", MaxIndices)
	}
	x := &Index{ID: len(s.stmt.Indices), Name: name, Pos: pos, Length: -1}
	if length, ok := s.lengths[name]; ok {
		x.Length = length
	}
	if name[:1] == slicePrefix {
		x.Name = ""
	}
	s.stmt.Indices = append(s.stmt.Indices, x)
	s.scope[name] = x
	return x
}

// expr checks an expression, with the implicit sums around it.
func (s *stmtChecker) expr(n Node) value {
	names := s.sums.implicit[n]
	if len(names) == 0 {
		return s.bareExpr(n)
	}
	r := &Reduce{Pos: n.Place(), Op: Sum, Implicit: true}
	for _, name := range names {
		x := s.newIndex(name, s.sums.first[name])
		if s.sums.scattered[name] {
			if s.first[name] == nil {
				s.first[name] = x
			} else {
				x.Like = s.first[name]
			}
		}
		r.Vars = append(r.Vars, ReduceVar{Var: x})
	}
	body := s.bareExpr(n)
	for _, name := range names {
		if x := s.scope[name]; body.ok() && !s.used[x] && x.Like == nil {
			s.noExtent(x, name)
		}
		delete(s.scope, name)
	}
	if !body.ok() {
		return value{}
	}
	return s.finishReduce(r, body)
}

func (s *stmtChecker) noExtent(x *Index, name string) {
	s.fail(ErrNoExtent, x.Pos, "index a tensor with it, or choose another index",
		"nothing tells how far the index %s runs: no tensor is indexed with it inside the reduction", name)
}

// bareExpr checks an expression without the sums around it.
func (s *stmtChecker) bareExpr(n Node) value {
	switch n := n.(type) {
	case *Number:
		return s.number(n)
	case *Const:
		return s.word(n)
	case *Ref:
		return s.ref(n)
	case *Paren:
		return s.expr(n.X)
	case *Unary:
		return s.unary(n)
	case *Binary:
		x, y := s.expr(n.X), s.expr(n.Y)
		return s.apply(Functions[n.Op], n.Pos, []value{x, y})
	case *Apply:
		return s.call(n)
	case *Fold:
		if foldKindOf(n.Name) == scanFold {
			return s.scan(n)
		}
		return s.reduce(n)
	}
	panic("BUG: unknown syntax node")
}

func (s *stmtChecker) unary(n *Unary) value {
	x := s.expr(n.X)
	if n.Op == "not" {
		return s.apply(Functions["not"], n.Pos, []value{x})
	}
	if lit, ok := x.Expr.(*Literal); ok && x.weak != strong {
		return s.negated(n, lit)
	}
	return s.apply(Functions["neg"], n.Pos, []value{x})
}

func (s *stmtChecker) call(n *Apply) value {
	switch n.Name {
	case storedWord:
		return s.stored(n)
	case likeWord:
		return s.like(n)
	}
	args := make([]value, len(n.Args))
	good := true
	for i, a := range n.Args {
		args[i] = s.expr(a)
		good = good && args[i].ok()
	}
	if !good {
		return value{}
	}
	if dt, ok := typeNames[n.Name]; ok {
		return s.cast(dt, n.Pos, args[0])
	}
	if n.Name == "where" {
		return s.where(n.Pos, args)
	}
	return s.apply(Functions[n.Name], n.Pos, args)
}

func (s *stmtChecker) cast(dt tensor.DType, pos Pos, x value) value {
	if x.DType() == dt {
		return value{x.Expr, strong}
	}
	if _, ok := x.Expr.(*Literal); ok {
		return value{s.coerce(x, dt), strong}
	}
	return value{&Cast{Pos: pos, To: dt, X: x.Expr}, strong}
}

func (s *stmtChecker) where(pos Pos, args []value) value {
	dt, w := meet(args[1], args[2])
	return value{&Select{
		Pos:  pos,
		Cond: s.toBool(args[0]),
		Then: s.coerce(args[1], dt),
		Else: s.coerce(args[2], dt),
	}, w}
}

// ref checks a tensor element, a rank-0 tensor or an index used as a number.
func (s *stmtChecker) ref(n *Ref) value {
	if !n.Parens && len(n.Indices) == 0 && !s.bareIsTensor(n.Name) {
		return s.indexValue(n)
	}
	a := s.access(n)
	if a == nil {
		return value{}
	}
	return value{Expr: a}
}

func (s *stmtChecker) indexValue(n *Ref) value {
	if x := s.scope[n.Name]; x != nil {
		return value{Expr: &IndexValue{Pos: n.Pos, Var: x}}
	}
	if t := s.tensors[n.Name]; t != nil {
		s.lookup(n) // reports that the indices are missing
		return value{}
	}
	if d, ok := s.decls[n.Name]; ok {
		s.fail(ErrRank, n.Pos, "write an index for each dimension", "%s has 0 indices here, but %s", n.Name, plural(d.Rank, "dimension", "dimensions"))
		return value{}
	}
	if s.full() {
		return value{}
	}
	names := slices.Collect(maps.Keys(s.decls))
	for name := range s.tensors {
		names = append(names, name)
	}
	for name := range s.scope {
		names = append(names, name)
	}
	s.fail(ErrUnknownName, n.Pos, "", "%s is neither a declared scalar nor an index of this statement", n.Name).
		adviseUnknown(n.Name, names, "pass the number as an operand, or declare it", "tensor.Number(3.5)")
	return value{}
}

// access checks a tensor element that is read.
func (s *stmtChecker) access(r *Ref) *Access {
	t := s.lookup(r)
	if t == nil {
		return nil
	}
	a := &Access{Pos: r.Pos, Tensor: t}
	if !s.read(t, r.Pos) || !s.indices(a, r) {
		return nil
	}
	return a
}

// indices checks the indices of r, whose index names must all be visible.
func (s *stmtChecker) indices(a *Access, r *Ref) bool {
	sliced := 0
	for _, x := range r.Indices {
		out := IndexExpr{Pos: x.Pos}
		if x.Slice != nil {
			v := s.visible(sliceName(sliced))
			sliced++
			out.Terms = []Term{{v, x.Slice.Step}}
			out.Const, out.Slice, out.Open = x.Slice.Lo, true, x.Slice.Open
		}
		for _, t := range x.Terms {
			switch {
			case t.Gather != nil:
				g := s.gather(t.Gather)
				if g == nil {
					return false
				}
				out.Gather = g
			case t.Name == "" && t.Coef < 0 && len(x.Terms) == 1:
				s.fail(ErrOutOfRange, x.Pos, "nothing counts from the end: write the coordinate itself",
					"coordinate %d is read in dimension %d of %s: coordinates count from 0", t.Coef, len(a.Indices), r.Name)
				return false
			case t.Name == "":
				out.Const = t.Coef
			default:
				v := s.visible(t.Name)
				out.Terms = append(out.Terms, Term{v, t.Coef})
			}
		}
		a.Indices = append(a.Indices, out)
	}
	return true
}

// visible returns the index of that name, which the convention made visible if
// nothing else did, and notes that an access uses it.
func (s *stmtChecker) visible(name string) *Index {
	x := s.scope[name]
	if x == nil {
		panic("BUG: the index " + name + " is not bound")
	}
	s.used[x] = true
	return x
}

// gather checks a tensor element that serves as an index.
func (s *stmtChecker) gather(r *Ref) *Access {
	g := s.access(r)
	if g == nil {
		return nil
	}
	if !g.Tensor.DType.IsInteger() {
		s.fail(ErrGather, r.Pos, "an index is an integer: convert the tensor in a statement before",
			"%s is used as an index, but its element type is %s", r.Name, g.Tensor.DType)
		return nil
	}
	return g
}

// sliceLengths finds the lengths of the statement's hidden indices that constant
// bounds fix, and reports those that disagree.
func (s *stmtChecker) sliceLengths(a *Assign) {
	s.lengths = make(map[string]int64)
	from := make(map[string]Pos)
	look := func(r *Ref) {
		sliced := 0
		for _, x := range r.Indices {
			if x.Slice == nil {
				continue
			}
			name := sliceName(sliced)
			sliced++
			if x.Slice.Open {
				continue
			}
			n := ceilDiv(x.Slice.Hi-x.Slice.Lo, x.Slice.Step)
			old, seen := s.lengths[name]
			if seen && old != n {
				e := s.fail(ErrSliceLength, x.Pos, "the n-th slices of all accesses of a statement run together",
					"this slice has length %d, but slice %d of the statement has length %d", n, sliced, old)
				e.Related = []Note{{from[name], "the other slice"}}
			}
			if !seen {
				s.lengths[name], from[name] = n, x.Pos
			}
		}
	}
	EachRef(a.LHS, look)
	EachRef(a.RHS, look)
}
