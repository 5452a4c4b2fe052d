package nccl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// This file takes messages between arrays in the host's memory through the GPUs.

// spanAlign is where messages begin in a block: as allocations do.
const spanAlign = 256

// staging is a block on the device with a span for each message.
type staging struct {
	block   cuda.Ptr
	out, in []Span
}

func (g *Group) stage(out, in [][]byte) (*staging, error) {
	s := &staging{}
	total := uint64(0)
	place := func(b []byte) Span {
		at := total
		total += (uint64(len(b)) + spanAlign - 1) &^ (spanAlign - 1)
		return Span{cuda.Ptr(at), uint64(len(b))}
	}
	for r := range out {
		if r == g.Rank() {
			s.out, s.in = append(s.out, Span{}), append(s.in, Span{})
			continue
		}
		s.out, s.in = append(s.out, place(out[r])), append(s.in, place(in[r]))
	}
	var err error
	if s.block, err = g.stream.Alloc(total); err != nil {
		return nil, err
	}
	for r := range out {
		s.out[r].Ptr += s.block
		s.in[r].Ptr += s.block
		if s.out[r].Bytes > 0 {
			if err := g.stream.Upload(s.out[r].Ptr, out[r]); err != nil {
				return nil, errors.Join(err, g.stream.Free(s.block))
			}
		}
	}
	return s, nil
}

// Start implements transport.Transport.
func (g *Group) Start(ctx context.Context, out, in [][]byte) (transport.Pending, error) {
	if err := transport.CheckLengths(g.Rank(), g.Size(), out, in); err != nil {
		return nil, err
	}
	copy(in[g.Rank()], out[g.Rank()])
	s, err := g.stage(out, in)
	if err != nil {
		return nil, g.broken(ctx, err)
	}
	swap, err := g.Swap(ctx, s.out, s.in)
	if err != nil {
		return nil, err
	}
	return &hostPending{g, s, swap, in}, nil
}

// hostPending is a Start under way.
type hostPending struct {
	*Group
	staging *staging
	swap    transport.Pending
	into    [][]byte
}

// Wait implements transport.Pending.
func (p *hostPending) Wait(ctx context.Context) error {
	if err := p.swap.Wait(ctx); err != nil {
		return err
	}
	for r, s := range p.staging.in {
		if s.Bytes == 0 {
			continue
		}
		if err := p.stream.Download(p.into[r], s.Ptr); err != nil {
			return p.broken(ctx, err)
		}
	}
	return p.stream.Free(p.staging.block)
}

// Exchange implements transport.Transport: lengths by the transport underneath, then the messages.
func (g *Group) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if len(out) != g.Size() {
		return nil, fmt.Errorf("an exchange among %d ranks sends %d messages", g.Size(), len(out))
	}
	words := make([][]byte, len(out))
	for r, b := range out {
		words[r] = binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
	}
	words, err := g.Transport.Exchange(ctx, words)
	if err != nil {
		return nil, g.broken(ctx, err)
	}
	in := make([][]byte, len(out))
	for r, b := range words {
		if len(b) != wordBytes || binary.LittleEndian.Uint64(b) > math.MaxInt {
			return nil, g.broken(ctx, &transport.Error{Rank: r, Reason: "it does not say how long its message is"})
		}
		in[r] = make([]byte, binary.LittleEndian.Uint64(b))
	}
	p, err := g.Start(ctx, out, in)
	if err != nil {
		return nil, err
	}
	return in, p.Wait(ctx)
}

// Barrier implements transport.Transport.
func (g *Group) Barrier(ctx context.Context) error {
	if err := g.Transport.Barrier(ctx); err != nil {
		return g.broken(ctx, err)
	}
	return nil
}

// Sent implements transport.Transport. What the transport underneath carries beside messages is not counted.
func (g *Group) Sent() []transport.Traffic {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.sent)
}

// Abort implements transport.Transport.
func (g *Group) Abort(reason string) {
	g.Transport.Abort(reason)
	g.carrier.abort()
}

// Close implements transport.Transport.
func (g *Group) Close() error {
	err := g.Transport.Close() // when that has ended all ranks are here
	if err != nil {
		g.carrier.abort()
	} else {
		err = g.carrier.close(context.Background())
	}
	return errors.Join(err, g.stream.Close())
}
