package distribute

import (
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Panels are the rows of the first factor of a product in CSR, or the columns of the second one in CSC, that are computed together, each such that what it
// makes fits in memory: for each of its entries, a row of the other factor is read, and makes as many terms as that has entries.
type Panels struct {
	files    *spill.Files
	t, other *tensor.Tensor
	most     int64 // terms of a panel
	lo, hi   int64 // the entries of the latest
}

// least is how many terms a panel should have, however little memory there is: beginning one takes as long as some thousands.
const least = 1 << 14

// NewPanels cuts t, for results with elements of so many bytes. The other factor's first level has the coordinates of the second of t. ok is false where they are stored
// otherwise.
func NewPanels(files *spill.Files, t, other *tensor.Tensor, width int) (p *Panels, ok bool) {
	for _, x := range []*tensor.Tensor{t, other} {
		if (x.Format() != tensor.CSR && x.Format() != tensor.CSC) || x.Format() != t.Format() || x.Structure() != tensor.General || !indexes(x.LevelAt(1).Pos) || !indexes(x.LevelAt(1).Crd) {
			return nil, false
		}
	}
	if order := t.Format().Order(); t.Dims()[order[1]] != other.Dims()[order[0]] {
		return nil, false // a mistake that binding tells
	}
	return &Panels{files: files, t: t, other: other, most: max(least, files.From()/int64(width)-1)}, true
}

// Terms is how many terms the product has, if rows of the other factor are read as often as the mean.
func (p *Panels) Terms() float64 {
	return float64(p.t.NNZ()) * float64(p.other.NNZ()) / float64(max(1, p.lines(p.other)))
}

// lines is how many rows a matrix by rows has, and columns one by columns.
func (*Panels) lines(t *tensor.Tensor) int64 { return t.Dims()[t.Format().Order()[0]] }

// Axis is the axis that is cut.
func (p *Panels) Axis() int { return p.t.Format().Order()[0] }

// Shape is that of the whole matrix.
func (p *Panels) Shape() []int64 { return p.t.Shape() }

// Next is the panel from a row or column on, and the first that is left. The panel before is not needed any more. How large it is
// follows from what it needs, whatever number of entries is asked for.
func (p *Panels) Next(first, _ int64) (*tensor.Tensor, int64, error) {
	p.files.Behind(part(p.t.LevelAt(1).Crd, p.lo, p.hi))
	p.files.Behind(part(p.t.Values(), p.lo, p.hi))
	l, of := p.t.LevelAt(1), p.other.LevelAt(1).Pos
	width := p.other.Dims()[p.other.Format().Order()[1]]
	next, n := first, p.lines(p.t)
	for terms := int64(0); next < n; next++ {
		row := l.Crd.Slice(int(l.Pos.At64(int(next))), int(l.Pos.At64(int(next)+1)))
		if terms += 1 + min(termsOf(row, of), width); next > first && terms > p.most {
			break
		}
	}
	p.lo, p.hi = l.Pos.At64(int(first)), l.Pos.At64(int(next))
	after := min(p.hi+(p.hi-p.lo), p.t.NNZ())
	p.files.Ahead(part(l.Crd, p.hi, after))
	p.files.Ahead(part(p.t.Values(), p.hi, after))
	pos := make([]int64, next-first+1)
	for i := range pos {
		pos[i] = l.Pos.At64(int(first)+i) - p.lo
	}
	narrow, err := tensor.ArrayOf(pos).Convert(l.Pos.DType())
	if err != nil {
		return nil, first, err
	}
	shape := p.Shape()
	shape[p.Axis()] = next - first
	levels := []tensor.Level{{Size: next - first}, {Pos: narrow, Crd: l.Crd.Slice(int(p.lo), int(p.hi))}}
	return tensor.NewTrusted(shape, p.t.Format(), levels, p.t.Values().Slice(int(p.lo), int(p.hi)), p.t.Fill()), next, nil
}

// termsOf is how many entries some rows have, of those where pos says.
func termsOf(rows, pos tensor.Array) int64 {
	switch narrow, short := tensor.View[uint32](rows), tensor.View[uint32](pos); {
	case narrow != nil && short != nil:
		return lengths(narrow, short)
	case narrow != nil:
		return lengths(narrow, tensor.View[uint64](pos))
	case short != nil:
		return lengths(tensor.View[uint64](rows), short)
	}
	return lengths(tensor.View[uint64](rows), tensor.View[uint64](pos))
}

func lengths[R, P uint32 | uint64](rows []R, pos []P) (n int64) {
	for _, j := range rows {
		n += int64(pos[j+1] - pos[j])
	}
	return n
}

// part are the bytes of some elements.
func part(a tensor.Array, lo, hi int64) []byte { return a.Slice(int(lo), int(hi)).Raw() }

// Close has nothing to close.
func (*Panels) Close() error { return nil }
