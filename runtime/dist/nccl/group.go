package nccl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Group is one rank's end of a group of ranks with GPUs. It implements transport.Transport, whose messages it takes
// through the GPUs; Swap is for arrays that are there already.
type Group struct {
	transport.Transport // underneath
	device              *cuda.Device
	stream              *cuda.Stream
	carrier             carrier

	mu   sync.Mutex
	sent []transport.Traffic
}

// Join makes the ranks of a transport, which all call it, a group whose messages NCCL carries between their devices; no two
// ranks may have the same one. The transport belongs to the group from then on. The error is a *NotFoundError where there is no NCCL.
func Join(ctx context.Context, t transport.Transport, device *cuda.Device) (*Group, error) {
	g, err := newGroup(t, device)
	if err != nil {
		return nil, err
	}
	c, err := newComm(ctx, t, device, g.stream)
	if err != nil {
		g.stream.Close()
		t.Abort(err.Error()) // others wait for this rank
		return nil, err
	}
	g.carrier = c
	return g, nil
}

func newGroup(t transport.Transport, device *cuda.Device) (*Group, error) {
	stream, err := device.NewStream()
	if err != nil {
		t.Abort(err.Error())
		return nil, err
	}
	return &Group{Transport: t, device: device, stream: stream, sent: make([]transport.Traffic, t.Size())}, nil
}

// Devices makes a group of ranks that are goroutines of this process, one for each device. NCCL carries their messages, or the
// driver's copies between devices where there is no NCCL, or one device is given to several ranks.
func Devices(ctx context.Context, devices []*cuda.Device) ([]*Group, error) {
	list, err := ranks.New(len(devices), ranks.Faults{})
	if err != nil {
		return nil, err
	}
	_, missing := load()
	groups := make([]*Group, len(devices))
	if missing != nil || shared(devices) {
		all := &peers{calls: map[hop]*handover{}}
		for r, t := range list {
			if groups[r], err = newGroup(t, devices[r]); err != nil {
				return nil, err
			}
			groups[r].carrier = all.join(r, devices[r], groups[r].stream)
		}
		return groups, nil
	}
	errs := make([]error, len(devices))
	var wg sync.WaitGroup
	for r, t := range list {
		wg.Go(func() { groups[r], errs[r] = Join(ctx, t, devices[r]) })
	}
	wg.Wait()
	return groups, errors.Join(errs...)
}

// shared reports whether a device is there twice.
func shared(devices []*cuda.Device) bool {
	seen := map[int]bool{}
	for _, d := range devices {
		n := d.Info().Ordinal
		if seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}

// Engine says what carries the messages, such as "NCCL 2.27.3".
func (g *Group) Engine() string { return g.carrier.name() }

// Stream is the rank's stream: Swap sends what stands in it has made.
func (g *Group) Stream() *cuda.Stream { return g.stream }

// Swap begins an exchange of messages between arrays on the devices, after what stands in the rank's stream. It is collective, as
// Start is: both sides know the lengths, and out must not be written to, nor in be read, before Wait has returned.
func (g *Group) Swap(ctx context.Context, out, in []Span) (transport.Pending, error) {
	if err := g.checkSpans(out, in); err != nil {
		return nil, err
	}
	said, err := g.say(ctx, out, in)
	if err != nil {
		return nil, g.broken(ctx, err)
	}
	self := g.Rank()
	if err := g.stream.CopyOnDevice(in[self].Ptr, out[self].Ptr, out[self].Bytes); err != nil {
		return nil, g.broken(ctx, err)
	}
	out, in = slices.Clone(out), slices.Clone(in)
	out[self], in[self] = Span{}, Span{}
	watched, stop := transport.Watch(ctx, g)
	defer stop()
	wait, err := g.carrier.swap(watched, out, in)
	if err != nil {
		return nil, g.broken(ctx, err)
	}
	g.count(out)
	return &pending{g, said, in, wait}, nil
}

// checkSpans is transport.CheckLengths for spans.
func (g *Group) checkSpans(out, in []Span) error {
	switch n := g.Size(); {
	case len(out) != n || len(in) != n:
		return fmt.Errorf("an exchange among %d ranks sends %d messages and receives %d", n, len(out), len(in))
	case out[g.Rank()].Bytes != in[g.Rank()].Bytes:
		return fmt.Errorf("rank %d sends itself %d bytes and receives %d", g.Rank(), out[g.Rank()].Bytes, in[g.Rank()].Bytes)
	}
	return nil
}

func (g *Group) count(out []Span) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, s := range out {
		if s.Bytes > 0 {
			g.sent[r].Messages++
			g.sent[r].Bytes += int64(s.Bytes)
		}
	}
}

// said is what ranks tell each other of a swap: how long the messages are. Carriers do not notice where two ranks
// disagree, nor that one is in another call or has died.
type said struct {
	transport.Pending
	out, in [][]byte
}

const wordBytes = 8

// say tells the others how long the messages to them are.
func (g *Group) say(ctx context.Context, out, in []Span) (*said, error) {
	s := &said{out: make([][]byte, g.Size()), in: make([][]byte, g.Size())}
	for r := range out {
		if r == g.Rank() {
			continue
		}
		var err error
		if s.out[r], err = g.Buffer(wordBytes); err != nil {
			return nil, err
		}
		if s.in[r], err = g.Buffer(wordBytes); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(s.out[r], out[r].Bytes)
	}
	var err error
	s.Pending, err = g.Transport.Start(ctx, s.out, s.in)
	return s, err
}

// agree waits for what the others say, and compares it with what this rank expects.
func (g *Group) agree(ctx context.Context, s *said, in []Span) error {
	if err := s.Wait(ctx); err != nil {
		return err
	}
	for r, b := range s.in {
		if r == g.Rank() {
			continue
		}
		if n := binary.LittleEndian.Uint64(b); n != in[r].Bytes {
			return &transport.Error{Rank: r, Reason: fmt.Sprintf("it sends %d bytes to rank %d, which expects %d", n, g.Rank(), in[r].Bytes)}
		}
	}
	for r := range s.in {
		g.Free(s.out[r])
		g.Free(s.in[r])
	}
	return nil
}

// broken ends the group because of an error, or what the carrier has under way because the group has ended.
func (g *Group) broken(ctx context.Context, err error) error {
	failed := false
	select {
	case <-g.Failed():
		failed = true
	default:
		g.Transport.Abort(why(ctx, err))
	}
	g.carrier.abort()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed:
		return g.Transport.Barrier(context.Background()) // which says why
	}
	return err
}

func why(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "it was stopped: " + ctx.Err().Error()
	}
	return err.Error()
}

// pending is a swap under way.
type pending struct {
	*Group
	said *said
	in   []Span
	wait func(context.Context) error
}

// Wait implements transport.Pending.
func (p *pending) Wait(ctx context.Context) error {
	watched, stop := transport.Watch(ctx, p)
	defer stop()
	err := p.agree(ctx, p.said, p.in)
	if err == nil {
		err = p.wait(watched)
	}
	if err != nil {
		return p.broken(ctx, err)
	}
	return nil
}
