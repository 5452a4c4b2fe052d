package cpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/enum"
)

// A while that merges rows, or walks a run of equal coordinates, must not look at the
// stop word after each entry (poll.go). Nor may it be left whole: a row may have 2^30
// entries, which take seconds. It runs in strips like a for. How far a strip goes its
// bounds p < end say, which are tested against an earlier end: p at the start of the strip
// and stripLength more. That costs a row a minimum for each operand and a comparison
// behind the loop, and an entry nothing.

// stripes is how a while runs in strips.
type stripes struct {
	// bounds are comparisons p < end, each with a p that the loop steps forward and
	// an end that it does not change.
	bounds []*loop.Binary
	// flag, if there is one, is the condition, which the body assigns the only bound
	// to. Otherwise the condition is that all bounds hold.
	flag *loop.Ref
}

// stripesOf finds how an innermost while can run in strips; it fails for one whose end its
// bounds do not tell.
func (f *function) stripesOf(s *loop.While) (stripes, bool) {
	var how stripes
	if flag, ok := s.Cond.(*loop.Ref); ok {
		how = stripes{flag: flag, bounds: boundOfRun(flag, s.Body)}
	} else {
		for _, e := range conjuncts(s.Cond, nil) {
			b, ok := e.(*loop.Binary)
			if !ok {
				return stripes{}, false
			}
			how.bounds = append(how.bounds, b)
		}
	}
	ends := map[loop.VarID]bool{}
	for _, b := range how.bounds {
		p, ok1 := b.X.(*loop.Ref)
		end, ok2 := b.Y.(*loop.Ref)
		if b.Op != loop.Lt || !ok1 || !ok2 || p.Type() != loop.I64 || f.slots[end.Var] != nil || ends[end.Var] {
			return stripes{}, false
		}
		ends[end.Var] = true
	}
	return how, len(how.bounds) > 0
}

// isRun reports whether a while finds the end of a run.
func isRun(s *loop.While) bool {
	flag, ok := s.Cond.(*loop.Ref)
	return ok && boundOfRun(flag, s.Body) != nil
}

// boundOfRun is the bound of a while over a run: its body is
// if … { p = p + 1; flag = p < end } else { flag = false }. It is nil for another.
func boundOfRun(flag *loop.Ref, body []loop.Stmt) []*loop.Binary {
	choice, ok := body[0].(*loop.If)
	if !ok || len(body) != 1 || len(choice.Then) != 2 || len(choice.Else) != 1 {
		return nil
	}
	step, ok1 := choice.Then[0].(*loop.Assign)
	on, ok2 := choice.Then[1].(*loop.Assign)
	off, ok3 := choice.Else[0].(*loop.Assign)
	if !ok1 || !ok2 || !ok3 || !isStep(step) || on.Var != flag.Var || off.Var != flag.Var {
		return nil
	}
	no, ok1 := off.Value.(*loop.Const)
	b, ok2 := on.Value.(*loop.Binary)
	if !ok1 || no.Bits != 0 || !ok2 || mentions(choice.Cond, b.Y) {
		return nil
	}
	if p, ok := b.X.(*loop.Ref); !ok || p.Var != step.Var {
		return nil
	}
	return []*loop.Binary{b}
}

// mentions reports whether e reads the variable v.
func mentions(e, v loop.Expr) (found bool) {
	loop.WalkExpr(e, func(x loop.Expr) {
		r, ok := x.(*loop.Ref)
		w, ok2 := v.(*loop.Ref)
		found = found || ok && ok2 && r.Var == w.Var
	})
	return found
}

// conjuncts appends the expressions that e says all hold.
func conjuncts(e loop.Expr, list []loop.Expr) []loop.Expr {
	if b, ok := e.(*loop.Binary); ok && b.Op == loop.And && b.Type() == loop.Bool {
		return conjuncts(b.Y, conjuncts(b.X, list))
	}
	return append(list, e)
}

// whileStrips emits a while that runs in strips. Code goes on behind it.
func (f *function) whileStrips(s *loop.While, how stripes) {
	strip, cond, body := f.newBlock("while.strip"), f.newBlock("while.cond"), f.newBlock("while.body")
	done, next, end := f.newBlock("while.strip.end"), f.newBlock("while.strip.next"), f.newBlock("while.end")
	f.block.NewBr(strip)
	f.enter(strip)
	whole, part := make([]val, len(how.bounds)), make([]val, len(how.bounds))
	for i, b := range how.bounds {
		far := f.block.NewAdd(f.expr(b.X).re, intConst(loop.I64, stripLength))
		whole[i] = f.expr(b.Y)
		part[i] = val{re: f.block.NewSelect(f.block.NewICmp(enum.IPredSLT, far, whole[i].re), far, whole[i].re)}
	}
	f.block.NewBr(cond)

	f.enter(cond)
	f.bind(how, part)
	f.block.NewCondBr(f.expr(s.Cond).re, body, done)
	f.enter(body)
	f.depth++
	if how.flag == nil {
		f.bind(how, whole)
	}
	f.stmts(s.Body)
	f.bind(how, whole)
	f.depth--
	if f.block != nil {
		f.block.NewBr(cond)
	}

	// Either the strip is at its end, or the loop is.
	f.enter(done)
	more := f.expr(s.Cond).re
	if b := how.bounds[0]; how.flag != nil {
		more = f.block.NewAnd(f.block.NewICmp(enum.IPredEQ, f.expr(b.X).re, part[0].re), f.expr(b).re)
	}
	f.block.NewCondBr(more, next, end).Metadata = f.m.unlikely()
	f.enter(next)
	if how.flag != nil {
		f.assign(f.slots[how.flag.Var], val{re: intConst(loop.Bool, 1)})
	}
	f.poll(strip)
	f.enter(end)
}

// bind gives the ends of bounds values.
func (f *function) bind(how stripes, ends []val) {
	for i, b := range how.bounds {
		f.vals[b.Y.(*loop.Ref).Var] = ends[i]
	}
}
