package exec

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// chosen is the version of a step that a run needs.
func (k *Kernel) chosen(ctx context.Context, st *step, b *stepBinding, vals values, keep *keptStep) (*version, error) {
	if keep != nil && keep.version != nil {
		if !keep.version.fits(vals) {
			return nil, fmt.Errorf("%w: other index types", runtime.ErrPattern)
		}
		return keep.version, nil
	}
	v := st.latest.Load()
	how := specialisation{crd: b.crd}
	if keep == nil && !st.twoPasses.Load() {
		how.assembly = k.assembly()
	}
	if b.keys > 0 && v != nil {
		entries := v.entries(vals)
		how.work = k.workspaceKind(b.keys, entries)
		st.keys.Store(b.keys)
		st.entries.Store(entries)
	}
	if how.assembly == lower.Joined && v != nil && k.small(st, b, v, vals) && st.smallRuns.Add(1) > cost.SmallRuns {
		how.assembly = lower.Appended
	}
	if v != nil && k.mayTabulate(st) {
		how.tables = k.tables(b.tabled, v, vals) && !k.gallops(st, b, v, vals)
		how.selected = how.tables && k.selects(st, b, vals)
	}
	how.split = keep == nil && how.assembly != lower.Appended && k.splits(v, vals)
	how.private = k.private(st, b, vals)
	if err := k.directed(st, &how); err != nil {
		return nil, err
	}
	if v == nil || v.specialisation != how || !v.fits(vals) {
		var err error
		if v, err = k.version(ctx, st, declaredTypes(vals), how); err != nil {
			return nil, err
		}
	}
	if keep != nil {
		keep.version = v
	}
	if !st.ran.Load() {
		st.ran.Store(true)
	}
	return v, nil
}

// assembly is how sparse results are assembled where nothing of it is kept for later
// runs: without counting the entries first, if that is possible.
func (k *planned) assembly() lower.Assembly {
	switch {
	case k.env.OnGrids():
		return lower.Counted
	case k.env.Options.MostThreads() == 1:
		return lower.Appended
	}
	return lower.Joined
}

// small reports whether one thread, which need not count the entries of the result
// first, is done before several would be. They do cost.CountedWork times its work at least,
// and have to be woken twice. It is for steps
// that several threads do not do in one pass, and without workspaces, the work of which
// the entries tell.
func (k *Kernel) small(st *step, b *stepBinding, v *version, vals values) bool {
	c, ok := st.plan.(*ir.Compute)
	if onePass := v.assembly == lower.Joined && v.Lower.OnePass; !ok || onePass || c.Result.Format.IsDense() || len(c.Workspaces) > 0 || b.tabled > 0 || k.env.Grain > 0 {
		return false
	}
	threads := float64(k.env.Options.MostThreads())
	return float64(v.entries(vals))*(threads-cost.CountedWork) < float64(k.env.limits().HandOver)*threads
}

// mayTabulate reports whether a step has tables to choose. On grids those of a scatter are not made: a table is
// for a loop that one thread goes through, and the updates are shared only without.
func (k *planned) mayTabulate(st *step) bool {
	if c, ok := st.plan.(*ir.Compute); ok && c.Scatter && c.Result.Format.IsDense() && k.env.OnGrids() {
		return false
	}
	return len(st.tables()) > 0
}

// tables decides whether tables are made, with a place for each of keys: as long as
// those stay within reach of the caches or within the size of the operands.
func (k *Kernel) tables(keys int64, v *version, vals values) bool {
	if keys > lower.MaxTableKeys || k.env.workspace(lower.DenseWorkspace) != lower.DenseWorkspace {
		return false
	}
	entries := v.entries(vals)
	limits := k.env.limits()
	return keys <= cost.SortEntries || keys <= entries || keys <= limits.DenseKeys && keys/limits.PlacesPerEntry <= entries
}

// gallops reports whether merges with a vector of few entries take less than a table of it.
func (k *Kernel) gallops(st *step, b *stepBinding, v *version, vals values) bool {
	c := st.plan.(*ir.Compute)
	for _, t := range c.Tables {
		if len(t.Access.Indices) != 1 {
			return false
		}
		few := vals[t.Access.Tensor.ID].NNZ()
		others := v.entries(vals) - few
		for _, x := range c.Indices {
			if x != t.Index && b.indices[x.ID] > 0 {
				others /= b.indices[x.ID]
			}
		}
		if others/k.env.limits().Galloping <= few {
			return false
		}
	}
	return true
}

// selects reports whether entries are looked up in tables without a branch: those of vectors that have so many that a processor often guesses wrong.
func (k *Kernel) selects(st *step, b *stepBinding, vals values) bool {
	return !k.env.OnGrids() && !slices.ContainsFunc(st.tables(), func(t *ir.Tabulate) bool {
		return len(t.Access.Indices) != 1 || vals[t.Access.Tensor.ID].NNZ() < b.indices[t.Index.ID]/cost.Guessable
	})
}
