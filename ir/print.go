package ir

import (
	"fmt"
	"strings"
)

// Line is a line of a text, from 1, and where in the program what it says comes from.
type Line struct {
	Number int
	Pos    Pos
}

// listing is a text under construction, and what its lines come from.
type listing struct {
	strings.Builder
	written int // lines
	lines   []Line
}

// from notes places of the program that the next line comes from.
func (b *listing) from(places ...Pos) {
	for _, p := range places {
		if p.IsKnown() {
			b.lines = append(b.lines, Line{b.written + 1, p})
		}
	}
}

// end ends a line.
func (b *listing) end() {
	b.WriteByte('\n')
	b.written++
}

// String writes the plan: its tensors, then its steps in order, each compute
// step as a nest of foralls.
func (p *Plan) String() string {
	text, _ := p.Listing()
	return text
}

// Listing is String, with the places of the program that lines come from.
func (p *Plan) Listing() (text string, lines []Line) {
	var b listing
	for _, t := range p.Tensors {
		fmt.Fprintf(&b, "tensor %s: %s %s", t.Name, t.Format, t.DType)
		if t.FillKnown && !t.Fill.IsZero() {
			fmt.Fprintf(&b, " fill %s", t.Fill)
		} else if !t.FillKnown {
			b.WriteString(" fill known at run time")
		}
		b.from(t.Pos)
		b.end()
	}
	for _, s := range p.Steps {
		switch s := s.(type) {
		case *Convert:
			axes := ""
			if s.Axes != nil {
				axes = fmt.Sprintf(", axes %v", s.Axes)
			}
			fmt.Fprintf(&b, "convert %s%s -> %s: %s    # %s", s.From.Name, axes, s.To.Name, s.To.Format, s.Why)
			b.from(s.From.Pos)
			b.end()
		case *Scan:
			fmt.Fprintf(&b, "scan %s -> %s: %s    # %s", s.From.Name, s.To.Name, s.To.Format, s)
			b.from(s.Pos)
			b.end()
		case *Statistic:
			fmt.Fprintf(&b, "statistic %s -> %s: %s    # %s", s.From.Name, s.To.Name, s.To.Format, s)
			b.from(s.Pos)
			b.end()
		case *Sort:
			fmt.Fprintf(&b, "sort %s -> %s: %s    # %s", s.From.Name, s.To.Name, s.To.Format, s)
			b.from(s.Pos)
			b.end()
		case *Join:
			var names []string
			for _, t := range s.Operand.Pieces {
				names = append(names, t.Name)
			}
			fmt.Fprintf(&b, "join %s -> %s: %s    # %s", strings.Join(names, ", "), s.To.Name, s.To.Format, s.Why)
			b.from(s.To.Pos)
			b.end()
		case *Compute:
			if s.Base != nil {
				fmt.Fprintf(&b, "copy %s -> %s", s.Base.Name, s.Result.Name)
				b.end()
			}
			if len(s.Ways) > 0 {
				b.WriteString(FormatWays(s.Ways))
				b.end()
			}
			printStmt(&b, s, s.Body, 0)
		}
	}
	return b.String(), b.lines
}

func printStmt(b *listing, c *Compute, st Stmt, depth int) {
	pad := strings.Repeat("  ", depth)
	switch st := st.(type) {
	case *Forall:
		fmt.Fprintf(b, "%sforall %s", pad, st.Index.Name)
		b.from(st.Index.Pos)
		b.end()
		printStmt(b, c, st.Body, depth+1)
	case *Where:
		fmt.Fprintf(b, "%swhere t%d =", pad, st.Temp.ID)
		r := st.Temp.Reduce
		var vars []string
		for _, v := range r.Order {
			vars = append(vars, v.Name)
		}
		switch {
		case len(r.Vars) == 0:
			fmt.Fprintf(b, " only where %s is stored", r.In.Tensor.Name)
		case r.In != nil:
			fmt.Fprintf(b, " %s over %s in %s", r.Fold, strings.Join(vars, ", "), r.In.Tensor.Name)
		default:
			fmt.Fprintf(b, " %s over %s", r.Fold, strings.Join(vars, ", "))
		}
		for _, v := range r.Order {
			b.from(v.Pos)
		}
		b.end()
		printStmt(b, c, st.Producer, depth+1)
		printStmt(b, c, st.Consumer, depth)
	case *Sequence:
		for _, x := range st.Stmts {
			printStmt(b, c, x, depth)
		}
	case *Workspace:
		w := st.Tensor
		fmt.Fprintf(b, "%sworkspace %s: %s, rank %d", pad, w.Name, w.DType, w.Rank)
		if st.Mask != nil {
			fmt.Fprintf(b, ", where %s is stored", ExprString(st.Mask))
			b.from(st.Mask.Pos)
		}
		b.end()
		for _, p := range st.Producers {
			printStmt(b, c, p, depth+1)
		}
		printStmt(b, c, st.Consumer, depth)
	case *Tabulate:
		fmt.Fprintf(b, "%stable of %s by %s", pad, ExprString(st.Access), st.Index.Name)
		b.from(st.Access.Pos, st.Index.Pos)
		b.end()
		printStmt(b, c, st.Body, depth+1)
	case *Assign:
		op := "="
		Walk(st.Value, func(x Expr) {
			if a, ok := x.(*Access); ok {
				b.from(a.Pos)
			}
		})
		if st.Temp != nil {
			fmt.Fprintf(b, "%st%d %s= %s", pad, st.Temp.ID, st.Temp.Reduce.Fold, ExprString(st.Value))
			b.from(st.Value.Position())
			b.end()
			return
		}
		if w := WorkOf(st.LHS.Tensor); w != nil {
			op = w.Fold.String() + "="
		} else if c.Scatter {
			op = c.Fold.String() + "="
		}
		fmt.Fprintf(b, "%s%s %s %s", pad, ExprString(st.LHS), op, ExprString(st.Value))
		if c.Gap != nil && st.LHS.Tensor.Work == nil {
			fmt.Fprintf(b, "    # and in the end %s for each %s not visited", ExprString(c.Gap), c.Over.Name)
		}
		b.from(st.LHS.Pos)
		b.end()
	}
}

// ExprString writes an expression for readers of a plan.
func ExprString(e Expr) string {
	switch e := e.(type) {
	case *Literal:
		return e.Value.String()
	case *Access:
		if len(e.Indices) == 0 {
			return e.Tensor.Name
		}
		var idx []string
		for _, x := range e.Indices {
			idx = append(idx, indexString(x))
		}
		return e.Tensor.Name + "(" + strings.Join(idx, ",") + ")"
	case *IndexValue:
		return e.Var.Name
	case *Extent:
		return "|" + e.Var.Name + "|"
	case *TempRef:
		return fmt.Sprintf("t%d", e.Temp.ID)
	case *Cast:
		return fmt.Sprintf("%s(%s)", e.To, ExprString(e.X))
	case *Select:
		return fmt.Sprintf("where(%s, %s, %s)", ExprString(e.Cond), ExprString(e.Then), ExprString(e.Else))
	case *Call:
		var args []string
		for _, a := range e.Args {
			args = append(args, ExprString(a))
		}
		if len(args) == 2 && !strings.ContainsAny(e.Fn, "abcdefghijklmnopqrstuvwxyz") {
			return "(" + args[0] + " " + e.Fn + " " + args[1] + ")"
		}
		return e.Fn + "(" + strings.Join(args, ", ") + ")"
	}
	panic("BUG: unknown plan expression")
}

// indexString writes the index expression as the language does.
func indexString(x IndexExpr) string {
	if x.Gather != nil {
		return ExprString(x.Gather)
	}
	var b strings.Builder
	for i, t := range x.Terms {
		switch {
		case t.Coef < 0:
			b.WriteByte('-')
		case i > 0:
			b.WriteByte('+')
		}
		if c := max(t.Coef, -t.Coef); c != 1 {
			fmt.Fprintf(&b, "%d*", c)
		}
		b.WriteString(t.Var.Name)
	}
	if x.Literal > 0 {
		if len(x.Terms) > 0 {
			b.WriteByte('+')
		}
		b.WriteString(LiteralName(x.Literal))
	} else if x.Const != 0 || len(x.Terms) == 0 {
		if len(x.Terms) > 0 && x.Const > 0 {
			b.WriteByte('+')
		}
		fmt.Fprintf(&b, "%d", x.Const)
	}
	return b.String()
}

// LiteralName is the name of a number that runs are given.
func LiteralName(n int) string { return fmt.Sprintf("literal%d", n) }

// Equal reports whether two expressions are the same computation.
func Equal(x, y Expr) bool {
	if x == nil || y == nil {
		return x == nil && y == nil
	}
	switch x := x.(type) {
	case *Literal:
		y, ok := y.(*Literal)
		return ok && x.Value == y.Value
	case *Access:
		return Expr(x) == y
	case *IndexValue:
		y, ok := y.(*IndexValue)
		return ok && x.Var == y.Var
	case *Extent:
		y, ok := y.(*Extent)
		return ok && x.Var.ID == y.Var.ID
	case *TempRef:
		y, ok := y.(*TempRef)
		return ok && x.Temp == y.Temp
	case *Cast:
		y, ok := y.(*Cast)
		return ok && x.To == y.To && Equal(x.X, y.X)
	case *Select:
		y, ok := y.(*Select)
		return ok && Equal(x.Cond, y.Cond) && Equal(x.Then, y.Then) && Equal(x.Else, y.Else)
	case *Call:
		y, ok := y.(*Call)
		if !ok || x.Fn != y.Fn || x.Typ != y.Typ || len(x.Args) != len(y.Args) {
			return false
		}
		for i := range x.Args {
			if !Equal(x.Args[i], y.Args[i]) {
				return false
			}
		}
		return true
	}
	return false
}
