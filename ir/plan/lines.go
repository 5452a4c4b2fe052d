package plan

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
)

// What dense operands cost that do not stay in a cache or a register between two visits of the same elements: the lines of memory that a nest fetches,
// counted from its innermost loop outwards (Carr, McKinley and Tseng, "Compiler optimizations for improving data locality", 1994), and
// the elements of the result that it loads and stores.

const lineBytes = 64

// trip is a loop around a leaf: its index, how many steps it takes each time, and by how many coordinates a step goes on.
type trip struct {
	index     *ir.Index
	steps, by float64
}

// tiled are the loops around a leaf as they run: the three of a dense product, whose results follow each other along the innermost one, go through blocks of rows and steps, and in
// these through tiles (loop.Tile). steps is how many are added to an element between a load and a store of it.
func (w *costWalk) tiled(leaf *ir.Assign) (around []trip, steps float64) {
	n := len(w.around) - 3
	if n < 0 || leaf.LHS == nil {
		return w.around, 1
	}
	rows, sum, columns := w.around[n], w.around[n+1], w.around[n+2]
	if rows.steps < cost.TiledLeast || columns.steps < 2 { // one column is a product of rows with a vector
		return w.around, 1
	}
	order, has := leaf.LHS.Tensor.Format.Order(), leaf.LHS.Vars(nil)
	if !slices.Contains(has, rows.index) || slices.Contains(has, sum.index) || leaf.LHS.Indices[order[len(order)-1]].Plain() != columns.index {
		return w.around, 1
	}
	around = slices.Clone(w.around[:n])
	within := []trip{}
	for _, b := range []struct {
		trip
		size float64
	}{{rows, cost.TiledRows}, {sum, cost.TiledSteps}, {columns, cost.TiledColumns}} {
		size := max(min(b.size, b.steps), 1)
		around = append(around, trip{b.index, math.Ceil(b.steps / size), size})
		within = append(within, trip{b.index, size, 1})
	}
	return append(around, within[0], within[1], within[2]), max(min(sum.steps, cost.TiledSteps), 1)
}

// leaf is the time of a leaf that runs so often, in steps: with what it spends on memory where all operands are dense.
func (w *costWalk) leaf(leaf *ir.Assign, times float64) float64 {
	if w.sizes == nil || len(w.around) < 2 {
		return times
	}
	for _, t := range w.around {
		if !w.whole[t.index] {
			return times
		}
	}
	accesses := readsOf(leaf)
	if leaf.LHS != nil {
		accesses = append(accesses, leaf.LHS)
	}
	around, steps := w.tiled(leaf)
	total := times
	if steps > 1 && !w.sizes.grids {
		columns := w.around[len(w.around)-1].steps
		total *= cost.TiledFactor * math.Ceil(columns/cost.TiledNarrow) * cost.TiledNarrow / columns
	}
	list := make([]lines, len(accesses))
	for k := range list {
		list[k] = lines{access: accesses[k], touched: 1, fetched: 1}
	}
	for depth := len(around) - 1; depth >= 0; depth-- {
		inside := 0.0 // bytes that an iteration touches
		for _, l := range list {
			inside += l.touched * lineBytes
		}
		for k := range list {
			list[k].loop(around[depth], inside)
		}
	}
	for _, l := range list {
		total += l.fetched * builtin.RandomIn(l.touched*lineBytes) / builtin.Step
	}
	return total + w.stored(leaf, times)/steps
}

// stored is the time to load and store elements of the result: in every iteration, unless one of the two innermost loops adds to an
// element again, which then stays in a register for as many steps as are made one.
func (w *costWalk) stored(leaf *ir.Assign, times float64) float64 {
	each := times * builtin.Vector / builtin.Step
	for _, t := range w.around[len(w.around)-2:] {
		if leaf.LHS == nil || !slices.Contains(leaf.LHS.Vars(nil), t.index) {
			return each / cost.Jammed
		}
	}
	return each
}

// lines are those of an operand that a loop and those inside it touch, and how many they fetch.
type lines struct {
	access           *ir.Access
	touched, fetched float64
}

// loop adds a loop around those so far, an iteration of which touches so many bytes of all operands.
func (l *lines) loop(t trip, inside float64) {
	moves, next := false, false
	order := l.access.Tensor.Format.Order()
	for level, axis := range order {
		if l.access.Indices[axis].Plain() == t.index {
			moves, next = true, next || level == len(order)-1
		}
	}
	apart := 1.0
	if next {
		apart = min(1, t.by*float64(l.access.Tensor.DType.Size())/lineBytes)
	}
	switch stays := inside <= cost.Sets[1]; {
	case moves:
		if stays || l.touched == 1 {
			l.fetched *= math.Max(1, t.steps*apart)
		} else {
			l.fetched *= t.steps
		}
		l.touched *= math.Max(1, t.steps*apart)
	case !stays:
		l.fetched *= t.steps
	}
}
