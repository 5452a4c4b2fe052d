package exec

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests kernels on tensors that Update made.

// TestKernelsReadUpdatedOperands: a kernel takes a tensor that Update made like the old one, and what it has remembered of that as
// converted is changed in the same way rather than converted again.
func TestKernelsReadUpdatedOperands(t *testing.T) {
	ctx := t.Context()
	a, err := tensor.NewCSR([]int64{3, 4}, []int{0, 2, 2, 3}, []int{0, 2, 1}, []float64{5, 4, 3})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession()
	k, err := s.Compile(ctx, "y(j) = max_i A(i,j) * x(i) with order(j, i)", declare.Operand("A", a), declare.Operand("x", tensor.Vector([]float64{1, 2, 3})))
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Conversions()) == 0 {
		t.Fatal("the program converts nothing")
	}
	step := func() *step {
		used := k
		if k.chooser != nil {
			used = k.chooser.latest.Load().kernel
		}
		for _, st := range used.steps {
			if st.converted.Load() != nil {
				return st
			}
		}
		t.Fatal("nothing is remembered as converted")
		return nil
	}
	run := func(a *tensor.Tensor, want ...float64) {
		t.Helper()
		y, err := k.Run(ctx, Args{"A": a, "x": tensor.Vector([]float64{1, 2, 3})})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tensor.Elements[float64](y)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if got[j] != want[j] {
				t.Fatalf("%v, and it should be %v", got, want)
			}
		}
	}
	run(a, 5, 9, 4, 0)
	converted := step().converted.Load().to
	b, err := tensor.Update(a, tensor.Set(-1.5, 1, 3), tensor.Set(7, 1, 0), tensor.Delete(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	run(b, 14, 0, 4, 0)
	followed := step().converted.Load().to
	if again, ok := b.Follow(a, converted); !ok || tensor.Diff(again, followed) != "" {
		t.Fatal("it does not follow")
	}
	fresh, err := b.Convert(followed.Format())
	if err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(fresh, followed); d != "" {
		t.Fatal(d)
	}
	if _, ok := followed.Follow(converted, converted); !ok {
		t.Error("the operand was converted again")
	}
	run(a, 5, 9, 4, 0)
	if d, err := tensor.Update(b, tensor.Set(1, 2, 3)); err != nil {
		t.Fatal(err)
	} else {
		run(d, 14, 0, 4, 3)
	}
}
