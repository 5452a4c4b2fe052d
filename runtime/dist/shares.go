package dist

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Entries are those of a tensor that one rank has read, from wherever in a file they stand.
type Entries struct {
	Coords []tensor.Array // by axis
	Values tensor.Array
}

// Deal makes a tensor of entries that ranks have read: each goes to the ranks to which it belongs. Entries at the same
// coordinates are added up in the order of ranks, and of entries on each.
func (r *Rank) Deal(ctx context.Context, shape []int64, format tensor.Format, e Entries, p *placement.Placement) (*Tensor, error) {
	size := r.transport.Size()
	to := make([][]int64, size) // by rank, which entries it gets
	owners := r.owners(p)
	for i := range int64(e.Values.Len()) {
		at := 0
		for k, c := range p.Cuts {
			if c != nil {
				x := e.Coords[k].At64(int(i))
				if x < 0 || x >= shape[k] {
					return nil, r.abort(fmt.Errorf("coordinate %d along axis %d of shape %v", x, k, shape))
				}
				at = at*c.Parts + c.Owner(x)
			}
		}
		for _, q := range owners[at] {
			to[q] = append(to[q], i)
		}
	}
	width := int64(e.Values.DType().Size())
	out := make([][]byte, size)
	for q, list := range to {
		m := &match{n: int64(len(list)), coords: make([][]int64, len(shape))}
		values := make([]byte, 0, m.n*width)
		for k := range shape {
			for _, i := range list {
				m.coords[k] = append(m.coords[k], e.Coords[k].At64(int(i)))
			}
		}
		for _, i := range list {
			values = append(values, e.Values.Raw()[i*width:(i+1)*width]...)
		}
		out[q] = append(appendCoords(nil, m), values...)
	}
	in, err := r.exchange(ctx, &r.sent.Reading, out)
	if err != nil {
		return nil, err
	}
	mine := p.Part(r.Rank(), shape)
	tables := make([]placement.Table, len(shape))
	for k, s := range mine {
		tables[k] = placement.NewTable(s, shape[k])
	}
	coords := make([][]int64, len(shape))
	var raw []byte
	for q, b := range in {
		read := &reader{b: b}
		m := read.coords(shape)
		if read.err != nil || int64(len(read.b)) != m.n*width {
			return nil, r.abort(fmt.Errorf("of rank %d: %w", q, errMessage))
		}
		for k, column := range m.coords {
			for _, x := range column {
				place := tables[k].Find(x)
				if place < 0 {
					return nil, r.abort(fmt.Errorf("rank %d sends what belongs elsewhere", q))
				}
				coords[k] = append(coords[k], place)
			}
		}
		raw = append(raw, read.b...)
	}
	values, err := tensor.MakeArray(e.Values.DType(), len(raw)/int(width))
	if err != nil {
		return nil, r.abort(err)
	}
	copy(values.Raw(), raw)
	columns := make([]tensor.Array, len(coords))
	for k, c := range coords {
		columns[k] = tensor.ArrayOf(c)
	}
	part, err := tensor.FromColumns(lengths(mine), format, columns, values)
	if err != nil {
		return nil, r.abort(err)
	}
	return r.given(ctx, part, shape, p)
}

// owners are, by part of what is cut, the ranks that have it: the last axis' part changes fastest.
func (r *Rank) owners(p *placement.Placement) [][]int {
	parts := 1
	for _, c := range p.Cuts {
		if c != nil {
			parts *= c.Parts
		}
	}
	owners := make([][]int, parts)
	for q := range r.transport.Size() {
		at, part := r.grid.At(q), 0
		for k, c := range p.Cuts {
			if c != nil {
				part = part*c.Parts + at[p.Over[k]]
			}
		}
		owners[part] = append(owners[part], q)
	}
	return owners
}

// Blocks makes a tensor of the blocks along an axis that ranks have read, one each: those of [placement.Blocks], on a grid of one axis. Then it is
// placed.
func (r *Rank) Blocks(ctx context.Context, shape []int64, axis int, block *tensor.Tensor, p *placement.Placement) (*Tensor, error) {
	if len(r.grid.Sizes) != 1 {
		return nil, fmt.Errorf("blocks are for a line of ranks, not for the grid %s", r.grid)
	}
	block, err := block.Canonical()
	if err != nil {
		return nil, r.abort(err)
	}
	t, err := r.given(ctx, block, shape, placement.OneAxis(r.grid, len(shape), axis, placement.Blocks(shape[axis], r.transport.Size()), 0))
	if err != nil {
		return nil, err
	}
	return r.Place(ctx, t, p)
}

// given is a tensor of which this rank has a part.
func (r *Rank) given(ctx context.Context, part *tensor.Tensor, shape []int64, p *placement.Placement) (*Tensor, error) {
	return (&step{program: &Program{rank: r}, text: "what is read"}).describe(ctx, part, shape, p)
}

// Total adds numbers up over all ranks, each of which adds up a share of them; where most is true it takes the largest, or 0.
func (r *Rank) Total(ctx context.Context, most bool, numbers ...int64) ([]int64, error) {
	size := r.transport.Size()
	share := func(q int) int { return len(numbers) * q / size }
	out := make([][]byte, size)
	for q := range out {
		out[q] = words(numbers[share(q):share(q+1)])
	}
	in, err := r.exchange(ctx, &r.sent.Agreement, out)
	if err != nil {
		return nil, err
	}
	mine := make([]int64, share(r.Rank()+1)-share(r.Rank()))
	for q, b := range in {
		if len(b) != 8*len(mine) {
			return nil, r.abort(fmt.Errorf("rank %d adds up other numbers", q))
		}
		for k := range mine {
			x := int64(binary.LittleEndian.Uint64(b[8*k:]))
			switch {
			case most:
				mine[k] = max(mine[k], x)
			case x > math.MaxInt64-mine[k]:
				return nil, r.abort(errMessage)
			default:
				mine[k] += x
			}
		}
	}
	if in, err = r.toAll(ctx, &r.sent.Agreement, words(mine)); err != nil {
		return nil, err
	}
	total := make([]int64, 0, len(numbers))
	for q, b := range in {
		if len(b) != 8*(share(q+1)-share(q)) {
			return nil, r.abort(errMessage)
		}
		for ; len(b) > 0; b = b[8:] {
			total = append(total, int64(binary.LittleEndian.Uint64(b)))
		}
	}
	return total, nil
}

// words is a message of numbers.
func words(numbers []int64) (message []byte) {
	for _, x := range numbers {
		message = binary.LittleEndian.AppendUint64(message, uint64(x))
	}
	return message
}
