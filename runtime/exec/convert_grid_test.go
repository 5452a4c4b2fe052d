package exec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests conversions on grids (lower/convert/gridcount.go, gridmove.go).

// TestConvertGrids compares conversions by grids with tensor.Convert: with the few
// digits of small axes, or buckets, and with those of large ones, in one list and in many.
func TestConvertGrids(t *testing.T) {
	testengine.Interpreted(t)
	large := func(d convert.Data) convert.Data {
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
		data  func(convert.Data) convert.Data
	}{
		{"small axes", 0, nil}, {"small axes, many lists", 37, nil}, {"large axes", 0, large}, {"large axes, many lists", 50, large},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine := testengine.Or(t, runtime.Simulated())
			here, there := NewSession(WithEngine(engine)), NewSession(WithEngine(engine), WithResidentResults())
			for _, s := range []*Session{here, there} {
				s.env.Grain, s.env.convert.Always, s.env.convert.Data = c.grain, true, c.data
			}
			for i := range 20 {
				if testing.Short() && i >= 8 {
					break
				}
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
	testengine.Interpreted(t)
	r := rand.New(rand.NewPCG(10, 11))
	s := NewSession(WithEngine(testengine.Or(t, runtime.Simulated())), WithResidentResults(), WithConversionKernels())
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

// TestConvertTiles sorts lists by digits in tiles of blocks, of 3072 entries or, with a grain,
// 128: of no more entries than a warp, a tile, and more; in order and not, with many at the same coordinates and with
// one digit for all.
func TestConvertTiles(t *testing.T) {
	testengine.Interpreted(t)
	unordered, err := tensor.ParseFormat("COO(unsorted,duplicates)", 2)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(12, 13))
	engine := testengine.Or(t, runtime.Simulated())
	usual, small := NewSession(WithEngine(engine), WithConversionKernels()), NewSession(WithEngine(engine), WithConversionKernels())
	usual.env.convert.Always, small.env.convert.Always, small.env.Grain = true, true, 1
	for _, c := range []struct {
		s *Session
		n int
	}{{small, 1}, {small, 32}, {small, 33}, {small, 128}, {small, 300}, {usual, 40}, {usual, 3072 + 100}} {
		s, n := c.s, c.n
		if n > 3072 && testing.Short() {
			continue // the small tiles have all of this
		}
		shape := []int64{1 << 9, 70000}
		dt := []tensor.DType{tensor.Float64, tensor.Float32, tensor.Uint8, tensor.Bool, tensor.Float16, tensor.Complex64}[r.IntN(6)]
		rows, cols := make([]uint32, n), make([]uint32, n)
		for i := range n {
			rows[i], cols[i] = uint32(r.Int64N(shape[0])), uint32(r.Int64N(shape[1]))
			switch {
			case i > 0 && r.IntN(4) == 0: // again, but not next to it
				p := r.IntN(i)
				rows[i], cols[i] = rows[p], cols[p]
			case n > 3072 && i < 3072:
				cols[i] = 256 * uint32(r.IntN(3))
			}
		}
		rows[0] = uint32(shape[0] - 1)
		a, err := tensor.New(shape, unordered, []tensor.Level{{Crd: tensor.ArrayOf(rows)}, {Crd: tensor.ArrayOf(cols)}}, randomNumbers(t, r, dt, n))
		if err != nil {
			t.Fatal(err)
		}
		check := func(from *tensor.Tensor, to tensor.Format) *tensor.Tensor {
			want, err := from.Convert(to)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Convert(t.Context(), from, to)
			if err != nil {
				t.Fatalf("%d %s, %v to %v: %v", n, dt, from.Format(), to, err)
			}
			if err := sameArrays(got, want); err != nil {
				t.Fatalf("%d %s, %v to %v: %v", n, dt, from.Format(), to, err)
			}
			return want
		}
		list := check(a, tensor.COO)
		check(check(a, tensor.CSR), tensor.CSC)
		check(list, tensor.CSC)
	}
	checkKernelsRan(t, map[string]*Session{"tiles": usual, "small tiles": small})
}

// Values in blocks that equal the fill are left out, also where entries go straight to their places, as complex
// values do.
func TestConvertBlocksOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	s := NewSession(WithEngine(testengine.Or(t, runtime.Simulated())), WithConversionKernels())
	s.env.Grain = 3
	r := rand.New(rand.NewPCG(4, 4))
	format := func(text string) tensor.Format {
		f, err := tensor.ParseFormat(text, 3)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	from := format("C-S-D")
	for _, name := range []string{"S-S-S[1,2,0]", "CSF", "C-C-S", "D"} {
		to := format(name)
		for _, dt := range []tensor.DType{tensor.Complex64, tensor.Float64, tensor.Int8} {
			for range 10 {
				shape := []int64{1 + r.Int64N(4), 1 + r.Int64N(4), 1 + r.Int64N(4)}
				coords := make([][]int64, 3)
				values := make([]float64, r.IntN(20))
				for i := range values {
					for axis := range coords {
						coords[axis] = append(coords[axis], r.Int64N(shape[axis]))
					}
					values[i] = float64(r.IntN(3))
				}
				array, err := tensor.ArrayOf(values).Convert(dt)
				if err != nil {
					t.Fatal(err)
				}
				a, err := tensor.FromCoords(shape, from, coords, array)
				if err != nil {
					t.Fatal(err)
				}
				want, err := a.Convert(to)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Convert(t.Context(), a, to)
				if err != nil {
					t.Fatalf("%v to %v: %v", a, to, err)
				}
				if err := sameArrays(got, want); err != nil {
					t.Fatalf("%v to %v: %v", a, to, err)
				}
			}
		}
	}
}
