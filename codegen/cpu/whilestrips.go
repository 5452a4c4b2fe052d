package cpu

import (
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
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
func (k *kernel) stripesOf(s *loop.While) (stripes, bool) {
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
		if b.Op != loop.Lt || !ok1 || !ok2 || p.Type() != loop.I64 || k.IsMutable(end.Var) || ends[end.Var] {
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
func mentions(e, v loop.Expr) bool {
	w, ok := v.(*loop.Ref)
	return ok && loop.Reads(e, map[loop.VarID]bool{w.Var: true})
}

// conjuncts appends the expressions that e says all hold.
func conjuncts(e loop.Expr, list []loop.Expr) []loop.Expr {
	if b, ok := e.(*loop.Binary); ok && b.Op == loop.And && b.Type() == loop.Bool {
		return conjuncts(b.Y, conjuncts(b.X, list))
	}
	return append(list, e)
}

// whileStrips emits a while that runs in strips. Code goes on behind it.
func (k *kernel) whileStrips(s *loop.While, how stripes) {
	strip, cond, body := k.NewBlock("while.strip"), k.NewBlock("while.cond"), k.NewBlock("while.body")
	done, next, end := k.NewBlock("while.strip.end"), k.NewBlock("while.strip.next"), k.NewBlock("while.end")
	k.Block.NewBr(strip)
	k.Enter(strip)
	whole, part := make([]llvm.Val, len(how.bounds)), make([]llvm.Val, len(how.bounds))
	for i, b := range how.bounds {
		far := k.Block.NewAdd(k.Expr(b.X).Re, llvm.IntConst(loop.I64, stripLength))
		whole[i] = k.Expr(b.Y)
		part[i] = llvm.Val{Re: k.Block.NewSelect(k.Block.NewICmp(enum.IPredSLT, far, whole[i].Re), far, whole[i].Re)}
	}
	k.Block.NewBr(cond)

	k.Enter(cond)
	k.bind(how, part)
	k.Block.NewCondBr(k.Expr(s.Cond).Re, body, done)
	k.Enter(body)
	k.depth++
	if how.flag == nil {
		k.bind(how, whole)
	}
	k.Stmts(s.Body)
	k.bind(how, whole)
	k.depth--
	if k.Block != nil {
		k.iterated(s)
		k.Block.NewBr(cond)
	}

	// Either the strip is at its end, or the loop is.
	k.Enter(done)
	more := k.Expr(s.Cond).Re
	if b := how.bounds[0]; how.flag != nil {
		more = k.Block.NewAnd(k.Block.NewICmp(enum.IPredEQ, k.Expr(b.X).Re, part[0].Re), k.Expr(b).Re)
	}
	k.Block.NewCondBr(more, next, end).Metadata = k.Module.Unlikely()
	k.Enter(next)
	if how.flag != nil {
		k.Assign(how.flag.Var, llvm.Val{Re: llvm.IntConst(loop.Bool, 1)})
	}
	k.poll(strip)
	k.Enter(end)
}

// bind gives the ends of bounds values.
func (k *kernel) bind(how stripes, ends []llvm.Val) {
	for i, b := range how.bounds {
		k.Bind(b.Y.(*loop.Ref).Var, ends[i])
	}
}
