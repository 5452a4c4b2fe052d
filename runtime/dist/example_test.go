package dist_test

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Two ranks multiply a matrix of which each has two rows by a vector of which each has two elements.
func ExampleRank() {
	matrix, err := tensor.NewCSR([]int64{4, 4}, []int{0, 1, 2, 3, 5}, []int{0, 3, 2, 0, 1}, []float64{1, 2, 3, 4, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	vector := tensor.Vector([]float64{1, 10, 100, 1000})
	session := exec.NewSession(exec.WithEngine(runtime.Interp()))
	err = ranks.Run(context.Background(), 2, ranks.Faults{}, func(ctx context.Context, t transport.Transport) error {
		r, err := dist.New(ctx, session, t, nil)
		if err != nil {
			return err
		}
		rows := placement.Blocks(4, 2)
		A, err := r.Cut(matrix, placement.OneAxis(r.Grid(), 2, 0, rows, 0))
		if err != nil {
			return err
		}
		x, err := r.Cut(vector, placement.OneAxis(r.Grid(), 1, 0, rows, 0))
		if err != nil {
			return err
		}
		args := map[string]*dist.Tensor{"A": A, "x": x}
		out, err := r.Eval(ctx, "y(i) = sum_j A(i,j)*x(j)", args, dist.Options{})
		if err != nil {
			return err
		}
		values := r.Sent().Values // rank 0 needs the last element of x, rank 1 the first two
		y, err := r.Collect(ctx, out["y"])
		if err == nil && r.Rank() == 0 {
			fmt.Println(tensor.StoredValues[float64](y), out["y"].Placement)
			fmt.Println("rank 0 has sent", values, "bytes of values")
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 2000 300 54] over (r)
	// rank 0 has sent 16 bytes of values
}
