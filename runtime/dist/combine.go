package dist

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// combined computes the rank's summand of a reduction that is cut, and the rank's part of the whole: each rank gets its part of
// all summands, and adds them up in a tree, neighbours first. That depends on nothing but how many summands there are:
// rank by rank, of those that have a coordinate of the index that is cut.
//
//	((s0 + s1) + (s2 + s3)) + s4
func (st *step) combined(ctx context.Context, args exec.Args) (*Tensor, error) {
	r, c := st.program.rank, st.how
	shape := st.st.shape
	to := st.asked
	if to == nil {
		to = placement.Replicated(r.grid, len(shape))
		if len(shape) > 0 {
			to = placement.OneAxis(r.grid, len(shape), 0, placement.Blocks(shape[0], r.grid.Sizes[c.over]), c.over)
		}
	}
	out := make([][]byte, r.transport.Size())
	line := r.line(c.over)
	if me := r.grid.At(r.Rank())[c.over]; st.own.Len() > 0 || c.cut.Extent == 0 && me == 0 {
		t, err := st.eval(ctx, args)
		if err != nil {
			return nil, err
		}
		for _, q := range line {
			out[q] = appendPiece(nil, t, to.Part(q, shape))
		}
	}
	in, err := r.exchange(ctx, &r.sent.Combination, out)
	if err != nil {
		return nil, err
	}
	var summands []*tensor.Tensor
	for _, q := range line {
		if len(in[q]) == 0 {
			continue
		}
		p, err := readPiece(in[q])
		if err != nil {
			return nil, r.abort(fmt.Errorf("of rank %d: %w", q, err))
		}
		summands = append(summands, p.Tensor)
	}
	for len(summands) > 1 {
		var next []*tensor.Tensor
		for k := 0; k < len(summands); k += 2 {
			if k+1 == len(summands) {
				next = append(next, summands[k])
				continue
			}
			sum, err := r.combine(ctx, c.with, summands[k], summands[k+1])
			if err != nil {
				return nil, r.abort(err)
			}
			next = append(next, sum)
		}
		summands = next
	}
	t := summands[0]
	sum := &Tensor{Shape: shape, Format: t.Format(), DType: t.DType(), Fill: t.Fill(), Placement: to, Part: t, Sets: to.Part(r.Rank(), shape)}
	return sum, st.describe(ctx, sum)
}

// combine is what a program makes of two tensors.
func (r *Rank) combine(ctx context.Context, with string, a, b *tensor.Tensor) (*tensor.Tensor, error) {
	names := make([]string, a.Rank())
	for k := range names {
		names[k] = fmt.Sprintf("i%d", k)
	}
	indices := ""
	if len(names) > 0 {
		indices = "(" + strings.Join(names, ",") + ")"
	}
	return r.session.Eval(ctx, fmt.Sprintf(with, indices), exec.Args{"a": a, "b": b}, declare.Result("r", a.Format()), declare.ResultType("r", a.DType()), declare.AsWritten())
}

// line are the ranks that differ from this one along one axis of the grid, in the order of that.
func (r *Rank) line(axis int) []int {
	at := r.grid.At(r.Rank())
	list := make([]int, r.grid.Sizes[axis])
	for k := range list {
		at[axis] = k
		list[k] = r.grid.Rank(at)
	}
	return list
}

// piece is a part of a tensor as it has come from another rank.
type piece struct {
	*tensor.Tensor
	whole   []int64 // the shape of all of it
	entries int64   // of all of it
}

// appendPiece writes what a tensor has at the coordinates of some sets.
func appendPiece(b []byte, t *tensor.Tensor, sets []placement.Set) []byte {
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendUvarint(b, uint64(t.Rank()))
	for k, n := range t.Shape() {
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(sets[k].Len()))
	}
	text(t.Format().String())
	text(t.DType().String())
	lo, hi := t.Fill().Bits()
	b = binary.LittleEndian.AppendUint64(b, lo)
	b = binary.LittleEndian.AppendUint64(b, hi)
	b = binary.AppendUvarint(b, uint64(t.NNZ()))
	whole := &Tensor{Shape: t.Shape(), Format: t.Format(), DType: t.DType(), Fill: t.Fill(), Part: t, Sets: all(t.Shape())}
	m := whole.find(sets)
	if b = binary.AppendUvarint(b, uint64(m.n)); !t.Format().IsDense() {
		b = appendCoords(b, m)
	}
	size := int64(t.DType().Size())
	values := make([]byte, m.n*size)
	m.at.pack(values, t.Values().Raw(), size)
	return append(b, values...)
}

// readPiece reads what appendPiece has written.
func readPiece(b []byte) (*piece, error) {
	r := &reader{b: b}
	rank := r.number()
	if rank > tensor.MaxRank {
		return nil, errMessage
	}
	p := &piece{whole: make([]int64, rank)}
	shape := make([]int64, rank)
	for k := range shape {
		p.whole[k], shape[k] = r.number(), r.number()
	}
	text := func() string {
		n := r.number()
		if n > int64(len(r.b)) {
			r.err = errMessage
			return ""
		}
		s := string(r.b[:n])
		r.b = r.b[n:]
		return s
	}
	format, err := tensor.ParseFormat(text(), int(rank))
	if err != nil {
		return nil, errMessage
	}
	dt, err := tensor.ParseDType(text())
	if err != nil || len(r.b) < 16 {
		return nil, errMessage
	}
	fill := tensor.FromBits(dt, binary.LittleEndian.Uint64(r.b), binary.LittleEndian.Uint64(r.b[8:]))
	r.b = r.b[16:]
	p.entries = r.number()
	m := &match{n: r.number()}
	if !format.IsDense() {
		m = r.coords(shape)
	}
	if r.err != nil || int64(len(r.b)) != m.n*int64(dt.Size()) {
		return nil, errMessage
	}
	values, err := tensor.MakeArray(dt, int(m.n))
	if err != nil {
		return nil, err
	}
	copy(values.Raw(), r.b)
	p.Tensor, err = assemble(shape, format, m, values, dt, fill)
	return p, err
}

// assemble makes a tensor of values that are stored in order, at coordinates if it is sparse.
func assemble(shape []int64, format tensor.Format, m *match, values tensor.Array, dt tensor.DType, fill tensor.Scalar) (*tensor.Tensor, error) {
	if m.n == 0 {
		var err error
		if values, err = tensor.MakeArray(dt, 0); err != nil {
			return nil, err
		}
	}
	if format.IsDense() {
		return tensor.Assemble(shape, format, nil, values, fill), nil
	}
	t, at, err := build(shape, format, m.coords, m.n)
	if err != nil {
		return nil, err
	}
	sorted, err := makeValues(dt, int64(t.Values().Len()), m.n, fill)
	if err != nil {
		return nil, err
	}
	size := int64(dt.Size())
	for i, p := range at {
		runs{{p, 1}}.unpack(sorted.Raw(), values.Raw()[int64(i)*size:], size)
	}
	return tensor.Assemble(shape, format, t.Levels(), sorted, fill), nil
}

// makeValues makes an array of n values, of which some are set later and the others are the fill.
func makeValues(dt tensor.DType, n, set int64, fill tensor.Scalar) (tensor.Array, error) {
	values, err := tensor.MakeArray(dt, int(n))
	if err == nil && n > set && !fill.IsZero() {
		for i := range int(n) {
			values.SetScalar(i, fill)
		}
	}
	return values, err
}
