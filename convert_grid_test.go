package lacuna

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// TestConvertGrids compares conversions by grids with tensor.Convert: with buckets as
// they come and with the radix passes of large axes, in one list and in many.
func TestConvertGrids(t *testing.T) {
	large := func(d lower.Data) lower.Data {
		d.Shape = slices.Clone(d.Shape)
		for axis := range d.Shape {
			d.Shape[axis] *= 5000
		}
		return d
	}
	r := rand.New(rand.NewPCG(8, 9))
	for _, c := range []struct {
		name  string
		grain int64
		data  func(lower.Data) lower.Data
	}{
		{"buckets", 0, nil}, {"buckets of many lists", 37, nil}, {"radix", 0, large}, {"radix of many lists", 50, large},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSession(WithEngine(runtime.Simulated()))
			s.grain, s.conversions.always, s.conversions.data = c.grain, true, c.data
			for i := range 20 {
				rank := 2 + r.IntN(2)
				a := randomTensor(t, r, rank)
				to := randomFormat(r, rank)
				for hugeDense(a.Shape(), to) {
					to = randomFormat(r, rank)
				}
				want, wantErr := a.Convert(to)
				got, err := s.Convert(t.Context(), a, to)
				if (err != nil) != (wantErr != nil) {
					t.Fatalf("%d: %v to %v: error %v, want %v", i, a, to, err, wantErr)
				}
				if err != nil {
					continue
				}
				if err := sameArrays(got, want); err != nil {
					t.Fatalf("%d: %v to %v: %v", i, a, to, err)
				}
			}
		})
	}
}
