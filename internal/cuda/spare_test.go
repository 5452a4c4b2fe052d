//go:build linux || darwin

package cuda

import (
	"context"
	"testing"
)

// Blocks that are kept are of few sizes, and there are not too many of them.
func TestSpareBlocks(t *testing.T) {
	s := NewSpare()
	for _, c := range []struct {
		bytes, size int64
		ok          bool
	}{{0, 256, true}, {256, 256, true}, {257, 512, true}, {1 << 20, 1 << 20, true}, {1<<20 + 1, 0, false}} {
		if size, ok := s.Size(c.bytes); size != c.size || ok != c.ok {
			t.Errorf("%d bytes: size %d, %v; want %d, %v", c.bytes, size, ok, c.size, c.ok)
		}
	}
	if size, ok := (&Spare{Largest: 1 << 40}).Size(1<<20 + 1); size != 2<<20 || !ok {
		t.Errorf("with one stream a block for 1 MiB and a byte has %d, %v", size, ok)
	}
	stream := newStream(t, newFake(t).Driver)
	defer stream.Close()
	kept := 0
	for range mostSpare/largestSpare + 3 {
		p, err := stream.Alloc(largestSpare)
		if err != nil {
			t.Fatal(err)
		}
		if s.Keep(largestSpare, p, stream) {
			kept++
		} else if err := stream.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	if kept != mostSpare/largestSpare {
		t.Errorf("%d blocks are kept", kept)
	}
	if _, ok := s.Take(largestSpare / 2); ok {
		t.Error("a block of another size was taken")
	}
	p, ok := s.Take(largestSpare)
	if !ok || s.Bytes() != mostSpare-largestSpare {
		t.Errorf("after one was taken there are %d bytes", s.Bytes())
	}
	s.Flush()
	if _, ok := s.Take(largestSpare); ok || s.Bytes() != 0 {
		t.Error("blocks are left after all were given back")
	}
	if err := stream.Free(p); err != nil {
		t.Error(err)
	}
	if err := stream.Synchronize(context.Background()); err != nil {
		t.Error(err)
	}
}
