package lang

import (
	"errors"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestEmptyReductions binds reductions over dimensions of size 0: an error where a
// value is needed and there is none.
func TestEmptyReductions(t *testing.T) {
	for _, test := range []struct {
		text   string
		shape  []int64
		refuse bool
	}{
		{"y(i) = max_j A(i,j)", []int64{2, 0}, true},
		{"y(i) = argmin_j A(i,j)", []int64{2, 0}, true},
		{"y = min_{i,j} A(i,j)", []int64{0, 3}, true},
		{"y(i) = mean_j A(i,j)", []int64{2, 0}, false}, // NaN
		{"y(i) = sum_j A(i,j)", []int64{2, 0}, false},
		{"y(i) = any_j A(i,j)", []int64{2, 0}, false},
		{"y(i) = max_j A(i,j)", []int64{0, 0}, false},      // no element needs it
		{"y = sum_i (max_j A(i,j))", []int64{0, 0}, false}, // nor does any summand
		{"y = sum_i (max_j A(i,j))", []int64{2, 0}, true},
		{"y(i) = max_{j in A} A(i,j)", []int64{2, 0}, false}, // stored ones only: the identity
		{"y(i) = 1 + max_j A(i,j)", []int64{2, 3}, false},
	} {
		file, err := Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Check(file, map[string]Decl{"A": {Rank: 2, DType: tensor.Float64, HasDType: true, Format: tensor.CSR, HasFormat: true}})
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		_, err = Bind(p, map[string][]int64{"A": test.shape})
		var e *Error
		refused := errors.As(err, &e) && e.Code == ErrEmptyReduction
		if refused != test.refuse || err != nil && !refused {
			t.Errorf("%s with A of shape %v: %v", test.text, test.shape, err)
		}
	}
}
