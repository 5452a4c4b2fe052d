package exec

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// own is a result as the caller's own tensor, to release when he likes: what is an operand
// too, or may be remembered as what was made of one, is shared.
func (k *Kernel) own(of *lang.Tensor, vals values) *tensor.Tensor {
	result := k.plan.Results[of]
	t := vals[result.ID]
	fresh := slices.ContainsFunc(k.steps, func(st *step) bool { return st.to == result && !st.mayKeep() })
	if of.Relaxed.Relaxed() && t.Format() != of.Relaxed {
		if out, err := t.Convert(of.Relaxed); err == nil { // which shares its arrays
			if fresh && k.resultsOf(result) == 1 {
				t.Release()
			}
			return out
		}
	}
	if fresh {
		return t
	}
	return t.Share()
}

// mayKeep reports whether a step may hand out, or remember, what there is already: else what it
// makes is this run's alone.
func (st *step) mayKeep() bool {
	switch p := st.plan.(type) {
	case *ir.Join:
		return true
	case *ir.Convert:
		return staysConverted(p)
	}
	return false
}

// staysConverted reports whether what a conversion makes is remembered for the next run.
func staysConverted(p *ir.Convert) bool {
	return p.From.Source != nil && p.From.Source.Operand && !p.Assigns
}

// letGo releases what the steps of a run have made for later steps only.
func (k *Kernel) letGo(vals values) {
	for _, st := range k.steps {
		if !st.mayKeep() && !k.isResult(st.to) {
			vals[st.to.ID].Release()
		}
	}
}

// resultsOf is how many results of the program are one of the plan's.
func (k *Kernel) resultsOf(t *ir.Tensor) (n int) {
	for _, r := range k.plan.Results {
		if r == t {
			n++
		}
	}
	return n
}

// isResult reports whether the caller is given a tensor.
func (k *Kernel) isResult(t *ir.Tensor) bool {
	for of, r := range k.plan.Results {
		if r == t && !k.isIntermediate(of) {
			return true
		}
	}
	return false
}

// pins has room for the operands of most programs.
type pins [8]*tensor.Tensor

// pinArgs keeps what the arguments are stored as from being released, until unpin of the
// list, also after an error.
func pinArgs(args Args, list []*tensor.Tensor) ([]*tensor.Tensor, error) {
	for name, o := range args {
		if declare.Missing(o) {
			continue // which is reported where it matters
		}
		parts := declare.PartsOf(o)
		if b, ok := o.(*tensor.Blocks); ok {
			parts = []*tensor.Tensor{b.Blocked()}
		}
		for _, t := range parts {
			if err := t.Pin(); err != nil {
				return list, fmt.Errorf("operand %s: %w", name, err)
			}
			list = append(list, t)
		}
	}
	return list, nil
}

func unpin(list []*tensor.Tensor) {
	for _, t := range list {
		t.Unpin()
	}
}
