package dist

import (
	"context"
	"errors"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// errChanged says that operands of some rank have other patterns than those for which the statement was inspected.
var errChanged = errors.New("patterns have changed")

// agreement is that of the ranks on whether nothing has changed, which may be under way.
type agreement struct {
	transport.Voting
	no    bool // this rank says so
	known bool // that all say yes
}

// wait returns errChanged where some rank says no.
func (a *agreement) wait(ctx context.Context) error {
	if a.known {
		return nil
	}
	all, err := a.Wait(ctx)
	if err == nil && !all {
		err = errChanged
	}
	a.known = err == nil
	return err
}

// unchanged begins to agree with the other ranks on whether the operands have the patterns for which the statement was inspected. On devices it waits: what is sent there
// is not thrown away.
func (st *step) unchanged(ctx context.Context, env map[string]*Tensor) (*agreement, error) {
	r := st.program.rank
	all := true
	for k, u := range st.st.uses {
		a, b := st.read[k], env[u.name]
		same := a == b
		if !same && b != nil && a.Format == b.Format && a.DType == b.DType && a.Fill.Same(b.Fill) && slices.Equal(a.Shape, b.Shape) && a.Placement.Equal(b.Placement) {
			var err error
			if same, err = r.sameStructure(ctx, a.Part, b.Part); err != nil {
				return nil, r.abort(err)
			}
		}
		all = all && same
	}
	v, err := r.transport.Vote(ctx, all)
	if err != nil {
		return nil, err
	}
	a := &agreement{Voting: v, no: !all}
	if r.direct != nil {
		err = a.wait(ctx)
	}
	return a, err
}

// allSay reports whether all ranks say yes.
func (r *Rank) allSay(ctx context.Context, yes bool) (bool, error) {
	v, err := r.transport.Vote(ctx, yes)
	if err != nil {
		return false, err
	}
	return v.Wait(ctx)
}
