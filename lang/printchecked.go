package lang

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// String prints the program in explicit form: every sum is written out, every
// conversion is a cast and slices are affine indices over variables of their own.
// It parses back; checked against the same declarations it gives the same program,
// but for slices, whose bounds it no longer checks.
func (p *Program) String() string {
	lines := make([]string, len(p.Stmts))
	for i, s := range p.Stmts {
		lines[i] = s.String()
	}
	return strings.Join(lines, "\n")
}

// String prints the statement in explicit form.
func (s *Stmt) String() string {
	w := newWriter(s)
	return (&Assign{LHS: w.ref(s.LHS), Op: s.Op, RHS: w.node(s.RHS), Schedule: s.Schedule}).String()
}

// Format prints an expression of the statement in explicit form.
func (s *Stmt) Format(e Expr) string { return FormatNode(newWriter(s).node(e)) }

// NodeOf writes a checked expression as syntax, with the given names of indices.
// Where replace returns a node, that stands for the expression; replace may be nil.
func NodeOf(e Expr, names map[*Index]string, replace func(Expr) Node) Node {
	return (&writer{names: names, replace: replace}).node(e)
}

// RefOf writes an access as syntax, with the given names of indices.
func RefOf(a *Access, names map[*Index]string) *Ref { return (&writer{names: names}).ref(a) }

// writer turns the checked form of one statement back into syntax.
type writer struct {
	names   map[*Index]string
	replace func(Expr) Node // nil, or what stands for some expressions
}

// newWriter names the hidden indices of slices s0, s1, …, avoiding the names in use.
func newWriter(s *Stmt) *writer {
	w := &writer{names: make(map[*Index]string)}
	taken := make(map[string]bool)
	for _, x := range s.Indices {
		if x.Name != "" {
			w.names[x] = x.Name
			taken[x.Name] = true
		}
	}
	n := 0
	for _, x := range s.Indices {
		if x.Name != "" {
			continue
		}
		for taken["s"+strconv.Itoa(n)] {
			n++
		}
		w.names[x] = "s" + strconv.Itoa(n)
		n++
	}
	return w
}

func (w *writer) node(e Expr) Node {
	if w.replace != nil {
		if n := w.replace(e); n != nil {
			return n
		}
	}
	switch e := e.(type) {
	case *Literal:
		return literalNode(e.Value)
	case *Access:
		if of := e.Tensor.StoredOf; of != nil {
			return &Apply{Name: storedWord, Args: []Node{w.ref(&Access{Tensor: of, Indices: e.Indices})}}
		}
		return w.ref(e)
	case *IndexValue:
		return &Ref{Pos: e.Pos, Name: w.names[e.Var]}
	case *Cast:
		return &Apply{Name: e.To.String(), Args: []Node{w.node(e.X)}}
	case *Select:
		return &Apply{Name: "where", Args: []Node{w.node(e.Cond), w.node(e.Then), w.node(e.Else)}}
	case *Call:
		return w.call(e)
	case *Like:
		a := &Apply{Name: likeWord, Args: []Node{w.node(e.X)}}
		for _, x := range e.Accesses {
			a.Args = append(a.Args, w.ref(x))
		}
		return a
	case *Reduce:
		f := &Fold{Pos: e.Pos, Name: e.Op.String(), Options: options(e.Options), Vars: w.vars(e.Vars), Body: w.body(e.Body)}
		if e.Q != nil {
			f.Q = w.node(e.Q)
		}
		return f
	case *Scan:
		return &Fold{Pos: e.Pos, Name: e.Op.String(), Options: e.Words(), Vars: w.vars(e.Vars), Body: w.body(e.Body)}
	}
	panic(fmt.Sprintf("BUG: unknown expression %T", e))
}

// vars writes the indices of a reduction or scan.
func (w *writer) vars(list []ReduceVar) []*FoldVar {
	var vars []*FoldVar
	for _, v := range list {
		fv := &FoldVar{Pos: v.Var.Pos, Name: w.names[v.Var]}
		if v.In != nil {
			fv.In = v.In.Name
		}
		vars = append(vars, fv)
	}
	return vars
}

// body puts operators under a reduction in parentheses, so that its extent shows.
func (w *writer) body(e Expr) Node {
	n := w.node(e)
	if _, ok := n.(*Binary); ok {
		return &Paren{X: n}
	}
	return n
}

func (w *writer) call(e *Call) Node {
	args := make([]Node, len(e.Args))
	for i, a := range e.Args {
		args[i] = w.node(a)
	}
	if _, ok := binaryLevels[e.Fn]; ok {
		return &Binary{Pos: e.Pos, Op: e.Fn, X: args[0], Y: args[1]}
	}
	switch e.Fn {
	case "neg":
		return &Unary{Op: "-", X: args[0]}
	case "not":
		return &Unary{Op: "not", X: args[0]}
	}
	return &Apply{Name: e.Fn, Args: args}
}

func (w *writer) ref(a *Access) *Ref {
	r := &Ref{Pos: a.Pos, Name: a.Tensor.Name, Parens: len(a.Indices) > 0}
	for _, x := range a.Indices {
		r.Indices = append(r.Indices, w.index(x))
	}
	return r
}

func (w *writer) index(x IndexExpr) *RefIndex {
	if x.Gather != nil {
		g := w.ref(x.Gather)
		g.Parens = true
		return &RefIndex{Pos: x.Pos, Terms: []*IndexTerm{{Coef: 1, Gather: g}}}
	}
	r := &RefIndex{Pos: x.Pos}
	for _, t := range x.Terms {
		r.Terms = append(r.Terms, &IndexTerm{Pos: x.Pos, Coef: t.Coef, Name: w.names[t.Var]})
	}
	if x.Const != 0 || len(x.Terms) == 0 {
		r.Terms = append(r.Terms, &IndexTerm{Coef: x.Const})
	}
	return r
}

func options(names []string) []Option {
	var list []Option
	for _, n := range names {
		list = append(list, Option{Name: n})
	}
	return list
}

// literalNode writes a constant so that it parses back to the same value.
func literalNode(x tensor.Scalar) Node {
	dt := x.DType()
	switch {
	case dt == tensor.Bool:
		return &Const{Name: strconv.FormatBool(x.Bool())}
	case dt.IsUnsigned():
		return &Number{Text: strconv.FormatUint(x.Uint64(), 10)}
	case dt.IsInteger():
		return signed(x.Int64() < 0, &Number{Text: strings.TrimPrefix(strconv.FormatInt(x.Int64(), 10), "-")})
	case dt.IsComplex():
		return complexNode(x)
	}
	return floatNode(x.Float64(), dt)
}

// complexNode writes a complex constant as a product or sum of literals.
func complexNode(x tensor.Scalar) Node {
	z, part := x.Complex128(), x.DType().Real()
	re, im := real(z), imag(z)
	switch {
	case im == 0 && !math.Signbit(im):
		return floatNode(re, part)
	case re == 0 && math.Signbit(re) == math.Signbit(im): // the minus of -2i is on both parts
		return imaginaryNode(im, part)
	}
	return &Binary{Op: "+", X: floatNode(re, part), Y: imaginaryNode(im, part)}
}

func imaginaryNode(f float64, part tensor.DType) Node {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return &Binary{Op: "*", X: floatNode(f, part), Y: &Number{Text: "1i"}}
	}
	return signed(math.Signbit(f), &Number{Text: floatText(math.Abs(f), part) + "i"})
}

func floatNode(f float64, dt tensor.DType) Node {
	switch {
	case math.IsNaN(f):
		return &Const{Name: "nan"}
	case math.IsInf(f, 0):
		return signed(f < 0, &Const{Name: "inf"})
	}
	text := floatText(math.Abs(f), dt)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return signed(math.Signbit(f), &Number{Text: text})
}

// floatText is the shortest decimal that gives f of type dt back.
func floatText(f float64, dt tensor.DType) string {
	bits := 64
	if dt.Compute() == tensor.Float32 {
		bits = 32
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

func signed(negative bool, n Node) Node {
	if negative {
		return &Unary{Op: "-", X: n}
	}
	return n
}
