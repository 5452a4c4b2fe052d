//go:build linux && (amd64 || arm64)

package runtime

import (
	"context"
	"testing"
)

// A result that was freed leaves its memory to the next one of about its size.
func TestResultsTakeSpareBlocks(t *testing.T) {
	e := gpuEngine(t, fakeDevice(t), nil)
	x, b := deviceSpmv(t, e, 3)
	var places []uint64
	for range 3 {
		r, err := x.Run(t.Context(), b, Options{Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		y := r.Buffers[4].On
		places = append(places, y.Address())
		y.Free()
	}
	if places[1] != places[0] || places[2] != places[0] {
		t.Errorf("results are at %#x, want one place", places)
	}
	if len(e.spare.list[leastSpare]) != 1 || e.spare.bytes != leastSpare {
		t.Errorf("%d spare blocks, %d bytes", len(e.spare.list[leastSpare]), e.spare.bytes)
	}
	e.spare.close()
	r, err := x.Run(t.Context(), b, Options{Resident: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Buffers[4].On.Free()
	if e.spare.bytes != 0 {
		t.Errorf("%d bytes are kept after the end", e.spare.bytes)
	}
}

func TestSpareBlocks(t *testing.T) {
	s := newSpareBlocks()
	for _, c := range []struct {
		bytes, size int64
		ok          bool
	}{{0, 256, true}, {256, 256, true}, {257, 512, true}, {1 << 20, 1 << 20, true}, {1<<20 + 1, 0, false}} {
		if size, ok := s.size(c.bytes); size != c.size || ok != c.ok {
			t.Errorf("%d bytes: size %d, %v; want %d, %v", c.bytes, size, ok, c.size, c.ok)
		}
	}
	if size, ok := (&spareBlocks{largest: 1 << 40}).size(1<<20 + 1); size != 2<<20 || !ok {
		t.Errorf("with one stream a block for 1 MiB and a byte has %d, %v", size, ok)
	}
	device := fakeDevice(t)
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	kept := 0
	for range mostSpare/largestSpare + 3 {
		p, err := stream.Alloc(largestSpare)
		if err != nil {
			t.Fatal(err)
		}
		if s.keep(largestSpare, spareBlock{p, stream}) {
			kept++
		} else if err := stream.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	if kept != mostSpare/largestSpare {
		t.Errorf("%d blocks are kept", kept)
	}
	if _, ok := s.take(largestSpare / 2); ok {
		t.Error("a block of another size was taken")
	}
	p, ok := s.take(largestSpare)
	if !ok || s.bytes != mostSpare-largestSpare {
		t.Errorf("after one was taken there are %d bytes", s.bytes)
	}
	s.flush()
	if _, ok := s.take(largestSpare); ok || s.bytes != 0 {
		t.Error("blocks are left after all were given back")
	}
	if err := stream.Free(p); err != nil {
		t.Error(err)
	}
	if err := stream.Synchronize(context.Background()); err != nil {
		t.Error(err)
	}
}
