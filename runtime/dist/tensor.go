// Package dist runs programs on a group of ranks, each of which has a part of every tensor. It cuts a statement along one of
// its indices, so that a rank computes the part of the result that belongs to its coordinates, or adds up over them; finds out from the
// patterns what each rank needs of the others' parts (inspector); has it brought over, and runs the kernels that there are
// on what has come (executor). The inspector's findings are kept as long as the patterns stay the same. The split is that of Saltz et al.,
// "Run-Time Parallelization and Scheduling of Loops", IEEE Trans. Computers 40(5), 1991; cutting by the placements of
// tensors is that of Yadav et al., "SpDISTAL", SC 2022.
//
// No transport adds anything up. Where a sum is not cut its bits are those of one rank; where it is, the ranks' parts are added
// in a tree that depends on the number of ranks alone (combine.go).
package dist

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Rank is one rank's part in running programs. Its methods are collective: all ranks call them in the same order.
type Rank struct {
	transport transport.Transport
	direct    transport.Direct // nil: tensors are in the host's memory
	session   *exec.Session
	picker    *exec.Session // on devices: for what follows from its own indices
	grid      *placement.Grid
	sent      Sent
}

// Version is what ranks must have in common of this package. It changes with what they say to each other.
const Version = "2"

// New makes a rank of a transport. The grid says how the ranks are numbered; nil is a line of them, r. With a transport.Direct and a session
// whose engine has a device, tensors stay there (exec.WithResidentResults), and their values go from device to device.
func New(ctx context.Context, session *exec.Session, t transport.Transport, grid *placement.Grid) (*Rank, error) {
	if grid == nil {
		grid = placement.Line("r", t.Size())
	}
	if grid.Ranks() != t.Size() {
		return nil, fmt.Errorf("the grid %s has %d ranks, but there are %d", grid, grid.Ranks(), t.Size())
	}
	r, where := &Rank{transport: t, session: session, grid: grid}, "host"
	if d, ok := t.(transport.Direct); ok && runtime.OnGrids(session.Engine()) {
		r.direct, where = d, "GPU"
		r.picker = exec.NewSession(exec.WithEngine(session.Engine()), exec.WithResidentResults(), exec.WithSureIndices())
	}
	return r, r.Agree(ctx, transport.Fact{Name: "version", Value: Version}, transport.Fact{Name: "grid", Value: grid.String()}, transport.Fact{Name: "memory for tensors", Value: "of the " + where})
}

// Grid is how the ranks are numbered.
func (r *Rank) Grid() *placement.Grid { return r.grid }

// Rank is the rank's number.
func (r *Rank) Rank() int { return r.transport.Rank() }

// Agree makes sure that all ranks say the same.
func (r *Rank) Agree(ctx context.Context, facts ...transport.Fact) error {
	return transport.Agree(ctx, r.transport, facts)
}

// Sent counts the bytes that a rank has sent to others, by what for, as the rank expects them: the transport counts what it
// carries by itself.
type Sent struct {
	Agreement   int64 // whether patterns are those of the run before, and what results are
	Inspection  int64 // who needs what
	Values      int64 // of operands
	Combination int64 // of parts of reductions
	Reading     int64 // entries that were read by other ranks than have them
}

// Sent tells what the rank has sent so far.
func (r *Rank) Sent() Sent { return r.sent }

// Total is the sum.
func (s Sent) Total() int64 { return s.Agreement + s.Inspection + s.Values + s.Combination + s.Reading }

// exchange sends messages of which the lengths are not known on the other side, and counts them.
func (r *Rank) exchange(ctx context.Context, count *int64, out [][]byte) ([][]byte, error) {
	for to, b := range out {
		if to != r.Rank() {
			*count += int64(len(b))
		}
	}
	return r.transport.Exchange(ctx, out)
}

// toAll sends one message to every rank.
func (r *Rank) toAll(ctx context.Context, count *int64, message []byte) ([][]byte, error) {
	return r.exchange(ctx, count, slices.Repeat([][]byte{message}, r.transport.Size()))
}

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
