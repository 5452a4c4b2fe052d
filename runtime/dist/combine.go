package dist

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// combined computes the rank's part of a reduction that is cut from the ranks' summands, of which this is the rank's: each rank gets its part of
// all summands, and adds them up in a tree, neighbours first. That depends on nothing but how many summands there are:
// rank by rank, of those that have a coordinate of the index that is cut.
//
//	((s0 + s1) + (s2 + s3)) + s4
func (st *step) combined(ctx context.Context, t *tensor.Tensor) (*Tensor, error) {
	r, c := st.program.rank, st.how
	shape := st.st.shape
	to := c.target(r.grid, shape, st.asked)
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
	if len(summands) == 0 { // no rank has anything of this part
		summands = []*tensor.Tensor{nil}
	}
	return st.describe(ctx, summands[0], shape, to)
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

// group are the ranks that differ from a rank along no axis of the grid but some, in order.
func (r *Rank) group(rank int, axes []int) (list []int) {
	mine := r.grid.At(rank)
	for q := range r.transport.Size() {
		at, other := r.grid.At(q), false
		for k := range at {
			other = other || at[k] != mine[k] && !slices.Contains(axes, k)
		}
		if !other {
			list = append(list, q)
		}
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

// summandHeader is what the ranks' summands have in common, of which some rank may have none.
func (st *step) summandHeader(ctx context.Context, t *tensor.Tensor) (header, error) {
	if st.same && st.parts != nil {
		return *st.parts, nil
	}
	var message []byte
	if t != nil {
		message = headerOf(t, st.st.shape).append(nil)
	}
	told, err := st.program.rank.toAll(ctx, &st.program.rank.sent.Agreement, message)
	if err != nil {
		return header{}, err
	}
	r := &reader{b: told[slices.IndexFunc(told, func(b []byte) bool { return len(b) > 0 })]}
	return r.header(), r.err
}
