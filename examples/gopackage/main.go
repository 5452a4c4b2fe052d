// Command gopackage multiplies matrices with kernels that were compiled ahead of
// time: the program needs neither LLVM nor cgo, and nothing of lacuna but the package
// of tensors. The package kernels was made by
//
//	lacuna build 'y(i) = A(i,j)*x(j)' A:CSR --go-package kernels --name SpMV -o kernels
//	lacuna build 'C(i,k) = A(i,j)*B(j,k)' A:CSR B:CSR C:CSR --go-package kernels --name SpGEMM -o kernels
//
// and go generate makes it again.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lacuna-sparse/lacuna/examples/gopackage/kernels"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func main() {
	log.SetFlags(0)
	ctx := context.Background()

	// .  2  .
	// .  .  3
	// 4  .  .
	rows, cols := []int64{0, 1, 2}, []int64{1, 2, 0}
	A, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{rows, cols}, tensor.ArrayOf([]float64{2, 3, 4}))
	if err != nil {
		log.Fatal(err)
	}

	y := make([]float64, 3)
	if err := kernels.SpMV(ctx, A, []float64{1, 10, 100}, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println("A x =", y)

	power := A
	for n := 2; n <= 3; n++ {
		if power, err = kernels.SpGEMM(ctx, power, A); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("A^%d: %s\n", n, power)
	}
	fmt.Println("its diagonal:", power.At(0, 0), power.At(1, 1), power.At(2, 2))

	// What does not fit is an error.
	fmt.Println(kernels.SpMV(ctx, A, []float64{1, 10}, y))
}
