package main

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func main() {
	for _, eager := range []bool{false, true} {
		debug.EagerOptimiser = eager
		s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(1))
		z := func(n int) tensor.Array { return tensor.ArrayOf(make([]complex64, n)) }
		sd, _ := tensor.ParseFormat("S-D")
		a10, err := tensor.FromCoords([]int64{3, 2}, sd, [][]int64{{1, 1, 2, 2}, {0, 1, 0, 1}}, z(4))
		fmt.Println(err)
		a8, err := tensor.FromDense([]int64{2, 5}, tensor.Dense(2), z(10))
		fmt.Println(err)
		a9, err := tensor.FromDense([]int64{0}, tensor.Dense(1), z(0))
		fmt.Println(err)
		st, ok := a9.Statistics()
		fmt.Printf("%+v %v %+v\n", st, ok, st.Rounded())
		args := lacuna.Args{"a10": a10, "a8": a8, "a9": a9}
		src := "R(k,i) = (sum_j ((a10(i,j) * (sum_n ((a9(n) * a8(j,k)))))))"
		for _, o := range [][]lacuna.Option{{lacuna.Operand("a10", a10), lacuna.Operand("a8", a8), lacuna.Operand("a9", a9), lacuna.Result("R", tensor.CSR)}, {lacuna.AsWritten(), lacuna.Result("R", tensor.CSR), lacuna.Operand("a10", a10), lacuna.Operand("a8", a8), lacuna.Operand("a9", a9)}} {
			k, err := s.Compile(context.Background(), src, o...)
			fmt.Println(err)
			fmt.Println(k.Explain("logic"))
			fmt.Println(k.Explain("plan"))
			out, err := k.Run(context.Background(), args)
			fmt.Println(out, err)
		}
	}
}
