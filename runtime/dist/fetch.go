package dist

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// fetch is how a rank gets what it needs of a tensor, and gives others what they need: which values go where. It holds for all
// tensors with the pattern for which it was made, and then nothing but values travel.
type fetch struct {
	rank  *Rank
	need  []placement.Set
	shape []int64        // of what is got
	whole bool           // what the rank has is what it needs, and so it is on every rank
	local *tensor.Tensor // the structure of what is got; nil: it is dense or, if whole, that of the part
	count int64          // of its values
	set   int64          // of those, that come; the rest is of blocks
	size  int64          // bytes of a value

	providers  []int // of which something may come
	send, take []runs
	keep       [2]runs // from the rank's own part, and to what it gets
	out, in    [][]byte
	spare      atomic.Pointer[[]byte] // memory for what is got, which nobody has any more
	with       [2]*tensor.Tensor      // the latest part that was whole, and it with the structure of what is got
	device     *direct                // how values are moved on a device; nil: not known yet
}

// inspect finds out who needs which values of a tensor; need is what this rank does, by axis.
func (r *Rank) inspect(ctx context.Context, t *Tensor, need []placement.Set) (*fetch, error) {
	return r.inspectSome(ctx, t, need, need)
}

// inspectSome is inspect where of the coordinates of need, which give what is got its shape, values are wanted at some only; others have the fill.
func (r *Rank) inspectSome(ctx context.Context, t *Tensor, need, want []placement.Set) (*fetch, error) {
	me, size := r.Rank(), r.transport.Size()
	f := &fetch{
		rank: r, need: need, shape: lengths(need), size: int64(t.DType.Size()), providers: t.Placement.Providers(me),
		send: make([]runs, size), take: make([]runs, size),
	}
	alone := len(f.providers) == 1 // then every rank is
	if alone && f.cutStretch(t) {
		return f, nil
	}
	if alone {
		want = need
	}
	matches := make([]*match, size)
	asked := make([][]placement.Set, size) // what this rank asks others for
	out := make([][]byte, size)
	for _, p := range f.providers {
		both, ok := intersect(want, t.Placement.Part(p, t.Shape))
		if !ok {
			continue
		}
		if asked[p] = both; p == me {
			matches[p] = t.find(both)
			f.keep[0] = matches[p].at
		} else {
			out[p] = appendSets(nil, both)
		}
	}
	if !alone {
		in, err := r.exchange(ctx, &r.sent.Inspection, out)
		if err != nil {
			return nil, err
		}
		replies := make([][]byte, size)
		for q, b := range in {
			if q == me || len(b) == 0 {
				continue
			}
			read := &reader{b: b}
			sets := read.sets(t.Shape)
			if read.err != nil {
				return nil, r.abort(fmt.Errorf("of rank %d: %w", q, read.err))
			}
			if have, ok := intersect(sets, t.Sets); !ok || !equalSets(have, sets) {
				return nil, r.abort(fmt.Errorf("rank %d asks for what this one has not", q))
			}
			m := t.find(sets)
			if f.send[q] = m.at; !t.Format.IsDense() {
				replies[q] = appendCoords(nil, m)
			}
		}
		if !t.Format.IsDense() {
			if in, err = r.exchange(ctx, &r.sent.Inspection, replies); err != nil {
				return nil, err
			}
			for p, b := range in {
				if asked[p] == nil || p == me {
					continue
				}
				read := &reader{b: b}
				if matches[p] = read.coords(lengths(asked[p])); read.err != nil {
					return nil, r.abort(fmt.Errorf("of rank %d: %w", p, read.err))
				}
			}
		}
	}
	if t.Format.IsDense() {
		return f, f.placeDense(t, want, asked)
	}
	if err := f.placeEntries(t, asked, matches); err != nil {
		return nil, err
	}
	var err error
	f.local, err = r.bringStructure(ctx, f.local)
	return f, err
}

// cutStretch is inspect where the rank itself has what it needs, and that lies side by side: coordinates from one to another along the axis that is stored
// first. It reports whether it is so.
func (f *fetch) cutStretch(t *Tensor) bool {
	if t.Format.IsDense() {
		return false
	}
	axis := t.Format.Order()[0]
	for k, need := range f.need {
		if !t.Sets[k].IsRange(0, t.Shape[k]) || k != axis && !need.IsRange(0, t.Shape[k]) {
			return false
		}
	}
	lo, hi, ok := f.need[axis].Bounds()
	if !ok {
		return false
	}
	levels, from, to, ok := stretchLevels(t.Part, lo, hi)
	if !ok {
		return false
	}
	f.local = tensor.NewTrusted(f.shape, t.Format, levels, t.Part.Values().Slice(from, to), t.Fill)
	f.count, f.set = int64(to-from), int64(to-from)
	f.keep[0].add(int64(from), f.count)
	f.keep[1].add(0, f.count)
	return true
}

// among is the fetch of less of the rank's own part of a dense tensor, and all that comes of others, by the same messages.
func (f *fetch) among(t *Tensor, need []placement.Set) (*fetch, error) {
	me := f.rank.Rank()
	less := &fetch{rank: f.rank, need: need, shape: lengths(need), size: f.size, providers: f.providers, send: f.send, take: make([]runs, len(f.take)), out: f.out, in: f.in}
	asked := make([][]placement.Set, len(f.take))
	for _, p := range f.providers {
		if both, ok := intersect(need, t.Placement.Part(p, t.Shape)); ok {
			asked[p] = both
		}
	}
	if asked[me] != nil {
		less.keep[0] = t.find(asked[me]).at
	}
	return less, less.placeDense(t, need, asked)
}

// placeDense finds the places of what comes among the elements of a dense tensor.
func (f *fetch) placeDense(t *Tensor, want []placement.Set, asked [][]placement.Set) error {
	f.count = 1
	for _, n := range f.shape {
		if n > 0 && f.count > math.MaxInt64/n/f.size {
			return fmt.Errorf("a dense part of shape %v does not fit in memory", f.shape)
		}
		f.count *= n
	}
	f.set = 1
	for _, n := range lengths(want) {
		f.set *= n
	}
	for p, sets := range asked {
		if sets != nil {
			f.takes(p, product(t.Format.Order(), f.shape, withinAll(f.need, sets)))
		}
	}
	return nil
}

// takes says where what comes of a rank goes.
func (f *fetch) takes(p int, at runs) {
	if p == f.rank.Rank() {
		f.keep[1] = at
		return
	}
	f.take[p] = at
}

// placeEntries finds the places of what comes among the values of a sparse tensor, whose structure it makes.
func (f *fetch) placeEntries(t *Tensor, asked [][]placement.Set, matches []*match) error {
	var n int64
	coords := make([][]int64, len(f.need))
	for p, m := range matches {
		if m == nil {
			continue
		}
		n += m.n
		for k := range coords {
			tableOf := within(f.need[k], asked[p][k])
			for _, x := range m.coords[k] {
				coords[k] = append(coords[k], tableOf.At(x))
			}
		}
	}
	local, at, err := build(f.shape, t.Format, coords, n)
	if err != nil {
		return err
	}
	f.local, f.count, f.set = local, int64(local.Values().Len()), n
	id := int64(0)
	for p, m := range matches {
		if m == nil {
			continue
		}
		var to runs
		for range m.n {
			to.add(at[id], 1)
			id++
		}
		f.takes(p, to)
	}
	return nil
}

// owned is the fetch of what every rank has already.
func (r *Rank) owned(t *Tensor) *fetch {
	return &fetch{rank: r, need: t.Sets, shape: lengths(t.Sets), whole: true}
}

// structure is that of what is got of a tensor.
func (f *fetch) structure(t *Tensor) *tensor.Tensor {
	if f.local == nil {
		return t.Part
	}
	return f.local
}

// renumber leaves out coordinates along the axes at which the entries that are got of a tensor have none.
func (f *fetch) renumber(ctx context.Context, t *Tensor, need []placement.Set) error {
	among := withinAll(f.need, need)
	local, err := f.rank.renumbered(ctx, f.structure(t), lengths(need), map[int]tensor.Array{}, func(axis int, x int64) int64 { return among[axis].Find(x) })
	if err != nil {
		return err
	}
	f.need, f.shape = need, lengths(need)
	f.local, err = f.rank.bringStructure(ctx, local)
	return err
}

// renumbered is the structure of a tensor whose coordinates get other numbers, in the same order. On a device, tables of them are kept, by axis.
func (r *Rank) renumbered(ctx context.Context, t *tensor.Tensor, shape []int64, tables map[int]tensor.Array, number func(axis int, x int64) int64) (*tensor.Tensor, error) {
	if r.direct != nil {
		levels, ok, err := r.relabelled(ctx, t, shape, tables, number)
		if err != nil {
			return nil, err
		}
		if ok {
			return tensor.NewTrusted(shape, t.Format(), levels, t.Values(), t.Fill()), nil
		}
	}
	if levels, ok := relabelled(t, shape, number); ok {
		return tensor.NewTrusted(shape, t.Format(), levels, t.Values(), t.Fill()), nil
	}
	n := t.Values().Len()
	coords, w := make([][]int64, len(shape)), t.Window()
	for lo := 0; lo < n; lo += windowLength {
		for k, column := range w.Coords(lo, min(lo+windowLength, n)) {
			for _, x := range column {
				coords[k] = append(coords[k], number(k, x))
			}
		}
	}
	other, at, err := build(shape, t.Format(), coords, int64(n))
	if err != nil {
		return nil, err
	}
	if other.Values().Len() != n {
		panic("BUG: coordinates are left out that have entries")
	}
	for i, p := range at {
		if int64(i) != p {
			panic("BUG: entries change their order with the numbers of their coordinates")
		}
	}
	return other, nil
}

// relabelled are the levels of renumbered where those that change list their coordinates one by one: the others stay as they are.
func relabelled(t *tensor.Tensor, shape []int64, number func(axis int, x int64) int64) ([]tensor.Level, bool) {
	levels, order := t.Levels(), t.Format().Order()
	for k, axis := range order {
		l := &levels[k]
		if l.Size == shape[axis] {
			continue // every coordinate keeps its number
		}
		if !l.Walked() || !l.HasCrd() {
			return nil, false
		}
		crd, ok := renamed(l.Crd, shape[axis], func(x int64) int64 { return number(axis, x) })
		if !ok {
			return nil, false
		}
		l.Size, l.Crd = shape[axis], crd
	}
	return levels, true
}

// renamed are indices with new numbers, which are below a bound; ok is false where their type does not hold them.
func renamed(a tensor.Array, bound int64, number func(int64) int64) (to tensor.Array, ok bool) {
	to, err := tensor.MakeArray(a.DType(), a.Len())
	if err != nil {
		return to, false
	}
	switch a.DType() {
	case tensor.Uint32:
		ok = rename[uint32](to, a, bound, number)
	case tensor.Int32:
		ok = rename[int32](to, a, bound, number)
	case tensor.Int64:
		ok = rename[int64](to, a, bound, number)
	case tensor.Uint64:
		ok = rename[uint64](to, a, bound, number)
	}
	return to, ok
}

func rename[T uint32 | int32 | uint64 | int64](to, from tensor.Array, bound int64, number func(int64) int64) bool {
	if bound > 0 && int64(T(bound-1)) != bound-1 {
		return false
	}
	out := tensor.View[T](to)
	for i, x := range tensor.View[T](from) {
		out[i] = T(number(int64(x)))
	}
	return true
}

// coords are the coordinates along an axis at which entries are got.
func (f *fetch) coords(t *Tensor, axis int) placement.Set {
	var found placement.Marks
	got := f.structure(t)
	w, total := got.Window(), got.Values().Len()
	for lo := 0; lo < total; lo += windowLength {
		for _, x := range w.Coords(lo, min(lo+windowLength, total))[axis] {
			found.Add(f.need[axis].At(x), t.Shape[axis])
		}
	}
	return found.Set()
}

// buffers allocates memory for messages, the first time.
func (f *fetch) buffers() error {
	if f.out != nil {
		return nil
	}
	f.out, f.in = make([][]byte, len(f.send)), make([][]byte, len(f.send))
	for q := range f.send {
		var err error
		if f.out[q], err = f.rank.transport.Buffer(int(f.send[q].values() * f.size)); err != nil {
			return err
		}
		if f.in[q], err = f.rank.transport.Buffer(int(f.take[q].values() * f.size)); err != nil {
			return err
		}
	}
	return nil
}

// free gives the memory for messages back.
func (f *fetch) free() {
	for q := range f.out {
		f.rank.transport.Free(f.out[q])
		f.rank.transport.Free(f.in[q])
	}
	f.out, f.in = nil, nil
	f.device.free()
}

// abort ends the group for a reason.
func (r *Rank) abort(err error) error {
	r.transport.Abort(err.Error())
	return err
}
