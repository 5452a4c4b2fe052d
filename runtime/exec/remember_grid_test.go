package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests what runs remember beside tensors of a device (runtime/memoise.go).

// Runs on operands that stay on a device, of which they remember what follows from index arrays, give what one
// thread gives: with other values, other operands of the same kernel, and after operands were released.
func TestRunsThatRemember(t *testing.T) {
	ctx := context.Background()
	engine := testengine.Or(t, runtime.Simulated())
	session := NewSession(WithEngine(engine), WithResidentResults(), WithConversionKernels())
	oracle := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	r := rand.New(rand.NewPCG(5, 7))
	vector := func(n int64) *tensor.Tensor {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(r.IntN(9) - 4)
		}
		x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	places := func(n, below int64) *tensor.Tensor {
		values := make([]int64, n)
		for i := range values {
			values[i] = r.Int64N(below)
		}
		x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	there := func(x *tensor.Tensor) *tensor.Tensor {
		on, err := session.ToDevice(ctx, x)
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	turns := []int{0, 0, 0, 1, 0, 1, 1, 1}
	for _, test := range []struct {
		text  string
		index []*tensor.Tensor // of each of two operands
		name  string
		args  func() Args
	}{
		{"y(i) = A(i,j)*x(j)", []*tensor.Tensor{
			sparseLine(t, 300*40, []int64{300, 40}, tensor.CSR, tensor.Float64, 0), sparseLine(t, 300*39, []int64{300, 40}, tensor.CSR, tensor.Float64, 0),
		}, "A", func() Args { return Args{"x": vector(40)} }},
		{"y(i) = max_j A(i,j)*x(j)", []*tensor.Tensor{
			sparseLine(t, 3*4000, []int64{3, 4000}, tensor.CSR, tensor.Float64, 0), sparseLine(t, 3*3000, []int64{3, 4000}, tensor.CSR, tensor.Float64, 0),
		}, "A", func() Args { return Args{"x": vector(4000)} }},
		{"y(p(i)) += x(i)", []*tensor.Tensor{places(700, 90), places(700, 90)}, "p", func() Args { return Args{"x": vector(700), "y": vector(90)} }},
		{"y(p(i)) += x(i)", []*tensor.Tensor{places(5, 3), places(5, 3)}, "p", func() Args { return Args{"x": vector(5), "y": vector(3)} }},
	} {
		for turn, index := range turns {
			args := test.args()
			args[test.name] = test.index[index]
			want := numbers(t, evalAll(t, []*Session{oracle}, test.text, args))
			if turn == slices.Index(turns, index) {
				test.index[index] = there(test.index[index])
			}
			on := Args{}
			for name, x := range args {
				on[name] = x
			}
			on[test.name] = test.index[index]
			got := numbers(t, evalAll(t, []*Session{session}, test.text, on))
			agree(t, fmt.Sprintf("%s, turn %d", test.text, turn), got, want, 0)
		}
		test.index[0].Release()
	}
}
