package dist

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file moves values between ranks whose tensors are in the memory of devices. What lies side by side is sent from where it is, and
// received where it goes; other values are picked on the device, by programs that the rank's session runs.

// direct is how a fetch moves values on a device.
type direct struct {
	unit  int64            // how many values always go together
	picks []*tensor.Tensor // by rank, and at its own number for what it keeps: which units go, nil where they lie side by side
	at    []int64          // by rank, the value in what is received at which its own begin
	count int64            // of values that are received, with what the rank keeps
	order *tensor.Tensor   // which unit of those each unit of the result is; nil: they come in order
	fill  bool             // one more value follows them, the fill
}

// onDevice reports whether the values of an array are in the memory of the rank's device.
func (r *Rank) onDevice(a tensor.Array) bool {
	at, ok := a.Remote().(*runtime.Resident)
	return a.Len() == 0 || ok && at.On(r.session.Engine())
}

// directly reports whether a fetch moves values on the device. All ranks say the same where something is sent.
func (f *fetch) directly(t *Tensor) bool {
	return f.rank.direct != nil && (len(f.providers) > 1 || f.rank.onDevice(t.Part.Values()))
}

// bring brings the arrays of a tensor to the rank's device, where there is one.
func (r *Rank) bring(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if r.direct == nil {
		return t, nil
	}
	return r.toDevice(ctx, t)
}

// bringStructure is bring without the values.
func (r *Rank) bringStructure(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	none, err := tensor.MakeArray(t.DType(), 0)
	if err != nil {
		return nil, err
	}
	bare, err := r.bring(ctx, tensor.NewTrusted(t.Shape(), t.Format(), t.Levels(), none, t.Fill()))
	if err != nil {
		return nil, err
	}
	return tensor.NewTrusted(t.Shape(), t.Format(), bare.Levels(), t.Values(), t.Fill()), nil
}

func (r *Rank) toDevice(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	c, err := r.session.Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.ToDevice(ctx, t)
}

// moves finds out how values go that are not moved by the host.
func (f *fetch) moves(ctx context.Context, values int64) error {
	if f.device != nil {
		return nil
	}
	me := f.rank.Rank()
	d := &direct{picks: make([]*tensor.Tensor, len(f.send)), at: make([]int64, len(f.send))}
	takes := func(p int) runs {
		if p == me {
			return f.keep[1]
		}
		return f.take[p]
	}
	d.unit = gcd(values, f.count)
	inOrder := f.set == f.count
	for p := range f.send {
		d.unit = takes(p).unit(f.sends(p).unit(d.unit))
		inOrder = inOrder && len(takes(p)) <= 1
	}
	d.fill = f.set < f.count
	if d.fill {
		d.unit = 1
	}
	d.unit = max(d.unit, 1)
	var places []int64 // by unit of the result
	if !inOrder {
		places = make([]int64, f.count/d.unit)
		for i := range places {
			places[i] = f.set // where the fill is
		}
	}
	for p := range f.send {
		var err error
		if d.picks[p], err = f.rank.units(ctx, f.sends(p), d.unit); err != nil {
			return err
		}
		to := takes(p)
		switch {
		case !inOrder:
			d.at[p] = d.count
			next := d.count / d.unit
			for _, x := range to {
				for k := range x.n / d.unit {
					places[x.at/d.unit+k] = next
					next++
				}
			}
		case len(to) == 1:
			d.at[p] = to[0].at
		}
		d.count += to.values()
	}
	if !inOrder {
		var err error
		if d.order, err = f.rank.indices(ctx, places, f.set/d.unit+1); err != nil {
			return err
		}
	}
	f.device = d
	return nil
}

// sends is what goes to a rank, or what this one keeps.
func (f *fetch) sends(p int) runs {
	if p == f.rank.Rank() {
		return f.keep[0]
	}
	return f.send[p]
}

// unit is the most values, at most of a given number, in multiples of which runs begin and are long.
func (r runs) unit(most int64) int64 {
	for _, x := range r {
		if most == 1 {
			return 1
		}
		most = gcd(gcd(most, x.at), x.n)
	}
	return most
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// units are the numbers of the units of runs, on the device; nil if they lie side by side.
func (r *Rank) units(ctx context.Context, of runs, unit int64) (*tensor.Tensor, error) {
	if len(of) <= 1 {
		return nil, nil
	}
	list := make([]int64, 0, of.values()/unit)
	for _, x := range of {
		for k := range x.n / unit {
			list = append(list, x.at/unit+k)
		}
	}
	return r.indices(ctx, list, list[len(list)-1]+1)
}

// indices is a vector of numbers below a bound, on the device.
func (r *Rank) indices(ctx context.Context, list []int64, bound int64) (*tensor.Tensor, error) {
	if bound > 1<<32 {
		return r.toDevice(ctx, tensor.Vector(list))
	}
	short := make([]uint32, len(list))
	for i, x := range list {
		short[i] = uint32(x)
	}
	return r.toDevice(ctx, tensor.Vector(short))
}

// pick is what values have at the numbers of units; no tensor holds it.
func (r *Rank) pick(ctx context.Context, values tensor.Array, unit int64, at *tensor.Tensor) (tensor.Array, error) {
	program, shape := "t(i) = s(p(i))", []int64{int64(values.Len()) / unit}
	if unit > 1 {
		program, shape = "t(i,k) = s(p(i),k)", append(shape, unit)
	}
	s := tensor.NewTrusted(shape, tensor.Dense(len(shape)), nil, values, tensor.Zero(values.DType()))
	defer s.Release()
	t, err := r.picker.Eval(ctx, program, exec.Args{"s": s, "p": at}, declare.AsWritten(), declare.Result("t", tensor.Dense(len(shape))))
	if err != nil {
		return tensor.Array{}, err
	}
	there, ok := t.Values().Remote().(*runtime.Resident)
	if !ok {
		return t.Values(), nil // there are none
	}
	return tensor.RemoteArray(t.DType(), t.Values().Len(), there), nil // which t does not hold
}

// relabelled is the package's function of that name for a tensor on the device: coordinates get their numbers there. It is not ok where levels do more than
// list coordinates one by one. Tables of numbers are kept, by axis.
func (r *Rank) relabelled(ctx context.Context, t *tensor.Tensor, shape []int64, tables map[int]tensor.Array, number func(axis int, x int64) int64) (levels []tensor.Level, ok bool, err error) {
	levels = t.Levels()
	for k, axis := range t.Format().Order() {
		l := &levels[k]
		if l.Size == shape[axis] {
			continue
		}
		if !l.Walked() || !l.HasCrd() || !r.onDevice(l.Crd) || shape[axis] > math.MaxInt32 {
			return nil, false, nil
		}
		table, known := tables[axis]
		if !known {
			numbers := make([]int64, l.Size)
			for x := range numbers {
				numbers[x] = number(axis, int64(x))
			}
			list, err := tensor.ArrayOf(numbers).Convert(l.Crd.DType())
			if err != nil {
				return nil, false, err
			}
			t, err := r.toDevice(ctx, tensor.NewTrusted([]int64{l.Size}, tensor.Dense(1), nil, list, tensor.Zero(list.DType())))
			if err != nil {
				return nil, false, err
			}
			table = t.Values()
			tables[axis] = table
		}
		at := tensor.NewTrusted([]int64{int64(l.Crd.Len())}, tensor.Dense(1), nil, l.Crd, tensor.Zero(l.Crd.DType()))
		l.Crd, err = r.pick(ctx, table, 1, at)
		at.Release()
		if err != nil {
			return nil, false, err
		}
		l.Size = shape[axis]
	}
	return levels, true, nil
}

// address is where an array is in the device's memory.
func address(a tensor.Array) uint64 {
	if a.Len() == 0 {
		return 0
	}
	return a.Remote().(*runtime.Resident).Address()
}

// allocate makes an array on the device.
func (r *Rank) allocate(ctx context.Context, dt tensor.DType, n int64) (tensor.Array, error) {
	if n == 0 {
		return tensor.MakeArray(dt, 0)
	}
	at, err := runtime.Allocate(ctx, r.session.Engine(), n*int64(dt.Size()))
	if err != nil {
		return tensor.Array{}, err
	}
	return tensor.RemoteArray(dt, int(n), at), nil
}

// startDirect is start on a device.
func (f *fetch) startDirect(ctx context.Context, t *Tensor) (*getting, error) {
	r, engine := f.rank, f.rank.session.Engine()
	g := &getting{fetch: f, of: t, direct: true, from: t.Part.Values()}
	if !r.onDevice(g.from) {
		part, err := r.toDevice(ctx, tensor.NewTrusted([]int64{int64(g.from.Len())}, tensor.Dense(1), nil, g.from, t.Fill))
		if err != nil {
			return nil, err
		}
		g.from = part.Values()
		g.packed = append(g.packed, g.from)
	}
	if err := f.moves(ctx, int64(g.from.Len())); err != nil {
		return nil, err
	}
	d, me := f.device, r.Rank()
	n := f.count
	if d.order != nil {
		n = d.count
		if d.fill {
			n++
		}
	}
	var err error
	if g.values, err = r.allocate(ctx, t.DType, n); err != nil {
		return nil, err
	}
	out, in := make([]transport.Span, len(f.send)), make([]transport.Span, len(f.send))
	var kept transport.Span
	for p := range f.send {
		span, err := f.span(ctx, g, p)
		if err != nil {
			return nil, err
		}
		if p == me {
			kept = span
			continue
		}
		out[p] = span
		r.sent.Values += span.Bytes
		if n := f.take[p].values(); n > 0 {
			in[p] = transport.Span{Address: address(g.values) + uint64(d.at[p]*f.size), Bytes: n * f.size}
		}
	}
	if len(f.providers) > 1 {
		if g.pending, err = r.direct.Swap(ctx, out, in); err != nil {
			return nil, err
		}
	}
	if kept.Bytes > 0 {
		if err := runtime.Move(ctx, engine, address(g.values)+uint64(d.at[me]*f.size), kept.Address, kept.Bytes); err != nil {
			return nil, err
		}
	}
	if d.order != nil && d.fill {
		one, err := tensor.MakeArray(t.DType, 1)
		if err != nil {
			return nil, err
		}
		one.SetScalar(0, t.Fill)
		there, err := r.toDevice(ctx, tensor.NewTrusted([]int64{1}, tensor.Dense(1), nil, one, t.Fill))
		if err != nil {
			return nil, err
		}
		if err := runtime.Move(ctx, engine, address(g.values)+uint64(d.count*f.size), address(there.Values()), f.size); err != nil {
			return nil, err
		}
		g.packed = append(g.packed, there.Values())
	}
	return g, nil
}

// span is where what goes to a rank lies, in the tensor or picked.
func (f *fetch) span(ctx context.Context, g *getting, p int) (transport.Span, error) {
	of := f.sends(p)
	switch {
	case len(of) == 0:
		return transport.Span{}, nil
	case f.device.picks[p] == nil:
		return transport.Span{Address: address(g.from) + uint64(of[0].at*f.size), Bytes: of.values() * f.size}, nil
	}
	picked, err := f.rank.pick(ctx, g.from, f.device.unit, f.device.picks[p])
	if err != nil {
		return transport.Span{}, err
	}
	g.packed = append(g.packed, picked)
	return transport.Span{Address: address(picked), Bytes: of.values() * f.size}, nil
}

// waitDirect is the end of what startDirect has begun: the values that have come.
func (g *getting) waitDirect(ctx context.Context) (err error) {
	if g.pending != nil {
		if err := g.pending.Wait(ctx); err != nil {
			return err
		}
	}
	for _, a := range g.packed {
		free(a)
	}
	if d := g.device; d.order != nil {
		come := g.values
		if g.values, err = g.rank.pick(ctx, come, d.unit, d.order); err != nil {
			return fmt.Errorf("values that have come are ordered: %w", err)
		}
		free(come)
	}
	return nil
}

// swapSummands is summands from device to device, for dense results whose parts lie side by side each; nil of others.
func (st *step) swapSummands(ctx context.Context, t *tensor.Tensor, to *placement.Placement) ([]*tensor.Tensor, error) {
	r, shape, format := st.program.rank, st.st.shape, st.format()
	if r.direct == nil || !format.IsDense() {
		return nil, nil
	}
	line := r.group(st.how.summed())
	has := st.how.left(r.grid, len(shape)).Part(r.Rank(), shape)
	parts := make([]runs, len(line)) // of what this rank has of the result, by rank
	for k, q := range line {
		if parts[k] = product(format.Order(), lengths(has), withinAll(has, to.Part(q, shape))); len(parts[k]) > 1 {
			return nil, nil
		}
	}
	h, err := st.summandHeader(ctx, t)
	if err != nil {
		return nil, err
	}
	size := int64(h.dtype.Size())
	out, in := make([]transport.Span, r.transport.Size()), make([]transport.Span, r.transport.Size())
	var own transport.Span
	if t != nil {
		if !r.onDevice(t.Values()) {
			if t, err = r.toDevice(ctx, t); err != nil {
				return nil, err
			}
		}
		for k, q := range line {
			if len(parts[k]) == 0 {
				continue
			}
			if out[q] = (transport.Span{Address: address(t.Values()) + uint64(parts[k][0].at*size), Bytes: parts[k][0].n * size}); q == r.Rank() {
				own, out[q] = out[q], transport.Span{}
			} else {
				r.sent.Combination += out[q].Bytes
			}
		}
	}
	mine := to.Part(r.Rank(), shape)
	summands := []*tensor.Tensor{}
	for _, q := range line {
		if !st.computes(q) {
			continue
		}
		values, err := r.allocate(ctx, h.dtype, parts[slices.Index(line, r.Rank())].values())
		if err != nil {
			return nil, err
		}
		summands = append(summands, tensor.NewTrusted(lengths(mine), format, nil, values, h.fill))
		if values.Len() == 0 {
			continue
		}
		if q != r.Rank() {
			in[q] = transport.Span{Address: address(values), Bytes: values.Bytes()}
		} else if err := runtime.Move(ctx, r.session.Engine(), address(values), own.Address, own.Bytes); err != nil {
			return nil, err
		}
	}
	swap, err := r.direct.Swap(ctx, out, in)
	if err != nil {
		return nil, err
	}
	return summands, swap.Wait(ctx)
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

// free gives an array back that no tensor has.
func free(a tensor.Array) {
	if at, ok := a.Remote().(*runtime.Resident); ok {
		at.Free()
	}
}
