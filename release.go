package lacuna

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file sees to it that tensors may be released ([tensor.Tensor.Release]): runs keep
// their operands, what callers are given is theirs alone, and what nobody is given goes.

// own is a result as the caller's own tensor, to release when he likes: what is an operand
// too, or may be remembered as what was made of one, is shared.
func (k *Kernel) own(result *ir.Tensor, vals values) *tensor.Tensor {
	t := vals[result.ID]
	for _, st := range k.plan.Steps {
		if made(st) == result {
			return t
		}
	}
	return t.Share()
}

// made is the tensor that a step makes for this run alone; nil for steps that may hand
// out, or remember, what there is already.
func made(st ir.Step) *ir.Tensor {
	switch p := st.(type) {
	case *ir.Compute:
		return p.Result
	case *ir.Scan:
		return p.To
	case *ir.Sort:
		return p.To
	case *ir.Statistic:
		return p.To
	case *ir.Convert:
		if !staysConverted(p) {
			return p.To
		}
	}
	return nil
}

// staysConverted reports whether what a conversion makes is remembered for the next run.
func staysConverted(p *ir.Convert) bool {
	return p.From.Source != nil && p.From.Source.Operand && !p.Restores
}

// letGo releases what the steps of a run have made for later steps only.
func (k *Kernel) letGo(vals values) {
	for _, st := range k.plan.Steps {
		t := made(st)
		if t == nil || k.isResult(t) {
			continue
		}
		vals[t.ID].Release()
	}
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
		if missing(o) {
			continue // which is reported where it matters
		}
		pieces := piecesOf(o)
		if b, ok := o.(*tensor.Blocks); ok {
			pieces = []*tensor.Tensor{b.Blocked()}
		}
		for _, t := range pieces {
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

// renamed is a tensor, that nobody else has, by another name.
func renamed(t *tensor.Tensor, name string) (*tensor.Tensor, error) {
	if name == "" {
		return t, nil
	}
	out, err := t.Convert(t.Format(), tensor.WithName(name))
	if err != nil {
		return nil, err
	}
	return replaced(t, out), nil
}

// replaced is a tensor that was made of another one, which nobody else has.
func replaced(old, by *tensor.Tensor) *tensor.Tensor {
	if old != by {
		old.Release()
	}
	return by
}
