package interp

import "testing"

// What a mark sums up is enough to tell whether a later access is ordered after all that went before: by a barrier of
// the block, by one of the warp, or as it is of the same thread.
func TestMarks(t *testing.T) {
	type access struct {
		warp, thread int16
		order, epoch int // barriers of the warp, and of the block
	}
	for _, test := range []struct {
		name      string
		before    []access
		next      access
		unordered bool
	}{
		{"the same thread", []access{{0, 1, 0, 1}}, access{0, 1, 0, 1}, false},
		{"another thread", []access{{0, 1, 0, 1}}, access{0, 2, 0, 1}, true},
		{"another thread, after a barrier of the warp", []access{{0, 1, 0, 1}}, access{0, 2, 1, 1}, false},
		{"another warp", []access{{0, 1, 0, 1}}, access{1, 33, 0, 1}, true},
		{"another warp, whose own barrier orders nothing", []access{{0, 1, 0, 1}}, access{1, 33, 5, 1}, true},
		{"another warp, after a barrier of the block", []access{{0, 1, 0, 1}}, access{1, 33, 0, 2}, false},
		{"one of two warps", []access{{0, 1, 0, 1}, {1, 33, 0, 1}}, access{0, 1, 0, 1}, true},
		{"the other of two warps", []access{{0, 1, 0, 1}, {1, 33, 0, 1}}, access{1, 33, 0, 1}, true},
		{"a third access by the first of two threads", []access{{0, 1, 0, 1}, {0, 2, 0, 1}}, access{0, 1, 0, 1}, true},
		{"the last of two threads that a barrier of the warp parts", []access{{0, 1, 0, 1}, {0, 2, 1, 1}}, access{0, 2, 1, 1}, false},
		{"the first of them again", []access{{0, 1, 0, 1}, {0, 2, 1, 1}}, access{0, 1, 1, 1}, true},
		{"after two warps and a barrier of the block", []access{{0, 1, 0, 1}, {1, 33, 0, 1}, {1, 34, 0, 2}}, access{1, 34, 0, 2}, false},
		{"another thread after that barrier", []access{{0, 1, 0, 1}, {1, 33, 0, 1}, {1, 34, 0, 2}}, access{1, 35, 0, 2}, true},
	} {
		by := func(a access) *thread {
			return &thread{number: a.thread, block: &block{epoch: uint64(a.epoch)}, warp: &warp{number: a.warp, order: uint32(a.order)}}
		}
		var m mark
		for _, a := range test.before {
			m.add(by(a))
		}
		if got := m.unordered(by(test.next)); got != test.unordered {
			t.Errorf("%s: unordered is %t", test.name, got)
		}
	}
}
