package dist

import (
	"context"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// pieces is how a rank computes its part of a dense result: while what it needs of other ranks travels all rows, of which only those in the middle, which touch
// nothing of it, have their entries; and when it has come those before and after them, the edges. A row is computed as ever, so that bits stay. The middle reads the
// rank's own part where it lies, and for the edges little of it is copied to what comes. It is done where to bring values has been seen to take longer than it costs.
type pieces struct {
	along  *along
	bounds [4]int64
	of     []*slices3 // by get; nil: all pieces need what is got

	over *lang.Index   // along which what comes is got
	own  placement.Set // the rank's coordinates of it
	edge placement.Set // those that the edges touch
}

// slices3 are the pieces of an operand whose rows go with those of the result.
type slices3 struct {
	levels [3][]tensor.Level
	shape  [3][]int64
	bounds [3][2]int         // of values
	wide   bool              // the middle has all rows
	last   [3]*tensor.Tensor // of which the pieces are: kernels remember what follows from a tensor
	cut    [3]*tensor.Tensor
}

// startup is what two more kernels cost.
const startup = 200 * time.Microsecond

// pays decides whether to compute in pieces from now on: after several runs with the same patterns, if in each of them it took longer than that costs to bring what is needed.
func (st *step) pays(brought time.Duration) {
	if st.runs++; st.runs == 1 || brought < st.brought {
		st.brought = brought
	}
	const enough = 3
	if st.runs == enough && (debug.Overlap > 0 || debug.Overlap == 0 && st.brought >= startup) {
		st.pieces = st.interior()
	}
}

// interior finds the pieces; nil: there are none, or the middle is less than half of the rows.
func (st *step) interior() *pieces {
	format, name := st.format(), st.st.LHS.Tensor.Name
	if !st.computes(st.program.rank.Rank()) || st.program.rank.direct != nil || len(st.how.summed()) > 0 || !format.IsDense() || len(format.Order()) == 0 || st.program.o.Results[name].Shape != nil {
		return nil
	}
	p := &pieces{}
	for k := range st.how.along {
		if st.how.along[k].at == format.Order()[0] {
			p.along = &st.how.along[k]
		}
	}
	if p.along == nil || st.narrowed[p.along.index] {
		return nil
	}
	n := st.touched[p.along.index].Len()
	remote := make([]bool, n) // rows
	for _, g := range st.gets {
		if g.use.left || g.comes() && !st.remoteRows(g, p, remote) {
			return nil
		}
	}
	p.bounds[3] = n
	for lo := int64(0); lo < n; lo++ {
		hi := lo
		for hi < n && !remote[hi] {
			hi++
		}
		if hi-lo > p.bounds[2]-p.bounds[1] {
			p.bounds[1], p.bounds[2] = lo, hi
		}
		lo = hi
	}
	if 2*(p.bounds[2]-p.bounds[1]) < n {
		return nil
	}
	if p.over != nil {
		p.edges(st)
	}
	fetches := make([]*fetch, len(st.gets))
	for k, g := range st.gets {
		col := -1
		if p.over != nil {
			col = axis(g.use.Access, p.over)
		}
		row := axis(g.use.Access, p.along.index)
		switch {
		case g.comes():
			need := slices.Clone(g.need)
			need[col] = p.edge
			var err error
			if fetches[k], err = g.among(g.use.tensor, need); err != nil {
				return nil
			}
			p.of = append(p.of, nil)
		case row < 0 && col < 0:
			p.of = append(p.of, nil)
		case row < 0:
			return nil
		default:
			s := p.slices(g, row, col)
			if s == nil {
				return nil
			}
			p.of = append(p.of, s)
		}
	}
	for k, f := range fetches {
		if f != nil {
			st.gets[k].fetch = f
		}
	}
	return p
}

// edges finds what the edges touch of what is got along an index, whatever comes of it included.
func (p *pieces) edges(st *step) {
	need := st.touched[p.over]
	var touched placement.Marks
	extent := st.st.extents[p.over.ID]
	for k := range need.Len() {
		if x := need.At(k); p.own.Find(x) < 0 {
			touched.Add(x, extent)
		}
	}
	for _, g := range st.gets {
		row, col := axis(g.use.Access, p.along.index), axis(g.use.Access, p.over)
		if row < 0 || col < 0 || g.use.tensor.Format.IsDense() {
			continue
		}
		eachEntry(g.structure(g.use.tensor), func(at [][]int64, k int) {
			if i := at[row][k]; i < p.bounds[1] || i >= p.bounds[2] {
				touched.Add(need.At(at[col][k]), extent)
			}
		})
	}
	p.edge = touched.Set()
}

// eachEntry visits the entries of a tensor: by axis, coordinates, of which the k-th are the entry's.
func eachEntry(t *tensor.Tensor, visit func(at [][]int64, k int)) {
	w, total := t.Window(), t.Values().Len()
	for lo := 0; lo < total; lo += windowLength {
		hi := min(lo+windowLength, total)
		at := w.Coords(lo, hi)
		for k := range hi - lo {
			visit(at, k)
		}
	}
}

// widen gives the middle of an operand all rows, of which others have no entries.
func (s *slices3) widen(rows, before int64, row int) bool {
	levels := s.levels[1]
	if len(levels) < 2 || levels[0].HasPos() || levels[0].HasCrd() || !levels[1].HasPos() {
		return false
	}
	pos := make([]int64, rows+1)
	middle := int64(levels[1].Pos.Len() - 1)
	for i := range pos {
		pos[i] = levels[1].Pos.At64(int(min(max(int64(i)-before, 0), middle)))
	}
	wide, err := tensor.ArrayOf(pos).Convert(levels[1].Pos.DType())
	if err != nil {
		return false
	}
	levels[0].Size, levels[1].Pos, s.shape[1][row], s.wide = rows, wide, rows, true
	return true
}

// comes reports whether something of other ranks is got.
func (g *get) comes() bool {
	for _, at := range g.take {
		if len(at) > 0 {
			return true
		}
	}
	return false
}

// remoteRows marks the rows whose entries touch what comes; it is false where it is not entries that tell.
func (st *step) remoteRows(g *get, p *pieces, remote []bool) bool {
	t, rows := g.use.tensor, p.along
	if !t.Format.IsDense() || axis(g.use.Access, rows.index) >= 0 {
		return false
	}
	at := -1 // the axis along which the rank has not all
	for k, need := range g.need {
		if need.Equal(t.Sets[k]) {
			continue
		}
		if at >= 0 || g.along[k] == nil {
			return false
		}
		at = k
	}
	if at < 0 {
		return false
	}
	v := g.along[at]
	if p.over != nil && (p.over != v || !p.own.Equal(t.Sets[at])) {
		return false
	}
	p.over, p.own = v, t.Sets[at]
	for _, d := range st.st.drivers()[v] {
		for _, by := range st.gets {
			row, col := axis(d.Access, rows.index), axis(d.Access, v)
			if by.name != d.ref.Name || row < 0 || by.comes() || d == g.use {
				continue
			}
			own := make([]bool, g.need[at].Len())
			for k := range own {
				own[k] = p.own.Find(g.need[at].At(int64(k))) >= 0
			}
			eachEntry(by.structure(d.tensor), func(at [][]int64, k int) { remote[at[row][k]] = remote[at[row][k]] || !own[at[col][k]] })
			return true
		}
	}
	return false
}

// slices cuts an operand whose rows are stored first, and numbers its coordinates along col, where there is such an axis, as pieces do; nil: that cannot be done.
func (p *pieces) slices(g *get, row, col int) *slices3 {
	t := g.use.tensor
	if t.Format.Order()[0] != row || t.Format.IsDense() && col >= 0 {
		return nil
	}
	s := &slices3{}
	for k := range s.levels {
		lo, hi := p.bounds[k], p.bounds[k+1]
		s.shape[k] = slices.Clone(g.shape)
		if s.shape[k][row] = hi - lo; t.Format.IsDense() {
			size := 1
			for a, n := range g.shape {
				if a != row {
					size *= int(n)
				}
			}
			s.bounds[k] = [2]int{int(lo) * size, int(hi) * size}
			continue
		}
		levels, from, to, ok := stretchLevels(g.structure(t), lo, hi)
		if !ok {
			return nil
		}
		s.levels[k], s.bounds[k] = levels, [2]int{from, to}
		among := p.edge
		if k == 1 {
			among = p.own
		}
		if col >= 0 && !s.renumber(k, col, t.Format.Order(), g.need[col], among) {
			return nil
		}
	}
	if col >= 0 && !s.widen(p.bounds[3], p.bounds[1], row) {
		return nil
	}
	return s
}

// renumber gives the coordinates along an axis of the k-th piece, which are numbered among those needed, their numbers among others. It is false where some are
// not among those.
func (s *slices3) renumber(k, axis int, order []int, need, among placement.Set) bool {
	l := &s.levels[k][slices.Index(order, axis)]
	if !l.Walked() || !l.HasCrd() {
		return false
	}
	known := true
	crd, ok := renamed(l.Crd, among.Len(), func(x int64) int64 {
		x = among.Find(need.At(x))
		known = known && x >= 0
		return x
	})
	l.Size, l.Crd, s.shape[k][axis] = among.Len(), crd, among.Len()
	return ok && known
}

// piece is one of an operand.
func (s *slices3) piece(k int, t *tensor.Tensor) *tensor.Tensor {
	if s.last[k] != t {
		cut := tensor.NewTrusted(s.shape[k], t.Format(), s.levels[k], t.Values().Slice(s.bounds[k][0], s.bounds[k][1]), t.Fill())
		s.release(k) // not before: it holds the memory of the levels
		s.last[k], s.cut[k] = t, cut
	}
	return s.cut[k]
}

// release gives up a piece.
func (s *slices3) release(k int) {
	if s.cut[k] != nil {
		s.cut[k].Release()
	}
	s.last[k], s.cut[k] = nil, nil
}

// inPieces computes the rank's part: the middle first, and the rest when what other ranks send has come.
func (st *step) inPieces(ctx context.Context, under []*getting, wait func() (exec.Args, error)) (*tensor.Tensor, exec.Args, error) {
	p := st.pieces
	early := exec.Args{}
	for k, got := range under {
		if st.gets[k].comes() {
			early[st.gets[k].name] = got.of.Part
			continue
		}
		t, err := got.wait(ctx)
		if err != nil {
			return nil, nil, err
		}
		early[st.gets[k].name], got.come = t, t
	}
	piece := func(k int, args exec.Args) (*tensor.Tensor, error) {
		some := exec.Args{}
		for i, g := range st.gets {
			if some[g.name] = args[g.name]; p.of[i] != nil && (k != 1 || p.of[i].wide) {
				some[g.name] = p.of[i].piece(k, args[g.name].(*tensor.Tensor))
			}
		}
		return st.eval(ctx, some)
	}
	whole, err := piece(1, early)
	if err != nil {
		return nil, nil, err
	}
	args, err := wait()
	if err != nil {
		return nil, nil, err
	}
	for _, k := range []int{0, 2} {
		if p.bounds[k] == p.bounds[k+1] {
			continue
		}
		part, err := piece(k, args)
		if err != nil {
			return nil, nil, err
		}
		row := whole.Values().Bytes() / p.bounds[3]
		copy(whole.Values().Raw()[p.bounds[k]*row:p.bounds[k+1]*row], part.Values().Raw())
		part.Release()
	}
	return whole, args, nil
}
