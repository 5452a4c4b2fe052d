package dist

import (
	"context"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// pieces is how a rank computes its part of a dense result: while what it needs of other ranks travels all rows, of which only those in the middle, which touch
// nothing of it, have their entries; and when it has come those before and after them. A row is computed as ever, so that bits stay. It is done where ranks have been seen to
// wait for longer than it costs.
type pieces struct {
	along  *along
	bounds [4]int64
	of     []*slices3 // by get; nil: all pieces need what is got
	tell   []int      // the gets whose entries tell what is needed of other ranks
}

// slices3 are the pieces of an operand whose rows go with those of the result.
type slices3 struct {
	levels [3][]tensor.Level
	bounds [3][2]int // of values
	wide   bool      // the middle has all rows
	last   *tensor.Tensor
	cut    [3]*tensor.Tensor // of last: kernels remember what follows from a tensor
}

// startup is what two more kernels cost.
const startup = 200 * time.Microsecond

// pays decides whether to compute in pieces from now on: after several runs with the same patterns, if in each of them the rank waited for longer than that costs.
func (st *step) pays(t *tensor.Tensor, waited time.Duration) {
	if st.runs++; st.runs == 1 || waited < st.waited {
		st.waited = waited
	}
	const enough = 3
	if st.runs == enough && t != nil && (debug.Overlap > 0 || debug.Overlap == 0 && st.waited >= startup) {
		st.pieces = st.interior()
	}
}

// interior finds the pieces; nil: there are none, or the middle is less than half of the rows.
func (st *step) interior() *pieces {
	format, name := st.format(), st.st.LHS.Tensor.Name
	if st.program.rank.direct != nil || len(st.how.summed()) > 0 || !format.IsDense() || len(format.Order()) == 0 || st.program.o.Results[name].Shape != nil {
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
	for _, g := range st.gets {
		axis := axis(g.use.Access, p.along.index)
		if axis < 0 {
			p.of = append(p.of, nil)
			continue
		}
		s := p.slices(g, axis)
		if s == nil {
			return nil
		}
		p.of = append(p.of, s)
	}
	for _, k := range p.tell {
		if !p.of[k].widen(n, p.bounds[1]) {
			return nil
		}
	}
	return p
}

// widen gives the middle of an operand all rows, of which others have no entries.
func (s *slices3) widen(rows, before int64) bool {
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
	levels[0].Size, levels[1].Pos, s.wide = rows, wide, true
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
		if need.And(t.Sets[k]).Len() == need.Len() {
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
	for _, d := range st.st.drivers()[v] {
		for n, by := range st.gets {
			row, col := axis(d.Access, rows.index), axis(d.Access, v)
			if by.name != d.ref.Name || row < 0 || by.comes() || d == g.use {
				continue
			}
			own := make([]bool, g.need[at].Len())
			for k := range own {
				own[k] = t.Sets[at].Find(g.need[at].At(int64(k))) >= 0
			}
			local := by.structure(d.tensor)
			w, total := local.Window(), local.Values().Len()
			for lo := 0; lo < total; lo += windowLength {
				coords := w.Coords(lo, min(lo+windowLength, total))
				for k, i := range coords[row] {
					remote[i] = remote[i] || !own[coords[col][k]]
				}
			}
			p.tell = append(p.tell, n)
			return true
		}
	}
	return false
}

// slices cuts an operand whose rows are stored first; nil: that cannot be done.
func (p *pieces) slices(g *get, axis int) *slices3 {
	t := g.use.tensor
	if t.Format.Order()[0] != axis || g.comes() {
		return nil
	}
	s := &slices3{}
	for k := range s.levels {
		lo, hi := p.bounds[k], p.bounds[k+1]
		if t.Format.IsDense() {
			row := 1
			for a, set := range g.need {
				if a != axis {
					row *= int(set.Len())
				}
			}
			s.bounds[k] = [2]int{int(lo) * row, int(hi) * row}
			continue
		}
		levels, from, to, ok := stretchLevels(g.structure(t), lo, hi)
		if !ok {
			return nil
		}
		s.levels[k], s.bounds[k] = levels, [2]int{from, to}
	}
	return s
}

// piece is one of an operand.
func (s *slices3) piece(k int, t *tensor.Tensor, axis int, rows int64) *tensor.Tensor {
	if s.last != t {
		s.last, s.cut = t, [3]*tensor.Tensor{}
	}
	if s.cut[k] == nil {
		shape := t.Shape()
		shape[axis] = rows
		s.cut[k] = tensor.NewTrusted(shape, t.Format(), s.levels[k], t.Values().Slice(s.bounds[k][0], s.bounds[k][1]), t.Fill())
	}
	return s.cut[k]
}

// inPieces computes the rank's part: the middle first, and the rest when what other ranks send has come.
func (st *step) inPieces(ctx context.Context, under []*getting, wait func() (exec.Args, error)) (*tensor.Tensor, exec.Args, error) {
	p := st.pieces
	early, here := exec.Args{}, []*tensor.Tensor{}
	for k, got := range under {
		if st.gets[k].comes() {
			t := tensor.NewTrusted(got.shape, got.of.Format, nil, got.values, got.of.Fill) // of which only what the rank has is looked at
			early[st.gets[k].name] = t
			here = append(here, t)
			continue
		}
		t, err := got.wait(ctx)
		if err != nil {
			return nil, nil, err
		}
		early[st.gets[k].name], got.come = t, t
	}
	piece := func(k int, args exec.Args) (*tensor.Tensor, error) {
		some, rows := exec.Args{}, p.bounds[k+1]-p.bounds[k]
		if k == 1 {
			rows = p.bounds[3]
		}
		for i, g := range st.gets {
			if some[g.name] = args[g.name]; p.of[i] != nil && (k != 1 || p.of[i].wide) {
				some[g.name] = p.of[i].piece(k, args[g.name].(*tensor.Tensor), axis(g.use.Access, p.along.index), rows)
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
	for _, t := range here { // what has come has the same values
		t.Release()
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
