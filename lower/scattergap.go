package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A reduction whose loops run outside those of the result, as that of the columns of
// a matrix stored by rows, cannot tell what it left out of an element when it is done
// with it: it is done with all of them at once. So visits are counted beside the
// values, and what is missing is folded afterwards in closed form.

// count counts a visit to element p of the result, if somebody asks.
func (e *emitter) count(p loop.Expr) {
	if e.step.Gap == nil {
		return
	}
	counts := e.write(e.kernel.counts)
	e.b.Store(counts, p, e.b.Add(e.b.Load(counts, p), loop.Int(1)))
}

// gapStage folds what the loops of a scatter did not visit into each element.
func (k *kernel) gapStage() {
	e := k.emitter("gaps_" + k.step.Result.Name)
	b := e.b
	fold := &ir.Reduce{Fold: k.step.Fold, Typ: ir.ComputeType(k.step.Result.DType)}
	vals, counts, n := e.write(k.result.Values), e.read(k.counts), e.scalar(e.extent(k.step.Over))
	x := b.Cast(computeType(k.step.Result.DType), constant(k.step.Gap.Value))
	b.ForIndependent("p", b.Lo(), b.Hi(), func(p loop.Expr) {
		missing := b.Let("missing", b.Sub(n, b.Load(counts, p)))
		acc := accumulator{reduce: fold, state: []*loop.Ref{b.Var("acc", b.Load(vals, p))}}
		b.If(b.Gt(missing, loop.Int(0)), func() { e.foldCopies(acc, x, []loop.Expr{missing}) }, nil)
		b.Store(vals, p, acc.state[0])
	})
	s := e.stage("gaps")
	s.Partition = k.partition(rootLoop{cut: true, n: k.size(0), weight: -1})
	k.addStage(s)
}
