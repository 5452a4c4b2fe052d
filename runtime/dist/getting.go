package dist

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// getting is a fetch under way.
type getting struct {
	*fetch
	of      *Tensor // nil: what is sent has no meaning
	values  tensor.Array
	pending transport.Pending
	come    *tensor.Tensor // when wait has returned

	direct bool // on a device
	swap   transport.Swapping
	room   *room // what comes there
	own    bool  // whose memory is what is got
}

// start begins to bring values over. What is got is good until done, or has memory of its own. Without a tensor messages go that have no meaning, as others wait for them.
func (f *fetch) start(ctx context.Context, t *Tensor, own bool) (*getting, error) {
	g := &getting{fetch: f, of: t}
	if f.whole {
		return g, nil
	}
	if t != nil && f.directly(t) {
		return f.startDirect(ctx, t, own)
	}
	var err error
	var from []byte
	if t != nil {
		if g.values, err = f.array(t); err != nil {
			return nil, err
		}
		from = t.Part.Values().Raw()
	}
	if len(f.providers) > 1 {
		if err := f.buffers(); err != nil {
			return nil, err
		}
		for q, at := range f.send {
			if t != nil {
				at.pack(f.out[q], from, f.size)
			}
			f.rank.sent.Values += int64(len(f.out[q]))
		}
		if g.pending, err = f.rank.transport.Start(ctx, f.out, f.in); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return g, nil
	}
	if f.keep[0].values() != f.keep[1].values() {
		panic("BUG: a rank keeps other values than it needs")
	}
	f.keep[1].move(g.values.Raw(), from, f.keep[0], f.size)
	return g, nil
}

// array is where values come: that of the run before, if nobody has it any more, which spares new pages.
func (f *fetch) array(t *Tensor) (tensor.Array, error) {
	if f.set < f.count || f.count == 0 {
		return makeValues(t.DType, f.count, f.set, t.Fill)
	}
	memory := f.spare.Swap(nil)
	if memory == nil {
		values, err := tensor.MakeArray(t.DType, int(f.count))
		if err != nil {
			return values, err
		}
		raw := values.Raw()
		memory = &raw
	}
	block := tensor.NewPooled(*memory, func() { f.spare.Store(memory) })
	return block.Array(t.DType, block.Pointer(), int(f.count)), nil
}

// wait ends the fetch.
func (g *getting) wait(ctx context.Context) (*tensor.Tensor, error) {
	if g.come != nil {
		return g.come, nil
	}
	if g.of == nil {
		if g.pending == nil {
			return nil, nil
		}
		return nil, g.pending.Wait(ctx)
	}
	if g.whole {
		if g.local == nil {
			return g.of.Part, nil
		}
		if g.with[0] != g.of.Part { // kernels remember what follows from a tensor
			g.with = [2]*tensor.Tensor{g.of.Part, tensor.NewTrusted(g.shape, g.of.Format, g.local.Levels(), g.of.Part.Values(), g.of.Fill)}
		}
		return g.with[1], nil
	}
	if g.direct {
		if err := g.waitDirect(ctx); err != nil {
			return nil, err
		}
	} else if g.pending != nil {
		if err := g.pending.Wait(ctx); err != nil {
			return nil, err
		}
		for p, b := range g.in {
			g.take[p].unpack(g.values.Raw(), b, g.size)
		}
	}
	if g.local == nil {
		return tensor.NewTrusted(g.shape, g.of.Format, nil, g.values, g.of.Fill), nil
	}
	return tensor.NewTrusted(g.shape, g.of.Format, g.local.Levels(), g.values, g.of.Fill), nil
}

func (f *fetch) get(ctx context.Context, t *Tensor) (*tensor.Tensor, error) {
	g, err := f.start(ctx, t, true)
	if err != nil {
		return nil, err
	}
	got, err := g.wait(ctx)
	if err != nil {
		return nil, err
	}
	return got, g.done(ctx)
}

// placed is what the fetch makes of a tensor, as one that is placed.
func (f *fetch) placed(ctx context.Context, t *Tensor, p *placement.Placement) (*Tensor, error) {
	part, err := f.get(ctx, t)
	if err != nil {
		return nil, err
	}
	other := *t
	other.Placement, other.Part, other.Sets = p, part, f.need
	return &other, nil
}
