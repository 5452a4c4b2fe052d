package exec

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A step is compiled again for other index widths of what it reads, and not for
// those of what it does not.
func TestVariantsOfWhatIsRead(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	levels := func(pos, crd tensor.Array) []tensor.Level { return []tensor.Level{{}, {Pos: pos, Crd: crd}} }
	narrow, err := tensor.New([]int64{2, 3}, tensor.CSR, levels(tensor.ArrayOf([]uint32{0, 1, 2}), tensor.ArrayOf([]uint32{2, 0})), tensor.ArrayOf([]float64{5, 7}))
	if err != nil {
		t.Fatal(err)
	}
	wide, err := tensor.New([]int64{2, 3}, tensor.CSR, levels(tensor.ArrayOf([]uint64{0, 1, 2}), tensor.ArrayOf([]uint64{2, 0})), tensor.ArrayOf([]float64{5, 7}))
	if err != nil {
		t.Fatal(err)
	}
	k, err := s.Compile(t.Context(), "y(i) = sum_j A(i,j); z(i) = max_j B(i,j)", Operand("A", narrow), Operand("B", narrow))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		A, B *tensor.Tensor
		want [2]int // variants of each step after the run
	}{
		{narrow, narrow, [2]int{1, 1}},
		{narrow, wide, [2]int{1, 2}},
		{wide, wide, [2]int{2, 2}},
		{wide, narrow, [2]int{2, 2}},
	} {
		out, err := k.RunAll(context.Background(), Args{"A": test.A, "B": test.B})
		if err != nil {
			t.Fatal(err)
		}
		if y, z := floats(t, out["y"]), floats(t, out["z"]); !equal(y, []float64{5, 7}) || !equal(z, []float64{5, 7}) {
			t.Errorf("y = %v, z = %v", y, z)
		}
		if got := [2]int{k.steps[0].versions.Len(), k.steps[1].versions.Len()}; got != test.want {
			t.Errorf("%d variants, want %d", got, test.want)
		}
	}
}
