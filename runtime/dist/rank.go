package dist

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
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
