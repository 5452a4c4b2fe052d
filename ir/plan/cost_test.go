package plan

import (
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// square are the statistics of a square matrix.
func square(extent, entries float64) *tensor.Statistics {
	axis := tensor.AxisStatistics{Extent: extent, NonEmpty: extent, Longest: entries / extent, Squares: entries * entries / extent}
	return &tensor.Statistics{Entries: entries, Axes: []tensor.AxisStatistics{axis, axis}}
}

// TestFoldsCountOnce: where the entries of a sparse result are counted before they are computed, all that its folds go through is gone through twice, however deep they
// are inside each other.
func TestFoldsCountOnce(t *testing.T) {
	for _, text := range []string{
		"y(i) = sum_j A(i,j)",
		"y(i) = max_j (A(i,j) * sum_k A(j,k))",
		"y(i) = max_j (A(i,j) * sum_k (A(j,k) * max_l A(k,l)))",
	} {
		nf := mustNormalForm(t, text, "A:CSR =y:S[f64]")
		for _, r := range nf.reduces {
			r.Order = r.Vars
		}
		s := nf.scheduler(testAlgebra, ir.Options{Sizes: map[string]*tensor.Statistics{"A": square(1000, 8000)}})
		body, at := nf.gather(s.resultOrder()), depths{}
		number(body, 0, at)
		once := costWalk{alg: s.alg, at: at, whole: wholeLoops(s.accesses), sizes: s.sizesOf(s.accesses), kept: 1}
		twice := once
		twice.counted = true
		outer := once
		consumer := body.(*ir.Forall)
		trips, inside := outer.trips(consumer)
		own := trips + inside // the result's loop, and what it assigns
		x, y := once.stmt(body, 1), twice.stmt(body, 1)
		if want := own + 2*(x-own); math.Abs(y-want) > 1e-9*want {
			t.Errorf("%s: counted and computed %g, computed %g and %g besides: want %g", text, y, x-own, own, want)
		}
	}
}

// TestMasksInMasks: what the mask of a workspace keeps is a part of what that of a workspace around it keeps.
func TestMasksInMasks(t *testing.T) {
	nf := mustNormalForm(t, "y(i,j) = A(i,j) + B(i,j)", "A:CSR B:CSR =y:CSR[f64]")
	s := nf.scheduler(testAlgebra, ir.Options{Sizes: map[string]*tensor.Statistics{"A": square(1000, 100_000), "B": square(1000, 500_000)}})
	leaf := &ir.Assign{LHS: nf.lhs, Value: nf.value}
	work := workTensor(ir.FoldSum, tensor.Float64, 1)
	inner := &ir.Workspace{Tensor: work, Mask: s.accesses[1], Producers: []ir.Stmt{leaf}, Consumer: leaf}
	outer := &ir.Workspace{Tensor: work, Mask: s.accesses[0], Producers: []ir.Stmt{inner}, Consumer: leaf}
	w := costWalk{alg: s.alg, at: depths{}, sizes: s.sizesOf(s.accesses), kept: 1}
	a, b := w.share(s.accesses[0]), w.share(s.accesses[1])
	want := 1 + cost.MaskedFactor*(a+cost.MaskedFactor*a*b)
	if got := w.stmt(outer, 1); math.Abs(got-want) > 1e-12 || a >= b || w.kept != 1 {
		t.Errorf("masks that store %g and %g: cost %g, want %g, and %g are kept after it", a, b, got, want, w.kept)
	}
}
