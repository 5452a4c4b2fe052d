// Gonum is what examples/ratings does, with gonum: gonum RATINGS.csv. Its matrices are dense.
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	r := csv.NewReader(in)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		return err
	}
	var names [2][]string
	numbers := [2]map[string]int{{}, {}}
	type place struct{ user, film int }
	stars := map[place]float64{}
	for _, line := range lines {
		var at [2]int
		for k := range at {
			n, ok := numbers[k][line[k]]
			if !ok {
				n = len(names[k])
				numbers[k][line[k]] = n
				names[k] = append(names[k], line[k])
			}
			at[k] = n
		}
		if stars[place{at[0], at[1]}], err = strconv.ParseFloat(line[2], 64); err != nil {
			return err
		}
	}
	stars[place{0, 0}] = 3.5
	delete(stars, place{2, 1})
	R := mat.NewDense(len(names[0]), len(names[1]), nil)
	count := make([]float64, len(names[1]))
	for at, s := range stars {
		R.Set(at.user, at.film, s)
		count[at.film]++
	}
	var S mat.Dense
	S.Mul(R.T(), R)
	for i := range names[1] {
		for j := i + 1; j < len(names[1]); j++ {
			if s := S.At(i, j); s != 0 {
				fmt.Printf("%.3f  %s, %s\n", s/math.Sqrt(S.At(i, i)*S.At(j, j)), names[1][i], names[1][j])
			}
		}
	}
	for i, name := range names[1] {
		fmt.Printf("%.2f  %s\n", mat.Sum(R.ColView(i))/count[i], name)
	}
	return nil
}
