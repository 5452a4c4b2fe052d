package lower

import "github.com/lacuna-sparse/lacuna/ir/loop"

// sortLanes sorts the keys that the lanes of a warp have: so many each, a power of two,
// in the order of lanes. It is a bitonic sort (K. Batcher, "Sorting networks and their
// applications", 1968) whose merges begin by turning one of two runs round, so that all
// comparisons put the lesser key first.
func (t *gridTeam) sortLanes(keys []loop.Expr) []loop.Expr {
	per := int64(len(keys))
	for run := int64(2); run <= per*warpSize; run *= 2 {
		keys = t.compareKeys(keys, run-1, run/2)
		for d := run / 4; d > 0; d /= 2 {
			keys = t.compareKeys(keys, d, d)
		}
	}
	return keys
}

// compareKeys compares each key with the one whose number differs in the bits of flip;
// the one without the bit first becomes the lesser.
func (t *gridTeam) compareKeys(keys []loop.Expr, flip, first int64) []loop.Expr {
	b, per := t.b, int64(len(keys))
	out := make([]loop.Expr, per)
	lanes, own := flip/per, flip%per
	lesser := func(x, y loop.Expr) loop.Expr { return b.Let("key", b.Min(x, y)) }
	greater := func(x, y loop.Expr) loop.Expr { return b.Let("key", b.Max(x, y)) }
	if lanes == 0 {
		for e := range per {
			if e&first == 0 {
				out[e], out[e^own] = lesser(keys[e], keys[e^own]), greater(keys[e], keys[e^own])
			}
		}
		return out
	}
	low := b.Let("low", b.Eq(b.And(t.lane(), loop.Int(first/per)), loop.Int(0)))
	for e := range per {
		other := b.Shuffle("other", loop.ShuffleXor, keys[e^own], loop.Int(lanes), warpSize)
		out[e] = b.Let("key", b.Select(low, b.Min(keys[e], other), b.Max(keys[e], other)))
	}
	return out
}
