package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
func dense(m, n int64) *tensor.Tensor {
	v := make([]float64, m*n)
	for i := range v {
		v[i] = rand.Float64()
	}
	t, err := tensor.FromDense([]int64{m, n}, tensor.Dense(2), tensor.ArrayOf(v))
	if err != nil {
		panic(err)
	}
	return t
}
func main() {
	n := func(i int) int64 { x, _ := strconv.ParseInt(os.Args[i], 10, 64); return x }
	s := lacuna.NewSession(lacuna.WithThreads(1))
	args := lacuna.Args{"P": dense(n(2), n(3))}
	if len(os.Args) > 5 {
		args["Q"] = dense(n(4), n(5))
	}
	var took []time.Duration
	for i := range 40 {
		t := cpu()
		out, err := s.Eval(context.Background(), os.Args[1], args)
		if err != nil {
			panic(err)
		}
		d := cpu() - t
		out.Release()
		if i == 2 {
			runtime.Flush()
		}
		if i > 5 {
			took = append(took, d)
		}
	}
	slices.Sort(took)
	fmt.Println("least", took[0], "median", took[len(took)/2])
}
