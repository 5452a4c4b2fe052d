package lacuna

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
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
			engine := runtime.Simulated()
			here, there := NewSession(WithEngine(engine)), NewSession(WithEngine(engine), WithResidentResults())
			for _, s := range []*Session{here, there} {
				s.grain, s.conversions.always, s.conversions.data = c.grain, true, c.data
			}
			for i := range 20 {
				s := here
				if i%2 == 1 {
					s = there
				}
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

// Conversions leave results on the device where they shall be there, of lists that must
// be sorted first too.
func TestConvertResident(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	s := NewSession(WithEngine(runtime.Simulated()), WithResidentResults(), WithConversionKernels())
	for _, from := range []string{"CSR", "COO", "COO(unsorted)", "COO(unsorted,duplicates)"} {
		format, err := tensor.ParseFormat(from, 2)
		if err != nil {
			t.Fatal(err)
		}
		const n = 500
		rows, cols, vals := make([]uint32, n), make([]uint32, n), make([]float64, n)
		for i, place := range r.Perm(40 * 50)[:n] {
			if format.Relaxed() && i%100 == 99 && from == "COO(unsorted,duplicates)" {
				place = 7
			}
			rows[i], cols[i], vals[i] = uint32(place/50), uint32(place%50), r.Float64()
		}
		list, err := tensor.FromColumns([]int64{40, 50}, tensor.COO, []tensor.Array{tensor.ArrayOf(rows), tensor.ArrayOf(cols)}, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		a, err := list.Convert(format)
		if format.Relaxed() {
			a, err = tensor.New([]int64{40, 50}, format, []tensor.Level{{Crd: tensor.ArrayOf(rows)}, {Crd: tensor.ArrayOf(cols)}}, tensor.ArrayOf(vals))
		}
		if err != nil {
			t.Fatal(err)
		}
		onDevice, err := s.ToDevice(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []tensor.Format{tensor.CSR, tensor.CSC} {
			if from == to.String() {
				continue
			}
			got, err := s.Convert(t.Context(), onDevice, to)
			if err != nil {
				t.Fatal(err)
			}
			for name, array := range map[string]tensor.Array{"positions": got.Levels()[1].Pos, "values": got.Values()} {
				if array.Remote() == nil {
					t.Errorf("%s to %s: the %s are not on the device", from, to, name)
				}
			}
			want, err := a.Convert(to)
			if err != nil {
				t.Fatal(err)
			}
			if err := sameArrays(got, want); err != nil {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}
