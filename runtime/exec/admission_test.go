package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestRefusedBeforeTheFirstStep divides by sums of rows, which take long for 10^8 rows, into a dense result that
// no memory holds.
func TestRefusedBeforeTheFirstStep(t *testing.T) {
	const n = 100_000_000
	A, err := tensor.FromCoords([]int64{n, n}, tensor.Coordinates(2), [][]int64{{0, n - 1}, {0, n - 1}}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	var limit *runtime.MemoryLimitError
	_, err = Eval(context.Background(), "s(i) = sum_j exp(A(i,j)); R(i,j) = exp(A(i,j))/s(i)", Args{"A": A})
	if !errors.As(err, &limit) || limit.Stage != "" || limit.Buffer != "R" {
		t.Fatalf("got %v, want R to be refused before any stage", err)
	}
	for _, part := range []string{"R needs 71.1 PiB (10000000000000000 × f64)", "memory limit", "choose a sparser format"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: does not say %q", err, part)
		}
	}
	// What fits is no matter how close it is.
	s := NewSession(WithMemoryLimit(1 << 20))
	v, err := tensor.FromDense([]int64{1000}, tensor.Dense(1), tensor.ArrayOf(make([]float64, 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Eval(context.Background(), "s = sum_i v(i); r(i) = v(i) + s", Args{"v": v}); err != nil {
		t.Error(err)
	}
	if _, err := s.Eval(context.Background(), "s = sum_i v(i); r(i,j) = v(i)*v(j) + s", Args{"v": v}); !errors.As(err, &limit) || limit.Limit != 1<<20 {
		t.Errorf("got %v, want a refusal of more than 1 MiB", err)
	}
}
