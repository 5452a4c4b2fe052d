// Semiring finds shortest paths with (min, +) in the place of (+, *).
//
//	go run ./examples/semiring
//
// A road that is not there has length ∞, so ∞ is the fill of the matrix of
// roads. Fill is part of what a tensor means, and the compiler reasons with it:
// a sum with ∞ is ∞, and a minimum never chooses ∞, so the loops visit stored
// roads only. `go run ./examples/semiring -lattice` shows that.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

var towns = []string{"Ahlen", "Beckum", "Coesfeld", "Dülmen", "Emsdetten", "Füchtorf"}

// Road e goes from town from[e] to town to[e]. No road leads to Füchtorf.
var (
	from   = []int64{0, 0, 1, 2, 2, 3, 5}
	to     = []int64{1, 2, 3, 1, 3, 4, 0}
	length = []float64{4, 1, 1, 2, 5, 3, 7}
)

// step finds the shortest paths with one more road (Bellman and Ford), and
// whether any town is nearer than before.
const step = `
	next(j) = min(dist(j), min_i (dist(i) + W(i,j)))
	nearer = any_j (next(j) < dist(j))`

func main() {
	log.SetFlags(0)
	lattice := flag.Bool("lattice", false, "show which coordinates the loops visit")
	flag.Parse()
	if err := run(context.Background(), *lattice); err != nil {
		log.Fatal("semiring: ", err)
	}
}

func run(ctx context.Context, lattice bool) error {
	n := int64(len(towns))
	inf := math.Inf(1)
	W, err := tensor.FromCoords([]int64{n, n}, tensor.CSC, [][]int64{from, to}, tensor.ArrayOf(length),
		tensor.WithFill(tensor.Float(tensor.Float64, inf)))
	if err != nil {
		return err
	}
	start := []float64{0, inf, inf, inf, inf, inf}
	dist, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(start))
	if err != nil {
		return err
	}

	kernel, err := lacuna.Compile(ctx, step, lacuna.Operand("W", W), lacuna.Operand("dist", dist))
	if err != nil {
		return err
	}
	if lattice {
		text, err := kernel.Explain("lattice")
		if err != nil {
			return err
		}
		fmt.Println(text)
	}
	for nearer := true; nearer; {
		out, err := kernel.RunAll(ctx, lacuna.Args{"W": W, "dist": dist})
		if err != nil {
			return err
		}
		dist, nearer = out["next"], out["nearer"].At().Bool()
	}
	for j, town := range towns {
		fmt.Printf("%-10s %v\n", town, dist.At(int64(j)))
	}
	return nil
}
