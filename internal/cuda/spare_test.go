//go:build linux || darwin

package cuda

import (
	"context"
	"testing"
)

// Blocks that are kept are of few sizes, and there are not too many of them.
func TestSpareBlocks(t *testing.T) {
	const most, size = 6 << 20, 2 << 20
	s := NewSpare(most)
	for _, c := range []struct {
		bytes, size int64
		ok          bool
	}{{0, 256, true}, {256, 256, true}, {257, 512, true}, {1 << 20, 1 << 20, true}, {1<<20 + 1, 2 << 20, true}, {most, most, true}, {most + 1, 0, false}} {
		if size, ok := s.Size(c.bytes); size != c.size || ok != c.ok {
			t.Errorf("%d bytes: size %d, %v; want %d, %v", c.bytes, size, ok, c.size, c.ok)
		}
	}
	stream := newStream(t, newFake(t).Driver)
	defer stream.Close()
	for range most/size + 2 { // the fourth goes where three were
		p, err := stream.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Keep(size, p, stream) {
			t.Error("a block is not kept")
		}
	}
	if s.Keep(most+size, 0, stream) {
		t.Error("a block is kept that is larger than all may be")
	}
	if _, ok := s.Take(size / 2); ok {
		t.Error("a block of another size was taken")
	}
	p, ok := s.Take(size)
	if !ok || s.Bytes() != size {
		t.Errorf("after one was taken there are %d bytes", s.Bytes())
	}
	s.Flush()
	if _, ok := s.Take(size); ok || s.Bytes() != 0 {
		t.Error("blocks are left after all were given back")
	}
	if err := stream.Free(p); err != nil {
		t.Error(err)
	}
	if err := stream.Synchronize(context.Background()); err != nil {
		t.Error(err)
	}
}
