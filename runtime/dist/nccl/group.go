package nccl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Group is one rank's end of a group of ranks with GPUs. It implements transport.Direct: messages between arrays on the GPUs go from one to the other,
// and those of the host's memory through the transport underneath.
type Group struct {
	transport.Transport // underneath
	*lanes
	carrier carrier
	left    context.CancelFunc // ends the watch for failures

	mu     sync.Mutex
	beside []transport.Traffic // what there is to count beside what the transport underneath counts
	engine runtime.Engine      // nil before its first use
	leave  func()              // of the engine
}

// Devices is how many GPUs this process may use. The error says that there is no driver.
func Devices() (int, error) {
	driver, err := cuda.Open()
	if err != nil {
		return 0, err
	}
	list, err := driver.Devices()
	return len(list), err
}

// Open makes a group of ranks that are goroutines of this process, one for each device, which are told by their numbers; a device may be there
// more than once. The driver's copies between devices carry their messages where each device reaches the memory of all others, which is faster than NCCL then;
// else NCCL, if there is one and no device is there twice. With a library named in LACUNA_NCCL it is NCCL,
// unless a device is there twice; the error is a *NotFoundError if that library is none.
func Open(ctx context.Context, devices ...int) ([]*Group, error) {
	list, err := ranks.New(len(devices), ranks.Faults{})
	if err != nil {
		return nil, err
	}
	groups := make([]*Group, len(devices))
	for r, t := range list {
		if groups[r], err = newGroup(t, devices[r]); err != nil {
			return nil, err
		}
	}
	linked := true
	for _, g := range groups {
		for _, other := range groups {
			reached, err := g.device.ShareWith(other.device)
			if err != nil {
				return nil, err
			}
			linked = linked && reached
		}
	}
	distinct := slices.Sorted(slices.Values(devices))
	if spec := os.Getenv(EnvVar); len(slices.Compact(distinct)) == len(devices) && spec != "off" && (spec != "" || !linked) {
		_, err := load()
		if err == nil {
			errs := make([]error, len(groups))
			var wg sync.WaitGroup
			for r, g := range groups {
				wg.Go(func() { errs[r] = g.join(ctx) })
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				return nil, err
			}
			return groups, nil
		}
		if spec != "" {
			return nil, err
		}
	}
	all := &peers{calls: map[hop]*handover{}}
	for r, g := range groups {
		g.carry(all.join(r, len(groups), g.lanes, linked))
	}
	return groups, nil
}

// Join makes the ranks of a transport, which all call it, a group whose messages NCCL carries between their devices, which are told by
// the numbers that they have in each process; no two ranks may have the same one. The transport belongs to the group from then on. The error is a *NotFoundError where there is no NCCL.
func Join(ctx context.Context, t transport.Transport, device int) (*Group, error) {
	g, err := newGroup(t, device)
	if err != nil {
		return nil, err
	}
	if err := g.join(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// join gives the group a communicator of NCCL; all ranks do.
func (g *Group) join(ctx context.Context) error {
	c, err := newComm(ctx, g.Transport, g.lanes)
	if err != nil {
		g.Transport.Abort(err.Error()) // others wait for this rank
		return errors.Join(err, g.lanes.close())
	}
	g.carry(c)
	return nil
}

func newGroup(t transport.Transport, ordinal int) (*Group, error) {
	failed := func(err error) (*Group, error) {
		t.Abort(err.Error())
		return nil, err
	}
	driver, err := cuda.Open()
	if err != nil {
		return failed(err)
	}
	device, err := driver.Device(ordinal)
	if err != nil {
		return failed(err)
	}
	l, err := newLanes(device)
	if err != nil {
		return failed(errors.Join(err, device.Close()))
	}
	return &Group{Transport: t, lanes: l, beside: make([]transport.Traffic, t.Size())}, nil
}

// carry gives the group what brings its messages, whose work is ended when the group fails: the device waits for what others
// do not send any more, and the host perhaps for the device.
func (g *Group) carry(c carrier) {
	g.carrier = c
	watched, left := transport.Watch(context.Background(), g.Transport)
	g.left = left
	go func() {
		<-watched.Done()
		select {
		case <-g.Failed():
			c.abort()
		default:
		}
	}()
}

// Carrier says what carries the messages between GPUs, such as "NCCL 2.27.3".
func (g *Group) Carrier() string { return g.carrier.name() }

// Engine computes on the rank's GPU. All that its runs do stands in the order of one stream, as Swap does: sessions with it leave their results on the
// GPU (lacuna.WithResidentResults). It is good until Close. The error is a *runtime.UnavailableError where there is no LLVM.
func (g *Group) Engine() (runtime.Engine, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.engine != nil {
		return g.engine, nil
	}
	e, leave, err := runtime.CUDAStream(g.device, g.work)
	if err != nil {
		return nil, err
	}
	g.engine, g.leave = e, leave
	return e, nil
}

// Synchronize waits until the rank's GPU has done what stands in its stream.
func (g *Group) Synchronize(ctx context.Context) error { return g.work.Synchronize(ctx) }

// Mark implements transport.Direct.
func (g *Group) Mark(m transport.Mark) (transport.Mark, error) {
	old, _ := m.(*mark)
	return g.mark(old, g.work)
}

// Reached implements transport.Direct.
func (g *Group) Reached(ctx context.Context, m transport.Mark) error {
	return m.(*mark).event.Synchronize(ctx)
}

// Unused implements transport.Direct.
func (g *Group) Unused() (int64, error) {
	use, err := g.device.MemoryUse()
	return int64(use.Free + use.Idle), err
}

// Swap implements transport.Direct.
func (g *Group) Swap(ctx context.Context, out, in []transport.Span, made, idle transport.Mark) (transport.Swapping, error) {
	if err := transport.CheckSpans(g.Rank(), g.Size(), out, in); err != nil {
		return nil, err
	}
	said, err := g.say(ctx, out)
	if err != nil {
		return nil, err
	}
	arrived, sent, err := g.carrier.swap(out, in, made.(*mark), idle.(*mark))
	if err != nil {
		return nil, g.broken(ctx, err)
	}
	g.count(out)
	return &swapping{g, said, slices.Clone(in), arrived, sent}, nil
}

// count counts the messages, and not the words that say how long they are.
func (g *Group) count(out []transport.Span) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, s := range out {
		if r == g.Rank() {
			continue
		}
		if s.Bytes > 0 {
			g.beside[r].Messages++
		}
		g.beside[r].Messages--
		g.beside[r].Bytes += s.Bytes - wordBytes
	}
}

// Sent implements transport.Transport.
func (g *Group) Sent() []transport.Traffic {
	g.mu.Lock()
	defer g.mu.Unlock()
	sent := g.Transport.Sent()
	for r, more := range g.beside {
		sent[r].Messages += more.Messages
		sent[r].Bytes += more.Bytes
	}
	return sent
}

// said is what ranks tell each other of a swap: how long the messages are. Carriers do not notice where two ranks
// disagree, nor that one is in another call or has died.
type said struct {
	transport.Pending
	out, in [][]byte
}

const wordBytes = 8

// say tells the others how long the messages to them are.
func (g *Group) say(ctx context.Context, out []transport.Span) (*said, error) {
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
		binary.LittleEndian.PutUint64(s.out[r], uint64(out[r].Bytes))
	}
	var err error
	s.Pending, err = g.Transport.Start(ctx, s.out, s.in)
	return s, err
}

// agree waits for what the others say, and compares it with what this rank expects.
func (g *Group) agree(ctx context.Context, s *said, in []transport.Span) error {
	if err := s.Wait(ctx); err != nil {
		return err
	}
	for r, b := range s.in {
		if r == g.Rank() {
			continue
		}
		if n := int64(binary.LittleEndian.Uint64(b)); n != in[r].Bytes {
			return &transport.Error{Rank: r, Reason: fmt.Sprintf("it sends %d bytes to rank %d, which expects %d", n, g.Rank(), in[r].Bytes)}
		}
	}
	for r := range s.in {
		g.Free(s.out[r])
		g.Free(s.in[r])
	}
	return nil
}

// broken ends the group because of an error, or tells why it has ended.
func (g *Group) broken(ctx context.Context, err error) error {
	select {
	case <-g.Failed():
		if ctx.Err() == nil {
			return transport.Barrier(context.Background(), g) // which says why
		}
	default:
		reason := err.Error()
		if ctx.Err() != nil {
			reason = "it was stopped: " + ctx.Err().Error()
		}
		g.Abort(reason)
	}
	g.carrier.abort()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// swapping is a swap under way.
type swapping struct {
	*Group
	said          *said
	in            []transport.Span
	arrived, sent func(context.Context) error
}

// Arrived implements transport.Swapping.
func (s *swapping) Arrived(ctx context.Context) error {
	err := s.agree(ctx, s.said, s.in)
	if err == nil {
		err = s.arrived(ctx)
	}
	if err != nil {
		return s.broken(ctx, err)
	}
	return nil
}

// Sent implements transport.Swapping.
func (s *swapping) Sent(ctx context.Context) error {
	if err := s.sent(ctx); err != nil {
		return s.broken(ctx, err)
	}
	return nil
}

// Close implements transport.Transport.
func (g *Group) Close() error {
	err := g.Transport.Close() // when that has ended all ranks are here
	g.left()
	if err != nil {
		g.carrier.abort()
	} else {
		err = g.carrier.close(context.Background())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leave != nil {
		g.leave()
	}
	return errors.Join(err, g.lanes.close())
}
