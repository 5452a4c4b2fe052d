package dist

import (
	"context"
	"fmt"
	"slices"
	"weak"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
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

	rooms  []*room           // for what comes, in turns
	turn   int               // which is next
	single bool              // there is no memory for two
	idle   [2]transport.Mark // when those of either half may be written to; of a single one, the first

	of       weak.Pointer[tensor.Tensor] // the part of which the rest is
	from     uint64                      // where its values are
	uploaded tensor.Array                // a copy of them, where the host has them
	packed   []tensor.Array              // by rank, what was picked
	made     transport.Mark              // when all that is there
}

// directly reports whether a fetch moves values on the device. All ranks say the same where something is sent.
func (f *fetch) directly(t *Tensor) bool {
	return f.rank.direct != nil && (len(f.providers) > 1 || f.rank.onDevice(t.Part.Values()))
}

// moves finds out how values go that are not moved by the host.
func (f *fetch) moves(ctx context.Context, values int64) error {
	if f.device != nil {
		return nil
	}
	me := f.rank.Rank()
	d := &direct{picks: make([]*tensor.Tensor, len(f.send)), at: make([]int64, len(f.send)), packed: make([]tensor.Array, len(f.send))}
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

// room is memory of the device for what comes, used again and again.
type room struct {
	values tensor.Array
	kept   weak.Pointer[tensor.Tensor] // the part of which it has what the rank keeps
}

// makeRoom makes memory for what comes of a tensor.
func (f *fetch) makeRoom(ctx context.Context, t *Tensor) (*room, error) {
	r, d := f.rank, f.device
	n := f.count
	if d.order != nil {
		n = d.count
		if d.fill {
			n++
		}
	}
	m := &room{}
	var err error
	if m.values, err = r.allocate(ctx, t.DType, n); err != nil {
		return nil, err
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
		defer free(there.Values())
		if err := runtime.Move(ctx, r.session.Engine(), address(m.values)+uint64(d.count*f.size), address(there.Values()), f.size); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// mostRooms is how many rooms there are for short messages, an even number. Each half of them is marked once a turn, and waited for: the host is
// no more than a turn ahead, so that messages have come, most of the time, before the work that wants them is put behind them. The driver then leaves out
// the waiting, which takes a GPU two microseconds each time, whether what it waits for is there or not.
const mostRooms = 8

// room is memory for what comes: others in turns, so that what comes need not wait for what is computed with what came before.
func (f *fetch) room(ctx context.Context, t *Tensor) (*room, error) {
	d := f.device
	n := max(len(d.rooms), 1)
	if len(d.rooms) == 1 && !d.single { // there is a second run
		unused, err := f.rank.direct.Unused()
		if err != nil {
			return nil, err
		}
		if bytes := d.rooms[0].values.Bytes(); bytes <= unused/(32*mostRooms) {
			n = mostRooms
		} else if bytes <= unused/8 {
			n = 2
		}
		d.single = n == 1
	}
	if len(d.rooms) == n {
		if n > 1 && d.turn%(n/2) == 0 {
			if err := f.rank.direct.Reached(ctx, d.idle[d.half()]); err != nil {
				return nil, err
			}
		}
		return d.rooms[d.turn], nil
	}
	for len(d.rooms) < n {
		m, err := f.makeRoom(ctx, t)
		if err != nil && len(d.rooms) > 0 { // one is enough
			for _, more := range d.rooms[1:] {
				free(more.values)
			}
			d.rooms, d.single = d.rooms[:1], true
			break
		}
		if err != nil {
			return nil, err
		}
		d.rooms = append(d.rooms, m)
	}
	for half := range d.idle {
		var err error
		if d.idle[half], err = f.rank.direct.Mark(d.idle[half]); err != nil {
			return nil, err
		}
	}
	return d.rooms[d.turn], nil
}

// half is that of the room whose turn it is.
func (d *direct) half() int { return 2 * d.turn / max(len(d.rooms), 2) }

// used ends the turn of a room.
func (f *fetch) used() (err error) {
	d := f.device
	half := d.half()
	d.turn = (d.turn + 1) % len(d.rooms)
	if len(d.rooms) == 1 || d.half() != half {
		d.idle[half], err = f.rank.direct.Mark(d.idle[half])
	}
	return err
}

// prepare makes what is sent of a tensor, unless it is there from the run before.
func (f *fetch) prepare(ctx context.Context, t *Tensor) error {
	r, d := f.rank, f.device
	if t.Part.Released() {
		return fmt.Errorf("an operand of shape %v was released", t.Shape)
	}
	part := weak.Make(t.Part)
	if d.of == part {
		return nil
	}
	d.discard()
	from := t.Part.Values()
	if !r.onDevice(from) {
		there, err := r.toDevice(ctx, tensor.NewTrusted([]int64{int64(from.Len())}, tensor.Dense(1), nil, from, t.Fill))
		if err != nil {
			return err
		}
		from = there.Values()
		d.uploaded = from
	}
	d.from = address(from)
	for p, at := range d.picks {
		if at == nil {
			continue
		}
		var err error
		if d.packed[p], err = r.pick(ctx, from, d.unit, at); err != nil {
			return err
		}
	}
	var err error
	if d.made, err = r.direct.Mark(d.made); err == nil {
		d.of = part
	}
	return err
}

// discard gives back what prepare has made.
func (d *direct) discard() {
	for p, a := range d.packed {
		free(a)
		d.packed[p] = tensor.Array{}
	}
	free(d.uploaded)
	d.uploaded, d.of = tensor.Array{}, weak.Pointer[tensor.Tensor]{}
}

// free gives back what the fetch has on the device.
func (d *direct) free() {
	if d == nil {
		return
	}
	d.discard()
	for _, m := range d.rooms {
		free(m.values)
	}
	d.rooms = nil
}

// startDirect is start on a device. What comes lies in memory of the fetch, or in memory of its own.
func (f *fetch) startDirect(ctx context.Context, t *Tensor, own bool) (g *getting, err error) {
	r := f.rank
	alone := len(f.providers) == 1
	g = &getting{fetch: f, of: t, direct: true, own: own || alone}
	if err := f.moves(ctx, int64(t.Part.Values().Len())); err != nil {
		return nil, err
	}
	d, me := f.device, r.Rank()
	if err := f.prepare(ctx, t); err != nil {
		return nil, err
	}
	if kept := f.span(me); alone && !own && d.order == nil && len(f.keep[0]) == 1 && kept.Address%runtime.ForeignAlignment == 0 {
		there, err := runtime.ForeignResident(r.session.Engine(), kept.Address, kept.Bytes)
		if err != nil {
			return nil, err
		}
		g.room = &room{values: tensor.RemoteArray(t.DType, int(f.count), there)} // where it is
		return g, nil
	}
	var idle transport.Mark
	if g.own {
		if g.room, err = f.makeRoom(ctx, t); err == nil {
			idle, err = r.direct.Mark(nil)
		}
	} else if g.room, err = f.room(ctx, t); err == nil {
		idle = d.idle[d.half()]
	}
	if err != nil {
		return nil, err
	}
	out, in := make([]transport.Span, len(f.send)), make([]transport.Span, len(f.send))
	for p := range f.send {
		if p == me && g.room.kept == d.of {
			continue
		}
		out[p] = f.span(p)
		if p != me {
			r.sent.Values += out[p].Bytes
		}
		n := f.take[p].values()
		if p == me {
			n = f.keep[1].values()
		}
		if n > 0 {
			in[p] = transport.Span{Address: address(g.room.values) + uint64(d.at[p]*f.size), Bytes: n * f.size}
		}
	}
	g.room.kept = d.of
	if !alone {
		g.swap, err = r.direct.Swap(ctx, out, in, d.made, idle)
	} else {
		err = runtime.Move(ctx, r.session.Engine(), in[me].Address, out[me].Address, in[me].Bytes)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// span is where what goes to a rank lies, in the tensor or picked.
func (f *fetch) span(p int) transport.Span {
	of, d := f.sends(p), f.device
	switch {
	case len(of) == 0:
		return transport.Span{}
	case d.picks[p] == nil:
		return transport.Span{Address: d.from + uint64(of[0].at*f.size), Bytes: of.values() * f.size}
	}
	return transport.Span{Address: address(d.packed[p]), Bytes: of.values() * f.size}
}

// waitDirect is the end of what startDirect has begun: the values that have come.
func (g *getting) waitDirect(ctx context.Context) error {
	if g.swap != nil {
		if err := g.swap.Arrived(ctx); err != nil {
			return err
		}
	}
	r, d, come := g.rank, g.device, g.room.values
	if !g.own {
		var err error
		if come, err = r.seen(come); err != nil { // kernels remember what follows from an array, and this one's values will be others
			return err
		}
	}
	if g.values = come; d.order == nil {
		return nil
	}
	var err error
	if g.values, err = r.pick(ctx, come, d.unit, d.order); err != nil {
		return fmt.Errorf("values that have come are ordered: %w", err)
	}
	free(come)
	return nil
}

// done is when what was got has been used, and what was sent may go.
func (g *getting) done(ctx context.Context) (err error) {
	if !g.direct {
		return nil
	}
	if g.swap != nil {
		if err := g.swap.Sent(ctx); err != nil {
			return err
		}
	}
	if g.device.uploaded.Len() > 0 { // the host's copy is enough
		g.device.discard()
	}
	if g.own {
		return nil
	}
	return g.used()
}

// swapSummands is summands from device to device, for dense results whose parts lie side by side each; nil of others.
func (st *step) swapSummands(ctx context.Context, t *tensor.Tensor, to *placement.Placement) ([]*tensor.Tensor, error) {
	r, shape, format := st.program.rank, st.st.shape, st.format()
	if r.direct == nil || !format.IsDense() {
		return nil, nil
	}
	line := r.group(r.Rank(), st.how.summed())
	left := st.how.left(r.grid, len(shape))
	give := func(p, q int) runs { // what one rank has of what another gets
		has := left.Part(p, shape)
		return product(format.Order(), lengths(has), withinAll(has, to.Part(q, shape)))
	}
	if st.scattered == nil { // on any rank: all do the same
		scattered := false
		for p := range r.transport.Size() {
			scattered = scattered || slices.ContainsFunc(r.group(p, st.how.summed()), func(q int) bool { return len(give(p, q)) > 1 })
		}
		st.scattered = &scattered
	}
	if *st.scattered {
		return nil, nil
	}
	parts := make([]runs, len(line)) // of what this rank has of the result, by rank
	for k, q := range line {
		parts[k] = give(r.Rank(), q)
	}
	h, err := st.summandHeader(ctx, t)
	if err != nil {
		return nil, err
	}
	size := int64(h.dtype.Size())
	out, in := make([]transport.Span, r.transport.Size()), make([]transport.Span, r.transport.Size())
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
			if out[q] = (transport.Span{Address: address(t.Values()) + uint64(parts[k][0].at*size), Bytes: parts[k][0].n * size}); q != r.Rank() {
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
		if values.Len() > 0 {
			in[q] = transport.Span{Address: address(values), Bytes: values.Bytes()}
		}
	}
	here, err := r.direct.Mark(nil)
	if err != nil {
		return nil, err
	}
	swap, err := r.direct.Swap(ctx, out, in, here, here)
	if err != nil {
		return nil, err
	}
	if err := swap.Arrived(ctx); err != nil {
		return nil, err
	}
	return summands, swap.Sent(ctx)
}
