package ops_test

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// family has the functions of one form by name.
type family []struct {
	name string
	f    func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)
}

// print applies each function to a tensor.
func (all family) print(a *tensor.Tensor, opts ...ops.Option) {
	for _, op := range all {
		y, err := op.f(context.Background(), a, opts...)
		if err != nil {
			fmt.Println(op.name, err)
			continue
		}
		elements, err := tensor.Elements[float64](y)
		if err != nil {
			fmt.Println(op.name, err)
			continue
		}
		fmt.Printf("%s %.3g\n", op.name, elements)
	}
}

// small is 1 0 4 / 0 0 0 / -2 2 0.
func small() *tensor.Tensor {
	a, err := tensor.NewCSR([]int64{3, 3}, []int{0, 2, 2, 4}, []int{0, 2, 0, 1}, []float64{1, 4, -2, 2})
	if err != nil {
		panic(err)
	}
	return a
}

// What is not stored counts as 0: the rows are 1 0 4, 0 0 0 and -2 2 0.
func Example_reductions() {
	family{
		{"sum", ops.Sum}, {"prod", ops.Prod}, {"max", ops.Max}, {"min", ops.Min}, {"mean", ops.Mean}, {"median", ops.Median}, {"var", ops.Var}, {"norm", ops.Norm},
		{"any", ops.Any}, {"all", ops.All}, {"count", ops.Count}, {"argmax", ops.ArgMax}, {"argmin", ops.ArgMin}, {"logsumexp", ops.LogSumExp},
	}.print(small(), ops.Axes(1))
	fmt.Println("of what is stored alone")
	family{{"mean", ops.Mean}, {"max", ops.Max}}.print(small(), ops.Axes(0), ops.Stored(), ops.KeepDims())
	// Output:
	// sum [5 0 0]
	// prod [0 0 -0]
	// max [4 0 2]
	// min [0 0 -2]
	// mean [1.67 0 0]
	// median [1 0 0]
	// var [2.89 0 2.67]
	// norm [4.12 0 2.83]
	// any [1 0 1]
	// all [0 0 0]
	// count [2 0 2]
	// argmax [2 0 1]
	// argmin [1 0 0]
	// logsumexp [4.07 1.1 2.14]
	// of what is stored alone
	// mean [-0.5 2 4]
	// max [1 2 4]
}

// Along each row.
func Example_scans() {
	family{
		{"cumprod", ops.CumProd}, {"cummax", ops.CumMax}, {"cummin", ops.CumMin}, {"logcumsumexp", ops.LogCumSumExp},
		{"softmax", ops.Softmax}, {"logsoftmax", ops.LogSoftmax}, {"sort", ops.Sort}, {"argsort", ops.ArgSort},
	}.print(small(), ops.Axes(1))
	fmt.Println("the other way")
	family{{"sort", ops.Sort}, {"argsort", ops.ArgSort}}.print(small(), ops.Axes(1), ops.Descending())
	family{{"cumsum", ops.CumSum}}.print(small(), ops.Axes(1), ops.Reverse(), ops.Exclusive())
	// Output:
	// cumprod [1 0 0 0 0 0 -2 -4 -0]
	// cummax [1 1 4 0 0 0 -2 2 2]
	// cummin [1 0 0 0 0 0 -2 -2 -2]
	// logcumsumexp [1 1.31 4.07 0 0.693 1.1 -2 2.02 2.14]
	// softmax [0.0466 0.0171 0.936 0.333 0.333 0.333 0.0159 0.867 0.117]
	// logsoftmax [-3.07 -4.07 -0.0659 -1.1 -1.1 -1.1 -4.14 -0.143 -2.14]
	// sort [0 1 4 0 0 0 -2 0 2]
	// argsort [1 0 2 0 1 2 0 2 1]
	// the other way
	// sort [4 1 0 0 0 0 2 0 -2]
	// argsort [2 0 1 0 1 2 1 2 0]
	// cumsum [4 4 0 0 0 0 2 0 0]
}

// Gradients of the sum of all results, with respect to what the operand stores.
func Example_gradients() {
	ones, _ := tensor.NewDense([]float64{1, 1, 1})
	of := func(grad func(context.Context, *tensor.Tensor, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)) func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error) {
		return func(ctx context.Context, a *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return grad(ctx, a, ones, opts...)
		}
	}
	family{
		{"sum", of(ops.SumGrad)}, {"prod", of(ops.ProdGrad)}, {"max", of(ops.MaxGrad)}, {"min", of(ops.MinGrad)}, {"mean", of(ops.MeanGrad)},
		{"median", of(ops.MedianGrad)}, {"var", of(ops.VarGrad)}, {"logsumexp", of(ops.LogSumExpGrad)},
	}.print(small(), ops.Axes(1))
	// Output:
	// sum [1 0 1 0 0 0 1 1 0]
	// prod [0 0 0 0 0 0 0 -0 0]
	// max [0 0 1 0 0 0 0 1 0]
	// min [0 0 0 0 0 0 1 0 0]
	// mean [0.333 0 0.333 0 0 0 0.333 0.333 0]
	// median [1 0 0 0 0 0 0 0 0]
	// var [-0.444 0 1.56 0 0 0 -1.33 1.33 0]
	// logsumexp [0.0466 0 0.936 0 0 0 0.0159 0.867 0]
}

// Element by element, and products of matrices.
func Example_pairs() {
	b, _ := tensor.NewDense([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	with := func(op func(context.Context, *tensor.Tensor, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)) func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error) {
		return func(ctx context.Context, a *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return op(ctx, a, b, opts...)
		}
	}
	family{{"add", with(ops.Add)}, {"sub", with(ops.Sub)}, {"mul", with(ops.Mul)}, {"div", with(ops.Div)}, {"matmul", with(ops.MatMul)}}.print(small())
	y, err := ops.Einsum(context.Background(), "ij,kj->ik", []*tensor.Tensor{small(), b})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.At(0, 0), y.At(2, 1))
	// Output:
	// add [2 2 7 4 5 6 5 10 9]
	// sub [0 -2 1 -4 -5 -6 -9 -6 -9]
	// mul [1 0 12 0 0 0 -14 16 0]
	// div [1 0 1.33 0 0 0 -0.286 0.25 0]
	// matmul [29 34 39 0 0 0 6 6 6]
	// 13 2
}
