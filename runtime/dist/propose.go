package dist

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Proposal is where the operands of a program may be, chosen by what that costs: the bytes that ranks have to begin with, copies too, those that they
// send in a run, as estimated, and the work that is done more than once or waits for the busiest rank. So each way to distribute the
// statements that choose knows is weighed against what its copies take.
type Proposal struct {
	Grid       *placement.Grid
	Placements map[string]*placement.Placement // of all operands
	Sent, Held float64                         // bytes, by estimate
	Next       *Proposal                       // that is estimated to be second best, on another grid; nil: there is none

	cost   float64
	chosen []string // operands that had no placement
	counts map[string][]int64
}

// spread is how far from the diagonal the entries of an operand are, over two axes; nil: that was not counted.
func (p *Proposal) spread(name string, a, b int) spread { return p.counts[counting(name, a, b)] }

// counting is the key of a count.
func counting(name string, axes ...int) string { return fmt.Sprint(name, " ", axes) }

// String tells what was chosen, and why.
func (p *Proposal) String() string {
	var words []string
	for _, name := range p.chosen {
		at := p.Placements[name]
		word := name + " " + at.String()
		if n := copies(at); n > 1 && !at.IsReplicated() {
			word += fmt.Sprintf(", %d copies", n)
		}
		words = append(words, word)
	}
	text := fmt.Sprintf("chosen: grid %s; %s: ranks have %s and send about %s in a run", p.Grid, strings.Join(words, "; "), rounded(p.Held), rounded(p.Sent))
	if p.Next != nil {
		text += fmt.Sprintf("; over grid %s they would have %s and send %s", p.Next.Grid, rounded(p.Next.Held), rounded(p.Next.Sent))
		if p.Next.Held+p.Next.Sent < p.Held+p.Sent {
			text += ", but work would be shared less evenly, or sums be cut"
		}
	}
	return text
}

// copies is how many ranks have each element.
func copies(p *placement.Placement) int {
	n := p.Grid.Ranks()
	for k, c := range p.Cuts {
		if c != nil {
			n /= p.Grid.Sizes[p.Over[k]]
		}
	}
	return n
}

// Propose chooses where operands are that have no placement, and the grid unless one is given or they have one. Count tells of an operand what [Tensor.Count] does
// of a whole tensor, and is asked once for each axis, or two; nil: operands are those of [Whole]. The same arguments give the same on every rank, and ask the same.
func Propose(ctx context.Context, text string, args map[string]*Tensor, ranks int, grid *placement.Grid, o Options, count func(name string, axes ...int) ([]int64, error)) (*Proposal, error) {
	file, err := lang.Parse(text)
	if err != nil {
		return nil, err
	}
	if count == nil {
		count = func(name string, axes ...int) ([]int64, error) { return args[name].Count(axes...), nil }
	}
	p := &proposer{ranks: ranks, file: file, program: &Program{given: map[string]bool{}, o: o}, count: count, counts: map[string][]int64{}, balanced: map[string]*balance{}}
	for name, t := range args {
		p.program.given[name] = true
		if t.Placement != nil {
			grid = t.Placement.Grid
		}
	}
	if p.program.o.Results, err = p.program.formats(ctx, text, file, args); err != nil {
		return nil, err
	}
	grids := []*placement.Grid{grid}
	if grid == nil {
		grids = gridsOf(ranks)
	}
	var list []*Proposal
	for _, g := range grids {
		found, err := p.on(g, args, grid == nil)
		if err = cmp.Or(p.failed, err); err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	slices.SortStableFunc(list, func(a, b *Proposal) int {
		if a.cost > b.cost {
			return 1
		} else if a.cost < b.cost {
			return -1
		}
		return len(a.Grid.Sizes) - len(b.Grid.Sizes)
	})
	if len(list) > 1 {
		list[0].Next = list[1]
	}
	list[0].counts = p.counts
	return list[0], nil
}

// gridsOf are the grids of so many ranks with one to three axes: which index each is for, arrange tries.
func gridsOf(ranks int) (list []*placement.Grid) {
	var add func(sizes []int, left int)
	add = func(sizes []int, left int) {
		if left == 1 {
			list = append(list, &placement.Grid{Names: []string{"r", "c", "l"}[:len(sizes)], Sizes: slices.Clone(sizes)})
			return
		}
		for n := left; n > 1 && len(sizes) < 3; n-- {
			if left%n == 0 {
				add(append(sizes, n), left/n)
			}
		}
	}
	if add(nil, ranks); ranks == 1 {
		return []*placement.Grid{placement.Line("r", 1)}
	}
	return list
}

// proposer is what Propose knows.
type proposer struct {
	ranks    int
	file     *lang.File
	program  *Program
	count    func(name string, axes ...int) ([]int64, error)
	counts   map[string][]int64 // that are known
	failed   error              // of counting
	balanced map[string]*balance
}

// counted is what count tells.
func (p *proposer) counted(name string, axes ...int) []int64 {
	key := counting(name, axes...)
	known, there := p.counts[key]
	if !there && p.failed == nil {
		known, p.failed = p.count(name, axes...)
		p.counts[key] = known
	}
	return known
}

// balance is a cut of an operand's axis with about as many entries in each part.
type balance struct {
	cut  *placement.Cut // nil: into blocks
	most float64        // entries of a part, over the mean
}

// on places operands on a grid, statement by statement. Where grids with the same sizes in another order are tried too, the first is cut along indices in their order.
func (p *proposer) on(g *placement.Grid, args map[string]*Tensor, ordered bool) (*Proposal, error) {
	found := &Proposal{Grid: g, Placements: map[string]*placement.Placement{}}
	env, free := map[string]*Tensor{}, map[string]bool{}
	for name, t := range args {
		described := *t
		if env[name] = &described; t.Placement == nil {
			described.Placement, free[name] = placement.Replicated(g, len(t.Shape)), true
		}
	}
	found.chosen = sorted(free)
	for n, line := range p.file.Stmts {
		given := func(name string) bool { return p.program.given[name] }
		s, err := read(line.String(), env, given, p.program.o)
		if err != nil {
			return nil, err
		}
		s.knowSpreads(func(name string, a, b int) spread { return p.counted(name, a, b) }, given)
		name := s.LHS.Tensor.Name
		asked, err := s.asked(g, env, p.program.o)
		if err != nil {
			return nil, err
		}
		cost := p.arrange(s, g, asked, free, ordered && n == 0)
		for _, u := range s.uses {
			delete(free, u.name)
		}
		c := s.choose(g, asked)
		if len(c.along) == 0 {
			for _, u := range s.uses {
				c.bytes += float64(u.tensor.Entries * int64(u.tensor.DType.Size()))
			}
			c.cost = c.bytes + termBytes*s.work()*float64(p.ranks-1)
		}
		found.Sent += c.bytes
		found.cost += c.cost + cost
		if s.LHS.Tensor.Operand {
			continue
		}
		at := asked
		if at == nil {
			at = c.target(g, s.shape, nil)
		}
		dt := s.LHS.Tensor.DType
		entries := s.resultBytes(s.work()) / float64(max(1, dt.Size()))
		env[name] = &Tensor{Shape: s.shape, Format: p.program.o.Results[name].Format, DType: dt, Fill: tensor.Zero(dt), Placement: at, Entries: int64(entries)}
	}
	for _, name := range sorted(args) {
		found.Placements[name] = env[name].Placement
		found.Held += held(env[name])
	}
	found.cost += found.Held
	return found, nil
}

// held is how many bytes all ranks together have of a tensor: its entries, and where the lists of their coordinates begin, such as a number for each row of a part.
func held(t *Tensor) float64 {
	bytes := float64(t.Entries) * width(t) * float64(copies(t.Placement))
	lists := 4 * float64(t.Placement.Grid.Ranks())
	for _, axis := range t.Format.Order() {
		if listed(t.Format, axis) {
			return bytes + lists
		}
		if lists *= float64(t.Shape[axis]); t.Placement.Cuts[axis] != nil {
			lists /= float64(t.Placement.Cuts[axis].Parts)
		}
	}
	return bytes
}

// width is how many bytes an entry takes, with its coordinates.
func width(t *Tensor) float64 {
	n := t.DType.Size()
	if !t.Format.IsDense() {
		n += 4 * len(t.Shape)
	}
	return float64(n)
}

// arrange sets the placements of operands of a statement that are free, for the best way to cut it. What is returned is how long the busiest rank works
// more than others, as choose does not know it.
func (p *proposer) arrange(s *statement, g *placement.Grid, asked *placement.Placement, free map[string]bool, ordered bool) (waits float64) {
	operands := map[string]*Tensor{}
	for _, u := range s.uses {
		if free[u.name] {
			operands[u.name] = u.tensor
		}
	}
	if len(operands) == 0 {
		return 0
	}
	drivers, work := s.drivers(), s.work()
	var best map[string]*placement.Placement
	var least float64
	var try func(over, from int, so []along, uneven float64)
	try = func(over, from int, so []along, uneven float64) {
		if over < len(g.Sizes) {
			for n, v := range s.Indices[from:] {
				at, _, why := s.whyNot(v)
				if s.whole != "" || why != "" || slices.ContainsFunc(so, func(a along) bool { return a.index == v }) || s.extents[v.ID] < int64(g.Sizes[over]) {
					continue
				}
				b := p.balancedCut(s, v, g.Sizes[over])
				next := 0
				if ordered {
					next = from + n + 1
				}
				try(over+1, next, append(so[:over:over], along{v, b.cut, over, at}), uneven*b.most)
			}
			return
		}
		c := &cutting{along: slices.Clone(so)}
		total := 0.0
		for _, name := range sorted(operands) {
			total += s.settle(c, g, name, operands[name], drivers)
		}
		s.estimate(c, g, asked, drivers, work)
		more := termBytes * work * (max(uneven, s.clustered(so)) - 1)
		if total += c.cost + more; best == nil || total < least {
			best, least, waits = map[string]*placement.Placement{}, total, more
			for name, t := range operands {
				best[name] = t.Placement
			}
		}
	}
	try(0, 0, nil, 1)
	for name, t := range operands {
		if t.Placement = best[name]; t.Placement == nil { // the statement cannot be cut, and is rank 0's
			if t.Placement = placement.Replicated(g, len(t.Shape)); len(t.Shape) > 0 && t.Shape[0] >= int64(g.Sizes[0]) {
				t.Placement = placement.OneAxis(g, len(t.Shape), 0, placement.Blocks(t.Shape[0], g.Sizes[0]), 0)
			}
		}
	}
	return waits
}

// clustered estimates how many times the mean the blocks on the diagonal have of the terms, where two indices are cut: those of an operand over both, or of two over them and
// a third.
func (s *statement) clustered(so []along) float64 {
	most := 1.0
	for k, a := range so {
		for _, b := range so[k+1:] {
			parts := min(a.cut.Parts, b.cut.Parts)
			near, known := s.near(a.index, b.index, parts)
			for _, m := range s.Indices {
				x, ok1 := s.near(a.index, m, parts)
				if y, ok2 := s.near(m, b.index, parts); !known && ok1 && ok2 {
					near, known = x*y, true
				}
			}
			if known {
				most = max(most, near*float64(parts))
			}
		}
	}
	return most
}

// near estimates which part of the entries of an operand over two indices is in the blocks on the diagonal, if both are cut into so many; known is false if that was not counted.
func (s *statement) near(v, w *lang.Index, parts int) (part float64, known bool) {
	for _, u := range s.uses {
		a, b := axis(u.Access, v), axis(u.Access, w)
		if a < 0 || b < 0 || a == b || u.spread == nil {
			continue
		}
		if far := u.spread(a, b); far != nil {
			return far.diagonal(float64(s.extents[w.ID]) / float64(parts)), true
		}
	}
	return 0, false
}

// settle gives an operand the placement that costs least where the statement is cut so: what ranks have and what they send. It returns the first; of the
// second estimate tells.
func (s *statement) settle(c *cutting, g *placement.Grid, name string, t *Tensor, drivers map[*lang.Index][]*use) float64 {
	var best *placement.Placement
	least := 0.0
	for _, u := range s.uses {
		if u.name != name {
			continue
		}
		base := placement.Replicated(g, len(t.Shape))
		var unused []int // axes of the grid
		for over := range g.Sizes {
			k := slices.IndexFunc(c.along, func(a along) bool { return a.over == over })
			at := -1
			if k >= 0 {
				at = axis(u.Access, c.along[k].index)
			}
			if at >= 0 && c.along[k].cut.Extent == t.Shape[at] {
				base.Cuts[at], base.Over[at] = c.along[k].cut, over
			} else {
				unused = append(unused, over)
			}
		}
		var try func(p *placement.Placement, left []int)
		try = func(p *placement.Placement, left []int) {
			if len(left) > 0 {
				try(p, left[1:])
				for k, n := range t.Shape {
					if over := left[0]; p.Cuts[k] == nil && n >= int64(g.Sizes[over]) {
						more := &placement.Placement{Grid: g, Cuts: slices.Clone(p.Cuts), Over: slices.Clone(p.Over)}
						more.Cuts[k], more.Over[k] = placement.Blocks(n, g.Sizes[over]), over
						try(more, left[1:])
					}
				}
				return
			}
			t.Placement = p
			cost := held(t)
			for _, u := range s.uses {
				if u.name == name { // with coordinates, which travel once
					cost += float64(g.Ranks()) * c.received(u, drivers) * width(t) / float64(t.DType.Size())
				}
			}
			if best == nil || cost < 0.999*least { // what costs the same sends nothing in later runs
				best, least = p, cost
			}
		}
		try(base, unused)
	}
	t.Placement = best
	return held(t)
}

// even is the most that a part may have over the mean for blocks to be good enough.
const even = 1.05

// longestWeights is how many coordinates an axis may have that is cut by entries.
const longestWeights = 1 << 26

// balancedCut is how an index is cut: into blocks, or where one of the operands has more entries in some of them, by those of the operand that has most.
func (p *proposer) balancedCut(s *statement, v *lang.Index, parts int) *balance {
	n := s.extents[v.ID]
	b := &balance{placement.Blocks(n, parts), 1}
	var by *use
	for _, u := range s.uses {
		if p.program.given[u.name] && !u.tensor.Format.IsDense() && axis(u.Access, v) >= 0 && (by == nil || u.tensor.Entries > by.tensor.Entries) {
			by = u
		}
	}
	if by == nil || n > longestWeights || by.tensor.Shape[axis(by.Access, v)] != n {
		return b
	}
	k := axis(by.Access, v)
	key := fmt.Sprint(by.name, " ", k, " ", parts)
	if known := p.balanced[key]; known != nil {
		return known
	}
	w := p.counted(by.name, k)
	if p.failed != nil {
		return b
	}
	if b.most = uneven(w, b.cut); b.most > even {
		b.cut = placement.Weighted(w, parts)
		b.most = uneven(w, b.cut)
	}
	p.balanced[key] = b
	return b
}

// uneven is the most that a part of a cut weighs, over the mean.
func uneven(weights []int64, c *placement.Cut) float64 {
	var most, total int64
	for part := range c.Parts {
		lo, hi, _ := c.Coords(part).Bounds()
		var n int64
		for _, w := range weights[lo:hi] {
			n += w
		}
		most, total = max(most, n), total+n
	}
	if total == 0 {
		return 1
	}
	return float64(most) * float64(c.Parts) / float64(total)
}
