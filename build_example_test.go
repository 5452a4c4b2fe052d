package lacuna_test

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Link plans a program for a kernel ahead of time; Build goes on and compiles it, where
// there is an LLVM:
//
//	u, err := lacuna.Build(context.Background(), program, lacuna.BuildOptions{Name: "spmv", CPU: "x86-64-v3"}, options...)
//	object, err := u.File("spmv.o")
func ExampleLink() {
	p, err := lacuna.Link(context.Background(), "y(i) = A(i,j)*x(j)", lacuna.BuildOptions{Name: "spmv"},
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Name, p.Signature(), p.Operands)
	// Output: spmv A:CSR[f64] x:D[f64] y:D[f64] 2
}
