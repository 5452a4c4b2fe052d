package testengine

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Direct is a transport of ranks that share one device, which is simulated.
type Direct struct {
	transport.Transport
	engine runtime.Engine
	beside []transport.Traffic // what Swap sends, less what it tells
	unused int64
}

// OnDevice is a rank's end of a group whose arrays are an engine's, which has memory of its own. Unused says how much of it nobody uses.
func OnDevice(t transport.Transport, engine runtime.Engine, unused int64) *Direct {
	return &Direct{Transport: t, engine: engine, beside: make([]transport.Traffic, t.Size()), unused: unused}
}

// Starts counts exchanges of values between arrays of the host.
var Starts atomic.Int64

// Start implements transport.Transport.
func (d *Direct) Start(ctx context.Context, out, in [][]byte) (transport.Pending, error) {
	Starts.Add(1)
	return d.Transport.Start(ctx, out, in)
}

// Mark implements transport.Direct: what an engine is asked is done at once.
func (d *Direct) Mark(transport.Mark) (transport.Mark, error) { return nil, nil }

// Reached implements transport.Direct.
func (d *Direct) Reached(context.Context, transport.Mark) error { return nil }

// Unused implements transport.Direct.
func (d *Direct) Unused() (int64, error) { return d.unused, nil }

// Swap implements transport.Direct: ranks tell each other where what they send is, and copy what they receive.
func (d *Direct) Swap(ctx context.Context, out, in []transport.Span, _, _ transport.Mark) (transport.Swapping, error) {
	if err := transport.CheckSpans(d.Rank(), d.Size(), out, in); err != nil {
		return nil, err
	}
	told := make([][]byte, len(out))
	for r, s := range out {
		if r != d.Rank() && s.Bytes > 0 {
			told[r] = binary.LittleEndian.AppendUint64(nil, s.Address)
			d.beside[r].Bytes += s.Bytes - int64(len(told[r]))
		}
	}
	theirs, err := d.Exchange(ctx, told)
	if err != nil {
		return nil, err
	}
	for r, s := range in {
		from := out[r].Address
		if r != d.Rank() && s.Bytes > 0 {
			from = binary.LittleEndian.Uint64(theirs[r])
		}
		if err := runtime.Move(ctx, d.engine, s.Address, from, s.Bytes); err != nil {
			return nil, err
		}
	}
	return swapped{}, transport.Barrier(ctx, d) // before that nobody may write to what is copied
}

type swapped struct{}

func (swapped) Arrived(context.Context) error { return nil }
func (swapped) Sent(context.Context) error    { return nil }

// Sent implements transport.Transport.
func (d *Direct) Sent() []transport.Traffic {
	sent := d.Transport.Sent()
	for r, more := range d.beside {
		sent[r].Bytes += more.Bytes
	}
	return sent
}
