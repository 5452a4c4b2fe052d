package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
)

// What running a statement costs, in loop iterations, and which operands it has to store again for it.

// assess estimates the cost of a nest, and lists those of what it reads that have to be
// stored again. It notes the depths of the loops.
func (s *scheduler) assess(body ir.Stmt, at depths, reads []*ir.Access) (total float64, convert []*ir.Access) {
	number(body, 0, at)
	z := s.sizesOf(reads)
	for _, a := range reads {
		if a.Tensor.Work == nil && !at.concordant(a) {
			convert = append(convert, a)
			total += z.conversion(a.Tensor)
		}
	}
	w := costWalk{alg: s.alg, at: at, converted: at.convert(convert), whole: wholeLoops(reads), sizes: z, counted: !s.denseResult(), kept: 1}
	return total + w.stmt(body, 1), convert
}

// visitsAll reports whether loops that accumulate r's body into memory must visit
// every coordinate: what it is outside entries is neither neutral nor counted.
func (s *scheduler) visitsAll(r *ir.Reduce) bool {
	return r != nil && !s.neutral(r.Fold, r.Body) && scatterGap(s.alg, r) == nil
}

// readsOf lists the accesses that a nest reads, each once.
func readsOf(st ir.Stmt) []*ir.Access {
	var list []*ir.Access
	ir.EachAccess(st, func(a *ir.Access) {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	})
	return list
}

// number notes the depth of each loop.
func number(st ir.Stmt, depth int, at depths) {
	if f, ok := st.(*ir.Forall); ok {
		at[f.Index] = depth
		depth++
	}
	for _, x := range ir.Parts(st) {
		number(x, depth, at)
	}
}

// costWalk estimates the iterations of a nest.
type costWalk struct {
	alg       ir.Algebra
	at        depths
	converted conversions
	// everything: loops are cut short by nothing.
	everything bool
	// whole are indices whose loops nothing can cut short, as far as is known beforehand. To work out the set
	// of a loop takes as long as the statement is.
	whole map[*ir.Index]bool
	sizes *sizes // nil: they are guessed
	// counted: the result is sparse, and where a nest has temporaries its entries are counted before they are computed.
	counted bool
	// cut: a loop so far is cut short.
	cut bool
	// folding: it is inside of a fold.
	folding bool
	// kept is which part of what is computed a mask keeps.
	kept float64
	// around are the loops around what is looked at, the outermost first.
	around []trip
}

// wholeLoops are the indices that only dense tensors are read along.
func wholeLoops(reads []*ir.Access) map[*ir.Index]bool {
	whole := map[*ir.Index]bool{}
	for _, a := range reads {
		dense := a.Tensor.Format.IsDense() && a.Tensor.Work == nil
		for _, v := range a.Vars(nil) {
			before, seen := whole[v]
			whole[v] = dense && (before || !seen)
		}
	}
	return whole
}

func (w *costWalk) stmt(st ir.Stmt, times float64) float64 {
	switch st := st.(type) {
	case *ir.Where:
		return w.fold(st.Producer, times) + w.stmt(st.Consumer, times)
	case *ir.Workspace:
		factor, kept := cost.WorkspaceFactor*float64(st.Tensor.Rank), w.kept
		switch {
		case st.Mask != nil:
			factor = cost.MaskedFactor
		case len(st.Producers) > 1:
			factor = 1 // each runs through its operand once
		}
		total := w.stmt(st.Consumer, times)
		if st.Mask != nil && w.knows() {
			w.kept *= w.share(st.Mask)
		}
		for _, p := range st.Producers {
			total += factor * w.stmt(p, times)
		}
		w.kept = kept
		return total
	case *ir.Tabulate:
		if w.sizes == nil {
			return w.stmt(st.Body, times) // it saves more than it costs
		}
		f := w.converted.format(st.Access)
		w.sizes.tabled[st.Access] = true
		return w.stmt(st.Body, times) + times*w.sizes.length(st.Access, f.Rank()-1, f)
	case *ir.Sequence:
		total := 0.0
		for _, x := range st.Stmts {
			total += w.stmt(x, times)
		}
		return total
	case *ir.Assign:
		return w.leaf(st, times*w.kept)
	case *ir.Forall:
		trips, inside := w.trips(st)
		w.around = append(w.around, trip{st.Index, trips, 1})
		total := times*trips + w.stmt(st.Body, times*inside)
		w.around = w.around[:len(w.around)-1]
		if leaf, ok := st.Body.(*ir.Assign); ok && strided(leaf, st.Index) {
			total *= cost.StrideFactor
		}
		return total
	}
	panic("BUG: unknown plan statement")
}

// fold is what it costs to fold into a temporary. A fold over entries may find none: then whether a sparse result has an entry is found out by
// going through all of it, once to count and once more to compute, folds inside of it included.
func (w *costWalk) fold(producer ir.Stmt, times float64) float64 {
	cut, folding := w.cut, w.folding
	w.cut, w.folding = false, true
	total := w.stmt(producer, times)
	if w.cut && w.counted && w.knows() && !folding {
		total *= 2
	}
	w.cut, w.folding = w.cut || cut, folding
	return total
}

// knows reports whether sizes are known, of a nest for a processor.
func (w *costWalk) knows() bool { return w.sizes != nil && !w.sizes.grids }

// share is which part of the coordinates of its last level a mask stores, on average.
func (w *costWalk) share(mask *ir.Access) float64 {
	f := w.converted.format(mask)
	last := f.Rank() - 1
	extent := cost.GuessedExtent * 1.0
	if v := mask.Indices[f.Order()[last]].Plain(); v != nil {
		extent = w.sizes.extent(v)
	}
	return min(w.sizes.length(mask, last, f)/max(extent, 1), 1)
}

// trips estimates how many steps a loop takes each time, and how many of these get to its body.
func (w *costWalk) trips(st *ir.Forall) (steps, inside float64) {
	steps = cost.GuessedExtent
	if w.sizes != nil {
		steps = w.sizes.extent(st.Index)
	}
	inside = steps
	if w.everything || w.whole[st.Index] {
		return steps, inside
	}
	set := w.alg.StmtSet(st.Body, dryLeaves{w.alg, st.Index, w.at, w.converted, w.sizes})
	if set.IsAll() {
		return steps, inside
	}
	w.cut = true
	switch {
	case w.sizes != nil:
		steps, inside = w.sizes.visits(set, steps), w.sizes.size(set, steps)
	default:
		steps = tripsIn(set)
		inside = steps
	}
	if n := operandsAlong(st); n > 2 {
		// A merge of n operands visits up to n times as many coordinates,
		// and looks at all n operands at each.
		if w.sizes != nil { // counts how many are visited
			return steps * float64(n) / 2, inside
		}
		more := float64(n*n) / 4
		steps, inside = steps*more, inside*more
	}
	return steps, inside
}

// tripsIn estimates how many coordinates a set has.
func tripsIn(set ir.SetExpr) float64 {
	switch a, atom := set.IsAtom(); {
	case atom && a == storedRows:
		return cost.GuessedExtent
	case set.IsUnion():
		most := 0.0
		for _, f := range set.Args() {
			most = max(most, tripsIn(f))
		}
		return most
	case set.IsIntersection():
		least := tripsIn(set.Args()[0])
		for _, f := range set.Args()[1:] {
			least = min(least, tripsIn(f))
		}
		return least
	}
	return cost.GuessedLength
}

// storedRows stands for what the first level of a matrix or a tensor stores: its rows with entries, which
// may be all. Other atoms are levels.
const storedRows = ir.Atom(-1)

// operandsAlong is the number of sparse operands that an innermost loop reads
// along its index.
func operandsAlong(f *ir.Forall) int {
	leaf, ok := f.Body.(*ir.Assign)
	if !ok {
		return 0
	}
	seen := map[*ir.Access]bool{}
	ir.Walk(leaf.Value, func(e ir.Expr) {
		if a, ok := e.(*ir.Access); ok && !a.Tensor.Format.IsDense() && slices.Contains(a.Vars(nil), f.Index) {
			seen[a] = true
		}
	})
	return len(seen)
}

// strided reports whether v moves some dense operand of the leaf along an axis
// that is not its innermost.
func strided(leaf *ir.Assign, v *ir.Index) bool {
	found := false
	check := func(a *ir.Access) {
		order := a.Tensor.Format.Order()
		if a.Tensor.Rank < 2 || !a.Tensor.Format.IsDense() {
			return
		}
		for l, axis := range order {
			if l < len(order)-1 && a.Indices[axis].Plain() == v {
				found = true
			}
		}
	}
	ir.Walk(leaf.Value, func(e ir.Expr) {
		if a, ok := e.(*ir.Access); ok {
			check(a)
		}
	})
	if leaf.LHS != nil {
		check(leaf.LHS)
	}
	return found
}
