package dist

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file sends summands of sums that are cut, which combine.go adds up. A rank sends no more of a summand than its entries touch, and tells at which coordinates that is once: as
// long as it stays the same, values alone travel.

// given is what a rank has told another of its summand.
type given struct {
	what []byte
	at   runs // of the summand, the values that go
}

// heard is what a rank knows of another's summand.
type heard struct {
	header
	m  *match // of what is sparse
	at runs   // of what is dense: the elements that come; others are 0
	n  int64  // of values that come
}

// The first byte of a message.
const (
	tells  = iota // where values are comes before them
	asLast        // they are where they were in the run before
)

// summands are the ranks' summands of this rank's part.
func (st *step) summands(ctx context.Context, t *tensor.Tensor, to *placement.Placement) ([]*tensor.Tensor, error) {
	r := st.program.rank
	group, out := r.group(r.Rank(), st.how.summed()), make([][]byte, r.transport.Size())
	if st.gives == nil {
		st.gives, st.heard = make([]given, len(out)), make([]heard, len(out))
	}
	if t != nil {
		sets := st.how.left(r.grid, t.Rank()).Part(r.Rank(), st.st.shape)
		mine := &Tensor{Shape: st.st.shape, Format: t.Format(), DType: t.DType(), Fill: t.Fill(), Part: t, Sets: sets}
		var touched []placement.Set // once
		for _, q := range group {
			if !t.Format().IsDense() || st.gives[q].what == nil {
				if touched == nil {
					touched = st.summandTouches(t, sets)
				}
				out[q] = mine.tell(&st.gives[q], to.Part(q, st.st.shape), touched)
			} else {
				out[q] = []byte{asLast}
			}
			size, from := t.DType().Size(), len(out[q])
			out[q] = slices.Grow(out[q], int(st.gives[q].at.values())*size)[:from+int(st.gives[q].at.values())*size]
			st.gives[q].at.pack(out[q][from:], t.Values().Raw(), int64(size))
		}
	}
	in, err := r.exchange(ctx, &r.sent.Combination, out)
	if err != nil {
		return nil, err
	}
	var summands []*tensor.Tensor
	for _, q := range group {
		if len(in[q]) == 0 {
			continue
		}
		s, err := st.heard[q].read(in[q])
		if err != nil {
			return nil, r.abort(fmt.Errorf("of rank %d: %w", q, err))
		}
		summands = append(summands, s)
	}
	return summands, nil
}

// summandTouches are, by axis of the result, the coordinates at which the rank's summand may be something else than 0. Where it is sparse
// its entries tell.
func (st *step) summandTouches(t *tensor.Tensor, sets []placement.Set) []placement.Set {
	touched := slices.Clone(sets)
	if !t.Format().IsDense() || st.filled() {
		return touched
	}
	for v, by := range st.st.drivers() {
		k := axis(st.st.LHS, v)
		if !v.Free || k < 0 {
			continue
		}
		for _, d := range by {
			if g := slices.IndexFunc(st.gets, func(g *get) bool { return g.name == d.ref.Name }); g >= 0 {
				touched[k] = touched[k].And(st.gets[g].coords(st.gets[g].use.tensor, axis(d.Access, v)))
			}
		}
	}
	return touched
}

// tell begins a message with what another rank gets of a summand, of whose result it has some coordinates: it keeps what it has told.
func (t *Tensor) tell(g *given, part, touched []placement.Set) []byte {
	what := headerOf(t.Part, lengths(part)).append(nil)
	if t.Format.IsDense() {
		sets := make([]placement.Set, len(part))
		for k, p := range part {
			if sets[k] = p.And(touched[k]); 20*sets[k].Len() >= 19*p.Len() {
				sets[k] = p // which lies side by side
			}
		}
		local := withinAll(part, sets)
		for k := range local {
			if local[k].Len() == 0 { // an empty range may stand anywhere
				local[k] = placement.Range(0, 0)
			}
		}
		g.at, g.what = t.find(sets).at, appendSets(what, local)
		return append([]byte{tells}, g.what...)
	}
	m := t.find(part)
	what = appendCoords(what, m)
	g.at = m.at
	if bytes.Equal(what, g.what) {
		return []byte{asLast}
	}
	g.what = what
	return append([]byte{tells}, what...)
}

// read makes the summand of which a message is.
func (h *heard) read(b []byte) (*tensor.Tensor, error) {
	r := &reader{b: b[1:]}
	if b[0] == tells {
		*h = heard{header: r.header()}
		switch {
		case r.err != nil:
		case h.format.IsDense():
			if sets := r.sets(h.shape); r.err == nil {
				h.at = product(h.format.Order(), h.shape, sets)
				h.n = h.at.values()
			}
		default:
			h.m = r.coords(h.shape)
			h.n = h.m.n
		}
	}
	size := int64(h.dtype.Size())
	if r.err != nil || h.shape == nil && b[0] != tells || int64(len(r.b)) != h.n*size {
		return nil, errMessage
	}
	count := h.n
	if h.format.IsDense() {
		count = 1
		for _, n := range h.shape {
			count *= n
		}
	}
	values, err := tensor.MakeArray(h.dtype, int(count))
	if err != nil {
		return nil, err
	}
	if h.format.IsDense() {
		h.at.unpack(values.Raw(), r.b, size)
		return tensor.NewTrusted(h.shape, h.format, nil, values, h.fill), nil
	}
	copy(values.Raw(), r.b)
	return h.assemble(h.shape, h.m, values)
}
