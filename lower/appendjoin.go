package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/level"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A nest that appends in one pass (onepass.go) is cut into chunks that several threads
// run at the same time, if it is known how many entries each chunk appends at most: the
// runtime then lets chunks append to memory of their own, and moves what they have
// appended behind what the chunks before them have (loop.Join).

// joinGrain is the work of a chunk that appends, divided by the number of operands that
// are read: what it appends should stay in the caches until it is moved.
const (
	joinGrain    = 3 << 12
	minJoinGrain = 1 << 10
)

// join says how chunks of a nest that appends are joined; nil if that is impossible.
func (k *kernel) join(body ir.Stmt, segments []segment, ends loop.BufferID, root rootLoop) *loop.Join {
	if root.ragged {
		return nil
	}
	c := &coverage{k: k, outside: loopsOutside(body)}
	set, ok := c.of(body)
	if !ok {
		return nil
	}
	name := k.step.Result.Name
	j := &loop.Join{Ends: ends, Shift: -1, Rows: -1,
		Chunk: k.NewScalar(name+"_chunk", false), Lo: k.NewScalar(name+"_lo", false), Hi: k.NewScalar(name+"_hi", false)}
	j.Room = c.bound(set, func(a *ir.Access) loop.SizeExpr {
		if a.Tensor.Work != nil {
			if c.entries(a) == nil {
				return nil
			}
			return &loop.SizeLoad{Buffer: k.chunkInserts, Index: loop.SizeScalar(j.Chunk)}
		}
		from, to := k.underRoot(body, a, root, j.Lo), k.underRoot(body, a, root, j.Hi)
		if from == nil {
			return nil
		}
		return &loop.SizeOp{Op: loop.Sub, X: to, Y: from}
	})
	if j.Room == nil {
		return nil
	}
	j.Exact = len(segments) == 1 && c.exact(set)
	last := int64(len(segments) - 1)
	for i, s := range segments {
		for _, crd := range s.crd {
			j.Moves = append(j.Moves, loop.Move{Buffer: crd, List: int64(i)})
		}
		if i > 0 {
			j.Moves = append(j.Moves, loop.Move{Buffer: s.pos, List: int64(i - 1), First: 1})
		}
	}
	j.Moves = append(j.Moves, loop.Move{Buffer: k.Result.Values, List: last})
	return j
}

// exact reports whether the set of a nest has a coordinate for each entry of an operand.
func (c *coverage) exact(set ir.SetExpr) bool {
	atom, ok := set.IsAtom()
	if !ok || c.loose || c.accesses[atom].Tensor.Work != nil {
		return false
	}
	a := c.accesses[atom]
	for i, x := range a.Indices {
		same := func(y ir.IndexExpr) bool { return y.Plain() == x.Plain() }
		if x.Plain() == nil || slices.ContainsFunc(a.Indices[:i], same) {
			return false
		}
	}
	// Of equal coordinates, there may be several entries.
	return !slices.ContainsFunc(a.Tensor.Format.Physical(), func(l tensor.LevelType) bool { return l.Branchless() || !l.Unique })
}

// underRoot is how many entries of an operand lie before place p of the outermost loop:
// a coordinate, or an entry of the operand that the loop walks. It is nil if that cannot be
// read from positions.
func (k *kernel) underRoot(body ir.Stmt, a *ir.Access, root rootLoop, p loop.ScalarID) loop.SizeExpr {
	if root.pieces != nil {
		if before, ok := root.pieces.Before[a]; ok {
			return &loop.SizeLoad{Buffer: before, Index: loop.SizeScalar(p)}
		}
		return nil
	}
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	if len(levels) == 0 {
		return nil
	}
	if a != root.over && (root.over != nil || !levels[0].Full() || a.Indices[order[0]].Plain() != outermost(body)) {
		return nil
	}
	return level.Count(k, a.Tensor, 1, len(levels), loop.SizeScalar(p))
}

// outermost is the variable of the outermost loop of a nest.
func outermost(s ir.Stmt) *ir.Index {
	return loopsOutside(s)[0]
}
