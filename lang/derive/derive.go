// Package derive differentiates programs: from a program and the name of an operand it
// makes the program that computes the gradient with respect to that operand.
//
//	y(i) = sum_j A(i,j)*x(j)        with respect to A
//	dA(i,j) = where(stored(A(i,j)), dy(i)*x(j), 0)
//
// The result is a program in the same language. It can be read, saved, edited, planned,
// compiled and derived again like any other, and every format and engine works for
// it: there is no second compiler for gradients.
//
// The method is reverse accumulation (Griewank and Walther, Evaluating Derivatives,
// 2008, chapter 3) on expressions with indices. A statement y(i) = E has an adjoint
// dy(i), how much the quantity that is minimised changes with y(i). Walking down E,
// every node has an adjoint over the indices visible there: an operator hands its own
// on to its arguments by the chain rule (rules.go), a reduction makes its indices
// visible (reduce.go), and at an access of the operand the adjoint is summed over all
// indices that the access does not hold (contribute.go). Before that every value of a tensor gets a name of its own (versions.go). Statements are taken last to
// first. Reductions whose values the chain rule needs, and adjoints that would be
// computed over and over inside a reduction, become statements of their own.
//
// The gradient of a sparse operand has its coordinates and its format: positions that
// are not stored are not variables. That of a dense one is dense.
package derive

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Gradient is a derived program.
type Gradient struct {
	// File is the program.
	File *lang.File
	// Of is the tensor that is differentiated: the result of the last statement.
	Of *lang.Tensor
	// Upstream names the operand that holds the adjoint of Of: a tensor of its shape and
	// type.
	Upstream string
	// Result names the gradient, which has the shape and type of the operand. It is
	// assigned last.
	Result string
	// Groups are tensors of File that have the coordinates of some axes of the operand: the adjoint
	// of Of, and results in between, such as the maximum of each row.
	Groups []Group
}

// Group is a tensor whose dimension k runs over the coordinates of the operand's axis Axes[k].
type Group struct {
	Name string
	Axes []int
}

// Program derives the gradient of the last statement's result with respect to an operand
// of float or complex type. The gradient with respect to a complex operand z = x + iy
// of a real quantity L is dL/dx + i dL/dy, the direction of steepest ascent. check resolves
// the names of a file, as lang.Check does with the declarations of the operands: it is asked about file and about what
// file is rewritten to before it is derived. The derived program gives no tensor of its own one of the names in avoid; that of the adjoint,
// which is passed like them, is Upstream(file).
//
// The error, a *lang.Error, has one of the codes E501 to E503: the operand is not one that can be
// differentiated by, an operator has no derivative, or a form is not supported; or it is one of check.
func Program(file *lang.File, check func(*lang.File) (*lang.Program, error), stores func(*lang.Program) map[*lang.Tensor]tensor.Format, wrt string, avoid ...string) (*Gradient, error) {
	p, err := check(file)
	if err != nil {
		return nil, err
	}
	d := &deriver{stores: stores, narrowResult: narrow(p.Stmts[len(p.Stmts)-1].LHS.Tensor.DType), taken: map[string]bool{}, indices: map[string]bool{}, parts: map[*lang.Tensor][]*part{}, depends: map[*lang.Tensor]bool{}, sources: map[*lang.Tensor]source{}, zeroOutside: map[*lang.Tensor]source{}}
	for _, name := range avoid {
		d.taken[name] = true
	}
	d.noteNames(p)
	of := p.Stmts[len(p.Stmts)-1].LHS.Tensor
	g := &Gradient{Of: of, Upstream: Upstream(file)}
	d.taken[g.Upstream] = true
	versioned, written := versions(file, p, wrt, d.fresh)
	d.file, d.written = copySlices(versioned, d.taken), written
	if d.prog = p; d.file != file {
		if d.prog, err = check(d.file); err != nil {
			return nil, err
		}
		d.noteNames(d.prog)
	}
	if file := widened(d.file, d.prog); file != d.file {
		d.file = file
		if d.prog, err = check(d.file); err != nil {
			return nil, err
		}
	}
	if err := d.check(wrt); err != nil {
		return nil, err.WithSource(p.Source)
	}
	last := d.prog.Stmts[len(d.prog.Stmts)-1].LHS.Tensor
	g.Result = d.fresh("d" + d.wrt.Name)
	d.given, d.adjoint = g.Upstream, map[*lang.Tensor]string{last: g.Upstream}
	if err := d.statements(last); err != nil {
		return nil, err.WithSource(p.Source)
	}
	d.assignGradient(g)
	g.Groups = d.groups
	g.File = &lang.File{Stmts: slices.Concat(d.needed(), d.usedPatterns(), d.out)}
	g.File.Source = g.File.String()
	return g, nil
}

// noteNames notes which names a program uses.
func (d *deriver) noteNames(p *lang.Program) {
	for _, t := range p.Tensors {
		d.taken[t.Name] = true
	}
	for _, s := range p.Stmts {
		for _, x := range s.Indices {
			d.indices[x.Name] = true
		}
	}
}

// deriver holds the state of one derivation.
type deriver struct {
	prog *lang.Program
	file *lang.File
	wrt  *lang.Tensor
	// given names the adjoint of the result. narrowResult says that it is of a narrow type.
	given        string
	narrowResult bool
	// depends holds the tensors through which the result depends on the operand.
	depends map[*lang.Tensor]bool
	sources map[*lang.Tensor]source
	// zeroOutside has for results a condition outside of which they are zero.
	zeroOutside map[*lang.Tensor]source
	// formats are those of the results of prog, as stores gives them, once planned is set.
	stores  func(*lang.Program) map[*lang.Tensor]tensor.Format
	formats map[*lang.Tensor]tensor.Format
	planned bool
	// written has the name in the program of each version of a tensor that is assigned again.
	written map[string]string
	// patterns are statements that copy what the operand stores, for sources.
	patterns []*lang.Assign
	taken    map[string]bool // names of tensors
	indices  map[string]bool // names of indices, in any statement
	adjoint  map[*lang.Tensor]string
	parts    map[*lang.Tensor][]*part // contributions to adjoints, by tensor
	out      []*lang.Assign
	groups   []Group
}

// check refuses what cannot be differentiated as a whole and finds out what depends on
// the operand.
func (d *deriver) check(wrt string) *lang.Error {
	for _, t := range d.prog.Tensors {
		if t.Name == wrt && t.Operand && t.StoredOf == nil {
			d.wrt = t
		}
	}
	if i := slices.IndexFunc(d.prog.Tensors, func(t *lang.Tensor) bool { return t.Name == wrt }); d.wrt == nil && i >= 0 {
		return &lang.Error{Code: lang.ErrGradientOf, Pos: d.prog.Tensors[i].Pos, Msg: fmt.Sprintf("%s is assigned before anything reads it: its value from outside moves nothing", wrt),
			Hint: "name a tensor that the program reads before it assigns it"}
	}
	if d.wrt == nil {
		return &lang.Error{Code: lang.ErrGradientOf, Msg: fmt.Sprintf("%s is no operand of the program", wrt),
			Hint: "name a tensor that the program reads"}
	}
	if !d.wrt.DType.IsFloat() && !d.wrt.DType.IsComplex() {
		return &lang.Error{Code: lang.ErrGradientOf, Pos: d.wrt.Pos, Msg: fmt.Sprintf("%s holds %s, and only floats and complex numbers have a gradient", wrt, d.wrt.DType),
			Hint: "convert the operand before: its gradient is then that of the converted one"}
	}
	assigned := map[*lang.Tensor]bool{}
	d.depends[d.wrt] = true
	for _, s := range d.prog.Stmts {
		t := s.LHS.Tensor
		d.noteSource(s, assigned[t])
		assigned[t] = true
		if d.dependent(s.RHS) {
			d.depends[t] = true
		}
	}
	last := d.prog.Stmts[len(d.prog.Stmts)-1]
	if !d.depends[last.LHS.Tensor] {
		return &lang.Error{Code: lang.ErrGradientOf, Pos: last.Pos,
			Msg:  fmt.Sprintf("%s does not depend on the values of %s", d.nameOf(last.LHS.Tensor), wrt),
			Hint: "the gradient would be zero everywhere"}
	}
	return nil
}

// nameOf is what the program that was written calls a tensor.
func (d *deriver) nameOf(t *lang.Tensor) string {
	if name, ok := d.written[t.Name]; ok {
		return name
	}
	return t.Name
}

// scatters reports whether a left side takes a coordinate from a tensor.
func scatters(a *lang.Access) bool {
	return slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Gather != nil })
}

// whole reports whether a left side names every element.
func whole(a *lang.Access) bool {
	seen := map[*lang.Index]bool{}
	for _, x := range a.Indices {
		v := plain(x)
		if v == nil || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// updates are the operators of updates.
var updates = map[lang.AssignOp]string{
	lang.AddTo: "+", lang.MulTo: "*", lang.MinTo: "min", lang.MaxTo: "max", lang.OrTo: "or", lang.AndTo: "and",
}

// dependent reports whether a value depends on the operand. What decides between
// the branches of where does not count: it moves nothing.
func (d *deriver) dependent(e lang.Expr) bool {
	switch e := e.(type) {
	case *lang.Access:
		return d.depends[e.Tensor]
	case *lang.Cast:
		return d.dependent(e.X)
	case *lang.Call:
		return slices.ContainsFunc(e.Args, d.dependent)
	case *lang.Select:
		return d.dependent(e.Then) || d.dependent(e.Else)
	case *lang.Reduce:
		return d.dependent(e.Body) || e.Q != nil && d.dependent(e.Q)
	case *lang.Scan:
		return d.dependent(e.Body)
	case *lang.Like:
		return d.dependent(e.X)
	}
	return false
}

// statements derives the statements, last to first.
func (d *deriver) statements(last *lang.Tensor) *lang.Error {
	derived := map[int]bool{} // with a later statement
	for i := len(d.prog.Stmts) - 1; i >= 0; i-- {
		s := d.prog.Stmts[i]
		t := s.LHS.Tensor
		if !d.depends[t] || derived[i] || t != last && len(d.parts[t]) == 0 {
			continue
		}
		d.sumUp(t)
		sd := newStatement(d, s)
		if t == last && whole(s.LHS) {
			var vars []*lang.Index
			for _, x := range s.LHS.Indices {
				vars = append(vars, plain(x))
			}
			sd.noteGroup(d.adjoint[t], vars)
		}
		if c := d.copyOf(i); c >= 0 {
			derived[c] = true
			if err := sd.update(copied(d.prog.Stmts[c])); err != nil {
				return err
			}
			continue
		}
		if err := sd.back(s.RHS, sd.upstream(), place{vars: sd.left}); err != nil {
			return err
		}
	}
	return nil
}

// sumUp adds a statement for the adjoint of a tensor, unless it has one.
func (d *deriver) sumUp(t *lang.Tensor) {
	if d.adjoint[t] != "" {
		return
	}
	d.adjoint[t] = d.fresh("d" + t.Name)
	vars, value := d.sum(t)
	if o := d.sources[t]; o.stored != nil {
		value = masked(o.at(vars), value)
	}
	d.assign(d.adjoint[t], vars, value)
}

// sum is the sum of the contributions to the adjoint of a tensor, at the element that
// the returned names of indices name.
func (d *deriver) sum(t *lang.Tensor) (vars []string, value lang.Node) {
	for _, p := range d.parts[t] {
		if value == nil {
			vars, value = p.vars, p.value
			continue
		}
		value = binary("+", value, d.at(p, vars))
	}
	return vars, value
}

// assign adds a statement.
func (d *deriver) assign(name string, vars []string, value lang.Node) {
	d.out = append(d.out, &lang.Assign{LHS: ref(name, vars), Op: lang.Set, RHS: value})
}

// assignGradient adds the statement of the gradient itself: only what a sparse operand
// stores has one.
func (d *deriver) assignGradient(g *Gradient) {
	vars, value := d.sum(d.wrt)
	if value == nil { // what there is in between has the derivative 0
		taken := map[string]bool{}
		for range d.wrt.Rank {
			vars = append(vars, d.index("m", taken))
		}
		value = cast(d.wrt.DType, zero())
		if d.wrt.Rank > 0 {
			value = call("like", value, ref(d.wrt.Name, vars))
		}
	}
	if narrow(d.wrt.DType) {
		value = cast(d.wrt.DType, value)
	}
	stored := call("stored", ref(d.wrt.Name, vars))
	if !d.wrt.Format.IsDense() && !choosesBy(value, stored) {
		value = where(stored, value, zero())
	}
	d.assign(g.Result, vars, value)
}

// choosesBy reports whether n is where(cond, …, 0).
func choosesBy(n, cond lang.Node) bool {
	a, ok := n.(*lang.Apply)
	return ok && a.Name == "where" && lang.FormatNode(a.Args[0]) == lang.FormatNode(cond) && lang.FormatNode(a.Args[2]) == "0"
}

// needed lists the statements of the program whose results the derived ones read.
func (d *deriver) needed() []*lang.Assign {
	read := map[string]bool{}
	note := func(a *lang.Assign) {
		name := func(name string) { read[name] = true }
		eachName(a.RHS, name)
		a.LHS.EachGather(func(r *lang.Ref) { name(r.Name) }) // s(p(i)) += … reads p
	}
	for _, s := range d.out {
		note(s)
	}
	var list []*lang.Assign
	for i := len(d.prog.Stmts) - 1; i >= 0; i-- {
		a := d.file.Stmts[i]
		// What the last statement adds to is read before.
		if s := d.prog.Stmts[i]; !read[a.LHS.Name] || s.LHS.Tensor.Operand && i+1 == len(d.prog.Stmts) {
			continue
		}
		list = append(list, a)
		note(a)
	}
	slices.Reverse(list)
	return list
}

// Upstream is the name of the adjoint of a program's last result y: dy, or if the program has another use for that name the first one of
// dy1, dy2 and so on.
func Upstream(file *lang.File) string {
	taken := map[string]bool{}
	note := func(name string) { taken[name] = true }
	for _, a := range file.Stmts {
		for _, n := range []lang.Node{a.LHS, a.RHS} {
			eachName(n, note)
			eachIndexName(n, note)
		}
	}
	return numbered("d"+file.Stmts[len(file.Stmts)-1].LHS.Name, func(name string) bool { return taken[name] || lang.Reserved(name) })
}

// numbered is base, or if that is taken the first one of base1, base2 and so on that is not.
func numbered(base string, taken func(name string) bool) string {
	name := base
	for n := 1; taken(name); n++ {
		name = base + strconv.Itoa(n)
	}
	return name
}

// fresh is a name for a tensor that nothing has yet.
func (d *deriver) fresh(base string) string {
	name := numbered(base, func(name string) bool { return d.taken[name] || d.indices[name] || lang.Reserved(name) })
	d.taken[name] = true
	return name
}

// index is a name for an index that is not among the taken ones and is no tensor's.
func (d *deriver) index(base string, taken map[string]bool) string {
	name := numbered(base, func(name string) bool { return taken[name] || d.taken[name] || lang.Reserved(name) })
	taken[name], d.indices[name] = true, true
	return name
}

func unsupported(pos lang.Pos, what, hint string) *lang.Error {
	return &lang.Error{Code: lang.ErrGradientForm, Pos: pos, Msg: "the gradient through " + what + " is not supported", Hint: hint}
}
