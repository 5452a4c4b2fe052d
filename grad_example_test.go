package lacuna_test

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func ExampleGrad() {
	g, err := lacuna.Grad(context.Background(), "y(i) = sum_j A(i,j)*x(j)", "A",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Source)
	// Output: dA(i,j) = where(stored(A(i,j)), dy(i)*x(j), 0)
}

func ExampleEvalGrad() {
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 2}))
	if err != nil {
		panic(err)
	}
	dx, err := lacuna.EvalGrad(context.Background(), "y = sum_i x(i)^2", "x", lacuna.Args{"x": x})
	if err != nil {
		panic(err)
	}
	fmt.Println(dx.At(0), dx.At(1), dx.At(2))
	// Output: 2 4 4
}
