package loop

import (
	"fmt"
	"strings"
)

// maxNodes bounds how many statements and expressions a function has, counting
// a shared expression wherever it stands.
const maxNodes = 1 << 22

// maxProblems is how many problems a VerifyError lists.
const maxProblems = 20

// A Resolver finds the scalar function that a Call names.
type Resolver func(name string) (*Scalar, bool)

// A Problem is one thing wrong with a function or a program.
type Problem struct {
	Where string // the statement or the part of the program, as text
	Msg   string
}

// VerifyError lists what is wrong with a function or a program.
type VerifyError struct {
	What     string    // such as "func spmv"
	Problems []Problem // at least one, at most 20
}

// Error returns one line for each problem.
func (e *VerifyError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.What + ": " + p.Msg
		if p.Where != "" {
			lines[i] += " (in: " + p.Where + ")"
		}
	}
	return strings.Join(lines, "\n")
}

// Verify checks that f is well formed, so that every engine can run it without
// checks of its own: each variable is declared once, before its uses and around
// them, and assigned only if mutable; types agree exactly; indices are I64 and
// stored values of the element's compute type; nothing is stored to a read-only
// buffer; Fail numbers have a message; calls name functions that resolve knows,
// with arguments of their types (nil knows none); names are names of the
// language; trees are of bounded size. Whether indices are in range it does not
// tell. In a grid function, all threads of the block come to each barrier, and all
// of the warp to each shuffle and ballot, if there are no races; that threads do
// not race Verify does not tell. A function's Quick is verified too. The error is a *VerifyError.
func (f *Func) Verify(resolve Resolver) error {
	v := verifier{vars: f.Vars, bufs: f.Buffers(), grid: f.Grid, fails: f.Fails, resolve: resolve}
	v.wantName(isEntity(f.Name), "function", f.Name)
	v.gridHeader(f)
	for i, b := range f.Bufs {
		v.wantName(isName(b.Name), "buffer", b.Name)
		if b.Elem == Invalid || int(b.Elem) >= len(types) {
			v.problem("buffer %d has no element type", i)
		}
	}
	if v.variables() && v.measure(f.Body) {
		v.names = funcNames(f)
		for _, id := range f.entry() {
			v.declare(id, I64, fixedVar)
		}
		v.block(f.Body)
		if f.Grid != nil && len(v.problems) == 0 {
			v.divergence(f.Body)
		}
	}
	if f.Quick != nil && len(v.problems) == 0 {
		v.quick(f)
	}
	return v.result("func " + CleanName(f.Name))
}

// Verify checks that s is well formed, like Func.Verify, and that it returns a
// value of its result type on every path, touches no buffers, does not fail and
// does not call itself. The error is a *VerifyError.
func (s *Scalar) Verify(resolve Resolver) error {
	v := verifier{vars: s.Vars, scalar: true, returns: s.Result, resolve: resolve}
	v.wantName(isCallable(s.Name), "function", s.Name)
	if !s.Result.IsCompute() {
		v.problem("the result type %s is not a type to compute in", s.Result)
	}
	if v.variables() && v.measure(s.Body) {
		v.names = scalarNames(s)
		for _, id := range s.Args {
			v.declare(id, typeOf(s.Vars, id), fixedVar)
		}
		v.block(s.Body)
		v.at = nil
		if !returns(s.Body) {
			v.problem("not every path ends in a return")
		}
		v.recursion(s)
	}
	return v.result("scalar " + CleanName(s.Name))
}

// A varState says where a variable is in its life.
type varState uint8

const (
	undeclared varState = iota
	visible
	hidden // its block has ended
)

type verifier struct {
	vars     []Var
	bufs     []Buf
	grid     *Grid // of a grid function
	fails    []string
	scalar   bool // inside a Scalar
	returns  Type // of the Scalar
	resolve  Resolver
	names    scopeNames
	state    []varState
	mutable  []bool
	open     []VarID // the visible variables, innermost last
	at       Stmt    // the statement being checked
	problems []Problem
}

func (v *verifier) problem(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, Problem{Where: v.where(), Msg: fmt.Sprintf(format, args...)})
	}
}

// where is the statement being checked.
func (v *verifier) where() string {
	if v.at == nil {
		return ""
	}
	return v.describe(v.at)
}

// describe is the text of a statement without its blocks.
func (v *verifier) describe(s Stmt) string {
	p := printer{names: v.names, vars: v.vars, fails: v.fails}
	switch s := s.(type) {
	case *For:
		p.stmt(&For{Var: s.Var, Lo: s.Lo, Hi: s.Hi, Independent: s.Independent, Unroll: s.Unroll, Lanes: s.Lanes})
	case *While:
		p.stmt(&While{Cond: s.Cond})
	case *If:
		p.stmt(&If{Cond: s.Cond, Seldom: s.Seldom})
	default:
		p.stmt(s)
	}
	text, _, _ := strings.Cut(p.w.String(), "\n")
	const most = 120
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}

func (v *verifier) result(what string) error {
	if len(v.problems) == 0 {
		return nil
	}
	return &VerifyError{What: what, Problems: v.problems}
}

func (v *verifier) wantName(ok bool, what, name string) {
	if !ok {
		v.problem("%q cannot name a %s", name, what)
	}
}

// variables checks the table of variables.
func (v *verifier) variables() bool {
	for id, x := range v.vars {
		v.wantName(isName(x.Name), "variable", x.Name)
		if !x.Type.IsCompute() {
			v.problem("variable %d (%s) has type %s, which is not a type to compute in", id, x.Name, x.Type)
		}
	}
	v.state, v.mutable = make([]varState, len(v.vars)), make([]bool, len(v.vars))
	return len(v.problems) == 0
}

// measure reports whether the tree is complete and of bounded height and size.
// What comes after may recurse and print freely.
func (v *verifier) measure(body []Stmt) bool {
	m := measurer{left: maxNodes}
	m.block(body, 0)
	if m.msg != "" {
		v.problem("%s", m.msg)
	}
	return m.msg == ""
}

// declare makes a variable visible.
func (v *verifier) declare(id VarID, t Type, fixed bool) {
	if id < 0 || int(id) >= len(v.vars) {
		v.problem("declares variable %d; there are %d", id, len(v.vars))
		return
	}
	if v.state[id] != undeclared {
		v.problem("declares %s again", v.names.variable(id))
		return
	}
	if v.vars[id].Type != t {
		v.problem("%s is of type %s, its value of type %s", v.names.variable(id), v.vars[id].Type, t)
	}
	v.state[id], v.mutable[id] = visible, !fixed
	v.open = append(v.open, id)
}

// see checks that a variable may be used here.
func (v *verifier) see(id VarID) bool {
	switch {
	case id < 0 || int(id) >= len(v.vars):
		v.problem("uses variable %d; there are %d", id, len(v.vars))
	case v.state[id] == undeclared:
		v.problem("uses %s before its declaration", v.names.variable(id))
	case v.state[id] == hidden:
		v.problem("uses %s outside its block", v.names.variable(id))
	default:
		return true
	}
	return false
}

func (v *verifier) block(body []Stmt) {
	mark := len(v.open)
	for _, s := range body {
		v.at = s
		v.stmt(s)
	}
	for _, id := range v.open[mark:] {
		v.state[id] = hidden
	}
	v.open = v.open[:mark]
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case *Let:
		v.expr(s.Value)
		v.declare(s.Var, s.Value.Type(), !s.Mutable)
	case *Assign:
		v.expr(s.Value)
		if !v.see(s.Var) {
			return
		}
		if !v.mutable[s.Var] {
			v.problem("assigns %s, which is not mutable", v.names.variable(s.Var))
		}
		v.want(s.Value, v.vars[s.Var].Type, "the value")
	case *Store:
		v.expr(s.Index)
		v.expr(s.Value)
		v.want(s.Index, I64, "the index")
		if !v.hasBuffer(s.Buf) {
			return
		}
		b := v.bufs[s.Buf]
		if b.ReadOnly {
			v.problem("stores to %s, which is read-only", v.names.buffer(s.Buf))
		}
		v.want(s.Value, b.Elem.Compute(), "the stored value")
	case *For:
		v.expr(s.Lo)
		v.expr(s.Hi)
		v.want(s.Lo, I64, "the lower bound")
		v.want(s.Hi, I64, "the upper bound")
		mark := len(v.open)
		v.declare(s.Var, I64, fixedVar)
		v.block(s.Body)
		if len(v.open) > mark {
			v.state[s.Var] = hidden
			v.open = v.open[:mark]
		}
	case *While:
		v.expr(s.Cond)
		v.want(s.Cond, Bool, "the condition")
		v.block(s.Body)
	case *If:
		v.expr(s.Cond)
		v.want(s.Cond, Bool, "the condition")
		v.block(s.Then)
		v.block(s.Else)
	case *Fail:
		if s.Code < 0 || s.Code >= len(v.fails) || s.Code >= maxFails {
			v.problem("fails with message %d; there are %d", s.Code, len(v.fails))
		}
		if v.scalar {
			v.problem("a scalar function cannot fail")
		}
	case *Return:
		v.expr(s.Value)
		if !v.scalar {
			v.problem("only a scalar function returns a value")
			return
		}
		v.want(s.Value, v.returns, "the result")
	case *Comment:
		if strings.ContainsAny(s.Text, "\r\n") {
			v.problem("a comment is one line")
		}
	default:
		v.gridStmt(s)
	}
}

func (v *verifier) hasBuffer(id BufID) bool {
	ok := id >= 0 && int(id) < len(v.bufs)
	if !ok {
		v.problem("uses buffer %d; there are %d", id, len(v.bufs))
	}
	return ok
}

// want checks the type of a part of a statement.
func (v *verifier) want(e Expr, t Type, what string) {
	if e.Type() != t {
		v.problem("%s is of type %s, not %s", what, e.Type(), t)
	}
}

// returns reports whether running body always ends in a Return.
func returns(body []Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *Return:
			return true
		case *If:
			if returns(s.Then) && returns(s.Else) {
				return true
			}
		}
	}
	return false
}

// recursion checks that s does not call itself, directly or through others.
func (v *verifier) recursion(s *Scalar) {
	seen := map[string]bool{}
	queue := callees(s)
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if name == s.Name {
			v.problem("calls itself, perhaps through other functions")
			return
		}
		if callee, ok := v.lookup(name); ok && !seen[name] {
			seen[name] = true
			queue = append(queue, callees(callee)...)
		}
	}
}

// callees are the names of the functions that s calls.
func callees(s *Scalar) []string {
	var names []string
	for e := range AllExprs(s.Body) {
		if c, ok := e.(*Call); ok {
			names = append(names, c.Fn)
		}
	}
	return names
}

func (v *verifier) lookup(name string) (*Scalar, bool) {
	if v.resolve == nil {
		return nil, false
	}
	return v.resolve(name)
}
