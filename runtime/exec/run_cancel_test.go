package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Every run ends soon after its context, however long the loops are that it is in.
func TestRunsEndWithTheirContext(t *testing.T) {
	sparse := func(shape ...int64) *tensor.Tensor {
		coords := make([][]int64, len(shape))
		for i := range coords {
			coords[i] = []int64{3}
		}
		v, err := tensor.FromCoords(shape, tensor.CSF(len(shape)), coords, tensor.ArrayOf([]float64{2}))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	dense, err := tensor.FromDense([]int64{2000, 2000}, tensor.Dense(2), tensor.ArrayOf(make([]float64, 2000*2000)))
	if err != nil {
		t.Fatal(err)
	}
	const huge = 1 << 40
	for _, test := range []struct {
		text string
		args Args
	}{
		{"y = sum_i sin(x(i)+i)", Args{"x": sparse(huge)}},
		{"y = sum_{i,j} sin(A(i,j)+i*j)", Args{"A": sparse(huge, huge)}},
		{"y = max_{i,j} (A(i,j)+i-j)", Args{"A": sparse(huge, huge)}},
		{"C(i,k) = sum_{j,l} A(i,j)*A(j,k)*A(k,l)*cos(A(i,l)+j)", Args{"A": dense}},
	} {
		for _, s := range both(t) {
			const after = 50 * time.Millisecond
			k, err := s.kernelFor(context.Background(), test.text, test.args, nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			start := time.Now()
			_, err = k.Run(ctx, test.args)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s on %s: error %v, want %v", test.text, s.Engine().Name(), err, context.DeadlineExceeded)
			}
			took := time.Since(start) - after
			t.Logf("%s on %s: ended %v after its deadline", test.text, s.Engine().Name(), took)
			if took > 5*time.Second { // it takes some milliseconds; machines that run tests are busy
				t.Errorf("%s on %s: ended %v after its deadline", test.text, s.Engine().Name(), took)
			}
		}
	}
}
