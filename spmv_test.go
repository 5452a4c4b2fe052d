package lacuna

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func laplacian(n int64) *tensor.Tensor {
	var r, c []int64
	var v []float64
	add := func(i, j int64, x float64) { r = append(r, i); c = append(c, j); v = append(v, x) }
	for y := int64(0); y < n; y++ {
		for x := int64(0); x < n; x++ {
			i := y*n + x
			if y > 0 { add(i, i-n, -1) }
			if x > 0 { add(i, i-1, -1) }
			add(i, i, 4)
			if x < n-1 { add(i, i+1, -1) }
			if y < n-1 { add(i, i+n, -1) }
		}
	}
	A, err := tensor.FromCoords([]int64{n * n, n * n}, tensor.CSR, [][]int64{r, c}, tensor.ArrayOf(v))
	if err != nil { panic(err) }
	return A
}

func TestSpMVSpeed(t *testing.T) {
	e, err := runtime.CPU()
	if err != nil { t.Fatal(err) }
	s := NewSession(WithEngine(e), WithThreads(1))
	A := laplacian(1000)
	xs := make([]float64, 1000000)
	for i := range xs { xs[i] = float64(i % 10) }
	x, _ := tensor.FromDense([]int64{1000000}, tensor.Dense(1), tensor.ArrayOf(xs))
	t0 := time.Now()
	k, err := s.kernelFor("y(i) = sum_j A(i,j)*x(j)", Args{"A": A, "x": x}, nil)
	if err != nil { t.Fatal(err) }
	fmt.Println("compile", time.Since(t0))
	t0 = time.Now()
	s.kernels = map[string]*Kernel{}
	s.kernelFor("y(i) = sum_j A(i,j)*x(j)", Args{"A": A, "x": x}, nil)
	fmt.Println("compile cached program", time.Since(t0))
	t0 = time.Now()
	s.kernelFor("y(i) = sum_j A(i,j)*x(j)", Args{"A": A, "x": x}, nil)
	fmt.Println("compile hit", time.Since(t0))
	for i := 0; i < 5; i++ {
		t0 = time.Now()
		_, err := k.Run(context.Background(), Args{"A": A, "x": x})
		if err != nil { t.Fatal(err) }
		fmt.Println("run", time.Since(t0))
	}
	fmt.Println(k.plan)
	fmt.Println(k.steps[0].latest.Load().lower.Program)
}
