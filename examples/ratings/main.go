// Ratings compares films by the users who rated them: similarity, statistics, a changed rating and one that is taken back.
//
//	go run ./examples/ratings examples/testdata/ratings.csv
//
// A line is a user, a film and a number of stars. The similarity of two films is the cosine of their columns.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/from"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: ratings FILE.csv")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal("ratings: ", err)
	}
}

func run(ctx context.Context, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	R, names, err := from.Edges[float64](in, tensor.CSR, from.KeepLast)
	if err != nil {
		return err
	}
	if R, err = tensor.Update(R, tensor.Set(3.5, 0, 0), tensor.Delete(2, 1)); err != nil { // copies nothing
		return err
	}
	y, err := lacuna.NewSession().EvalAll(ctx, "n(j) = sqrt(sum_i R(i,j)^2); S(j,k) = sum_i R(i,j)*R(i,k) / (n(j)*n(k)); m(j) = mean_{i in R} R(i,j)", lacuna.Args{"R": R})
	if err != nil {
		return err
	}
	for at, s := range tensor.Entries[float64](y["S"]) {
		if at[0] < at[1] {
			fmt.Printf("%.3f  %s, %s\n", s, names[1].Name(at[0]), names[1].Name(at[1]))
		}
	}
	for film, stars := range tensor.StoredValues[float64](y["m"]) {
		fmt.Printf("%.2f  %s\n", stars, names[1].Name(int64(film)))
	}
	return nil
}
