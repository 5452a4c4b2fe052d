// Spmv multiplies a sparse matrix from a file by a vector.
//
//	go run ./examples/spmv examples/testdata/small.mtx
//
// The vector is x(j) = 1, so the result holds the sums of the rows.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: spmv FILE.mtx")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal("spmv: ", err)
	}
}

func run(ctx context.Context, path string) error {
	A, err := file.Read(path, file.Format(tensor.CSR), file.As(tensor.Float64))
	if err != nil {
		return err
	}
	fmt.Println("A:", A)
	n := A.Shape()[1]
	ones := slices.Repeat([]float64{1}, int(n))
	x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(ones))
	if err != nil {
		return err
	}

	start := time.Now()
	kernel, err := lacuna.Compile(ctx, "y(i) = sum_j A(i,j)*x(j)", lacuna.Operand("A", A), lacuna.Operand("x", x))
	if err != nil {
		return err
	}
	compiled := time.Now()
	y, err := kernel.Run(ctx, lacuna.Args{"A": A, "x": x})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "compiled in %v, ran in %v\n", compiled.Sub(start), time.Since(compiled))

	fmt.Println("y:", y)
	for i, v := range tensor.View[float64](y.Values()) {
		if i == 5 {
			fmt.Println("…")
			break
		}
		fmt.Printf("y(%d) = %.6g\n", i, v)
	}
	return nil
}
