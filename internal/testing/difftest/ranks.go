package difftest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// RanksOutcome counts what a comparison of ranks has met.
type RanksOutcome struct {
	Refused   bool // by one rank, and by several
	Statement int  // that ran
	Alone     int  // of those, that were computed on one rank
	Combined  int  // of those, in which a reduction was cut
}

// layout draws a placement of a tensor.
func layout(choose Source, rank, ranks int) (l placement.Layout) {
	names := []string{"r", "c", "l"}
	for range rank {
		x := placement.Item{}
		if len(names) > 0 && choose.Intn(2) == 0 {
			at := choose.Intn(len(names))
			if choose.Intn(4) > 0 {
				at = 0
			}
			x.Over = names[at]
			names = append(names[:at:at], names[at+1:]...)
			x.By = placement.How(choose.Intn(4))
			x.Block, x.List = int64(1+choose.Intn(2)), "p"
		}
		l.Items = append(l.Items, x)
	}
	return l
}

// gridOf draws how ranks are numbered along the axes that layouts name, and at times along one more.
func gridOf(choose Source, layouts []placement.Layout, ranks int) *placement.Grid {
	g := &placement.Grid{Names: []string{"r", "c", "l"}, Sizes: []int{ranks, 1, 1}}
	for axis := 2; axis > 0; axis-- {
		named := choose.Intn(3) == 0
		for _, l := range layouts {
			named = named || slices.ContainsFunc(l.Items, func(x placement.Item) bool { return x.Over == g.Names[axis] })
		}
		for _, d := range []int{4, 3, 2} {
			if named && g.Sizes[0]%d == 0 && choose.Intn(2) == 0 {
				g.Sizes[0], g.Sizes[axis] = g.Sizes[0]/d, d
				break
			}
		}
	}
	return g
}

// Ranks says on what ranks run.
type Ranks struct {
	Session *lacuna.Session
	End     func(transport.Transport) transport.Transport // a rank's end of the group
	Near    bool                                          // sums are added in the order of the shape, which is another on ranks
}

// CompareRanks runs the case on several ranks, with operands and some results placed at random over them, and checks that the results
// are those of one rank, to the bit where no reduction is cut, else as the oracle allows; that every rank has sent as many bytes as it
// expects; and that a program which one rank refuses is refused.
func (c *Case) CompareRanks(ctx context.Context, s *lacuna.Session, on Ranks, choose Source) (out RanksOutcome, err error) {
	args, opts := lacuna.Args{}, append(c.Options(), lacuna.AsWritten())
	for name, t := range c.Operands {
		args[name] = t
	}
	if c.Strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	want, refused := s.EvalAll(ctx, c.Text, args, opts...)
	n := 1 + choose.Intn(8)
	o := dist.Options{Results: map[string]dist.Result{}, Strict: c.Strict}
	for name, d := range c.Results {
		if d.Format.Relaxed() {
			return out, nil // ranks refuse it
		}
		o.Results[name] = dist.Result{Format: d.Format, HasFormat: d.HasFormat, DType: d.DType, Shape: d.Shape, Fill: d.Fill}
	}
	layouts, described := map[string]placement.Layout{}, fmt.Sprintf("on %d ranks", n)
	var list []placement.Layout
	for _, name := range sorted(c.Operands) {
		layouts[name] = layout(choose, c.Operands[name].Rank(), n)
		list = append(list, layouts[name])
		described += fmt.Sprintf(", %s %s", name, layouts[name])
	}
	for _, name := range sorted(want) {
		if choose.Intn(3) == 0 {
			l := layout(choose, want[name].Rank(), n)
			for k := range l.Items {
				l.Items[k].By %= placement.ByEntries // how many it has is not known before
			}
			r := o.Results[name]
			r.Layout = &l
			o.Results[name] = r
			list = append(list, l)
			described += fmt.Sprintf(", %s %s", name, l)
		}
	}
	fail := func(err error) error { return c.failure(s, fmt.Errorf("%s: %w", described, err)) }
	grid := gridOf(choose, list, n)
	proposed, err := c.proposed(ctx, choose, n, grid, o, refused != nil)
	if err != nil {
		return out, fail(err)
	}
	if proposed != nil {
		grid, o.Chosen = proposed.Grid, proposed
		described += fmt.Sprintf("\n  %s", proposed)
	}
	faults := ranks.Faults{Seed: uint64(choose.Intn(1000))}
	if choose.Intn(2) == 0 {
		faults.Delay = 200 * time.Microsecond
	}
	owners := choose.Intn(1000)
	got := lacuna.Outputs{}
	var mu sync.Mutex
	var notes []string
	err = ranks.Run(ctx, n, faults, func(ctx context.Context, t transport.Transport) error {
		t = on.End(t)
		r, err := dist.New(ctx, (*exec.Session)(on.Session), t, grid)
		if err != nil {
			return err
		}
		placed := map[string]*dist.Tensor{}
		for name, a := range c.Operands {
			p, err := c.placedAt(name, layouts[name], grid, owners, proposed)
			if err != nil {
				return err
			}
			if placed[name], err = r.Cut(a, p); err != nil {
				return err
			}
		}
		k, err := r.Compile(ctx, c.Text, placed, o)
		if err != nil {
			return err
		}
		defer k.Close()
		results, err := k.Run(ctx, placed)
		if err != nil {
			return err
		}
		for range 2 { // the second run finds what the first has kept
			before, wire := r.Sent().Total(), sentBytes(t)
			again, err := k.Run(ctx, placed)
			if err != nil {
				return err
			}
			if sent, expected := sentBytes(t)-wire, r.Sent().Total()-before; sent != expected {
				return fmt.Errorf("rank %d has sent %d bytes, and expected %d", r.Rank(), sent, expected)
			}
			results = again
		}
		for _, name := range sorted(results) {
			whole, err := r.Gather(ctx, results[name])
			if err != nil {
				return err
			}
			mu.Lock()
			if first := got[name]; first != nil {
				if d := tensor.Diff(first, whole); d != "" {
					err = fmt.Errorf("%s of rank %d is not that of another: %s", name, r.Rank(), d)
				}
			}
			got[name], notes = whole, k.Notes()
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
	if refused != nil {
		out.Refused = true
		if err == nil {
			return out, fail(fmt.Errorf("one rank says %w, and several nothing", refused))
		}
		return out, nil
	}
	if err != nil {
		return out, fail(err)
	}
	for _, note := range notes {
		out.Statement++
		if strings.Contains(note, "computed on rank 0") {
			out.Alone++
		}
		if strings.Contains(note, "are combined") {
			out.Combined++
		}
	}
	described += fmt.Sprintf(", grid %s\n  ", grid) + strings.Join(notes, "\n  ")
	for name, t := range want {
		if want[name], err = t.Canonical(); err != nil {
			return out, err
		}
		if got[name] == nil {
			return out, fail(fmt.Errorf("%s is missing", name))
		}
	}
	if out.Combined == 0 && !on.Near {
		same, err := c.sameOnRanks(got, want)
		if err != nil {
			return out, fail(err)
		}
		if same {
			return out, nil
		}
	}
	judged, err := c.judge(c.Strict)
	if err != nil {
		return out, nil
	}
	if _, err := c.check(got, judged, c.Strict, &Outcome{}); err != nil {
		return out, fail(err)
	}
	return out, nil
}

// placedAt is where an operand is.
func (c *Case) placedAt(name string, l placement.Layout, grid *placement.Grid, owners int, proposed *dist.Proposal) (*placement.Placement, error) {
	if proposed != nil {
		return proposed.Placements[name], nil
	}
	a, at := c.Operands[name], 0 // the grid's axis that a list is for
	if len(l.Items) > 0 {
		at = max(0, slices.Index(grid.Names, l.Items[listAxis(l)].Over))
	}
	return onlyList(l).On(grid, placement.Tensor{
		Shape: a.Shape(), Weights: func(axis int) ([]int64, error) { return dist.Weights(a, axis) },
		List: func(string) ([]int64, error) {
			list := make([]int64, a.Shape()[listAxis(l)])
			for i := range list {
				list[i] = int64((i*owners/7 + i/3) % grid.Sizes[at])
			}
			return list, nil
		},
	})
}

// proposed is at times where operands should be, over the grid that results are placed over or one that is chosen too.
func (c *Case) proposed(ctx context.Context, choose Source, n int, grid *placement.Grid, o dist.Options, refused bool) (*dist.Proposal, error) {
	if choose.Intn(4) > 0 || refused {
		return nil, nil
	}
	placed := false
	for _, r := range o.Results {
		placed = placed || r.Layout != nil
	}
	if !placed {
		grid = nil
	}
	args := map[string]*dist.Tensor{}
	for name, t := range c.Operands {
		var err error
		if args[name], err = dist.Whole(t); err != nil {
			return nil, err
		}
	}
	return dist.Propose(ctx, c.Text, args, n, grid, o, nil)
}

// sameOnRanks compares results with those of one rank; same is false where elements are the same, but other ones that equal the fill are stored: what must be
// is for the oracle to say, since planners who see other extents may choose otherwise. Of a result that several statements assign the elements are compared: a statement that
// updates what another has made leaves it its fill, where a planner who sees both may choose another. Nor does it matter which fill a dense result has,
// which follows from that of a result before if statements are planned one by one.
func (c *Case) sameOnRanks(got, want lacuna.Outputs) (same bool, err error) {
	file, err := lang.Parse(c.Text)
	if err != nil {
		return false, err
	}
	same = true
	times := map[string]int{}
	for _, st := range file.Stmts {
		times[st.LHS.Name]++
	}
	for name, x := range got {
		y := want[name]
		if times[name] == 1 && !(x.Format() == y.Format() && x.Format().IsDense()) {
			if tensor.Diff(x, y) == "" {
				continue
			}
			same = false
		}
		a, err := x.ToDense()
		if err != nil {
			return false, err
		}
		b, err := y.ToDense()
		if err != nil {
			return false, err
		}
		if a.DType() != b.DType() || a.Len() != b.Len() {
			return false, fmt.Errorf("%s: %d elements of type %s, want %d of %s", name, a.Len(), a.DType(), b.Len(), b.DType())
		}
		for i := range a.Len() {
			if !a.Scalar(i).Same(b.Scalar(i)) {
				return false, fmt.Errorf("%s: element %d is %s, want %s", name, i, a.Scalar(i), b.Scalar(i))
			}
		}
	}
	return same, nil
}

// onlyList makes blocks of all axes by a list but the first.
func onlyList(l placement.Layout) placement.Layout {
	items := append([]placement.Item(nil), l.Items...)
	for k := range items {
		if items[k].By == placement.ByList && k != listAxis(l) {
			items[k].By = placement.ByBlock
		}
	}
	return placement.Layout{Items: items}
}

// listAxis is the first axis that is cut by a list.
func listAxis(l placement.Layout) int {
	for k, x := range l.Items {
		if x.Over != "" && x.By == placement.ByList {
			return k
		}
	}
	return 0
}

func sentBytes(t transport.Transport) (n int64) {
	for _, s := range t.Sent() {
		n += s.Bytes
	}
	return n
}
