// Tensor multiplies a sparse tensor of three dimensions by two matrices.
//
//	go run ./examples/tensor examples/testdata/small.tns
//
// The product is MTTKRP (matricized tensor times Khatri-Rao product), the
// kernel in which the CP decomposition spends its time. The tensor is stored as
// a compressed sparse fibre tree (CSF).
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// rank is the number of columns of the factor matrices.
const rank = 4

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: tensor FILE.tns")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal("tensor: ", err)
	}
}

func run(ctx context.Context, path string) error {
	T, err := file.Read(path, file.Format(tensor.CSF(3)))
	if err != nil {
		return err
	}
	fmt.Println("T:", T)
	B, err := factor(T.Shape()[1])
	if err != nil {
		return err
	}
	C, err := factor(T.Shape()[2])
	if err != nil {
		return err
	}

	start := time.Now()
	M, err := lacuna.Eval(ctx, "M(i,r) = sum_{j,k} T(i,j,k)*B(j,r)*C(k,r)",
		lacuna.Args{"T": T, "B": B, "C": C}, lacuna.Result("M", tensor.Dense(2)))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "compiled and ran in %v\n", time.Since(start).Round(time.Microsecond))

	fmt.Println("M:", M)
	for i := range min(M.Shape()[0], 5) {
		for r := range M.Shape()[1] {
			fmt.Printf("%10.4g", M.At(i, r).Float64())
		}
		fmt.Println()
	}
	return nil
}

// factor makes a matrix of n rows; row i is i+1, i+2, …
func factor(n int64) (*tensor.Tensor, error) {
	values := make([]float64, n*rank)
	for p := range values {
		values[p] = float64(p/rank + p%rank + 1)
	}
	return tensor.FromDense([]int64{n, rank}, tensor.Dense(2), tensor.ArrayOf(values))
}
