package dist

import (
	"context"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Tensor is a tensor that a group of ranks has: what one of them knows of it.
type Tensor struct {
	Shape     []int64
	Format    tensor.Format
	DType     tensor.DType
	Fill      tensor.Scalar
	Placement *placement.Placement
	Entries   int64 // stored by all ranks, those of copies counted once
	// Part is what this rank has. Along each axis its coordinate k stands for the k-th of Sets.
	Part *tensor.Tensor
	Sets []placement.Set
}

// Whole is a tensor that is there as one, and has no placement yet.
func Whole(t *tensor.Tensor) (*Tensor, error) {
	t, err := t.Canonical()
	if err != nil {
		return nil, err
	}
	return &Tensor{Shape: t.Shape(), Format: t.Format(), DType: t.DType(), Fill: t.Fill(), Entries: t.NNZ(), Part: t, Sets: all(t.Shape())}, nil
}

// Cut takes the rank's part of a tensor that every rank has whole.
func (r *Rank) Cut(t *tensor.Tensor, p *placement.Placement) (*Tensor, error) {
	whole, err := Whole(t)
	if err != nil {
		return nil, err
	}
	whole.Placement, t = placement.Replicated(r.grid, t.Rank()), whole.Part
	ctx := context.Background()
	if p != nil && !p.IsReplicated() {
		f, err := r.inspect(ctx, whole, p.Part(r.Rank(), whole.Shape))
		if err != nil {
			return nil, err
		}
		defer f.free()
		if t, err = f.get(ctx, whole); err != nil {
			return nil, err
		}
		whole.Placement, whole.Sets = p, f.need
	}
	whole.Part, err = r.bring(ctx, t)
	return whole, err
}

// Place gives each rank the part of a tensor that another placement says.
func (r *Rank) Place(ctx context.Context, t *Tensor, p *placement.Placement) (*Tensor, error) {
	if t.Placement.Equal(p) {
		return t, nil
	}
	f, err := r.inspect(ctx, t, p.Part(r.Rank(), t.Shape))
	if err != nil {
		return nil, err
	}
	defer f.free()
	return f.placed(ctx, t, p)
}

// Gather gives every rank the whole tensor.
func (r *Rank) Gather(ctx context.Context, t *Tensor) (*tensor.Tensor, error) {
	whole, err := r.Place(ctx, t, placement.Replicated(r.grid, len(t.Shape)))
	if err != nil {
		return nil, err
	}
	return whole.Part, nil
}

// Collect gives rank 0 the whole tensor, and others nil.
func (r *Rank) Collect(ctx context.Context, t *Tensor) (*tensor.Tensor, error) {
	need := all(t.Shape)
	if r.Rank() != 0 && len(need) > 0 {
		need = make([]placement.Set, len(need)) // nothing
	}
	f, err := r.inspect(ctx, t, need)
	if err != nil {
		return nil, err
	}
	defer f.free()
	whole, err := f.get(ctx, t)
	if err != nil || r.Rank() != 0 {
		return nil, err
	}
	return whole, nil
}

// all are the sets of whole axes.
func all(shape []int64) []placement.Set {
	sets := make([]placement.Set, len(shape))
	for k, n := range shape {
		sets[k] = placement.Range(0, n)
	}
	return sets
}

func lengths(sets []placement.Set) []int64 {
	shape := make([]int64, len(sets))
	for k, s := range sets {
		shape[k] = s.Len()
	}
	return shape
}

func equalSets(a, b []placement.Set) bool { return slices.EqualFunc(a, b, placement.Set.Equal) }
