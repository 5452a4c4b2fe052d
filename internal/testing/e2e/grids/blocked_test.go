package grids_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Products of dense matrices, and what else folds rows with columns, of sizes about those of the tiles that blocks take.
func TestBlockedProducts(t *testing.T) {
	testengine.Interpreted(t)
	type shape func(n, m, k int64) []int64
	tall := func(n, _, k int64) []int64 { return []int64{n, k} }  // of a row
	wide := func(_, m, k int64) []int64 { return []int64{k, m} }  // of a column, the fold outside
	other := func(_, m, k int64) []int64 { return []int64{m, k} } // of a column
	first := func(n, _, k int64) []int64 { return []int64{k, n} } // of a row, the fold outside
	whole := func(n, m, _ int64) []int64 { return []int64{n, m} }
	cases := []struct {
		text string
		args map[string]shape
	}{
		{"Y(i,j) = P(i,k)*Q(k,j)", map[string]shape{"P": tall, "Q": wide}},
		{"Y(i,j) = P(i,k)*Q(j,k)", map[string]shape{"P": tall, "Q": other}},
		{"Y(i,j) = P(k,i)*Q(k,j)", map[string]shape{"P": first, "Q": wide}},
		{"Y(i,j) = sum_k (P(i,k) - Q(j,k))^2", map[string]shape{"P": tall, "Q": other}},
		{"Y(i,j) = min_k (P(i,k) + Q(k,j))", map[string]shape{"P": tall, "Q": wide}},
		{"Y(i,j) = D(i,j) - sum_k P(i,k)*Q(k,j)", map[string]shape{"D": whole, "P": tall, "Q": wide}},
		{"Y(i,j) = sum_k P(i,k)*Q(j,k)*(k + 1)*(j - i)", map[string]shape{"P": tall, "Q": other}},
		{"Y(i,j) = max(sum_k P(i,k)*Q(j,k), 0)*D(i,j)", map[string]shape{"D": whole, "P": tall, "Q": other}},
	}
	sizes := [][3]int64{{64, 32, 16}, {65, 33, 17}, {1, 70, 8}, {130, 1, 9}, {33, 8, 40}, {31, 9, 15}, {40, 7, 33}, {5, 3, 2}, {20, 20, 0}, {0, 20, 20}, {20, 0, 20}, {9, 9, 200}}
	for c, test := range cases {
		for d, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Int64, tensor.Float16} {
			for s, size := range sizes {
				if d > 0 && testengine.Thin(4, c, d, s) {
					continue
				}
				if size[2] == 0 && strings.Contains(test.text, "min") {
					continue // refused
				}
				t.Run(fmt.Sprintf("%s/%s/%v", test.text, dt, size), func(t *testing.T) {
					args := lacuna.Args{}
					for name, of := range test.args {
						args[name] = sparseIntegers(t, of(size[0], size[1], size[2]), tensor.Dense(2), dt, uint64(name[0]))
					}
					var got [2]*tensor.Tensor
					for i, e := range []runtime.Engine{testengine.Or(t, runtime.Simulated()), runtime.Interp()} {
						var err error
						if got[i], err = lacuna.NewSession(lacuna.WithEngine(e)).Eval(t.Context(), test.text, args, lacuna.AsWritten()); err != nil {
							t.Fatal(err)
						}
					}
					if !tensor.Equal(got[0], got[1]) {
						t.Errorf("got %v, want %v", got[0], got[1])
					}
				})
			}
		}
	}
}
