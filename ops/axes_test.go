package ops_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestNegativeAxes: every function that takes an axis counts negative ones from the end, and
// refuses those beyond.
func TestNegativeAxes(t *testing.T) {
	ctx := t.Context()
	A := matrix(tensor.CSR)
	order := func(axis int) []int64 {
		p := make([]int64, A.Shape()[(axis+4)%2])
		for i := range p {
			p[i] = int64(len(p) - 1 - i)
		}
		return p
	}
	for name, f := range map[string]func(axis int) (*tensor.Tensor, error){
		"Axes of a reduction": func(a int) (*tensor.Tensor, error) { return ops.Sum(ctx, A, ops.Axes(a)) },
		"Axes of a scan":      func(a int) (*tensor.Tensor, error) { return ops.CumSum(ctx, A, ops.Axes(a)) },
		"Axes of a sort":      func(a int) (*tensor.Tensor, error) { return ops.Sort(ctx, A, ops.Axes(a)) },
		"Axes of a quantile":  func(a int) (*tensor.Tensor, error) { return ops.Median(ctx, A, ops.Axes(a)) },
		"Axes of Repeat":      func(a int) (*tensor.Tensor, error) { return ops.Repeat(ctx, A, ops.Axes(a)) },
		"Axes of Softmax":     func(a int) (*tensor.Tensor, error) { return ops.Softmax(ctx, A, ops.Axes(a)) },
		"Concat":              func(a int) (*tensor.Tensor, error) { return ops.Concat(ctx, a, []*tensor.Tensor{A, A}) },
		"Permute":             func(a int) (*tensor.Tensor, error) { return ops.Permute(ctx, A, a, order(a)) },
		"Transpose":           func(a int) (*tensor.Tensor, error) { return ops.Transpose(ctx, A, []int{1 - (a+4)%2, a}) },
		"UniqueAlong": func(a int) (*tensor.Tensor, error) {
			u, err := ops.UniqueAlong(ctx, A, a)
			return u.Counts, err
		},
	} {
		for _, axis := range []int{0, 1} {
			want, err := f(axis)
			if err != nil {
				t.Fatalf("%s, axis %d: %v", name, axis, err)
			}
			got, err := f(axis - 2)
			if err != nil {
				t.Errorf("%s, axis %d: %v", name, axis-2, err)
				continue
			}
			if d := tensor.Diff(want, got); d != "" {
				t.Errorf("%s: axis %d is not axis %d: %s", name, axis-2, axis, d)
			}
		}
		for _, axis := range []int{2, -3} {
			if _, err := f(axis); !errors.Is(err, ops.ErrAxis) {
				t.Errorf("%s, axis %d of two: got %v", name, axis, err)
			}
		}
	}
}

// TestScanOfAllStoredAs: a scan over all elements has one axis, and so has the format that it is
// stored in.
func TestScanOfAllStoredAs(t *testing.T) {
	ctx := t.Context()
	A := matrix(tensor.CSR)
	want, err := ops.CumSum(ctx, A, ops.Stored())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
		got, err := ops.CumSum(ctx, A, ops.Stored(), ops.StoredAs(f))
		if err != nil {
			t.Fatalf("stored as %s: %v", f, err)
		}
		if got.Format() != f || !sameElements(t, got, want) {
			t.Errorf("stored as %s: got %v", f, got)
		}
	}
	if _, err := ops.CumSum(ctx, A, ops.StoredAs(tensor.CSR)); err == nil {
		t.Error("a vector was stored as CSR")
	}
}

func sameElements(t *testing.T, a, b *tensor.Tensor) bool {
	t.Helper()
	x, err := a.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Equal(tensor.View[float64](x), tensor.View[float64](y))
}
