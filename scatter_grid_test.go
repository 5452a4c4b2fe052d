package lacuna

import (
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Scatters of floats on grids have the bits of those on one thread: what falls to an
// element is folded in order.
func TestScatterOnGrids(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	grid, one := gridSession(t, 0), NewSession(WithEngine(runtime.Interp()))
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.Complex128} {
		numbers := func(n int64) *tensor.Tensor {
			x := randomLines(t, 1, n, tensor.Float64, nil)
			array, err := tensor.ArrayOf(tensor.View[float64](x.Values())).Convert(dt)
			if err != nil {
				t.Fatal(err)
			}
			v, err := tensor.FromDense([]int64{n}, tensor.Dense(1), array)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, text := range []string{"y(p(i)) += x(i)/3", "y(p(i)) *= x(i)", "y(p(i)) min= x(i)", "B(i,p(j)) += x(i)*x(j)"} {
			if dt.IsComplex() && text == "y(p(i)) min= x(i)" {
				continue // which have no order
			}
			for _, n := range []int64{0, 1, 31, 32, 33, 1000} {
				places := make([]int64, n)
				for i := range places {
					places[i] = r.Int64N(9)
				}
				args := Args{"x": numbers(n), "p": indices(places...), "y": numbers(9)}
				if text[0] == 'B' {
					if n > 33 {
						continue // simulated long enough
					}
					delete(args, "y")
					array, err := tensor.ArrayOf(make([]float64, n*9)).Convert(dt)
					if err != nil {
						t.Fatal(err)
					}
					if args["B"], err = tensor.FromDense([]int64{n, 9}, tensor.Dense(2), array); err != nil {
						t.Fatal(err)
					}
				}
				want, err := one.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatal(err)
				}
				got, err := grid.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(got, want); err != nil {
					t.Errorf("%s of %v, %d: %v", text, dt, n, err)
				}
			}
		}
	}
}
