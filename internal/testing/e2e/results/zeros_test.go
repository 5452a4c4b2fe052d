package results_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// -0 is below 0 in min and max, in whatever order an engine folds.
func TestSignsOfZeros(t *testing.T) {
	ctx := context.Background()
	sessions := []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(runtime.Interp())), lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()))}
	if cpu, err := runtime.CPU(); err == nil {
		sessions = append(sessions, lacuna.NewSession(lacuna.WithEngine(cpu)))
	}
	r := rand.New(rand.NewPCG(7, 8))
	// Few elements are of the rare sign, so that folds of both results occur.
	zeros := func(dt tensor.DType, rare float64, shape ...int64) *tensor.Tensor {
		n := int64(1)
		for _, size := range shape {
			n *= size
		}
		list := make([]float64, n)
		for i := range list {
			if list[i] = -rare; r.Int64N(n) == 0 {
				list[i] = rare
			}
		}
		a, err := tensor.ArrayOf(list).Convert(dt)
		if err != nil {
			t.Fatal(err)
		}
		x, err := tensor.FromDense(shape, tensor.Dense(len(shape)), a)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	const rows = 5
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16} {
		sizes := []int64{1, 3, 33, 300}
		if dt != tensor.Float64 {
			sizes = []int64{3, 120}
		}
		for _, columns := range sizes {
			for word, rare := range map[string]float64{"min": math.Copysign(0, -1), "max": 0} {
				A, B, v := zeros(dt, rare, rows, columns), zeros(dt, rare, rows, columns), zeros(dt, rare, columns)
				// All elements are stored, zeros too.
				S, err := tensor.FromCoords([]int64{rows, columns}, tensor.CSR, everyCoordinate(rows, columns), A.Values())
				if err != nil {
					t.Fatal(err)
				}
				places := make([]int64, columns)
				for i := range places {
					places[i] = r.Int64N(rows)
				}
				p, err := tensor.FromDense([]int64{columns}, tensor.Dense(1), tensor.ArrayOf(places))
				if err != nil {
					t.Fatal(err)
				}
				y := zeros(dt, rare, rows)
				for _, c := range []struct {
					text string
					args lacuna.Args
				}{
					{"z = WORD_{i,j} A(i,j)", lacuna.Args{"A": A}},
					{"z = WORD_{i,j} A(i,j)", lacuna.Args{"A": S}},
					{"z(i) = WORD_j A(i,j)", lacuna.Args{"A": A}},
					{"z(i) = WORD_j A(i,j)", lacuna.Args{"A": S}},
					{"z(i) = WORD_{j in A} A(i,j)", lacuna.Args{"A": S}},
					{"z(j) = WORD_i A(i,j)", lacuna.Args{"A": A}},
					{"z(j) = WORD_i A(i,j)", lacuna.Args{"A": S}},
					{"z(i,j) = cumWORD_j A(i,j)", lacuna.Args{"A": A}},
					{"z(i,j) = WORD(A(i,j), B(i,j))", lacuna.Args{"A": A, "B": B}},
					{"z(i) = WORD_j WORD(A(i,j), B(i,j))", lacuna.Args{"A": S, "B": B}},
					{"z(j) = WORD(WORD(v(j), 0), v(j))", lacuna.Args{"v": v}},
					{"z(p(i)) WORD= v(i)", lacuna.Args{"z": y, "p": p, "v": v}},
				} {
					text := strings.ReplaceAll(c.text, "WORD", word)
					var first *tensor.Tensor
					for _, session := range sessions {
						got, err := session.Eval(ctx, text, c.args)
						if err != nil {
							t.Fatalf("%s: %v", text, err)
						}
						if first == nil {
							first = got
						} else if d := tensor.Diff(first, got); d != "" {
							t.Errorf("%s of %d columns of %s: %s and %s differ: %s", text, columns, dt, sessions[0].Engine().Name(), session.Engine().Name(), d)
						}
					}
					if strings.HasPrefix(c.text, "z = WORD_") {
						negative := false
						for i := range A.Values().Len() {
							negative = negative || math.Signbit(A.Values().Scalar(i).Float64()) == (word == "min")
						}
						if got := math.Signbit(first.At().Float64()); got != (negative == (word == "min")) {
							t.Errorf("%s of %d columns of %s is %v", text, columns, dt, first.At())
						}
					}
				}
			}
		}
	}
}

// everyCoordinate lists the coordinates of a matrix row by row.
func everyCoordinate(rows, columns int64) [][]int64 {
	list := make([][]int64, 2)
	for i := range rows {
		for j := range columns {
			list[0], list[1] = append(list[0], i), append(list[1], j)
		}
	}
	return list
}
