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
	var t *tensor.Tensor
	if st.summand(r.Rank()) {
		var err error
		if t, err = st.eval(ctx, args); err != nil {
			return nil, err
		}
	}
	summands, err := st.swapSummands(ctx, t, to)
	if summands == nil && err == nil {
		summands, err = st.summands(ctx, t, to)
	}
	if err != nil {
		return nil, err
	}
	t.Release()
	for len(summands) > 1 {
		var next []*tensor.Tensor
		for k := 0; k < len(summands); k += 2 {
			if k+1 == len(summands) {
				next = append(next, summands[k])
				continue
			}
			sum, err := st.combine(ctx, summands[k], summands[k+1])
			if err != nil {
				return nil, r.abort(err)
			}
			summands[k].Release()
			summands[k+1].Release()
			next = append(next, sum)
		}
		summands = next
	}
	return st.describe(ctx, summands[0], shape, to)
}

// summand reports whether a rank has one.
func (st *step) summand(rank int) bool {
	c := st.how
	at := st.program.rank.grid.At(rank)[c.over]
	return c.cut.Coords(at).Len() > 0 || c.cut.Extent == 0 && at == 0
}

// summands are the ranks' summands of this rank's part.
func (st *step) summands(ctx context.Context, t *tensor.Tensor, to *placement.Placement) ([]*tensor.Tensor, error) {
	r := st.program.rank
	line, out := r.line(st.how.over), make([][]byte, r.transport.Size())
	if t != nil {
		for _, q := range line {
			out[q] = appendPiece(nil, t, to.Part(q, st.st.shape))
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
		summands = append(summands, p)
	}
	return summands, nil
}

// combine combines two summands.
func (st *step) combine(ctx context.Context, a, b *tensor.Tensor) (*tensor.Tensor, error) {
	names := make([]string, a.Rank())
	for k := range names {
		names[k] = fmt.Sprintf("i%d", k)
	}
	indices := ""
	if len(names) > 0 {
		indices = "(" + strings.Join(names, ",") + ")"
	}
	opts := append(st.program.o.kernel(), declare.Result("r", a.Format()), declare.ResultType("r", a.DType()))
	if fill := st.program.o.Results[st.st.LHS.Tensor.Name].Fill; fill != nil {
		opts = append(opts, declare.Fill("r", *fill))
	}
	return st.program.rank.session.Eval(ctx, fmt.Sprintf(st.how.with, indices), exec.Args{"a": a, "b": b}, opts...)
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

// header is what all parts of a tensor have in common.
type header struct {
	shape  []int64 // of all of it
	format tensor.Format
	dtype  tensor.DType
	fill   tensor.Scalar
}

func headerOf(t *tensor.Tensor, shape []int64) header {
	return header{shape, t.Format(), t.DType(), t.Fill()}
}

func (h header) append(b []byte) []byte {
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendUvarint(b, uint64(len(h.shape)))
	for _, n := range h.shape {
		b = binary.AppendUvarint(b, uint64(n))
	}
	text(h.format.String())
	text(h.dtype.String())
	lo, hi := h.fill.Bits()
	b = binary.LittleEndian.AppendUint64(b, lo)
	return binary.LittleEndian.AppendUint64(b, hi)
}

// header reads what append has written.
func (r *reader) header() (h header) {
	rank := r.number()
	if rank > tensor.MaxRank {
		r.err = errMessage
		return h
	}
	h.shape = make([]int64, rank)
	for k := range h.shape {
		h.shape[k] = r.number()
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
	format, dtype := text(), text()
	var errs [2]error
	h.format, errs[0] = tensor.ParseFormat(format, int(rank))
	h.dtype, errs[1] = tensor.ParseDType(dtype)
	if errs[0] != nil || errs[1] != nil || len(r.b) < 16 {
		r.err = errMessage
		return h
	}
	h.fill = tensor.FromBits(h.dtype, binary.LittleEndian.Uint64(r.b), binary.LittleEndian.Uint64(r.b[8:]))
	r.b = r.b[16:]
	return h
}

// String is for messages.
func (h header) String() string {
	return fmt.Sprintf("%s[%s] of shape %v with fill %s", h.format, h.dtype, h.shape, h.fill)
}

// appendPiece writes what a tensor has at the coordinates of some sets.
func appendPiece(b []byte, t *tensor.Tensor, sets []placement.Set) []byte {
	whole := &Tensor{Shape: t.Shape(), Format: t.Format(), DType: t.DType(), Fill: t.Fill(), Part: t, Sets: all(t.Shape())}
	m := whole.find(sets)
	b = headerOf(t, lengths(sets)).append(b)
	if b = binary.AppendUvarint(b, uint64(m.n)); !t.Format().IsDense() {
		b = appendCoords(b, m)
	}
	size := int64(t.DType().Size())
	values := make([]byte, m.n*size)
	m.at.pack(values, t.Values().Raw(), size)
	return append(b, values...)
}

// readPiece reads what appendPiece has written.
func readPiece(b []byte) (*tensor.Tensor, error) {
	r := &reader{b: b}
	h := r.header()
	m := &match{n: r.number()}
	if r.err == nil && !h.format.IsDense() {
		m = r.coords(h.shape)
	}
	if r.err != nil || int64(len(r.b)) != m.n*int64(h.dtype.Size()) {
		return nil, errMessage
	}
	values, err := tensor.MakeArray(h.dtype, int(m.n))
	if err != nil {
		return nil, err
	}
	copy(values.Raw(), r.b)
	return h.assemble(h.shape, m, values)
}

// empty is a part without an element.
func (h header) empty(shape []int64) (*tensor.Tensor, error) {
	values, err := tensor.MakeArray(h.dtype, 0)
	if err != nil {
		return nil, err
	}
	return h.assemble(shape, &match{coords: make([][]int64, len(shape))}, values)
}

// assemble makes a tensor of values that are stored in order, at coordinates if it is sparse.
func (h header) assemble(shape []int64, m *match, values tensor.Array) (*tensor.Tensor, error) {
	if h.format.IsDense() {
		return tensor.NewTrusted(shape, h.format, nil, values, h.fill), nil
	}
	t, at, err := build(shape, h.format, m.coords, m.n)
	if err != nil {
		return nil, err
	}
	sorted, err := makeValues(h.dtype, int64(t.Values().Len()), m.n, h.fill)
	if err != nil {
		return nil, err
	}
	size := int64(h.dtype.Size())
	for i, p := range at {
		runs{{p, 1}}.unpack(sorted.Raw(), values.Raw()[int64(i)*size:], size)
	}
	return tensor.NewTrusted(shape, h.format, t.Levels(), sorted, h.fill), nil
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
