package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

const (
	minCapacityLog = 4
	minCapacity    = 1 << minCapacityLog
)

// LimitToKeys bounds the entries that a workspace needs room for by its keys.
func (s *Space) LimitToKeys(f *emit.Func, need *loop.Ref) {
	f.B.Assign(need, f.B.Min(need, s.keys(f)))
}

// StoreRoom stores the capacity and the shift of a workspace that needs room for so many
// entries, from element at of a buffer on. A hash table gets a power of two at least twice as large, so that it is never
// more than half full.
func StoreRoom(s Store, f *emit.Func, need *loop.Ref, sizes loop.BufferID, at int64) {
	b := f.B
	if !s.Facts().Distinct {
		// A list needs no more room than that.
		b.Store(f.Write(sizes), loop.Int(at), need)
		b.Store(f.Write(sizes), loop.Int(at+1), loop.Int(0))
		return
	}
	capacity, shift := b.Var("capacity", loop.Int(minCapacity)), b.Var("shift", loop.Int(64-minCapacityLog))
	b.While(b.Lt(capacity, b.Add(need, need)), func() {
		b.Assign(capacity, b.Add(capacity, capacity))
		b.Assign(shift, b.Sub(shift, loop.Int(1)))
	})
	b.Store(f.Write(sizes), loop.Int(at), capacity)
	b.Store(f.Write(sizes), loop.Int(at+1), shift)
}
