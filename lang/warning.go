package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Warning is something that a program may not mean: the program is right and runs, but readers
// expect something else of it. Every stage may add warnings; [Warnings] finds those that the text
// alone tells.
type Warning struct {
	Code     Code
	Pos, End Pos    // the part of the text that it is about, up to before End; may be unknown
	Msg      string // what the program does
	Hint     string // what to do about it; may be ""
	Fixes    []Fix  // ways to write what may be meant, with which there is no warning
	Source   string // the program text, to show the line; may be ""
}

// Fix is text to put in the place of a part of a program.
type Fix struct {
	Means    string // what the program then means
	Pos, End Pos    // the part that Text replaces
	Text     string
}

// String renders the message, the source line with a caret under the place, the hint and the fixes.
func (w *Warning) String() string {
	var b strings.Builder
	if w.Pos.IsKnown() {
		fmt.Fprintf(&b, "%s: ", w.Pos)
	}
	fmt.Fprintf(&b, "warning: %s [%s]", w.Msg, w.Code)
	b.WriteString(excerpt(w.Source, w.Pos))
	if w.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s", w.Hint)
	}
	for _, f := range w.Fixes {
		fmt.Fprintf(&b, "\n%s: %s", f.Means, f.Text)
	}
	return b.String()
}

// Warnings lists what a file may not mean, in source order. p is what Check makes of the file.
func Warnings(file *File, p *Program) []*Warning {
	w := &warner{file: file, scalars: map[string]bool{}, taken: map[string]bool{}, assigned: map[*Tensor]bool{}}
	for _, t := range p.Tensors {
		w.scalars[t.Name], w.taken[t.Name] = t.Rank == 0, true
	}
	for i, a := range file.Stmts {
		w.innerSums(a)
		w.oldValue(a, p.Stmts[i])
		w.assigned[p.Stmts[i].LHS.Tensor] = true
	}
	return w.list
}

// warner goes through the statements of a file.
type warner struct {
	file     *File
	scalars  map[string]bool // tensors of rank 0
	taken    map[string]bool // names of tensors
	assigned map[*Tensor]bool
	tokens   []lexer.Token // of the source, once there is a warning
	list     []*Warning
}

// add notes a warning of statement a, with ways to write the statement. Those are left out where
// slices hide indices, which then have no names to write.
func (w *warner) add(a *Assign, at Warning, fixes ...Fix) {
	if len(w.list) >= maxErrors {
		return // each has a text as long as its statement
	}
	at.Source = w.file.Source
	pos, end := a.Pos, w.statementEnd(a)
	for _, f := range fixes {
		if !strings.Contains(f.Text, "_"+slicePrefix) && !strings.Contains(f.Text, "{"+slicePrefix) && !strings.Contains(f.Text, ","+slicePrefix) {
			f.Pos, f.End = pos, end
			at.Fixes = append(at.Fixes, f)
		}
	}
	w.list = append(w.list, &at)
}

// innerSums warns of implicit sums of what stands in parentheses, where something that is
// not linear is applied to them: (x(i) - y(i))^2 is the square of a sum.
func (w *warner) innerSums(a *Assign) {
	sums := &einsum{isTensor: func(name string) bool { return w.scalars[name] }, free: map[string]bool{}}
	eachIndexUse(a.LHS, func(name string, _ Pos) { sums.free[name] = true })
	if sums.analyse(a.RHS) != nil {
		return
	}
	s := &spelling{sums: sums}
	s.find(a.RHS, surroundings{term: a.RHS}, func(n *Paren, term Node, names []string) {
		if sliced(names) {
			names = nil
		}
		indices := strings.Join(names, ", ")
		if names == nil {
			indices = "the slices"
		}
		moved := *s
		moved.moved, moved.to = names, term
		w.add(a, Warning{Code: WarnInnerSum, Pos: n.Pos, End: w.closing(n.Pos),
			Msg:  fmt.Sprintf("the implied sum over %s stands inside the parentheses: what is applied to them is applied to the sum", indices),
			Hint: "write the sum that is meant, as one of these"},
			Fix{Means: "as it is now", Text: s.statement(a)}, Fix{Means: "the sum outside", Text: moved.statement(a)})
	})
}

func sliced(names []string) bool {
	return slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, slicePrefix) })
}

// spelling writes a statement with its implicit sums.
type spelling struct {
	sums  *einsum
	moved []string // indices that are summed around a term instead of where the convention puts them
	to    Node     // that term
}

// surroundings is what stands around a node.
type surroundings struct {
	term Node   // around which the sums would stand without parentheses
	bent bool   // what is not linear is applied to the node, with no parentheses in between
	in   *Paren // the innermost parentheses to which that is so
}

// find calls f for parentheses to which something is applied that is not linear, and in which there are
// implicit sums that may be meant outside.
func (s *spelling) find(n Node, at surroundings, f func(n *Paren, term Node, names []string)) {
	if names := s.suspect(n); len(names) > 0 && at.in != nil {
		f(at.in, at.term, names)
	}
	term := func(x Node) { s.find(x, surroundings{term: x}, f) }
	bent := at
	bent.bent = true
	switch n := n.(type) {
	case *Paren:
		if at.bent {
			at.in, at.bent = n, false
		}
		s.find(n.X, at, f)
	case *Unary:
		if n.Op == "not" {
			term(n.X)
			return
		}
		s.find(n.X, at, f)
	case *Binary:
		switch binaryLevels[n.Op] {
		case levelSum:
			for _, x := range sumOperands(n) {
				term(x)
			}
		case levelTerm:
			s.find(n.X, at, f)
			if n.Op == "/" {
				at = bent
			}
			s.find(n.Y, at, f)
		case levelPower:
			s.find(n.X, bent, f)
			s.find(n.Y, bent, f)
		default:
			term(n.X)
			term(n.Y)
		}
	case *Apply:
		for _, x := range n.Args {
			term(x)
		}
	case *Fold:
		term(n.Body)
		if n.Q != nil {
			term(n.Q)
		}
	}
}

// suspect are the indices that are summed around n or, where n is a sum, around operands of it that use them once:
// of (A(i,j) - 1)^2 both, of (A(i,j)*x(j) - b(i))^2 the i alone, since a product over j
// beside b(i) is a product of a matrix.
func (s *spelling) suspect(n Node) []string {
	names := slices.Clone(s.sums.implicit[n])
	b, ok := n.(*Binary)
	if !ok || binaryLevels[b.Op] != levelSum {
		return names
	}
	for _, x := range sumOperands(b) {
		for _, name := range s.sums.implicit[x] {
			if !slices.Contains(names, name) && users(x, name) == 1 {
				names = append(names, name)
			}
		}
	}
	return names
}

// users is how many references in n have an index of that name, those that gather by themselves.
func users(n Node, name string) int {
	count := 0
	EachRef(n, func(r *Ref) {
		sliced := 0
		for _, x := range r.Indices {
			if x.Slice != nil && sliceName(sliced) == name || slices.ContainsFunc(x.Terms, func(t *IndexTerm) bool { return t.Name == name }) {
				count++
				return
			}
			if x.Slice != nil {
				sliced++
			}
		}
	})
	return count
}

// statement writes a statement with all its sums.
func (s *spelling) statement(a *Assign) string {
	return (&Assign{LHS: a.LHS, Op: a.Op, RHS: s.node(a.RHS)}).String()
}

// node is n with the sums around it and in it.
func (s *spelling) node(n Node) Node {
	names := slices.DeleteFunc(slices.Clone(s.sums.implicit[n]), func(name string) bool { return slices.Contains(s.moved, name) })
	if n == s.to {
		names = append(names, s.moved...)
	}
	out := s.inside(n)
	if len(names) == 0 {
		return out
	}
	sum := &Fold{Name: Sum.String(), Body: out}
	for _, name := range names {
		sum.Vars = append(sum.Vars, &FoldVar{Name: name})
	}
	return sum
}

// inside is n with the sums in it.
func (s *spelling) inside(n Node) Node {
	switch n := n.(type) {
	case *Paren:
		return &Paren{X: s.node(n.X)}
	case *Unary:
		return &Unary{Op: n.Op, X: s.node(n.X)}
	case *Binary:
		return &Binary{Op: n.Op, X: s.node(n.X), Y: s.node(n.Y)}
	case *Apply:
		out := &Apply{Name: n.Name}
		for _, x := range n.Args {
			out.Args = append(out.Args, s.node(x))
		}
		return out
	case *Fold:
		out := *n
		if out.Body = s.node(n.Body); n.Q != nil {
			out.Q = s.node(n.Q)
		}
		return &out
	}
	return n
}

// oldValue warns of an assignment that reads as an equation for the tensor it assigns: some sum over
// elements of the old value, and something besides. x(i) = sum_j A(i,j)*x(j) alone says nothing else.
func (w *warner) oldValue(a *Assign, s *Stmt) {
	t := s.LHS.Tensor
	if s.Op != Set || !t.Operand && !w.assigned[t] {
		return
	}
	whole := s.RHS
	if c, ok := whole.(*Cast); ok {
		whole = c.X
	}
	var old *Access
	Walk(s.RHS, func(e Expr) bool {
		r, ok := e.(*Reduce)
		if !ok || r.Op != Sum || e == whole || old != nil {
			return true
		}
		for _, x := range Accesses(r.Body) {
			if x.Tensor == t && slices.ContainsFunc(r.Vars, func(v ReduceVar) bool { return uses(x, v.Var) }) {
				old = x
				break
			}
		}
		return true
	})
	if old == nil {
		return
	}
	name := t.Name
	for n := 1; w.taken[name]; n++ {
		name = fmt.Sprintf("%s%d", t.Name, n)
	}
	lhs := *a.LHS
	lhs.Name = name
	w.add(a, Warning{Code: WarnOldValue, Pos: old.Pos, End: w.closing(w.next(old.Pos)),
		Msg:  fmt.Sprintf("%s on the right is its value before the statement: this does one step, and does not solve for %s", t.Name, t.Name),
		Hint: "to do one step, give the new value a name of its own"},
		Fix{Means: "one step", Text: (&Assign{LHS: &lhs, Op: a.Op, RHS: a.RHS}).String()})
}

// uses reports whether an index of the access has the variable v.
func uses(a *Access, v *Index) bool {
	return slices.ContainsFunc(a.Indices, func(x IndexExpr) bool {
		return coefficient(x, v) != 0 || x.Gather != nil && uses(x.Gather, v)
	})
}

// from returns the tokens of the source from a place on, none if no token begins there.
func (w *warner) from(pos Pos) []lexer.Token {
	if w.tokens == nil {
		tokens, err := scan(w.file.Source)
		if err != nil {
			return nil // the file was not parsed from its source
		}
		w.tokens = tokens
	}
	k, found := slices.BinarySearchFunc(w.tokens, pos.Offset, func(t lexer.Token, at int) int { return t.Pos.Offset - at })
	if !found || !pos.IsKnown() {
		return nil
	}
	return w.tokens[k:]
}

// next is the place of the token behind the one at pos.
func (w *warner) next(pos Pos) Pos {
	if rest := w.from(pos); len(rest) > 1 {
		return posOf(rest[1].Pos)
	}
	return Pos{}
}

// closing is the place behind the bracket that closes the one at pos.
func (w *warner) closing(pos Pos) Pos {
	open := 0
	for _, t := range w.from(pos) {
		switch t.Value {
		case "(":
			open++
		case ")":
			open--
		}
		if open == 0 {
			return behind(t)
		}
	}
	return Pos{}
}

// statementEnd is the place behind the last token of a statement.
func (w *warner) statementEnd(a *Assign) Pos {
	end := Pos{}
	for _, t := range w.from(a.Pos) {
		if t.EOF() || t.Type == tokSep {
			break
		}
		end = behind(t)
	}
	return end
}

// behind is the place behind a token, which stands in one line.
func behind(t lexer.Token) Pos {
	return Pos{Offset: t.Pos.Offset + len(t.Value), Line: t.Pos.Line, Column: t.Pos.Column + len([]rune(t.Value))}
}
