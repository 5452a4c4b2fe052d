// Gpu solves a heat equation by conjugate gradients on a GPU. The matrix and the
// vectors stay in the GPU's memory; one number comes back for each iteration.
//
//	go run ./examples/gpu                     a plate of 1000×1000 points
//	go run ./examples/gpu -n 50 -engine simulated      without a GPU, and slow
//
// Without a GPU it says so and ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// step is one iteration: x is the solution so far, r what is left of the right side, p
// the direction, rr the square of r.
const step = `
	q(i) = A(i,j)*p(j)
	alpha = rr/(sum_i p(i)*q(i))
	xnext(i) = x(i) + alpha*p(i)
	rnext(i) = r(i) - alpha*q(i)
	rrnext = sum_i rnext(i)^2
	beta = rrnext/rr
	pnext(i) = rnext(i) + beta*p(i)`

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 1000, "points along each side of the plate")
	name := flag.String("engine", runtime.CUDAName, "the engine: cuda, or simulated where there is no GPU")
	flag.Parse()
	engine, err := runtime.EngineByName(*name, nil)
	var missing *runtime.UnavailableError
	if errors.As(err, &missing) {
		fmt.Println("skipped:", err)
		return
	}
	if err == nil {
		err = run(context.Background(), engine, *n)
	}
	if err != nil {
		log.Fatal("gpu: ", err)
	}
}

func run(ctx context.Context, engine runtime.Engine, n int) error {
	if n < 1 || n > 20000 {
		return fmt.Errorf("-n %d: want 1 to 20000", n)
	}
	A, err := plate(n)
	if err != nil {
		return err
	}
	b, err := vector(n*n, 1)
	if err != nil {
		return err
	}
	x, err := vector(n*n, 0)
	if err != nil {
		return err
	}
	s := lacuna.NewSession(lacuna.WithEngine(engine), lacuna.WithResidentResults())
	if A, err = s.ToDevice(ctx, A); err != nil {
		return err
	}
	defer A.Release()
	square := float64(n * n) // of b
	args := lacuna.Args{"A": A, "x": x, "r": b, "p": b, "rr": tensor.ScalarTensor(tensor.Float(tensor.Float64, square))}
	start := time.Now()
	for steps := 1; ; steps++ {
		out, err := s.EvalAll(ctx, step, args)
		if err != nil {
			return err
		}
		// What the next iteration does not read can go.
		for _, name := range []string{"q", "alpha", "beta"} {
			out[name].Release()
		}
		if steps > 1 {
			for _, name := range []string{"x", "r", "p", "rr"} {
				args[name].(*tensor.Tensor).Release()
			}
		}
		args["x"], args["r"], args["p"], args["rr"] = out["xnext"], out["rnext"], out["pnext"], out["rrnext"]
		left := out["rrnext"].At().Float64() // the one number that comes back
		if left <= 1e-12*square || steps == 10*n {
			x := out["xnext"]
			if err := x.Fetch(); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%d iterations of %v each on engine %s\n", steps,
				(time.Since(start) / time.Duration(steps)).Round(time.Microsecond), engine.Name())
			fmt.Printf("%d points, %d entries\nthe middle is at %.6f\n", n*n, len(tensor.View[float64](A.Values())),
				x.At(int64(n/2*n+n/2)).Float64())
			return nil
		}
	}
}

// vector is a dense vector of n equal elements.
func vector(n int, v float64) (*tensor.Tensor, error) {
	return tensor.FromDense([]int64{int64(n)}, tensor.Dense(1), tensor.ArrayOf(slices.Repeat([]float64{v}, n)))
}

// plate is the five-point Laplacian of n×n points, in CSR.
func plate(n int) (*tensor.Tensor, error) {
	pos, crd, vals := []uint32{0}, []uint32(nil), []float64(nil)
	for row := range n {
		for col := range n {
			i := row*n + col
			for _, e := range []struct {
				there bool
				j     int
				v     float64
			}{{row > 0, i - n, -1}, {col > 0, i - 1, -1}, {true, i, 4}, {col < n-1, i + 1, -1}, {row < n-1, i + n, -1}} {
				if e.there {
					crd, vals = append(crd, uint32(e.j)), append(vals, e.v)
				}
			}
			pos = append(pos, uint32(len(crd)))
		}
	}
	return tensor.New([]int64{int64(n * n), int64(n * n)}, tensor.CSR,
		[]tensor.Level{{}, {Pos: tensor.ArrayOf(pos), Crd: tensor.ArrayOf(crd)}}, tensor.ArrayOf(vals))
}
