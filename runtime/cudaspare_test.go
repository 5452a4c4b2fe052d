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
	if class, _ := spareClass(16); len(e.spare.list[class]) != 1 || e.spare.bytes != leastSpare {
		t.Errorf("%d spare blocks, %d bytes", len(e.spare.list[class]), e.spare.bytes)
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
	for _, c := range []struct {
		bytes int64
		class int
		ok    bool
	}{{0, 8, true}, {256, 8, true}, {257, 9, true}, {1 << 20, 20, true}, {1<<20 + 1, 0, false}} {
		if class, ok := spareClass(c.bytes); class != c.class || ok != c.ok {
			t.Errorf("%d bytes: class %d, %v; want %d, %v", c.bytes, class, ok, c.class, c.ok)
		}
	}
	device := fakeDevice(t)
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var s spareBlocks
	kept := 0
	for range mostSpare/largestSpare + 3 {
		p, err := stream.Alloc(largestSpare)
		if err != nil {
			t.Fatal(err)
		}
		if s.keep(20, spareBlock{p, stream}) {
			kept++
		} else if err := stream.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	if kept != mostSpare/largestSpare {
		t.Errorf("%d blocks are kept", kept)
	}
	if _, ok := s.take(19); ok {
		t.Error("a block of another size was taken")
	}
	p, ok := s.take(20)
	if !ok || s.bytes != mostSpare-largestSpare {
		t.Errorf("after one was taken there are %d bytes", s.bytes)
	}
	s.flush()
	if _, ok := s.take(20); ok || s.bytes != 0 {
		t.Error("blocks are left after all were given back")
	}
	if err := stream.Free(p); err != nil {
		t.Error(err)
	}
	if err := stream.Synchronize(context.Background()); err != nil {
		t.Error(err)
	}
}
